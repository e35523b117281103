"""The catalog of scenes: one `Scene` node per generation, with its facts."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, LiteralString, TypeAlias

from scenecypher.db.schema import Declared, VectorSpace
from scenecypher.db.store.bounds import UNKNOWN, Bounds, read_bounds
from scenecypher.db.store.connection import Database
from scenecypher.db.vocabulary import DEFAULT, current_name, with_own_actions
from scenecypher.errors import InputError, SceneNotFound

Role: TypeAlias = Literal["world", "belief"]
Status: TypeAlias = Literal["importing", "ready", "retired", "deleting"]

SCENE_NAME_LENGTH: Final = 200
BELIEF_SUFFIX: Final = "@belief"
MOMENT: Final = r"@\s*[+-]?\d[\d\s:.,_+TZtz-]*$"
AS_IT_WAS: Final = re.compile(MOMENT, re.ASCII)
RESERVED: Final = re.compile(rf"{BELIEF_SUFFIX}$|{MOMENT}", re.IGNORECASE)
"""Ends of names that no new scene may have; digits of other alphabets look like a version there, and are none."""
INVISIBLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""What is printable for Python and shows nothing."""
ALPHABETS: Final = ("LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE", "COPTIC")
"""Alphabets of which letters look alike, as Unicode's names of letters begin."""

FIND: Final[LiteralString] = "MATCH (s:Scene {name: $name}) RETURN s"
# Of a name and its beginning the longer one comes first.
FIND_LONGEST: Final[LiteralString] = "MATCH (s:Scene) WHERE s.name IN $names RETURN s ORDER BY s.name DESC LIMIT 1"
BY_KEY: Final[LiteralString] = "MATCH (s:Scene {key: $key}) RETURN s"
REPLACED: Final[LiteralString] = """
MATCH (s:Scene {status: 'retired', was: $name}) RETURN s ORDER BY s.retired DESC LIMIT 1
"""
LIST: Final[LiteralString] = """
MATCH (s:Scene {status: 'ready'}) WHERE s.name IS NOT NULL AND ($leased OR s.leased IS NULL)
RETURN s ORDER BY s.name
"""


@dataclass(frozen=True, slots=True)
class SceneInfo:
    """One generation of a scene, as of one read.

    `key` is opaque and stored on each member; `version` counts commits since the import or copy. `bounds` may have
    grown since. If `is_past_copy`, it is the cached copy of a scene's earlier state, which nobody may change.
    """

    key: str
    name: str
    role: Role
    vocabulary: str
    status: Status
    version: int
    declared: Declared = field(default_factory=Declared)
    source: str = ""
    nodes: int = 0
    relations: int = 0
    copied_from: str | None = None
    world: str | None = None
    world_version: int | None = None
    base: int = 0
    bounds: Bounds = UNKNOWN
    is_past_copy: bool = False


def info_of(record: Mapping[str, Any]) -> SceneInfo:
    """Return the value of a Scene node from the server; missing facts get their defaults."""
    declared = Declared(
        tuple(record.get("declared_relations", ())),
        tuple(record.get("declared_properties", ())),
        record.get("actions", ""),
        record.get("domain", ""),
        record.get("rules", ""),
        tuple(VectorSpace(**it) for it in json.loads(record.get("vectors") or "[]")),
    )
    return SceneInfo(
        key=record["key"],
        name=record.get("name") or record.get("was") or record["key"],
        role=record.get("role", "world"),
        vocabulary=with_own_actions(current_name(record.get("vocabulary", DEFAULT)), declared.actions),
        status=record["status"],
        version=record["version"],
        declared=declared,
        source=record.get("source", ""),
        nodes=record.get("nodes", 0),
        relations=record.get("relations", 0),
        copied_from=record.get("copied_from"),
        world=record.get("world"),
        world_version=record.get("world_version"),
        base=record.get("base", 0),
        bounds=read_bounds(record),
        is_past_copy=record.get("past") is not None,
    )


def find_scene(database: Database, name: str) -> SceneInfo:
    """Return the published scene of this name. Raises SceneNotFound with the nearest names.

    Raises InputError for an earlier state of a scene, such as ``NAME@7``: `find_at` finds those.
    """
    found = lookup_scene(database, name)
    if found is None:
        known = [info.name for info in list_scenes(database)]
        stem, _ = split_at(name) or (None, "")
        raise read_only_error(name) if stem in known else SceneNotFound(name, known)
    return found


