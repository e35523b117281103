"""Folders of pictures: with gold subgraphs, a JSON file for each look; and by task and asset, as an episode has it.

A gold file has the prior belief about its asset. ``TASK/ASSET.png`` shows an asset as it is at an episode's start,
``TASK/ASSET.open.png`` one that is closed then, opened.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Literal
from unicodedata import normalize

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints

from scenecypher.chat.model import Image
from scenecypher.db.graph.problems import Problem, document_error, validated
from scenecypher.db.graph.scene import GraphView, Node, Relation, SceneGraph
from scenecypher.db.graph.value import InvalidValue, shown
from scenecypher.errors import DocumentError, InputError, UnknownReference, did_you_mean
from scenecypher.importers.json_file import read_json
from scenecypher.planner.perception.footage import MAX_SENT
from scenecypher.planner.perception.picture import SUFFIXES, read_picture
from scenecypher.planner.perception.wording import NUMBERED
from scenecypher.planner.worlds.belief import initial_belief

VOCABULARY: Final = "grasif"
"""LookPlanGraph's vocabulary: things are ON or INSIDE one another, each in one place."""
MAX_FILES: Final = 10_000
"""Largest number of files that are read from a folder."""
MAX_LOOKS: Final = 50
"""Largest number of looks before a view's own."""

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(lambda text: normalize("NFC", text)),
]

FileName = Annotated[str, Field(min_length=1, max_length=1_000)]


