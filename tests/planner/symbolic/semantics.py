"""PDDL's own semantics in a few lines, for tiny problems: what an action needs and does, with derived predicates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Any, TypeAlias

from scenecypher.importers.pddl.syntax import Expression, Form, Word, parse_pddl

Tree: TypeAlias = Any
"""A word, or a tuple of trees."""
Fact: TypeAlias = tuple[str, ...]
Env: TypeAlias = Mapping[str, str]


def tree(part: Expression) -> Tree:
    return part.text if isinstance(part, Word) else tuple(map(tree, part.items))


@dataclass
class World:
    """The facts of a state: those that hold of themselves, and those derived from them, layer by layer."""

    objects: tuple[str, ...]
    layers: tuple[tuple[tuple[Tree, Tree], ...], ...]
    basic: frozenset[Fact]
    facts: dict[str, set[Fact]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for fact in self.basic:
            self.facts.setdefault(fact[0], set()).add(fact[1:])
        for layer in self.layers:
            while self._derive(layer):
                pass

    def _derive(self, layer: Iterable[tuple[Tree, Tree]]) -> bool:
        grown = False
        for (name, *parameters), body in layer:
            known = self.facts.setdefault(name, set())
            before = len(known)
            for found in [*self.solutions(body, {})]:
                known.update(tuple(full[it] for it in parameters) for full in self._filled(parameters, found))
            grown |= len(known) > before
        return grown

    def holds(self, part: Tree, env: Env) -> bool:
        return next(self.solutions(part, env), None) is not None

    def solutions(self, part: Tree, env: Env) -> Iterator[Env]:
        """Yield the bindings of its variables, besides those of `env`, by which an expression is true."""
        match part:
            case ("and", *parts):
                yield from self._all(sorted(parts, key=lambda it: it[0] in ("not", "=")), env)
            case ("or", *parts):
                for it in parts:
                    yield from self.solutions(it, env)
            case ("exists", names, inner):
                free = {name: value for name, value in env.items() if name not in names}
                for found in self.solutions(inner, free):
                    yield {**{name: value for name, value in found.items() if name not in names}, **env}
            case ("not", inner):
                yield from (full for full in self._filled(free_of(inner), env) if not self.holds(inner, full))
            case (name, *ends):
                facts = {(x, x) for x in self.objects} if name == "=" else self.facts.get(name, ())
                yield from (found for fact in [*facts] for found in unified(ends, fact, env))

    def _filled(self, names: Iterable[str], env: Env) -> Iterator[Env]:
        open_ = sorted({*names} - env.keys())
        for values in product(self.objects, repeat=len(open_)):
            yield {**env, **dict(zip(open_, values, strict=True))}

    def _all(self, parts: list[Tree], env: Env) -> Iterator[Env]:
        if not parts:
            yield env
            return
        for found in self.solutions(parts[0], env):
            yield from self._all(parts[1:], found)


def unified(ends: Iterable[str], fact: Iterable[str], env: Env) -> Iterator[Env]:
    found = dict(env)
    for end, value in zip(ends, fact, strict=True):
        if found.setdefault(end, value) != value if end.startswith("?") else end != value:
            return
    yield found


def free_of(part: Tree) -> set[str]:
    if isinstance(part, str):
        return {part} if part.startswith("?") else set()
    if part[0] == "exists":
        return free_of(part[2]) - {*part[1]}
    return {name for it in part[1:] for name in free_of(it)}


@dataclass
class Semantics:
    """A domain and a problem as text."""

    domain: str
    problem: str

    def __post_init__(self) -> None:
        domain = parse_pddl(self.domain, "domain", file="domain")
        problem = parse_pddl(self.problem, "problem", file="problem")
        self.objects = tuple(map(tree, domain.items(":constants")))
        self.actions = {tree(it.items[1]): _action(it) for it in domain.all(":action")}
        self.layers = _layers([(tree(it.items[1]), tree(it.items[2])) for it in domain.all(":derived")])
        self.start = frozenset(map(tree, problem.items(":init")))
        (self.goal,) = map(tree, problem.items(":goal"))

    def world(self, basic: frozenset[Fact]) -> World:
        return World(self.objects, self.layers, basic)

    def after(self, step: Fact, basic: frozenset[Fact]) -> frozenset[Fact] | None:
        """Return the facts after an action; None if it is not possible."""
        parameters, precondition, effect = self.actions[step[0]]
        world, env = self.world(basic), dict(zip(parameters, step[1:], strict=True))
        if not world.holds(precondition, env):
            return None
        lost, gained = set[Fact](), set[Fact]()
        for fact, holds in _changes(world, effect, env):
            (gained if holds else lost).add(fact)
        return (basic - lost) | gained


def _action(form: Form) -> tuple[Tree, Tree, Tree]:
    words = [tree(it) for it in form.items[2:]]
    given = dict(zip(words[::2], words[1::2], strict=True))
    return given[":parameters"], given[":precondition"], given[":effect"]


def _changes(world: World, effect: Tree, env: Env) -> Iterator[tuple[Fact, bool]]:
    match effect:
        case ("and", *parts):
            for part in parts:
                yield from _changes(world, part, env)
        case ("forall", names, inner):
            for values in product(world.objects, repeat=len(names)):
                yield from _changes(world, inner, {**env, **dict(zip(names, values, strict=True))})
        case ("when", condition, inner):
            if world.holds(condition, env):
                yield from _changes(world, inner, env)
        case ("not", atom):
            yield tuple(env.get(it, it) for it in atom), False
        case _:
            yield tuple(env.get(it, it) for it in effect), True


def _layers(rules: list[tuple[Tree, Tree]]) -> tuple[tuple[tuple[Tree, Tree], ...], ...]:
    """Return the rules in layers: what a rule denies is derived in a layer before its own."""
    level = dict.fromkeys((head[0] for head, _ in rules), 0)
    for _ in range(len(rules) ** 2):
        before = dict(level)
        for head, body in rules:
            for name, holds in _named(body, holds=True):
                if name in level:
                    level[head[0]] = max(level[head[0]], level[name] + (not holds))
        if level == before:
            break
    assert max(level.values(), default=0) <= len(rules), "what is derived depends on its own negation"
    return tuple(tuple(it for it in rules if level[it[0][0]] == number) for number in sorted({*level.values()}))


def _named(part: Tree, *, holds: bool) -> Iterator[tuple[str, bool]]:
    match part:
        case ("and" | "or", *parts):
            for it in parts:
                yield from _named(it, holds=holds)
        case ("exists", _, inner):
            yield from _named(inner, holds=holds)
        case ("not", inner):
            yield from _named(inner, holds=not holds)
        case (name, *_):
            yield name, holds