def split_at(name: str) -> tuple[str, str] | None:
    """Return the two parts of ``NAME@VERSION`` or ``NAME@TIME``; None for any other name."""
    found = AS_IT_WAS.search(name)
    return (name[: found.start()], found[0].removeprefix("@").strip()) if found and found.start() else None


def read_only_error(name: str) -> InputError:
    """Return the error for what can't be done to the earlier state ``NAME@VERSION`` of a scene."""
    msg = f"{name!r} is an earlier state, which can be read and compared, not changed"
    stem, _ = split_at(name) or (name, "")
    how = f"`scenecypher history {stem}` shows what led to it"
    return InputError(f"{msg}; {how}, `scenecypher scenes copy {name} NEW` makes a scene of it to act in")


def lookup_scene(database: Database, name: str) -> SceneInfo | None:
    """Return the published scene of this name, or None."""
    return _read_one(database, FIND, name=name)


def lookup_longest(database: Database, name: str, stem: str) -> SceneInfo | None:
    """Return the published scene of this name, else the one that is named by its beginning `stem`, else None."""
    return _read_one(database, FIND_LONGEST, names=[name, stem])


def scene_of(database: Database, key: str) -> SceneInfo | None:
    """Return the generation of this key; None if it is gone."""
    return _read_one(database, BY_KEY, key=key)


def original_of(scene: SceneInfo) -> SceneInfo:
    """Return the scene, at the same version, of which `scene` is the cached copy of an earlier state; else `scene`."""
    if not scene.is_past_copy or scene.copied_from is None:
        return scene
    name, key = scene.name.rpartition("@")[0], scene.copied_from.rpartition("@")[0]
    return replace(scene, key=key, name=name, copied_from=None, is_past_copy=False)


def find_replaced(database: Database, name: str) -> SceneInfo:
    """Return the last generation that lost this name. Raises InputError if none is left."""
    found = _read_one(database, REPLACED, name=name)
    if found is None:
        msg = f"no earlier generation of {name!r} is left: it was never replaced, or `db clean` has collected it"
        raise InputError(f"{msg}; compare with another scene, or with a version of this one")
    return found


def list_scenes(database: Database, *, leased: bool = False) -> list[SceneInfo]:
    """Return all published scenes by name; copies leased to workers only with `leased`."""
    return [info_of(record["s"]) for record in database.rows(LIST, {"leased": leased})]


def _read_one(database: Database, statement: LiteralString, **parameters: str | list[str]) -> SceneInfo | None:
    record = database.row(statement, parameters)
    if record is None:
        return None
    found = info_of(record["s"])
    database.versions.note(found.key, found.version)
    return found


def checked_new_name(name: str, role: Role) -> str:
    """Return the name of a scene that is to be made, by whatever door. Raises InputError for one that may mislead.

    ``NAME@belief`` is the belief about NAME, ``NAME@`` with a number or a time is NAME as it was then. A name is no
    option of a command and no way out of a folder, and none that looks like another one.
    """
    own = checked_name(name.removesuffix(BELIEF_SUFFIX) if role == "belief" else name)
    if RESERVED.search(own):
        raise InputError(
            f"{name!r} can't name a new scene: names that end in @belief are of beliefs, those that end in @ and a "
            "number or a time are of earlier states; choose another name"
        )
    for why in _misleading(own):
        raise InputError(f"{name!r} can't name a new scene: {why}; choose another name")
    return name


def _misleading(name: str) -> Iterator[str]:
    """Yield why a name may be taken for something else."""
    parts = re.split(r"[/\\]", name)
    if name.startswith("-"):
        yield "with - a command's option begins"
    if not parts[0] or {".", ".."}.intersection(parts):
        yield "as a path it leads out of its folder"
    plain = unicodedata.normalize("NFKC", name)
    if plain != name or INVISIBLE.search(name):
        yield f"it looks like {INVISIBLE.sub('', plain)!r}, which is another name"
    for word in re.findall(r"[^\W\d_]+", name):
        found = {unicodedata.name(letter, "").partition(" ")[0] for letter in word}.intersection(ALPHABETS)
        if len(found) > 1:
            alphabets = " and ".join(it.capitalize() for it in sorted(found))
            yield f"its word {word!r} has letters of several alphabets ({alphabets}), some of which look alike"


def checked_name(name: str) -> str:
    """Return `name` if it is a valid scene name. Raises InputError."""
    if not name or len(name) > SCENE_NAME_LENGTH or not name.isprintable() or name != name.strip():
        raise InputError(
            f"{name[:60]!r} can't name a scene: use 1 to {SCENE_NAME_LENGTH} printable characters, no blank at the ends"
        )
    return name
