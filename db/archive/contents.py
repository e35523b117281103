"""The contents of an archive, read and checked before anything of it is written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from scenecypher.db.archive.file import NODES, RELATIONS, count_line, read_lines
from scenecypher.db.archive.lines import Header, Line, NodeLine, RecordLine, SceneLine
from scenecypher.db.archive.records import EVENT, NOT_ARCHIVED, RECORDS, RUN, SCENE_FACTS, check_values, of_another_form
from scenecypher.db.graph.graph_json import canonical_json, delta_from_json, delta_hash
from scenecypher.db.graph.value import digest, shown
from scenecypher.db.graph.vectors import fault, vector_of
from scenecypher.db.rules import rules_of
from scenecypher.db.schema import VectorSpace
from scenecypher.db.store.bounds import PREFIX as BOUND_PREFIX
from scenecypher.db.store.catalog import SceneInfo, checked_name, info_of
from scenecypher.db.store.publish import Progress
from scenecypher.db.store.stored_form import fault_of_form
from scenecypher.db.vocabulary import base_name, is_known, load_vocabulary, vocabulary_names
from scenecypher.errors import DocumentError, InputError

COMPUTED: Final = frozenset({"nodes", "relations"})
"""Facts of a scene that are computed at restore, as its bounds are, whatever the archive says."""


@dataclass(frozen=True, slots=True)
class ArchivedScene:
    """A scene of an archive: its line, its facts as a stored scene has them, and its lines by sort."""

    line: SceneLine
    info: SceneInfo
    counts: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True)
class Contents:
    """The scenes of an archive, in its order, and the highest number of a run."""

    scenes: tuple[ArchivedScene, ...]
    last_run: int

    @property
    def totals(self) -> Counter[str]:
        """The lines of all scenes by sort."""
        return sum((scene.counts for scene in self.scenes), Counter())


def read_contents(path: Path, *, progress: Progress | None = None) -> Contents:
    """Read an archive to its end and check all of it. Raises DocumentError naming the line.

    Memory is bounded by the number of scenes and the longest line.
    """
    found = _Found()
    for number, line in read_lines(path, progress=progress):
        try:
            found.take(line)
        except InputError as error:
            raise DocumentError(str(path), f"line {number:,}", str(error)) from error
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            cause = f"not of the form that an archive has ({type(error).__name__}); make another backup"
            raise DocumentError(str(path), f"line {number:,}", cause) from error
    for cause in _faults(found.scenes):
        raise DocumentError(str(path), "the scenes", cause)
    return Contents(tuple(found.scenes), found.last_run)


class _Found:
    """What was read of an archive so far."""

    def __init__(self) -> None:
        self.scenes: list[ArchivedScene] = []
        self.last_run = 0
        self._records = _RecordCheck()

    def take(self, line: Line) -> None:
        """Check a line and add it."""
        match line:
            case Header():
                if found := fault_of_form(line.form):
                    raise InputError(f"the archive has {found}")
            case SceneLine():
                self.scenes.append(ArchivedScene(line, _info(line)))
                self._records = _RecordCheck()
            case NodeLine():
                line.node()
                line.relations()
                count_line(self.scenes[-1].counts, line)
            case RecordLine():
                self._records.check(line, self.scenes[-1].info)
                count_line(self.scenes[-1].counts, line)
                if line.label == RUN:
                    self.last_run = max(self.last_run, line.values["number"])
            case _:
                pass


def _info(line: SceneLine) -> SceneInfo:
    """Check a scene's line; return its facts."""
    checked_name(line.name)
    facts = read_facts(line)
    foreign = sorted(name for name in facts if name not in SCENE_FACTS.model_fields)
    if foreign or NOT_ARCHIVED.intersection(line.facts):
        raise InputError(f"the scene has no fact {shown(foreign[0])}; make another backup, or upgrade SceneCypher")
    check_values(facts, SCENE_FACTS)
    references = {"world": line.world, "copied_from": line.copied_from}
    info = info_of({**facts, **references, "key": line.key, "name": line.name, "status": line.status})
    for name in ("base", "redeclared"):
        if facts.get(name, 0) > info.version:
            raise of_another_form(name, facts[name])
    _check_actions(line, info)
    return info


