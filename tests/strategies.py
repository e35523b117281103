"""Hypothesis strategies: scene graphs of every awkward sort, changes of them, and Conditions over them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from operator import attrgetter
from random import Random
from typing import Final

from hypothesis import strategies as st

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import Node, Point, Properties, Relation, Scalar, SceneGraph, Value
from scenecypher.db.schema import KINDS

# Few of each, so that graphs meet in them; odd ones among them, so that nothing is taken for granted.
IDS: Final[tuple[str, ...]] = (
    "a",
    "b",
    "c",
    "soap_1001",
    "é",
    "日本",
    "d d",
    "`x`",
    "'; DETACH DELETE n //",
    "$key",
    "🧼",
)
NAMES: Final[tuple[str, ...]] = ("cup", "Cup", "cup_1", 'naïve "mug"', "コップ", "a\\b", "{x}")
CLASSES: Final[tuple[str, ...]] = ("cup", "dinner_plate", "Fridge", "яблоко")
STATES: Final[tuple[str, ...]] = ("open", "closed", "on", "plugged_in", "ein/aus")
AFFORDANCES: Final[tuple[str, ...]] = ("grabbable", "can_open", "surfaces")
TYPES: Final[tuple[str, ...]] = ("INSIDE", "ON", "CLOSE", "HOLDS", "HOLDS_LH", "HOLDS_RH", "FACING", "NEXT_TO")
"""The last one is no registry type: a scene declares it."""
KEYS: Final[tuple[str, ...]] = ("color", "size_x", "center", "seen", "last_seen", "serial_number")
"""The last one is no registry property: a scene declares it."""
VARIABLES: Final[tuple[str, ...]] = ("x", "y", "agent", "o")

# Values that are easily taken for one another stand side by side.
ALIKE: Final[tuple[Value, ...]] = (
    *(1, 1.0, True, "1", (1,), (1.0,), (True,), ("1",)),
    *(0, 0.0, -0.0, False, "", (), (0.0,), (-0.0,), (0, 0)),
    *(2**63 - 1, -(2**63), 2**53 + 1, float(2**53), 1e308, 5e-324),
    *(Point(0.0, 0.0), Point(-0.0, 0.0), Point(0.0, 0.0, 0.0), Point(1.5, -2.0), (Point(0.0, 0.0),), (Point(1, 2, 3),)),
    *("red", ("red",), ("red", "blue"), "a\nb\x00c", "é", "true", "null"),
)


def labels() -> st.SearchStrategy[str]:
    """Ids, names, classes: any text in NFC without control characters and marks of direction, at least one letter."""
    turning = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
    characters = st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters=turning)
    return st.text(characters, min_size=1, max_size=8).map(_nfc)


def values() -> st.SearchStrategy[Value]:
    """Any value of a property: scalars, and flat lists of one type, empty ones too."""
    lists = [st.lists(each, max_size=3).map(tuple) for each in _SCALARS]
    return st.one_of(st.sampled_from(ALIKE), *_SCALARS, *lists)


@cache
def nodes() -> st.SearchStrategy[Node]:
    """A node of any kind; its states, affordances and properties may all be absent."""
    return st.builds(
        Node,
        st.sampled_from(IDS) | labels(),
        st.sampled_from([*KINDS]),
        st.sampled_from(NAMES) | labels(),
        st.sampled_from(CLASSES),
        _some(STATES),
        _some(AFFORDANCES),
        st.dictionaries(st.sampled_from(KEYS), values(), max_size=3).map(lambda given: Properties(given.items())),
    )


@cache
def scene_graphs(*, max_nodes: int = 6, max_relations: int = 10) -> st.SearchStrategy[SceneGraph]:
    """Small graphs, dense enough for cycles, self-loops, two parents and two hands."""
    members = st.lists(nodes(), unique_by=attrgetter("id"), max_size=max_nodes)
    end = st.integers(0, max_nodes)
    return st.builds(_graph, members, st.sets(st.tuples(end, st.sampled_from(TYPES), end), max_size=max_relations))


def _graph(members: Sequence[Node], links: Iterable[tuple[int, str, int]]) -> SceneGraph:
    relations = {
        Relation(members[source % len(members)].id, type_, members[target % len(members)].id)
        for source, type_, target in links
        if members
    }
    return SceneGraph.of(members, relations)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _some(items: Sequence[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(items), max_size=3).map(tuple)


_TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=8).map(_nfc)
_FLOATS: Final = st.floats(allow_nan=False, allow_infinity=False)
_SCALARS: Final[tuple[st.SearchStrategy[Scalar], ...]] = (
    _TEXTS,
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    _FLOATS,
    st.builds(Point, _FLOATS, _FLOATS),
    st.builds(Point, _FLOATS, _FLOATS, _FLOATS),
)


def big_graph(seed: int, *, size: int = 2_000) -> SceneGraph:
    """A graph of `size` nodes and three times as many relations, the same for the same seed."""
    random = Random(seed)  # noqa: S311  a test's graph is no secret
    members = [
        Node(
            f"n{number}",
            random.choice([*KINDS]),
            f"thing_{random.randrange(size // 2)}",
            random.choice(CLASSES),
            tuple(random.sample(STATES, random.randrange(3))),
            tuple(random.sample(AFFORDANCES, random.randrange(3))),
            Properties((key, random.choice(ALIKE)) for key in random.sample(KEYS, random.randrange(3))),
        )
        for number in range(size)
    ]
    ends = [(random.randrange(size), random.choice(TYPES), random.randrange(size)) for _ in range(3 * size)]
    return SceneGraph.of(members, {Relation(f"n{source}", type_, f"n{target}") for source, type_, target in ends})


def terms() -> st.SearchStrategy[c.Term]:
    """Variables, bound or not, and constants, there or not."""
    return st.sampled_from(VARIABLES) | st.sampled_from(VARIABLES) | st.sampled_from(IDS).map(c.Id)


def choices() -> st.SearchStrategy[dict[str, int]]:
    """A number for some of the variables; `bound` makes node ids of them."""
    return st.dictionaries(st.sampled_from(VARIABLES), st.integers(0, 6), max_size=4)


def bound(choices: Mapping[str, int], graph: SceneGraph) -> dict[str, str]:
    """Bindings of variables to nodes of `graph`, or to one that is missing."""
    ids = [*sorted(graph.nodes), "missing"]
    return {variable: ids[number % len(ids)] for variable, number in choices.items()}


def atoms() -> st.SearchStrategy[c.Atom]:
    """Conditions that hold no other."""
    types = st.lists(st.sampled_from(TYPES), min_size=1, max_size=3).map(tuple)
    return st.one_of(
        st.builds(c.HasState, terms(), st.sampled_from(STATES)),
        st.builds(c.HasClass, terms(), st.sampled_from(CLASSES)),
        st.builds(c.HasKind, terms(), st.sampled_from([*KINDS])),
        st.builds(c.HasAffordance, terms(), st.sampled_from(AFFORDANCES)),
        st.builds(c.Related, terms(), st.sampled_from(TYPES), terms()),
        st.builds(c.HeldBy, terms(), terms()),
        st.builds(c.Within, terms(), terms(), types),
        st.builds(c.Same, terms(), terms()),
        st.builds(c.PropertyEquals, terms(), st.sampled_from(KEYS), values()),
        st.builds(c.PropertyEquals, terms(), st.sampled_from(("name", "class")), st.sampled_from(NAMES + CLASSES)),
    )


def conditions(max_leaves: int = 8) -> st.SearchStrategy[c.Condition]:
    """Conditions of every sort, nested, their variables bound, shadowed, unbound."""
    return st.recursive(atoms(), _grown, max_leaves=max_leaves)


def _grown(inner: st.SearchStrategy[c.Condition]) -> st.SearchStrategy[c.Condition]:
    parts = st.lists(inner, max_size=3).map(tuple)
    variable = st.sampled_from(VARIABLES)
    return st.one_of(
        st.builds(c.And, parts),
        st.builds(c.Or, parts),
        st.builds(c.Not, inner),
        st.builds(c.Exists, variable, inner),
        st.builds(c.ForAll, variable, inner, inner),
        st.builds(c.AtLeast, st.integers(0, 3), variable, inner),
        st.builds(c.Exactly, st.integers(0, 3), variable, inner),
    )
