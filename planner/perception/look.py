"""One look at a node: its files read (pictures by a model, a detector's JSON without one), and its merge committed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias
from uuid import uuid4

from scenecypher.chat.model import Model
from scenecypher.db.graph.delta import Delta
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo, lookup_scene
from scenecypher.db.store.commit import Intent, SceneVersion
from scenecypher.db.store.reference import resolve_reference
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.perception.detections import Detections, read_detections
from scenecypher.planner.perception.draft import MergeResult, Unchanged, only_renews
from scenecypher.planner.perception.footage import PictureSet, read_look
from scenecypher.planner.perception.merge import merge_checked
from scenecypher.planner.perception.naming import known_node
from scenecypher.planner.perception.observation import Observation
from scenecypher.planner.perception.vision import ImageReading, read_pictures
from scenecypher.planner.worlds.belief import belief_name, find_or_create_belief, initial_belief

LookFiles: TypeAlias = PictureSet | Detections
"""Files of one look: pictures, which a model has to read, or detections."""


@dataclass(frozen=True, slots=True)
class BeliefBefore:
    """Belief as it is before a look; `info` is None if it would be made by it."""

    name: str
    graph: SceneGraph
    vocabulary: str
    version: int = 0
    info: SceneInfo | None = None


@dataclass(frozen=True, slots=True)
class CommittedLook:
    """Result of a look: the findings, and the belief's `version`, which is the former one if nothing changed."""

    found: MergeResult
    version: int

    @property
    def is_merged(self) -> bool:
        """Return True if the place was seen, and the observation was merged."""
        return not any(finding.kind == "unseen" for finding in self.found.findings)


def read_look_files(files: Sequence[Path], *, at_most: int) -> LookFiles:
    """Read the files of a look, at most `at_most` pictures. Raises InputError."""
    if not any(file.suffix.casefold() == ".json" for file in files):
        pictures = read_look(files, at_most=at_most)
        return PictureSet(tuple(it.image for it in pictures), cameras=tuple(it.camera for it in pictures))
    if len(files) > 1:
        raise InputError("a file of sightings is a look of its own; give it alone, and pictures in another command")
    return read_detections(files[0])


def read_at(
    files: LookFiles, belief: BeliefBefore, of: str, *, model: Callable[[], Model], accept: bool = False
) -> ImageReading:
    """Read a look at a node of a belief. Raises UnknownReference, ReplyRejected, ModelUnavailable."""
    seen, step = resolve_reference(belief.graph, of), belief.version + 1
    known = known_node(belief.graph, seen, vocabulary=belief.vocabulary)
    if isinstance(files, PictureSet):
        return read_pictures(model(), files, known, step=step, accept=accept)
    return ImageReading(files.observation(known, step=step), "")


def belief_before(store: SceneStore, scene: str) -> BeliefBefore:
    """Return the belief about a scene as it is, or as it would be made; nothing is written. Raises SceneNotFound."""
    found = lookup_scene(store.database, belief_name(scene))
    info = found if found is not None and found.role == "belief" else store.find(scene)
    loaded = store.load(info.name)
    if info.role == "belief":
        return BeliefBefore(info.name, loaded.graph, info.vocabulary, loaded.info.version, loaded.info)
    return BeliefBefore(belief_name(info.name), initial_belief(loaded.graph), info.vocabulary)


def merge_look(
    store: SceneStore, scene: str, belief: BeliefBefore, observation: Observation, *, accept: bool, meaning: Meaning
) -> CommittedLook:
    """Merge an observation into the belief about a scene, which is made where absent. Raises as `commit_look` does."""
    info = belief.info or find_or_create_belief(store, store.find(scene))
    intent = Intent("observe", f"see {observation.of}", uuid4().hex)
    return commit_look(store, info, observation, intent=intent, accept=accept, meaning=meaning)


def commit_look(
    store: SceneStore,
    belief: SceneInfo,
    observation: Observation,
    *,
    intent: Intent,
    accept: bool = False,
    meaning: Meaning = NO_MEANING,
) -> CommittedLook:
    """Merge an observation into the belief as it is now; its step is the version that it leads to.

    Without `accept`, an observation that contradicts most of the belief is not merged. What changes nothing takes no
    version: a look that confirms what was seen at the present version changes nothing. Raises UnknownReference.
    """
    looks: list[CommittedLook] = []

    def decide(at: SceneVersion) -> Delta:
        seen = replace(observation, step=at.version + 1)
        found = merge_checked(at.graph, seen, vocabulary=belief.vocabulary, accept=accept, meaning=meaning)
        if only_renews(found.delta, seen_at=at.version):
            looks.append(CommittedLook(replace(found, delta=Delta()), at.version))
            raise Unchanged("nothing changed")
        looks.append(CommittedLook(found, at.version + 1))
        return found.delta

    with suppress(Unchanged):
        store.change(belief, decide, intent=intent)
    return looks[-1]