def read_facts(line: SceneLine) -> dict[str, Any]:
    """Return the facts of a scene's line that are read: all but what is computed, such as its bounds."""
    return {
        name: value for name, value in line.facts.items() if name not in COMPUTED and not name.startswith(BOUND_PREFIX)
    }


def _check_actions(line: SceneLine, info: SceneInfo) -> None:
    """Check that the scene's actions are known here, and its own ones can be read. Raises InputError."""
    vocabulary = base_name(info.vocabulary)
    if not is_known(vocabulary):
        raise InputError(
            f"the actions {shown(vocabulary)} of {line.name!r} are not known here, only {', '.join(vocabulary_names())}"
            "; install the package that brings them"
        )
    if info.declared.actions:
        load_vocabulary(info.vocabulary)
    rules_of(info.declared)


class _RecordCheck:
    """Checks the records of one scene: labels in order, each label's numbers upwards, and what a label needs."""

    def __init__(self) -> None:
        self._place = -1
        self._last: tuple[int, ...] = ()

    def check(self, line: RecordLine, scene: SceneInfo) -> None:
        if line.label not in RECORDS:
            raise InputError(f"records {shown(line.label)} are not known here; upgrade SceneCypher")
        place = [*RECORDS].index(line.label)
        if place != self._place:
            self._place, self._last = max(place, self._place), ()
        check_values(line.values, RECORDS[line.label].facts)
        numbers = tuple(line.values[name] for name in RECORDS[line.label].order)
        if place < self._place or (numbers and (min(numbers) < 1 or numbers <= self._last)):
            raise ValueError
        self._last = numbers
        if not numbers:
            _check_vector(line.values, scene)
        if line.label == EVENT:
            _check_event(line.values, scene)


def _check_vector(values: Mapping[str, Any], scene: SceneInfo) -> None:
    space = next((it for it in scene.declared.vectors if it.set == values["set"]), None)
    if space is None or fault(vector_of(values["vector"]), space.dimension):
        raise InputError(f"the vector of {shown(values['id'])} is none of the scene's; make another backup")


def _check_event(values: Mapping[str, Any], scene: SceneInfo) -> None:
    version = values["version"]
    if not 0 < version <= scene.version:
        raise InputError(f"version {version:,} is none of the scene, which has versions up to {scene.version:,}")
    if any(not 0 < undone < version for undone in values["undoes"]):
        raise ValueError
    if delta_hash(values["delta"]) != values["hash"]:
        raise InputError(f"the change of version {version:,} is not the one that was committed: its hash differs")
    delta_from_json(values["delta"])


def _faults(scenes: list[ArchivedScene]) -> Iterator[str]:
    """Yield what is wrong between scenes."""
    keys = Counter(scene.line.key for scene in scenes)
    names = Counter(scene.line.name for scene in scenes if scene.line.status == "ready")
    yield from (f"two scenes have the key {shown(key)}" for key, number in keys.items() if number > 1)
    yield from (f"two scenes are named {name!r}; an archive has one of a name" for name, n in names.items() if n > 1)
    versions = {scene.line.key: scene.info.version for scene in scenes}
    for scene in scenes:
        known = versions.get(scene.line.world or "")
        if known is not None and (scene.info.world_version or 0) > known:
            yield f"the belief {scene.line.name!r} is newer than its world"


def spaces_of(scene: ArchivedScene, key: str) -> dict[str, VectorSpace]:
    """Return the sets of vectors that are restored for a scene of this new key, by their archived keys."""
    return {it.set: replace(it, set=digest(f"{key} {it.set}")) for it in scene.info.declared.vectors}


def mapped(scene: ArchivedScene, keys: Mapping[str, str]) -> dict[str, Any]:
    """Return a scene's facts with references to scenes of the archive by their new `keys`.

    Others are dropped, except that of a replaced generation, which is kept because it has one.
    """
    origin, _, version = (scene.line.copied_from or "").partition("@")
    successor = scene.line.replaced_by
    vectors = [asdict(it) for it in spaces_of(scene, keys[scene.line.key]).values()]
    return {
        **read_facts(scene.line),
        "vectors": canonical_json(vectors) if vectors else None,
        "nodes": scene.counts[NODES],
        "relations": scene.counts[RELATIONS],
        "replaced_by": None if successor is None else keys.get(successor, successor),
        "world": keys.get(scene.line.world or ""),
        "copied_from": f"{keys[origin]}@{version}" if origin in keys else None,
    }
