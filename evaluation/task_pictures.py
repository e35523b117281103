"""Folder of pictures by task and asset, each of what an episode has there at its start.

``TASK/ASSET.png`` shows an asset as it is then, ``TASK/ASSET.open.png`` one that is closed then, opened.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from scenecypher.chat.model import Image
from scenecypher.db.graph.scene import GraphView, SceneGraph
from scenecypher.errors import InputError, UnknownReference, did_you_mean
from scenecypher.planner.perception.picture import SUFFIXES, read_picture

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
