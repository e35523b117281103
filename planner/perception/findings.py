"""Findings of a merge: what an observation changes in a belief, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from scenecypher.db.graph.delta import Delta
from scenecypher.planner.perception.observation import Extent, ExtentKind

FindingKind: TypeAlias = Literal[
    "new", "confirmed", "moved", "absent", "changed", "unplaced", "missed", "doubted", "partial", "unseen"
]


MAX_NEW: Final = 50
"""New things in one look beyond which they are doubted."""
ADVICE: Final = "look again, or accept it (--accept, or SCENECYPHER_ACCEPT_LOOKS=true)"


@dataclass(frozen=True, slots=True)
class Finding:
    """Finding about one node (its id; if unplaced, the seen name), with an explanation."""

    kind: FindingKind
    node: str
    words: str

    def __str__(self) -> str:
        return f"{self.node} is {self.kind}: {self.words}"


@dataclass(frozen=True, slots=True)
class MergeResult:
    """Result of a merge: the `delta` of the belief, and the `findings` that explain it.

    `unplaced` are the numbers of sightings whose place is unclear. `believed` counts the things that the observation
    would have shown if they were where they are believed, `vanished` are those of them that a look at the whole did
    not show. `recognised` counts things that were seen where they are believed, `new` the new ones.
    """

    delta: Delta
    findings: tuple[Finding, ...]
    unplaced: tuple[int, ...] = ()
    believed: int = 0
    vanished: tuple[str, ...] = ()
    recognised: int = 0
    new: int = 0

    @property
    def doubtful_extent(self) -> Extent | None:
        """Return the extent of an observation that contradicts most of the belief, or is all too new; else None."""
        kind: ExtentKind = "disputed" if self.recognised else "doubted"
        if self.most_vanished:
            why = f"{len(self.vanished)} of {self.believed} were not seen: {', '.join(self.vanished)}"
            return Extent(kind, "most of what is believed there is gone", why)
        return Extent(kind, "too much is new", f"{self.new} things are new") if self.new > MAX_NEW else None

    @property
    def most_vanished(self) -> bool:
        """Return True if most of what was believed there is gone, and not just one thing."""
        return len(self.vanished) > 1 and 2 * len(self.vanished) > self.believed


def partial_words(extent: Extent) -> str:
    """Return which part was seen, and why no more."""
    part, why = f": {extent.part}" if extent.part else "", f" ({extent.why})" if extent.why else ""
    return f"only a part of it was seen{part}{why}"


def was_partial(feedback: str, node: str) -> bool:
    """Check if the feedback on a look tells that it showed only a part of a node."""
    return f"{node} is partial: " in feedback


def unseen_words(extent: Extent) -> str:
    """Return why nothing was merged."""
    why = f" ({extent.why})" if extent.why else ""
    match extent.kind:
        case "nothing":
            return f"it could not be made out{why}: nothing was merged; take another picture"
        case "elsewhere":
            return f"another place was seen{why}: nothing was merged; take a picture of this one"
        case _:
            return f"{extent.part}{why}: nothing was merged; {ADVICE}"


def disputed_words(extent: Extent) -> str:
    """Return what was merged of a look that contradicts most of the belief."""
    return f"{extent.part} ({extent.why}): what was seen was merged, but not very many new things; {ADVICE}"
