"""Vocabularies by name: those that come with SceneCypher, those of installed packages, and those added in Python.

A vocabulary is a value of one package (`scenecypher.planner.vocabularies.vocabulary.Vocabulary`), found by its name as
an entry point is. This layer reads no more of it than its `Conventions`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Final, LiteralString, Protocol

from scenecypher.db.graph.value import digest
from scenecypher.errors import InputError, did_you_mean
from scenecypher.plugins import installed, load, unreadable

GROUP: Final = "scenecypher.vocabularies"
"""The group of entry points by which an installed package brings a vocabulary of its own."""
WHAT: Final = "vocabulary"

BUILT_IN: Final[Mapping[str, str]] = {
    "household": "scenecypher.planner.vocabularies.household:VOCABULARY",
    "virtualhome": "scenecypher.planner.vocabularies.virtualhome:VOCABULARY",
    "virtualhome_ext": "scenecypher.planner.vocabularies.virtualhome:EXTENDED",
    "grasif": "scenecypher.planner.vocabularies.grasif:VOCABULARY",
    "babyai": "scenecypher.planner.vocabularies.babyai:VOCABULARY",
}
"""One row a vocabulary: its name, and the value of it as an entry point names it."""

DEFAULT: Final = "household"
"""The vocabulary of a scene that names no other."""

FORMER_NAMES: Final[Mapping[str, str]] = {"generic": DEFAULT}
"""Names in stored scenes and files of earlier versions, read as the names of today."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conventions:
    """The conventions of a vocabulary's scenes, for those who store and query them.

    `containment` are the relation types of being in, on or at something. With `one_parent`, a node has at most one of
    them, and they form no cycle. `notes` are lines of the schema text. `texts` is the Python package with the files of
    worked examples: `queries.jsonl` for queries; `domain.pddl` and `examples/` for planning methods. An environment's
    schema names its `relations` and `properties` besides those of the actions and of every node, and its `classes`, if
    they are a closed list. `structure` are the classes of walls and the like: views leave them out where nothing is on
    them, and no example of a name is one.
    """

    containment: tuple[LiteralString, ...]
    one_parent: bool
    notes: tuple[str, ...]
    texts: str
    relations: tuple[LiteralString, ...] = ()
    properties: tuple[LiteralString, ...] = ()
    classes: tuple[str, ...] = ()
    structure: frozenset[str] = frozenset()


class NamedVocabulary(Protocol):
    """A vocabulary as far as this layer reads it."""

    @property
    def name(self) -> str:
        """The name that scenes store."""
        ...

    @property
    def conventions(self) -> Conventions:
        """The conventions of its scenes."""
        ...


_added: Final[dict[str, NamedVocabulary]] = {}
_own_actions: Final[dict[str, str]] = {}
OWN: Final = "+"
"""Stands between the name of a vocabulary and the digest of a scene's own actions."""


def current_name(name: str) -> str:
    """Return the name of today for one of an earlier version; any other as it is."""
    return FORMER_NAMES.get(name, name)


def vocabulary_names() -> tuple[str, ...]:
    """Return the names of all known vocabularies: built in, of installed packages, and added."""
    return tuple(dict.fromkeys((*BUILT_IN, *installed(GROUP), *_added)))


def add_vocabulary(vocabulary: NamedVocabulary) -> None:
    """Make a vocabulary known in this process, in place of one added before. Raises InputError for a built-in name."""
    if vocabulary.name in {*BUILT_IN, *FORMER_NAMES}:
        raise InputError(f"{vocabulary.name!r} is the name of a vocabulary that comes with SceneCypher; choose another")
    _added[vocabulary.name] = vocabulary


def with_own_actions(name: str, actions: str) -> str:
    """Return the name of a vocabulary with a scene's own `actions` (JSON); `name` itself if there are none.

    The name is the digest of the actions, so that it means the same in every process that has read the scene.
    """
    if not actions:
        return name
    own = f"{base_name(name)}{OWN}{digest(actions)[:16]}"
    _own_actions[own] = actions
    return own


def base_name(name: str) -> str:
    """Return the name of a vocabulary without a scene's own actions."""
    return name.partition(OWN)[0]


def load_vocabulary(name: str) -> NamedVocabulary:
    """Return a vocabulary by its name. Raises InputError for an unknown or unreadable one."""
    if name in _added:
        return _added[name]
    return _with_own(name) if name in _own_actions else _load(current_name(name))


def conventions_of(name: str) -> Conventions:
    """Return the conventions of a vocabulary's scenes. Raises InputError as `load_vocabulary` does."""
    return load_vocabulary(name).conventions


def is_known(name: str) -> bool:
    """Check if a vocabulary has this name, without loading it."""
    # The search of all installed packages is the last: it takes 15 ms, for each scene that is read.
    return name in {*FORMER_NAMES, *BUILT_IN, *_added} or name in vocabulary_names()


@cache
def _with_own(name: str) -> NamedVocabulary:
    """Return the vocabulary of a scene with actions of its own."""
    make: Any = EntryPoint("own", "scenecypher.planner.vocabularies.own_actions:vocabulary_of", GROUP).load()
    vocabulary: NamedVocabulary = make(name, load_vocabulary(base_name(name)), _own_actions[name])
    return vocabulary


@cache
def _load(name: str) -> NamedVocabulary:
    point = EntryPoint(name, BUILT_IN[name], GROUP) if name in BUILT_IN else _installed(name)
    found: Any = load(point, WHAT, object)
    if not isinstance(getattr(found, "conventions", None), Conventions):
        raise unreadable(point, WHAT, f"it is a {type(found).__name__}, no Vocabulary")
    if found.name != name:
        raise unreadable(point, WHAT, f"its name is {found.name!r}")
    vocabulary: NamedVocabulary = found
    return vocabulary


def _installed(name: str) -> EntryPoint:
    for point in entry_points(group=GROUP, name=name):
        return point
    names = vocabulary_names()
    raise InputError(
        f"no vocabulary is called {name[:60]!r}{did_you_mean(name[:60], names)}; there are {', '.join(names)}. Install "
        "the package that brings it, or give the scene another: `scenecypher scenes set NAME --vocabulary household`"
    )
