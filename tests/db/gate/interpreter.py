"""Queries with their meaning: each part is built as a text and as a function that evaluates it and counts its steps."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from scenecypher.db.gate.cost import BYTES_PER_STEP
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.bounds import values_of
from tests.db.gate.corpus import DATA, graph_of

Scope = dict[str, Any]
HOME: Final = graph_of(json.loads((DATA / "scenes.json").read_text("utf-8"))["home"])
LOOKUP: Final = 8
"""Bytes of a node or a relation as a reference."""


class Steps:
    """Counter of evaluation steps: values made, items and characters read.

    `row` are those between two looks at the server's clock, which it does at each row; `total` are all.
    """

    def __init__(self) -> None:
        self.row, self.total = 0.0, 0.0

    def take(self, steps: float) -> None:
        self.row += steps
        self.total += steps

    def take_rows(self, each: list[Steps]) -> None:
        """Count the rows of a clause or of a sub-query."""
        self.row += max((one.row for one in each), default=0.0)
        self.total += sum(one.total for one in each)


@dataclass(frozen=True)
class Thing:
    """A node as a value."""

    id: str
    properties: dict[str, Any] = field(compare=False, repr=False)


@dataclass(frozen=True)
class Code:
    """An expression of a query: its text, and a function that evaluates it."""

    text: str
    run: Callable[[Scope, Steps], Any]

    def value(self, scope: Scope, steps: Steps) -> Any:
        steps.take(1)
        return self.run(scope, steps)


class Home:
    """The scene `home` as a graph that patterns are matched with."""

    def __init__(self, graph: SceneGraph) -> None:
        self.things = {node.id: Thing(node.id, values_of(node)) for node in graph.nodes.values()}
        self.kinds = {node.id: node.kind for node in graph.nodes.values()}
        self.relations = [(one.source, one.type, one.target) for one in graph.relations]

    def of_kind(self, kind: str) -> list[Thing]:
        return [thing for id_, thing in self.things.items() if kind in {self.kinds[id_], "Entity"}]

    def paths(self, start: Thing, types: str, longest: int) -> Iterator[Thing]:
        """Yield the end of each path of 1 to `longest` relations of these types, none of them twice."""
        yield from self._paths(start.id, types.split("|"), longest, ())

    def _paths(self, at: str, types: list[str], longest: int, used: tuple[int, ...]) -> Iterator[Thing]:
        for number, (source, type_, target) in enumerate(self.relations):
            if source == at and type_ in types and number not in used:
                yield self.things[target]
                if len(used) + 1 < longest:
                    yield from self._paths(target, types, longest, (*used, number))


SCENE: Final = Home(HOME)


def bytes_of(value: Any, *, on_wire: bool = False) -> int:
    """Return the bytes of a value; on the wire a node has its properties, in a list of the server's it has not."""
    match value:
        case str():
            return len(value.encode())
        case list() | tuple():
            return sum(8 + bytes_of(item, on_wire=on_wire) for item in value)
        case dict():
            return sum(8 + bytes_of(item, on_wire=on_wire) for item in value.values())
        case Thing() if on_wire:
            return bytes_of(value.properties, on_wire=True)
        case _:
            return LOOKUP


def listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


# --- expressions


def literal(value: Any) -> Code:
    text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)
    return Code(text, lambda _scope, _steps: value)


def name(one: str) -> Code:
    return Code(one, lambda scope, _: scope[one])


def property_of(node: str, key: str) -> Code:
    return Code(f"{node}.{key}", lambda scope, _: scope[node].properties.get(key) or "")


def items(parts: list[Code]) -> Code:
    text = f"[{', '.join(part.text for part in parts)}]"
    return Code(text, lambda scope, steps: [part.value(scope, steps) for part in parts])


def joined(left: Code, right: Code) -> Code:
    def run(scope: Scope, steps: Steps) -> Any:
        one, two = left.value(scope, steps), right.value(scope, steps)
        made = listed(one) + listed(two) if list in {type(one), type(two)} else f"{one}{two}"
        steps.take(bytes_of(made) / BYTES_PER_STEP / 4)
        return made

    return Code(f"({left.text} + {right.text})", run)


