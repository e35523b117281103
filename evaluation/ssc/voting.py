"""Structured Self-Consistency (Algorithm 1): one vote for each canonical form; the winner's raw sample is returned."""

from __future__ import annotations

from collections import Counter
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
    votes = _count_votes(forms)
    if not votes:
        return Vote(None, 0, 0, 0, len(forms))
    best = max(votes, key=votes.__getitem__)  # the first of equals, since dicts keep their order
    return Vote(forms.index(best), votes[best], len(votes), votes.total(), len(forms))


def is_decided(forms: Sequence[Form | None], wanted: int) -> bool:
    """Check that no further sample of the `wanted` ones can change the winner (ours: early stop)."""
    votes, left = _count_votes(forms), wanted - len(forms)
    if not votes:
        return left == 0
    leader = max(votes, key=votes.__getitem__)
    order = list(votes)
    rivals = ((count + left, order.index(form)) for form, count in votes.items() if form != leader)
    overtaken = any((-count, at) < (-votes[leader], order.index(leader)) for count, at in rivals)
    return not overtaken and left <= votes[leader]


def _count_votes(forms: Iterable[Form | None]) -> Counter[Form]:
    """Return the votes by form, in the order in which forms were first seen."""
    return Counter(form for form in forms if form is not None)
