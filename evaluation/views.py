"""A folder of pictures with gold: each JSON file says what one picture shows of an asset, and what was believed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Final, Literal
from unicodedata import normalize

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from scenecypher.chat.model import Image
from scenecypher.db.graph.problems import Problem, document_error, problems_of
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.graph.value import InvalidValue, shown
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.json_file import read_json
from scenecypher.planner.belief import believed
from scenecypher.planner.perception.naming import NUMBERED
from scenecypher.planner.perception.picture import read_picture

VOCABULARY: Final = "grasif"
"""LookPlanGraph's own: things are ON or INSIDE one another, each in one place."""
MOST: Final = 10_000
"""Files of a folder that are read at most."""

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=200),
    AfterValidator(lambda text: normalize("NFC", text)),
]


class _Form(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Asset(_Form):
    """What the picture was taken of; `class` may be left out where the name is one with a number."""

    name: Name
    class_: Name = Field(default="", alias="class", validate_default=False)
    kind: Literal["Asset", "Place", "Object"] = "Asset"
    states: list[Literal["open", "closed", "on", "off"]] = []

    @property
    def sort(self) -> str:
        """Its class."""
        return self.class_ or class_of(self.name)


class Placed(Asset):
    """One thing, on or in the asset or another thing of the list."""

    kind: Literal["Object"] = "Object"
    relation: Literal["ON", "INSIDE"]
    related_to: Name


class View(_Form):
    """One file: the picture (a path within the folder), what it is of, and the gold subgraph.

    `known` are further things that a model may name, `priors` what was believed to be there before the look.
    """

    image: Annotated[str, Field(min_length=1, max_length=1_000)]
    asset: Asset
    set: Name = "all"
    known: Annotated[list[Name], Field(max_length=2_000)] = []
    priors: Annotated[list[Placed], Field(max_length=500)] = []
    gold: Annotated[list[Placed], Field(max_length=500)]


@dataclass(frozen=True, slots=True)
class Taken:
    """A view as it was read: its name (the file's, without suffix) and where its picture is."""

    name: str
    view: View
    picture: Path

    def image(self) -> Image:
        """The picture's bytes. Raises InputError."""
        return read_picture(self.picture)


def class_of(name: str) -> str:
    """``apple-2`` is an apple."""
    return NUMBERED.sub("", name.casefold()) or name.casefold()


def shipped() -> Path:
    """The folder of rendered MiniGrid views that comes along."""
    return Path(str(files("scenecypher.evaluation") / "data" / "views"))


def read_views(folder: Path) -> tuple[Taken, ...]:
    """The views of a folder in the order of their names. Raises InputError; DocumentError with a file's problems."""
    found = sorted(folder.glob("*.json"))
    if not found:
        raise InputError(
            f"{folder}: no folder with views, a *.json beside each picture; docs/evaluation.md has the form"
        )
    if len(found) > MOST:
        raise InputError(f"{folder}: {len(found):,} views; at most {MOST:,} are read: split the folder")
    return tuple(_read(file, folder) for file in found)


def belief_of(view: View) -> SceneGraph:
    """What is believed before the look: the asset, the priors where they are said to be, and what else is known."""
    asset = view.asset
    things = {it.name: it.sort for it in view.priors}
    things |= {name: class_of(name) for name in view.known if name not in things and name != asset.name}
    nodes = [Node(asset.name, asset.kind, asset.name, asset.sort, tuple(asset.states))]
    nodes += [Node(name, "Object", name, class_) for name, class_ in things.items()]
    return believed(SceneGraph.of(nodes, [Relation(it.name, it.relation, it.related_to) for it in view.priors]))


def _read(file: Path, folder: Path) -> Taken:
    document = read_json(file)
    try:
        view = View.model_validate(document)
    except ValidationError as error:
        raise document_error(str(file), problems_of(error, document)) from error
    problems = [*_misplaced("priors", view.asset, view.priors), *_misplaced("gold", view.asset, view.gold)]
    picture = (folder / view.image).resolve()
    if not picture.is_relative_to(folder.resolve()):
        problems.append(("$.image", "leads out of the folder; give a path within it"))
    elif not picture.is_file():
        problems.append(("$.image", "there is no such file; put the picture into the folder"))
    if problems:
        raise document_error(str(file), problems)
    return _valid(Taken(file.stem, view, picture), file)


def _valid(taken: Taken, file: Path) -> Taken:
    """Raises DocumentError for what no scene can hold, such as control characters in a name."""
    try:
        belief_of(taken.view)
    except InvalidValue as error:
        raise DocumentError(str(file), "$", str(error)) from error
    return taken


def _misplaced(field: str, asset: Asset, things: Sequence[Placed]) -> Iterator[Problem]:
    """What makes a list no tree below the asset: names that are told twice or lead nowhere, and circles."""
    below = {asset.name}
    for number, thing in enumerate(things):
        if thing.name.casefold() in {asset.name.casefold(), *(it.name.casefold() for it in things[:number])}:
            yield f"$.{field}[{number}].name", f"{shown(thing.name)} is told twice; number things that are alike"
    while fresh := {it.name for it in things if it.related_to in below} - below:
        below |= fresh
    for number, thing in enumerate(things):
        if thing.name not in below:
            place = f"$.{field}[{number}].related_to"
            yield place, f"{shown(thing.related_to)} does not lead to the asset; name it, or a thing on or in it"
