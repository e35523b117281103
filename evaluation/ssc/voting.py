"""Structured Self-Consistency (Algorithm 1): one vote a canonical form; the raw sample behind the winner is given."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

Form: TypeAlias = Hashable
"""What an output means, whatever it is written like; equal forms are one vote more for the same."""
Canonical: TypeAlias = Callable[[str], Form | None]
"""The paper's Φ: the canonical form, or None for what the schema does not allow (⊥)."""

SAMPLES: Final = 5
TEMPERATURE: Final = 0.7
"""Both as the paper has them (section 4)."""


@dataclass(frozen=True, slots=True)
class Vote:
    """What came of a vote over samples.

    `winner` is the index of the raw sample that is returned, the first with the winning form; None where no sample was
    valid, which is a failure. `votes` are of the winner; `forms` is how many there were.
    """

    winner: int | None
    votes: int
    forms: int
    valid: int
    samples: int


def vote(samples: Sequence[str], canonical: Canonical) -> Vote:
    """The paper's Algorithm 1. A tie goes to the form that was seen first."""
    return vote_on_forms([canonical(sample) for sample in samples])


def vote_on_forms(forms: Sequence[Form | None]) -> Vote:
    """The same, of forms that are known already."""
    votes, first = count_votes(forms)
    valid = sum(votes.values())
    if not votes:
        return Vote(None, 0, 0, 0, len(forms))
    best = max(votes, key=votes.__getitem__)  # of equals the first: dicts keep their order
    return Vote(first[best], votes[best], len(votes), valid, len(forms))


def count_votes(forms: Iterable[Form | None]) -> tuple[dict[Form, int], dict[Form, int]]:
    """Votes by form in the order in which forms were first seen, and at which sample that was."""
    votes: dict[Form, int] = {}
    first: dict[Form, int] = {}
    for index, form in enumerate(forms):
        if form is not None:
            votes[form] = votes.get(form, 0) + 1
            first.setdefault(form, index)
    return votes, first


def is_decided(forms: Sequence[Form | None], wanted: int) -> bool:
    """Whether no further sample of the `wanted` ones can change the winner (ours: early stop)."""
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