def comprehension(variable: str, source: Code, body: Code) -> Code:
    def run(scope: Scope, steps: Steps) -> Any:
        found = []
        for one in listed(source.value(scope, steps)):
            found.append(body.value({**scope, variable: one}, steps))
            steps.take(1)
        return found

    return Code(f"[{variable} IN {source.text} | {body.text}]", run)


def filtered(variable: str, source: Code, inner: Code) -> Code:
    """Return `[x IN source WHERE any(y IN inner WHERE x = y)]`, which never stops early here."""

    def run(scope: Scope, steps: Steps) -> Any:
        kept = []
        for one in listed(source.value(scope, steps)):
            steps.take(1)
            others = listed(inner.value({**scope, variable: one}, steps))
            for other in others:
                steps.take(1 + min(bytes_of(one), bytes_of(other)) / BYTES_PER_STEP)
            if one in others:
                kept.append(one)
        return kept

    text = f"[{variable} IN {source.text} WHERE any({variable}2 IN {inner.text} WHERE {variable} = {variable}2)]"
    return Code(text, run)


def held(source: Code) -> Code:
    return Code(f"{{a: {source.text}, b: 1}}.a", source.value)


def counted(source: Code) -> Code:
    """Return `range(1, abs(-(size(x) + 2)))`."""
    run: Callable[[Scope, Steps], Any] = lambda scope, steps: list(range(1, len(source.value(scope, steps)) + 3))  # noqa: E731
    return Code(f"range(1, abs(-(size({source.text}) + 2)))", run)


def split(source: Code) -> Code:
    return Code(f"split({source.text}, 'a')", lambda scope, steps: str(source.value(scope, steps)).split("a"))


def replaced(source: Code) -> Code:
    def run(scope: Scope, steps: Steps) -> Any:
        made = str(source.value(scope, steps)).replace("a", "bab")
        steps.take(len(made) / BYTES_PER_STEP)
        return made

    return Code(f"replace({source.text}, 'a', 'bab')", run)


def case(condition: Code, one: Code, other: Code) -> Code:
    def run(scope: Scope, steps: Steps) -> Any:
        return (one if condition.value(scope, steps) else other).value(scope, steps)

    return Code(f"CASE WHEN {condition.text} THEN {one.text} ELSE {other.text} END", run)


# --- conditions


def among(one: Code, source: Code) -> Code:
    def run(scope: Scope, steps: Steps) -> bool:
        value, found = one.value(scope, steps), listed(source.value(scope, steps))
        steps.take(bytes_of(found) / BYTES_PER_STEP)
        return value in found

    return Code(f"{one.text} IN {source.text}", run)


def contains(one: Code, other: Code) -> Code:
    def run(scope: Scope, steps: Steps) -> bool:
        text, part = str(one.value(scope, steps)), str(other.value(scope, steps))
        steps.take(len(text) * len(part) / BYTES_PER_STEP / 4)
        return part in text

    return Code(f"{one.text} CONTAINS {other.text}", run)


def one_alone(one: Code, other: Code) -> Code:
    def run(scope: Scope, steps: Steps) -> bool:
        first, second = one.value(scope, steps), other.value(scope, steps)
        return bool(first and not second)

    return Code(f"({one.text} AND NOT ({other.text}))", run)


# --- patterns in expressions


def ends_of(node: str, types: str, longest: int, body: Code, form: str) -> Code:
    """Return what stands in `body` for each end `m` of the paths from a node, by a form of sub-query or of list."""
    path = f"({node})-[:{types}*1..{longest}]->(m)"
    texts = {
        "list": f"[{path} | {body.text}]",
        "COLLECT": f"COLLECT {{ MATCH {path} RETURN {body.text} }}",
        "COUNT": f"COUNT {{ MATCH {path} WHERE {body.text} = {body.text} }}",
        "EXISTS": f"EXISTS {{ {path} WHERE {body.text} <> {body.text} }}",
    }

    def run(scope: Scope, steps: Steps) -> Any:
        found, each = [], []
        for end in SCENE.paths(scope[node], types, longest):
            each.append(Steps())
            found.append(body.value({**scope, "m": end}, each[-1]))
        steps.take_rows(each)
        return {"COUNT": len(found), "EXISTS": False}.get(form, found)

    return Code(texts[form], run)


# --- queries


