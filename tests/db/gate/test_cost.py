"""Soundness of the cost bound: no query takes more steps, or gives a longer row, than its bound."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenecypher.db.gate import Limits
from scenecypher.db.gate.cost import BYTES_PER_STEP, Cost
from scenecypher.db.gate.scope import scope
from scenecypher.db.store.bounds import Bounds
from scenecypher.errors import QueryRefused
from tests.db.gate.corpus import HOME_BOUNDS, VOCABULARY

UNLIMITED: Final = replace(Limits(), steps=1e12, text_length=100_000)
Scope = dict[str, Any]


class Steps:
    """Counter of evaluation steps: values made, items and characters read."""

    def __init__(self) -> None:
        self.taken = 0.0

    def take(self, steps: float) -> None:
        self.taken += steps


@dataclass(frozen=True)
class Code:
    """An expression of a query: its text, and a function that evaluates it."""

    text: str
    run: Callable[[Scope, Steps], Any]

    def value(self, scope: Scope, steps: Steps) -> Any:
        steps.take(1)
        return self.run(scope, steps)


def bytes_of(value: Any) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, list):
        return sum(8 + bytes_of(item) for item in value)
    return sum(8 + bytes_of(item) for item in value.values()) if isinstance(value, dict) else 8


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def literal(value: Any) -> Code:
    return Code(
        json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value), lambda _scope, _steps: value
    )


def name(one: str) -> Code:
    return Code(one, lambda scope, _: scope[one])


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


def among(one: Code, source: Code) -> Code:
    def run(scope: Scope, steps: Steps) -> Any:
        value, found = one.value(scope, steps), listed(source.value(scope, steps))
        steps.take(bytes_of(found) / BYTES_PER_STEP)
        return 1 if value in found else 0

    return Code(f"CASE WHEN {one.text} IN {source.text} THEN 1 ELSE 0 END", run)


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


texts = st.sampled_from(["", "a", "aab", "ä", "a" * 200]).map(literal)
numbers = st.integers(0, 30).map(literal)


def text_codes(names: list[str]) -> st.SearchStrategy[Code]:
    known = [name(one) for one in names if one.startswith("t")]
    base = st.one_of(texts, st.sampled_from(known)) if known else texts
    return st.recursive(
        base, lambda inner: st.one_of(st.builds(joined, inner, inner), inner.map(replaced)), max_leaves=4
    )


def list_codes(names: list[str]) -> st.SearchStrategy[Code]:
    known = [name(one) for one in names if one.startswith("l")]
    plain = st.one_of(st.lists(st.one_of(numbers, texts), max_size=4).map(items), text_codes(names).map(split))
    base = st.one_of(plain, st.sampled_from(known)) if known else plain

    def grown(inner: st.SearchStrategy[Code]) -> st.SearchStrategy[Code]:
        fresh = st.sampled_from(["x", "y", "z"])
        return st.one_of(
            st.builds(joined, inner, inner),
            st.builds(comprehension, fresh, inner, inner),
            st.builds(comprehension, fresh, inner, fresh.map(lambda _: literal(1))),
            st.builds(filtered, fresh, inner, inner),
            st.builds(lambda one, two: items([among(one, two)]), numbers, inner),
            st.lists(inner, min_size=1, max_size=3).map(items),
            inner.map(held),
            inner.map(counted),
        )

    return st.recursive(base, grown, max_leaves=6)


@dataclass(frozen=True)
class Query:
    """A query of successive WITH, each of which defines a name, with its steps and its row."""

    text: str
    steps: float
    row: list[Any]


@st.composite
def queries(draw: st.DrawFn) -> Query:
    names: list[str] = []
    text, scope, steps = "", Scope(), Steps()
    for number in range(draw(st.integers(1, 4))):
        kind = draw(st.sampled_from("lt"))
        code = draw((list_codes if kind == "l" else text_codes)(names))
        chosen = draw(st.sampled_from([f"{kind}{number}", *[one for one in names if one.startswith(kind)]]))
        others = [one for one in names if one != chosen]
        text += f"WITH {', '.join([*others, f'{code.text} AS {chosen}'])} "
        scope[chosen] = code.value(scope, steps)
        names = [*others, chosen]
        if bytes_of(scope[chosen]) > 100_000:
            break
    return Query(f"{text}RETURN {', '.join(names)}", steps.taken, [scope[one] for one in names])


def cost_of(text: str, bounds: Bounds = HOME_BOUNDS) -> Cost | None:
    try:
        return scope(text, VOCABULARY, UNLIMITED, bounds=bounds).cost
    except QueryRefused as refused:
        if refused.code not in {"cost", "nesting"}:
            raise
        return None


@given(queries())
def test_no_query_takes_more_steps_than_its_bound(query: Query) -> None:
    cost = cost_of(query.text)
    if cost is not None:
        assert cost.row_steps >= query.steps
        assert cost.steps >= query.steps
        assert cost.row_bytes >= sum(map(bytes_of, query.row))


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 3))
def test_rows_are_never_more_than_their_bound(one: int, other: int, lists: int) -> None:
    text = f"UNWIND range(1, {one}) AS a UNWIND range(1, {other}) AS b WITH collect(a) AS l "
    cost = cost_of(text + "RETURN " + ", ".join(f"l AS l{at}" for at in range(lists)))
    assert cost is not None
    assert cost.row_bytes >= lists * one * other * 8
    assert (cost_of(text + "UNWIND l AS x RETURN x") or cost).rows >= one * other


@pytest.mark.parametrize(
    ("pattern", "rows"),
    [
        ("(n)", 60),
        ("(n:Place)", 4),
        ("(n {id: 'kitchen'})", 1),
        ("(a)-[:ON]->(b)", 19),
        ("(a {id: 'kitchen'})<-[:INSIDE]-(b)", 10),
        ("(a)--(b)", 154),
    ],
)
def test_patterns_give_at_most_the_rows_that_the_scene_has(pattern: str, rows: int) -> None:
    cost = cost_of(f"MATCH {pattern} RETURN 1 AS x")
    assert cost is not None
    assert rows <= cost.rows <= 3 * rows


@pytest.mark.parametrize(
    ("value", "least"),
    [
        ("n", 200),
        ("n {.*}", 200),
        ("properties(n)", 200),
        ("n {.*}.name", 20),
        ("n['name']", 20),
        ("[n {.*}][0].name", 20),
        ("head(collect(n)).name", 20),
        ("{m: n}.m.name", 20),
        ("CASE WHEN true THEN n END.name", 20),
        ("[x IN keys(n) | n[x]]", 100),
        ("[(n)--(o) | o]", 30 * 200),
        ("COLLECT { MATCH (o)--(p) RETURN o {.*} }", 100 * 200),
        ("-size(n.name)", 8),
    ],
)
def test_what_is_read_of_a_node_is_as_long_as_the_scene_says(value: str, least: int) -> None:
    cost = cost_of(f"MATCH (n) RETURN {value} AS x")
    assert cost is not None
    assert cost.row_bytes >= least


def test_a_verdict_holds_for_a_scene_of_its_size() -> None:
    text = (
        "MATCH (n) WITH collect(n) AS l "
        "RETURN size([a IN l WHERE any(b IN l WHERE any(c IN l WHERE a.name + b.name = c.name))])"
    )
    larger = Bounds(frozenset((measure, key, 30 * number) for measure, key, number in HOME_BOUNDS.entries))
    assert scope(text, VOCABULARY, Limits(), bounds=HOME_BOUNDS)
    with pytest.raises(QueryRefused, match="a loop over `l`"):
        scope(text, VOCABULARY, Limits(), bounds=larger)
