"""Observation of one asset, object or place, and a seen thing as a robot or a detector writes it in JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal, Protocol, TypeAlias

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat

from scenecypher.db.graph.scene import NO_PROPERTIES, Point, Properties
from scenecypher.importers.babyai_grid import GridCell
from scenecypher.planner.perception.wording import cleaned_name

Support: TypeAlias = tuple[str | None, str | None]
"""Type and target of a containment relation, None where unknown.

The target is the id, name or class of a node, or the name of another sighting.
"""

MAX_THINGS: Final = 200
"""Limit of the things in one look."""
CONFIDENCE: Final = 0.8
"""Confidence of a sighting (ground truth: 1) if a model or a detector gives none."""

ExtentKind: TypeAlias = Literal["whole", "part", "disputed", "nothing", "elsewhere", "doubted"]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of the observed node was seen: the `part` in words, and `why` it was not the whole.

    ``nothing``: the node could not be made out. ``elsewhere``: another place was seen. ``disputed``: the observation
    contradicts most of the belief, and nobody has accepted that; what was seen of it counts, what was not does not.
    ``doubted``: the same, and nothing that was believed there was seen. For both, `part` says what is doubted.
    """

    kind: ExtentKind = "whole"
    part: str = ""
    why: str = ""

    @property
    def is_whole(self) -> bool:
        """Return True if things that were not seen are absent."""
        return self.kind == "whole"

    @property
    def is_usable(self) -> bool:
        """Return True if the sightings belong to the observed node."""
        return self.kind in {"whole", "part", "disputed"}


WHOLE: Final = Extent()


@dataclass(frozen=True, slots=True)
class Sighting:
    """One seen thing.

    Observers that share the graph's ids give `id`; others give `name` (a known or a new one) and `class_`. `support`
    is None if unknown, and so is `states`. `traits` are properties that distinguish things of one class, such as the
    colour. `confidence` (0 to 1) is how sure the observer is of it. `position` is in metres in the scene's frame
    (grids: cells).
    """

    name: str
    class_: str
    support: Support | None
    states: tuple[str, ...] | None = None
    affordances: tuple[str, ...] = ()
    id: str | None = None
    position: Point | None = None
    traits: Properties = NO_PROPERTIES
    confidence: float = 1.0


@dataclass(frozen=True, slots=True)
class Observation:
    """Observation of the node `of` at `step` of an episode (logical time, never a clock).

    `states` are those of the node itself (None: unknown). Believed things that are missing in `sightings` are absent if
    the `extent` is whole and the observation covers them: by the relation types `covers` (nothing is seen inside a
    closed container) and, if limited to them, the grid `cells`. With `partial_states` the given states are incomplete:
    other believed states are kept unless a given one excludes them. `notes` tell
    in words what was seen and left out. `classes` are those (in normal form) that the observer can see; None: all.
    """

    of: str
    sightings: tuple[Sighting, ...]
    step: int
    covers: tuple[str, ...]
    states: tuple[str, ...] | None = None
    cells: frozenset[GridCell] | None = None
    partial_states: bool = False
    extent: Extent = WHOLE
    notes: tuple[str, ...] = ()
    classes: frozenset[str] | None = None


class Observer(Protocol):
    """Observer of a world, independent of the belief."""

    def observe(self, of: str, *, step: int) -> Observation:
        """Look at a node. Raises UnknownReference if there is no such node."""
        ...


Name = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(cleaned_name)]


class StrictModel(BaseModel):
    """Part of a look's document; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DetectedSupport(StrictModel):
    """Place of a thing; without `related_to` it is the observed node."""

    relation: Literal["ON", "INSIDE"]
    related_to: Name | None = None


class SeenThing(StrictModel):
    """One thing that was seen. `position` is x, y, z in metres in the scene's frame."""

    class_: Name = Field(alias="class")
    name: Name | None = None
    position: tuple[FiniteFloat, FiniteFloat, FiniteFloat] | None = None
    confidence: Annotated[FiniteFloat, Field(ge=0, le=1)] = CONFIDENCE
    support: DetectedSupport | None = None
    states: list[Literal["open", "closed", "on", "off"]] = []