@dataclass
class Run:
    """A query so far: its text, its rows, the steps that they took, and the names in scope, by kind as first letter."""

    text: str = ""
    rows: list[Scope] = field(default_factory=lambda: [{}])
    names: list[str] = field(default_factory=list)
    steps: Steps = field(default_factory=Steps)

    def clause(self, text: str, rows: Callable[[Scope, Steps], list[Scope]]) -> None:
        """Add a clause that makes rows of each row."""
        each = [Steps() for _ in self.rows]
        self.rows = [new for row, steps in zip(self.rows, each, strict=True) for new in rows(row, steps)]
        self.steps.take_rows(each)
        self.text += text + " "

    def of_kind(self, letter: str) -> list[str]:
        return [one for one in self.names if one.startswith(letter)]

    def match(self, node: str, kind: str, where: Code | None) -> None:
        """Add `MATCH (node:kind)`."""
        things = SCENE.of_kind(kind)
        self.names.append(node)
        self._match(f"MATCH ({node}:{kind})", where, lambda row: [{**row, node: thing} for thing in things])

    def follow(self, start: str, node: str, types: str, longest: int, where: Code | None) -> None:
        """Add `MATCH (start)-[:types*1..longest]->(node)`."""
        self.names.append(node)
        hop = f":{types}*1..{longest}" if longest > 1 else f":{types}"
        ends: Callable[[Scope], list[Scope]] = lambda row: [  # noqa: E731
            {**row, node: end} for end in SCENE.paths(row[start], types, longest)
        ]
        self._match(f"MATCH ({start})-[{hop}]->({node})", where, ends)

    def _match(self, text: str, where: Code | None, found: Callable[[Scope], list[Scope]]) -> None:
        def rows(row: Scope, steps: Steps) -> list[Scope]:
            kept, each = [], []
            for new in found(row):
                each.append(Steps())
                if where is None or where.value(new, each[-1]):
                    kept.append(new)
            steps.take_rows(each)
            return kept

        self.clause(text + (f" WHERE {where.text}" if where else ""), rows)

    def unwind(self, source: Code, variable: str) -> None:
        """Add UNWIND."""
        self.names.append(variable)
        self.clause(
            f"UNWIND {source.text} AS {variable}",
            lambda row, steps: [{**row, variable: one} for one in listed(source.value(row, steps))],
        )

    def define(self, variable: str, code: Code, *, limit: int | None = None) -> None:
        """Add a WITH that defines a name, perhaps one that there was before."""
        others = [one for one in self.names if one != variable]
        items_ = ", ".join([*others, f"{code.text} AS {variable}"])
        self.names = [*others, variable]
        self.clause(f"WITH {items_}", lambda row, steps: [{**row, variable: code.value(row, steps)}])
        if limit is not None:
            self.text += f"LIMIT {limit} "
            self.rows = self.rows[:limit]

    def collect(self, keys: list[str], code: Code, list_: str, number: str, *, distinct: bool) -> None:
        """Add a WITH that groups by some names and collects a value."""
        groups: dict[str, tuple[Scope, list[Any], list[int]]] = {}

        def gather(row: Scope, steps: Steps) -> list[Scope]:
            key = {one: row[one] for one in keys}
            group = groups.setdefault(repr(key), (key, [], []))
            value = code.value(row, steps)
            if not distinct or value not in group[1]:
                group[1].append(value)
            group[2].append(1)
            return []

        collected = f"collect({'DISTINCT ' * distinct}{code.text}) AS {list_}"
        empty = not self.rows and not keys
        self.clause(f"WITH {', '.join([*keys, collected, f'count(*) AS {number}'])}", gather)
        self.rows = [{**key, list_: found, number: len(all_)} for key, found, all_ in groups.values()]
        self.rows += [{list_: [], number: 0}] * empty
        self.names = [*keys, list_, number]

    def call(self, node: str, types: str, number: str) -> None:
        """Add a CALL that counts what a node leads to."""
        self.names.append(number)
        text = f"CALL ({node}) {{ MATCH ({node})-[:{types}]->(m) RETURN count(m) AS {number} }}"
        count: Callable[[Scope, Steps], list[Scope]] = lambda row, _: [  # noqa: E731
            {**row, number: len(list(SCENE.paths(row[node], types, 1)))}
        ]
        self.clause(text, count)

    def returned(self) -> str:
        """Return the whole query's text."""
        return f"{self.text}RETURN {', '.join(self.names)}"
