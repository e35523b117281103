"""Operators as pure data: parameters, preconditions, effects, words; and what prompts and planners read from them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Final, Literal, TypeAlias

import scenecypher.db.condition as c
from scenecypher.db.graph.value import Value, checked, property_name

AGENT: Final = "agent"
"""The variable of the acting node."""

Binding: TypeAlias = tuple[str, c.Condition]
"""A variable, and the condition on the nodes that it stands for."""
Fault: TypeAlias = Literal["missing", "affordance", "already"]
"""The reason of a refusal: a step is missing, this node never allows the action, or the effect holds already."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an action; `words` describe it in prompts."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Choose:
    """Bind `var` to the lowest id that meets the first satisfiable alternative of `among`; else leave it unbound."""

    var: str
    among: tuple[c.Condition, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """An action that makes a requirement hold; `choose` binds those of its `arguments` that are still unbound.

    With `tells_choices`, a refusal names it with the nodes to choose from.
    """

    action: str
    arguments: tuple[str, ...]
    choose: tuple[Choose, ...] = ()
    tells_choices: bool = False


@dataclass(frozen=True, slots=True)
class Requirement:
    """One conjunct of a precondition; `message` says what is wrong if it is false, with ``{x}`` for the node x.

    `repair` is the advice to a model and the action that rule-based correction inserts; None means that no rule exists.
    If each condition of `held_earlier` held at some earlier time, the mistake is a wrong order, not a missing step.
    """

    condition: c.Condition
    message: str
    fault: Fault = "missing"
    repair: Repair | None = None
    held_earlier: tuple[c.Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Become:
    """Add `state` to `x` and remove the state `instead_of`."""

    x: str
    state: str
    instead_of: str | None = None


@dataclass(frozen=True, slots=True)
class Cease:
    """Remove `state` from `x`."""

    x: str
    state: str


@dataclass(frozen=True, slots=True)
class Assign:
    """Set the property `key` of `x` to `value`."""

    x: str
    key: str
    value: Value

    def __post_init__(self) -> None:
        property_name(self.key)
        object.__setattr__(self, "value", checked(self.value, self.key))


@dataclass(frozen=True, slots=True)
class Forget:
    """Remove the property `key` of `x`: its value is unknown from now on."""

    x: str
    key: str

    def __post_init__(self) -> None:
        property_name(self.key)


@dataclass(frozen=True, slots=True)
class Relate:
    """Add the relation from `source` to `target`; if `mutual`, also the relation back."""

    source: str
    type: str
    target: str
    mutual: bool = False


@dataclass(frozen=True, slots=True)
class Unrelate:
    """Remove the relations of `types` between `x` and `other`; None stands for any node.

    If `directed`, remove only relations that start at `x`.
    """

    x: str
    types: tuple[str, ...]
    other: str | None = None
    directed: bool = False


@dataclass(frozen=True, slots=True)
class ForEach:
    """Apply `effects` for every node that makes `where` true when bound to `var`."""

    var: str
    where: c.Condition
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class When:
    """Apply `effects` if `condition` holds, else `otherwise`."""

    condition: c.Condition
    effects: tuple[Effect, ...]
    otherwise: tuple[Effect, ...] = ()


SimpleEffect: TypeAlias = Become | Cease | Assign | Forget | Relate | Unrelate
Fact: TypeAlias = tuple[str, bool]
"""A state or a type of relations, and whether it comes to hold."""
Ends: TypeAlias = tuple[str | None, ...]
"""The variables that a fact is about; None stands for any node."""
Effect: TypeAlias = SimpleEffect | ForEach | When
"""All conditions are evaluated before any change; a fact that is both removed and added remains (as in PDDL).

If a property is set twice, the last value counts. An effect on an unbound variable is a no-op.
"""


@dataclass(frozen=True, slots=True)
class Operator:
    """One action. `choose` binds variables, in order, before `requires` and `effects` are evaluated."""

    name: str
    parameters: tuple[Parameter, ...]
    requires: tuple[Requirement, ...]
    effects: tuple[Effect, ...]
    words: str
    choose: tuple[Choose, ...] = field(default=())

    @property
    def signature(self) -> str:
        """The action as it is typed: ``put_on(object, surface)``."""
        return f"{self.name}({', '.join(parameter.name for parameter in self.parameters)})"


def on_thing(
    name: str,
    words: str,
    *requires: Requirement,
    x: str,
    effects: tuple[Effect, ...] = (),
    choose: tuple[Choose, ...] = (),
) -> Operator:
    """Return an operator with one parameter, `x`, which these words describe."""
    return Operator(name, (Parameter("x", x),), requires, effects, words, choose)


def by_name(*operators: Operator) -> dict[str, Operator]:
    """Return operators by their names."""
    return {operator.name: operator for operator in operators}


def is_bound(var: str) -> c.Condition:
    """Return the condition that `var` is bound to a node."""
    return c.Same(var, var)


def asks_empty_hand(condition: c.Condition) -> bool:
    """Return whether a condition says that the agent holds nothing."""
    match condition:
        case c.Not(c.Exists(var, c.HeldBy(x, holder))):
            return x == var and holder == AGENT
    return False


def conditional_effects(
    effects: Iterable[Effect], bound: tuple[Binding, ...] = (), under: tuple[c.Condition, ...] = ()
) -> Iterator[tuple[SimpleEffect, tuple[Binding, ...], tuple[c.Condition, ...]]]:
    """Yield each simple effect, with the variables of which it is for each node, and the conditions that it has."""
    for effect in effects:
        match effect:
            case ForEach(var, where, inner):
                yield from conditional_effects(inner, (*bound, (var, where)), under)
            case When(condition, then, otherwise):
                yield from conditional_effects(then, bound, (*under, condition))
                yield from conditional_effects(otherwise, bound, (*under, c.Not(condition)))
            case _:
                yield effect, bound, under


def simple_effects(effects: Iterable[Effect]) -> Iterator[SimpleEffect]:
    """Yield each simple effect, those within others too."""
    yield from (effect for effect, _, _ in conditional_effects(effects))


def facts_of(effect: SimpleEffect) -> Iterator[tuple[Fact, Ends]]:
    """Yield each fact that a simple effect brings about, with its ends; a property is none."""
    match effect:
        case Become(x, state, instead_of):
            yield (state, True), (x,)
            if instead_of not in {None, state}:
                yield (str(instead_of), False), (x,)
        case Cease(x, state):
            yield (state, False), (x,)
        case Relate(source, type_, target, mutual):
            yield from (((type_, True), ends) for ends in ((source, target), (target, source))[: 1 + mutual])
        case Unrelate(x, types, other, directed):
            ways = ((x, other), (other, x))[: 2 - directed]
            yield from (((type_, False), ends) for type_, ends in product(types, ways))
        case _:
            return


STATIC: Final = (c.HasClass, c.HasKind, c.HasAffordance, c.PropertyEquals, c.Same)
"""Atoms about what nodes are, which no action changes."""
CONNECTIVES: Final = (c.And, c.Or, c.Not)


def required_choices(variables: Iterable[str], choices: tuple[Choose, ...]) -> frozenset[str]:
    """Return the chosen variables among `variables`, and those that their choices depend on."""
    wanted = {*variables}
    for choice in reversed(choices):
        if choice.var in wanted:
            wanted |= {name for part in choice.among for name in variables_of(part)}
    return frozenset(choice.var for choice in choices if choice.var in wanted)


def variables_of(condition: c.Condition) -> set[str]:
    """Return every variable of the condition."""
    return {term for part in c.atoms_of(condition) for term in c.terms(part) if isinstance(term, str)}


def is_static(condition: c.Condition) -> bool:
    """Check if no action changes the value of a condition: it is about what nodes are."""
    return c.fold(condition, lambda it, parts: isinstance(it, STATIC) or (isinstance(it, CONNECTIVES) and all(parts)))


def giving_classes(goal: c.Condition, operators: Mapping[str, Operator]) -> frozenset[str]:
    """Return the classes of the things, such as appliances, that give the states of a goal: dishwasher for washed."""
    states = {atom.state for atom in c.atoms_of(goal) if isinstance(atom, c.HasState)}
    effects = (it for operator in operators.values() for it in conditional_effects(operator.effects))
    giving = ((bound, under) for it, bound, under in effects if isinstance(it, Become) and it.state in states)
    conditions = (it for bound, under in giving for it in (*(where for _, where in bound), *under))
    return frozenset(atom.class_ for it in conditions for atom in c.atoms_of(it) if isinstance(atom, c.HasClass))


def needed_words(operator: Operator, parameter: str) -> str:
    """Return the affordances that a parameter needs, such as ``can_open, or class desk or window``; empty if none."""
    needed = (_words(it.condition, parameter) for it in operator.requires if it.fault == "affordance")
    return " and ".join(filter(None, needed))


def needed_kinds(operator: Operator, parameter: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the affordances of which a parameter needs one, and the classes that need none."""
    asked = (it.condition for it in operator.requires if it.fault == "affordance")
    parts = [part for condition in asked for part in c.disjuncts(condition)]
    affordances = tuple(it.affordance for it in parts if isinstance(it, c.HasAffordance) and it.x == parameter)
    return affordances, tuple(it.class_ for it in parts if isinstance(it, c.HasClass) and it.x == parameter)


def _words(condition: c.Condition, parameter: str) -> str:
    """Return the affordances of which a condition asks one, and what may stand for them.

    Empty if the condition asks for no affordance, or is waived for another reason than what the node itself is.
    """
    given: dict[str, list[str]] = {"": [], "class": [], "state": [], "kind": []}
    silent = False
    for part in c.disjuncts(condition):
        match part:
            case c.HasAffordance(x, word) if x == parameter:
                given[""].append(word)
            case c.HasClass(x, word) | c.HasState(x, word) | c.HasKind(x, word) if x == parameter:
                given[type(part).__name__.removeprefix("Has").lower()].append(word)
            case _ if _is_silence(part):
                silent = True
            case _:
                return ""
    if not given[""]:
        return ""
    words = [f"{name} {' or '.join(dict.fromkeys(found))}".strip() for name, found in given.items() if found]
    return ", or ".join([*words, *(["no affordances recorded"] if silent else [])])


def _is_silence(condition: c.Condition) -> bool:
    """Check if a condition says that affordances are not given."""
    match condition:
        case c.Not(part):
            return all(isinstance(it, c.HasAffordance) for it in c.disjuncts(part))
        case c.And(parts):
            return any(_is_silence(part) for part in parts)
        case _:
            return False
