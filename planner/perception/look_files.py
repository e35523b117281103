"""Files of one look, read into an observation: pictures by a model, a detector's JSON without one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from uuid import uuid4

from scenecypher.chat.model import Model
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo, lookup_scene
from scenecypher.db.store.commit import Intent
from scenecypher.db.store.reference import resolve_reference
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from scenecypher.meaning import Meaning
from scenecypher.planner.perception.commit_look import CommittedLook, commit_look
from scenecypher.planner.perception.detections import Detections, read_detections
from scenecypher.planner.perception.footage import read_look
from scenecypher.planner.perception.naming import known_node
from scenecypher.planner.perception.observation import Observation
from scenecypher.planner.perception.picture_set import PictureSet
from scenecypher.planner.perception.vision import ImageReading, read_pictures
from scenecypher.planner.worlds.belief import belief_name, find_or_create_belief, initial_belief

JSON: Final = ".json"


@dataclass(frozen=True, slots=True)
class BeliefBefore:
    """Belief as it is before a look; `info` is None if it would be made by it."""

    name: str
    graph: SceneGraph
    vocabulary: str
    version: int = 0
    info: SceneInfo | None = None


@dataclass(frozen=True, slots=True)
class LookFiles:
    """Files of one look: pictures, or detections."""

    source: PictureSet | Detections

    @property
    def needs_model(self) -> bool:
        """Return True if a model has to read it."""
        return isinstance(self.source, PictureSet)

    @property
    def of(self) -> str | None:
        """Return the node that the file names as looked at, if it does."""
        return None if isinstance(self.source, PictureSet) else self.source.content.of

    def read(self, belief: BeliefBefore, of: str, *, model: Callable[[], Model], accept: bool = False) -> ImageReading:
        """Read the look at a node. Raises UnknownReference, ReplyRejected, ModelUnavailable."""
        known, step = known_node(belief.graph, of, vocabulary=belief.vocabulary), belief.version + 1
        if isinstance(self.source, PictureSet):
            return read_pictures(model(), self.source, known, step=step, accept=accept)
        return ImageReading(self.source.observation(known, step=step), "")


def read_look_files(files: Sequence[Path], *, at_most: int) -> LookFiles:
    """Read the files of a look, at most `at_most` pictures. Raises InputError."""
    if not any(file.suffix.casefold() == JSON for file in files):
        return LookFiles(PictureSet.of(read_look(files, at_most=at_most)))
    if len(files) > 1:
        raise InputError("a file of sightings is a look of its own; give it alone, and pictures in another command")
    return LookFiles(read_detections(files[0]))


def seen_node(store: SceneStore, scene: str, text: str) -> str:
    """Return the id of the node that `text` means in the belief about a scene, or in the scene while it has none.

    Raises SceneNotFound, UnknownReference.
    """
    known = lookup_scene(store.database, belief_name(scene)) or store.find(scene)
    return resolve_reference(store.now(known).graph, text)


def merge_look(
    store: SceneStore, scene: str, belief: BeliefBefore, observation: Observation, *, accept: bool, meaning: Meaning
) -> CommittedLook:
    """Merge an observation into the belief about a scene, which is made where absent. Raises as `commit_look` does."""
    info = belief.info or find_or_create_belief(store, store.find(scene))
    intent = Intent("observe", f"see {observation.of}", uuid4().hex)
    return commit_look(store, info, observation, intent=intent, accept=accept, meaning=meaning)


def belief_before(store: SceneStore, scene: str) -> BeliefBefore:
    """Return the belief about a scene as it is, or as it would be made; nothing is written. Raises SceneNotFound."""
    found = lookup_scene(store.database, belief_name(scene))
    info = found if found is not None and found.role == "belief" else store.find(scene)
    loaded = store.load(info.name)
    if info.role == "belief":
        return BeliefBefore(info.name, loaded.graph, info.vocabulary, loaded.info.version, loaded.info)
    return BeliefBefore(belief_name(info.name), initial_belief(loaded.graph), info.vocabulary)