class _StrictModel(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class _Look(_StrictModel):
    image: FileName
    others: Annotated[list[FileName], Field(max_length=MAX_SENT - 1)] = []

    @property
    def images(self) -> tuple[str, ...]:
        """Return the paths of all pictures."""
        return (self.image, *self.others)


class ViewedAsset(_StrictModel):
    """Asset of a picture; `class` is optional if the name is a class with a number."""

    name: Name
    class_: Name = Field(default="", alias="class", validate_default=False)
    kind: Literal["Asset", "Place", "Object"] = "Asset"
    states: list[Literal["open", "closed", "on", "off"]] = []

    @property
    def class_name(self) -> str:
        """Its class."""
        return self.class_ or class_from_name(self.name)


class PlacedThing(ViewedAsset):
    """Thing on or in the asset, or on or in another thing of the list."""

    kind: Literal["Object"] = "Object"
    relation: Literal["ON", "INSIDE"]
    related_to: Name


class EarlierLook(_Look):
    """Look before a view's own: its pictures, and the asset that they show, by default that of the view."""

    asset: ViewedAsset | None = None


class GoldView(_Look):
    """Content of one file: the picture (a path within the folder), its asset, and the gold subgraph.

    `others` are further pictures of the same look; `looks` are read and merged before it, and the gold is what is
    believed after all of them, of their assets too. `conventions` explain the picture to the model. `known` are further
    things that a model may name; `priors` is the belief before the look, and `hidden` are those of them that the
    pictures can't show: they must stay believed. `seen` says how much of the asset is shown; unless that is the
    whole, `part` says which part, and `reason` why.
    """

    looks: Annotated[list[EarlierLook], Field(max_length=MAX_LOOKS)] = []
    asset: ViewedAsset
    set: Name = "all"
    conventions: Annotated[str, Field(max_length=2_000)] = ""
    seen: Literal["whole", "part", "nothing", "another_place"] = "whole"
    part: Annotated[str, Field(max_length=200)] = ""
    reason: Annotated[str, Field(max_length=200)] = ""
    known: Annotated[list[Name], Field(max_length=2_000)] = []
    priors: Annotated[list[PlacedThing], Field(max_length=500)] = []
    hidden: Annotated[list[Name], Field(max_length=500)] = []
    gold: Annotated[list[PlacedThing], Field(max_length=500)]

    @property
    def assets(self) -> tuple[ViewedAsset, ...]:
        """Return the assets of all looks, that of the last one first."""
        found = [self.asset, *(it.asset for it in self.looks if it.asset)]
        return tuple({it.name: it for it in reversed(found)}.values())[::-1]

    def of_look(self, look: EarlierLook | None = None) -> GoldView:
        """Return the view of one look alone, by default of the last: its pictures, and what is on or in its asset."""
        asset = (look and look.asset) or self.asset
        below = {asset.name}
        while fresh := {it.name for it in self.gold if it.related_to in below} - below:
            below |= fresh
        gold = [it for it in self.gold if it.name in below]
        shown = {"image": look.image, "others": look.others} if look else {}
        return self.model_copy(update={**shown, "looks": [], "asset": asset, "gold": gold})

    @property
    def kept(self) -> tuple[PlacedThing, ...]:
        """Return the believed things that the pictures can't show."""
        return tuple(it for it in self.priors if it.name in self.hidden)


@dataclass(frozen=True, slots=True)
class ViewFile:
    """View with its name (the file's, without suffix) and the paths of its pictures; `earlier` are its looks before."""

    name: str
    view: GoldView
    pictures: tuple[Path, ...]
    earlier: tuple[ViewFile, ...] = ()

    def images(self) -> tuple[Image, ...]:
        """Read the pictures. Raises InputError."""
        return tuple(read_picture(picture) for picture in self.pictures)

    @property
    def in_turn(self) -> tuple[ViewFile, ...]:
        """Return each look as a view of its own, in their order."""
        return (*self.earlier, ViewFile(self.name, self.view.of_look(), self.pictures))


def class_from_name(name: str) -> str:
    """Return the class of a numbered name: ``apple`` for ``apple-2``."""
    return NUMBERED.sub("", name.casefold()) or name.casefold()


def bundled_views() -> Path:
    """Return the folder of the bundled MiniGrid renderings."""
    return Path(str(files("scenecypher.evaluation") / "data" / "views"))


def read_views(folder: Path) -> tuple[ViewFile, ...]:
    """Read the views of a folder, sorted by name. Raises InputError; DocumentError with a file's problems."""
    found = sorted(folder.glob("*.json"))
    if not found:
        raise InputError(f"{folder}: it has no views, a *.json beside each picture; docs/experiments.md has the form")
    if len(found) > MAX_FILES:
        raise InputError(f"{folder}: {len(found):,} views; at most {MAX_FILES:,} are read: split the folder")
    return tuple(_read_view(file, folder) for file in found)


def belief_before_view(view: GoldView) -> SceneGraph:
    """Return the belief before the looks: the assets, the priors in their places, and the further known things."""
    things = {it.name: it for it in (*view.assets, *view.priors)}
    nodes = [Node(it.name, it.kind, it.name, it.class_name, tuple(it.states)) for it in things.values()]
    known = dict.fromkeys(name for name in view.known if name not in things)
    nodes += [Node(name, "Object", name, class_from_name(name)) for name in known]
    return initial_belief(SceneGraph.of(nodes, [Relation(it.name, it.relation, it.related_to) for it in view.priors]))


def _read_view(file: Path, folder: Path) -> ViewFile:
    view = validated(GoldView, read_json(file), str(file))
    problems = [
        *_placement_problems("priors", view.assets, view.priors),
        *_placement_problems("gold", view.assets, view.gold),
    ]
    problems += [*_hidden_problems(view), *_file_problems(view, folder)]
    if problems:
        raise document_error(str(file), problems)
    earlier = (ViewFile(file.stem, view.of_look(it), _paths(folder, it.images)) for it in view.looks)
    try:
        belief_before_view(view)
    except InvalidValue as error:  # what no scene can hold, for example control characters
        raise DocumentError(str(file), "$", str(error)) from error
    return ViewFile(file.stem, view, _paths(folder, view.images), tuple(earlier))


def _paths(folder: Path, names: Sequence[str]) -> tuple[Path, ...]:
    return tuple((folder / name).resolve() for name in names)


def _hidden_problems(view: GoldView) -> Iterator[Problem]:
    """Yield hidden things that are not believed there, or that the gold has."""
    priors, gold = {it.name for it in view.priors}, {it.name for it in view.gold}
    for number, name in enumerate(view.hidden):
        if name not in priors or name in gold:
            yield f"$.hidden[{number}]", f"{shown(name)} should be one of the priors, and not in the gold; correct it"


def _file_problems(view: GoldView, folder: Path) -> Iterator[Problem]:
    """Yield pictures that are missing, or outside the folder."""
    looks = [("$", view.images), *((f"$.looks[{number}]", it.images) for number, it in enumerate(view.looks))]
    for look, number, name in ((look, number, name) for look, names in looks for number, name in enumerate(names)):
        place = f"{look}.others[{number - 1}]" if number else f"{look}.image"
        picture = (folder / name).resolve()
        if not picture.is_relative_to(folder.resolve()):
            yield place, "leads out of the folder; give a path within it"
        elif not picture.is_file():
            yield place, "there is no such file; put the picture into the folder"


def _placement_problems(field: str, assets: Sequence[ViewedAsset], things: Sequence[PlacedThing]) -> Iterator[Problem]:
    """Yield the problems that keep a list from being trees below the assets: repeated names, dead ends and cycles."""
    below = {it.name for it in assets}
    for number, thing in enumerate(things):
        if thing.name.casefold() in {*map(str.casefold, below), *(it.name.casefold() for it in things[:number])}:
            yield f"$.{field}[{number}].name", f"{shown(thing.name)} occurs twice; number things of the same class"
    while fresh := {it.name for it in things if it.related_to in below} - below:
        below |= fresh
    for number, thing in enumerate(things):
        if thing.name not in below:
            place = f"$.{field}[{number}].related_to"
            yield place, f"{shown(thing.related_to)} does not lead to the asset; name it, or a thing on or in it"


OPEN, CLOSED = "open", "closed"
OPENED: Final = f".{OPEN}"
"""End of the name of an opened asset's picture, before the suffix."""
CONTAINMENT: Final = ("INSIDE", "ON")
MOST_NAMED: Final = 5


def bundled_pictures() -> Path:
    """Return the folder of the included pictures, which our own code has drawn."""
    return Path(str(files("scenecypher.evaluation") / "data" / "pictures"))


def pictured_tasks(folder: Path, known: Collection[str]) -> frozenset[str]:
    """Return the ids of the tasks that have pictures in a folder. Raises InputError if one is not `known`, or none."""
    found = {it.parent.relative_to(folder).as_posix() for it in folder.rglob("*") if it.suffix.casefold() in SUFFIXES}
    if not found:
        raise InputError(
            f"{folder}: no pictures in it; give a folder of TASK/ASSET.png, such as {min(known)}/ASSET.png"
        )
    if unknown := sorted(found - {*known}):
        hint = did_you_mean(unknown[0], tuple(known))
        raise InputError(f"{folder / unknown[0]}: pictures of no task that is played here{hint}; take the folder away")
    return frozenset(found)


def check_pictures(folder: Path, *, at_start: SceneGraph, believed: SceneGraph) -> None:
    """Check a task's pictures: each can be read and is of a node, and none is missing where a thing is or was.

    Raises InputError.
    """
    shown = _pictures(folder)
    for name, file in shown.items():
        node = name.removesuffix(OPENED)
        if node not in at_start:
            hint = did_you_mean(node, tuple(at_start.nodes))
            raise InputError(f"{file}: this task has no {node}{hint}; name a picture after a node of its task")
        read_picture(file)
    wanted = dict.fromkeys((*_wanted(at_start), *_wanted(believed)))
    if missing := [it for it in wanted if it not in shown]:
        named = ", ".join(f"{it}.png" for it in missing[:MOST_NAMED])
        more = f" and {len(missing) - MOST_NAMED} more" if len(missing) > MOST_NAMED else ""
        raise InputError(f"{folder}: {named}{more} missing; add each, or take the task's folder away")


def _pictures(folder: Path) -> dict[str, Path]:
    """Return the pictures in a folder by their names, without suffixes."""
    return {it.stem: it for it in sorted(folder.iterdir()) if it.suffix.casefold() in SUFFIXES}


def _wanted(graph: SceneGraph) -> Iterator[str]:
    """Yield the names of the pictures of places and assets that have things in or on them."""
    for node in graph.nodes.values():
        if node.kind in {"Place", "Asset"} and (found := _contents(graph, node.id)):
            yield node.id
            if CLOSED in node.states and any(type_ == "INSIDE" for type_, _ in found):
                yield f"{node.id}{OPENED}"


def _contents(graph: GraphView, of: str) -> frozenset[tuple[str, str]]:
    sources = ((type_, it) for type_ in CONTAINMENT for it in graph.sources(of, type_))
    return frozenset((type_, it) for type_, it in sources if graph.nodes[it].kind == "Object")


@dataclass(frozen=True, slots=True)
class FolderCamera:
    """Camera whose pictures were taken at the `start`; what is otherwise `now` has none any more."""

    folder: Path
    start: SceneGraph
    now: Callable[[], GraphView]

    def picture(self, of: str) -> Image:
        """Return the picture of a node. Raises UnknownReference if there is none, InputError if it can't be read."""
        name = self._name(of, self.now())
        if (file := _pictures(self.folder).get(name or "")) is not None:
            return read_picture(file)
        why = "as it is now, after what was done there" if name is None else "in the folder"
        raise UnknownReference(f"there is no picture of {of} {why}; look at something else, or go on without one")

    def _name(self, of: str, now: GraphView) -> str | None:
        """Return the name of the picture that shows a node as it is now; None if none can."""
        if of not in self.start or of not in now or _contents(now, of) != _contents(self.start, of):
            return None
        before, after = ({*graph.nodes[of].states} for graph in (self.start, now))
        if before == after:
            return of
        return f"{of}{OPENED}" if OPEN in after and before ^ after <= {OPEN, CLOSED} else None
