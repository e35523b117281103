"""Structured Self-Consistency (Algorithm 1): one vote for each canonical form; the winner's raw sample is returned."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Form: TypeAlias = Hashable
"""Meaning of an output, independent of its notation; equal forms count as votes for the same output."""
Canonical: TypeAlias = Callable[[str], Form | None]
"""The paper's Φ: returns the canonical form, or None if the schema does not allow the output (⊥)."""

SAMPLES: Final = 5
TEMPERATURE: Final = 0.7
"""Number of samples and temperature are the paper's (section 4)."""


@dataclass(frozen=True, slots=True)
class Vote:
    """Result of a vote over samples.

    `winner` is the index of the returned sample, the first with the winning form; None if no sample was valid, which is
    a failure. `votes` are the winner's; `forms` is the number of distinct forms.
    """

    winner: int | None
    votes: int
    forms: int
    valid: int
    samples: int


def vote_on_forms(forms: Sequence[Form | None]) -> Vote:
    """Vote by the paper's Algorithm 1 on canonical forms; a tie goes to the form seen first."""
    votes, first = count_votes(forms)
    valid = sum(votes.values())
    if not votes:
        return Vote(None, 0, 0, 0, len(forms))
    best = max(votes, key=votes.__getitem__)  # the first of equals, since dicts keep their order
    return Vote(first[best], votes[best], len(votes), valid, len(forms))


def count_votes(forms: Iterable[Form | None]) -> tuple[dict[Form, int], dict[Form, int]]:
    """Return the votes by form, in the order in which forms were first seen, and each form's first sample."""
    votes: dict[Form, int] = {}
    first: dict[Form, int] = {}
    for index, form in enumerate(forms):
        if form is not None:
            votes[form] = votes.get(form, 0) + 1
            first.setdefault(form, index)
    return votes, first


def is_decided(forms: Sequence[Form | None], wanted: int) -> bool:
    """Check that no further sample of the `wanted` ones can change the winner (ours: early stop)."""
    votes, _ = count_votes(forms)
    left = wanted - len(forms)
    ranked = sorted(votes.values(), reverse=True)
    if not ranked:
        return left == 0
    leader = max(votes, key=votes.__getitem__)
    rivals = [(count, list(votes).index(form)) for form, count in votes.items() if form != leader]
    place = list(votes).index(leader)
    overtaken = any(count + left > ranked[0] or (count + left == ranked[0] and at < place) for count, at in rivals)
    return not overtaken and left <= ranked[0]
