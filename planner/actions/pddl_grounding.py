"""From operators to ground actions: every way in which an action may be carried out among a few nodes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Final, TypeAlias, assert_never

from db.condition import (
    And,
    AtLeast,
    Condition,
    Exactly,
    Exists,
    ForAll,
    HasAffordance,
    HasClass,
    HasKind,
    Not,
    Or,
    PropertyEquals,
    Same,
    terms,
)
from db.condition import (
    Atom as Atomic,
)
from db.schema import HOLDING
from planner.actions.operator import (
    AGENT,
    Assign,
    Become,
    Cease,
    Choose,
    Effect,
    ForEach,
    Forget,
    Operator,
    Relate,
    Unrelate,
    When,
)
from planner.actions.pddl_facts import Facts, Reader
from planner.actions.pddl_formula import (
    FALSE,
    TRUE,
    All,
    Atom,
    Cube,
    Formula,
    Literal,
    Some,
    TooLarge,
    all_of,
    any_of,
    cubes,
    literals,
    negated,
)
from planner.actions.text import Call

MOST_WAYS: Final = 256
"""Ways in which one action's precondition may hold; an action with more is left out."""
MOST_PLAIN_WAYS: Final = 64
"""The same for a thrifty grounding, and the ways in which an effect may take place."""
NOTHING: Final = "no_"
"""With a relation type: the fact that the agent has no such relation."""
MOST_CHAINS: Final = 40
"""Places where one thing may be, with all that it is in or on, of which the thrifty look at no more."""

Places: TypeAlias = Mapping[str, tuple[str, str] | None]


class OutOfTime(Exception):
    """Grounding took too long."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What comes to hold and what ceases to, where `when` holds."""

    when: Cube
    gained: frozenset[Atom]
    lost: frozenset[Atom]


@dataclass(frozen=True, slots=True)
class GroundAction:
    """`call` carried out where `needs` holds."""

    call: Call
    needs: Cube
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class Scope:
    """What to ground: who acts, which atoms the goal speaks of, and what else things may be put on.

    A `thrifty` grounding leaves out what a plan hardly needs: things are put only where the goal wants them or on one
    of `spares`, only what is `movable` is taken (None: anything), and of several ways for a precondition to hold only
    the plainest is used. Every plan is one without it, too.
    """

    agent: str
    wanted: frozenset[Atom]
    spares: frozenset[str]
    thrifty: bool = True
    movable: frozenset[str] | None = None
    deadline: float = float("inf")


@dataclass(frozen=True, slots=True)
class _Case:
    """One way to bind what an operator chooses: under which condition, with what known of where things are."""

    bindings: Mapping[str, str]
    guard: Formula
    reader: Reader
    unbound: frozenset[str] = frozenset()


@dataclass
class Grounding:
    """Grounds operators on `facts`, until no more facts can come to hold."""

    facts: Facts
    operators: Mapping[str, Operator]
    scope: Scope
    _candidates: list[tuple[Operator, dict[str, str]]] = field(init=False)
    _exclusive: set[str] = field(init=False, default_factory=set)
    _values: dict[object, Formula] = field(init=False, default_factory=dict)
    _variables: dict[object, tuple[tuple[str, ...], frozenset[str]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._candidates = list(self._possible_calls())

    def actions(self) -> list[GroundAction]:
        """Every action that may be possible at some time. Raises OutOfTime."""
        while True:
            found, news = [], False
            for operator, arguments in self._candidates:
                if time.monotonic() > self.scope.deadline:
                    raise OutOfTime
                for action in self._ground(operator, arguments):
                    news |= self._noted(action)
                    found.append(action)
            if not news:
                return list(map(self._kept, found))

    def _noted(self, action: GroundAction) -> bool:
        news = False
        for outcome in action.outcomes:
            for atom in outcome.gained:
                news |= self.facts.gain(atom)
            for atom in outcome.lost - outcome.gained:
                news |= self.facts.lose(atom)
        return news

    def _possible_calls(self) -> Iterator[tuple[Operator, dict[str, str]]]:
        """Operators with arguments that can do what they are to be used for, as far as that never changes."""
        reader = Reader(self.facts)
        ids = sorted({*self.facts.graph.nodes} - ({self.scope.agent} if self.scope.thrifty else set()))
        for operator in self.operators.values():
            names = [parameter.name for parameter in operator.parameters]
            chosen_vars = frozenset(choice.var for choice in operator.choose)
            fixed = [part.condition for part in operator.requires if _is_static(part.condition, chosen_vars)]
            kinds = {parameter.name: parameter.kinds for parameter in operator.parameters}
            for chosen in product(ids, repeat=len(names)):
                arguments = {AGENT: self.scope.agent, **dict(zip(names, chosen, strict=True))}
                if all(self._of_kind(arguments[name], kinds[name]) for name in names) and all(
                    reader.read(condition, arguments) != FALSE for condition in fixed
                ):
                    yield operator, arguments

    def _of_kind(self, node: str, kinds: tuple[str, ...]) -> bool:
        return not kinds or self.facts.graph.nodes[node].kind in kinds

    def _ground(self, operator: Operator, arguments: Mapping[str, str]) -> Iterator[GroundAction]:
        call = Call(operator.name, tuple(arguments[parameter.name] for parameter in operator.parameters))
        self._values.clear()
        for case in self._cases(operator, arguments):
            try:
                outcomes = tuple(self._outcomes(operator, case))
                sensible = outcomes and self._sensible(outcomes)
                needs = all_of(self._needs(operator, case)) if sensible else FALSE
                ways = cubes(_plain(needs), MOST_PLAIN_WAYS) if self.scope.thrifty else cubes(needs, MOST_WAYS)
            except TooLarge:
                continue
            yield from (GroundAction(call, way, outcomes) for way in ways)

    def _needs(self, operator: Operator, case: _Case) -> Iterator[Formula]:
        yield case.guard
        for requirement in operator.requires:
            formula = self._read(requirement.condition, operator, case)
            yield formula
            if formula == FALSE:
                return

    def _read(self, condition: Condition, operator: Operator, case: _Case) -> Formula:
        """The value of a condition, whatever is chosen of what it speaks of."""
        match condition:
            case And():
                return all_of(self._read(part, operator, case) for part in condition.parts)
            case Or():
                return any_of(self._read(part, operator, case) for part in condition.parts)
            case Not():
                return negated(self._read(condition.part, operator, case))
            case _:
                return self._read_part(condition, operator, case)

    def _read_part(self, condition: Condition, operator: Operator, case: _Case) -> Formula:
        mentioned, open_ = self._asked(condition, operator)
        known = tuple((name, case.bindings.get(name), name in case.unbound) for name in mentioned)
        key = (condition, id(case.reader), known)
        if key not in self._values:
            choices = [choice for choice in operator.choose if choice.var in open_]
            self._values[key] = self._read_cases(condition, choices, replace(case, guard=TRUE))
        return self._values[key]

    def _asked(self, condition: Condition, operator: Operator) -> tuple[tuple[str, ...], frozenset[str]]:
        """The variables that a condition speaks of, over what is chosen for it, and those of them to be chosen."""
        key = (condition, operator.name)
        if key not in self._variables:
            open_ = asked_for(variables_of(condition), operator.choose)
            chosen = (part for choice in operator.choose if choice.var in open_ for part in choice.among)
            mentioned = variables_of(condition).union(*map(variables_of, chosen))
            self._variables[key] = tuple(sorted(mentioned)), open_
        return self._variables[key]

    def _read_cases(self, condition: Condition, choices: Iterable[Choose], case: _Case) -> Formula:
        """Of the cases exactly one holds: so either one that meets the condition, or none that does not."""
        cases = [case]
        for choice in choices:
            if choice.var not in case.bindings and choice.var not in case.unbound:
                cases = [fuller for each in cases for fuller in self._chosen(choice, each, whole=True)]
        values = [(each.guard, each.reader.read(condition, each.bindings)) for each in cases]
        met = [all_of(pair) for pair in values if pair[1] != FALSE]
        unmet = [any_of((negated(guard), value)) for guard, value in values if value != TRUE]
        return any_of(met) if len(met) < len(unmet) else all_of(unmet)

    # --- what is chosen, and where things are

    def _cases(self, operator: Operator, arguments: Mapping[str, str]) -> list[_Case]:
        """A case for each way to bind what the effects speak of; what only requirements ask for stays open."""
        nodes = [arguments[parameter.name] for parameter in operator.parameters]
        found = [_Case(arguments, guard, Reader(self.facts, places)) for places, guard in self._placings(nodes)]
        wanted = asked_for(effect_variables(operator.effects), operator.choose)
        for choice in operator.choose:
            if choice.var in wanted:
                found = [fuller for case in found for fuller in self._options(choice, case)]
        return found

    def _options(self, choice: Choose, case: _Case) -> Iterator[_Case]:
        as_now = self._chosen_now(choice, case) if self.scope.thrifty else None
        yield from self._chosen(choice, case) if as_now is None else (as_now,)

    def _placings(self, nodes: Iterable[str]) -> Iterator[tuple[Places, Formula]]:
        """Where the nodes may be, with all that they are in or on: one way only where that can't change."""
        if not self.facts.parent_types:
            yield {}, TRUE
            return
        ways: list[tuple[dict[str, tuple[str, str] | None], Formula]] = [({}, TRUE)]
        for node in nodes:
            ways = [placed for places, guard in ways for placed in self._placed(node, places, guard)]
        if self.scope.thrifty and len(ways) > MOST_CHAINS:
            ways = sorted(ways, key=lambda way: not self.facts.holds_now(way[1]))[:MOST_CHAINS]
        yield from ways

    def _placed(
        self, node: str, places: dict[str, tuple[str, str] | None], guard: Formula
    ) -> Iterator[tuple[dict[str, tuple[str, str] | None], Formula]]:
        """`places` with each chain of what `node` may be in or on."""
        if node in places or self.facts.graph.nodes[node].kind == "Place" or node == self.scope.agent:
            yield places, guard
            return
        if time.monotonic() > self.scope.deadline:
            raise OutOfTime
        options = self.facts.parents(node)
        for type_, parent in options:
            atom = (type_, parent, node) if type_ in HOLDING else (type_, node, parent)
            here = all_of((guard, self.facts.literal(atom)))
            if parent not in _below(node, places) and here != FALSE:
                yield from self._placed(parent, {**places, node: (type_, parent)}, here)
        if not options:
            yield {**places, node: None}, guard

    def _chosen(self, choice: Choose, case: _Case, *, whole: bool = False) -> Iterator[_Case]:
        """A case for each node that may be the first of the first alternative, and one for none."""
        blocked: Formula = TRUE
        last = len(choice.among) - 1
        for number, alternative in enumerate(choice.among):
            found = list(case.reader.witnesses(choice.var, alternative, case.bindings))
            exclusive = self.scope.thrifty and self._of_agent(formula for _, formula in found)
            earlier = blocked
            for node, formula in found:
                guard = all_of((case.guard, earlier if exclusive else blocked, formula))
                if guard != FALSE:
                    yield replace(case, bindings={**case.bindings, choice.var: node}, guard=guard)
                blocked = all_of((blocked, negated(formula))) if not exclusive else blocked
                if blocked == FALSE:
                    return
            if exclusive and found:
                blocked = all_of((blocked, self._none_of(next(literals(found[0][1])).atom)))
            likely = any(self.facts.holds_now(formula) for _, formula in found)
            if self.scope.thrifty and likely and number < last and not whole:
                return
        guard = all_of((case.guard, blocked))
        if guard != FALSE:
            yield replace(case, guard=guard, unbound=case.unbound | {choice.var})

    def _chosen_now(self, choice: Choose, case: _Case) -> _Case | None:
        """The case of what is chosen as things are now, on condition that they stay so.

        None for the agent's own relations, which change all the time, and where nothing is chosen now.
        """
        blocked: Formula = TRUE
        for alternative in choice.among:
            found = list(case.reader.witnesses(choice.var, alternative, case.bindings))
            if found and self._of_agent(formula for _, formula in found):
                return None
            for node, formula in found:
                if self.facts.holds_now(formula):
                    guard = all_of((case.guard, blocked, formula))
                    return replace(case, bindings={**case.bindings, choice.var: node}, guard=guard)
                blocked = all_of((blocked, negated(formula)))
        return None

    def _of_agent(self, formulas: Iterable[Formula]) -> bool:
        """Whether each says what one relation leads to from the agent: the thrifty take it that there is one."""
        atoms = [formula.atom if isinstance(formula, Literal) and formula.holds else () for formula in formulas]
        return all(len(atom) == 3 and atom[:2] == (atoms[0][0], self.scope.agent) for atom in atoms)

    def _none_of(self, example: Atom) -> Formula:
        """A fact of its own for "the agent has no relation of this type", such as an empty hand: engines like that."""
        type_, agent, _ = example
        atom = (NOTHING + type_, agent)
        if type_ not in self._exclusive:
            self._exclusive.add(type_)
            if not any(other[0] == type_ and other[1] == agent for other in self.facts.now):
                self.facts.now.add(atom)
            self.facts.gained.add(atom)
            self.facts.lost.add(atom)
        return Literal(atom)

    def _kept(self, action: GroundAction) -> GroundAction:
        """The action with what it does to the facts of `_none_of`."""
        more: list[Outcome] = []
        for outcome in action.outcomes:
            for type_, source, _ in sorted(atom for atom in outcome.gained if self._is_exclusive(atom)):
                more.append(Outcome(outcome.when, frozenset(), frozenset({(NOTHING + type_, source)})))
            for atom in sorted(atom for atom in outcome.lost if self._is_exclusive(atom)):
                taken = any(other[:2] == atom[:2] for other in outcome.gained)
                when = outcome.when if Literal(atom) in action.needs else outcome.when | {Literal(atom)}
                if not taken and Literal(atom, holds=False) not in action.needs:
                    more.append(Outcome(when, frozenset({(NOTHING + atom[0], atom[1])}), frozenset()))
        return replace(action, outcomes=(*action.outcomes, *more)) if more else action

    def _is_exclusive(self, atom: Atom) -> bool:
        return len(atom) == 3 and atom[0] in self._exclusive and atom[1] == self.scope.agent

    # --- effects

    def _outcomes(self, operator: Operator, case: _Case) -> Iterator[Outcome]:
        """What the action changes; what is both lost and gained is gained."""
        always_gained: set[Atom] = set()
        always_lost: set[Atom] = set()
        sometimes: list[Outcome] = []
        for when, gained, lost in self._changes(operator.effects, case.bindings, TRUE, case.reader):
            if when == TRUE:
                always_gained |= gained
                always_lost |= lost
            elif gained or lost:
                ways = cubes(when, MOST_PLAIN_WAYS)
                sometimes += [Outcome(way, frozenset(gained), frozenset(lost)) for way in ways]
        if always_gained or always_lost:
            yield Outcome(frozenset(), frozenset(always_gained), frozenset(always_lost - always_gained))
        for outcome in sometimes:
            rest = Outcome(outcome.when, outcome.gained - always_gained, outcome.lost - always_gained - always_lost)
            if rest.gained or rest.lost:
                yield rest

    def _changes(
        self, effects: tuple[Effect, ...], bindings: Mapping[str, str], when: Formula, reader: Reader
    ) -> Iterator[tuple[Formula, set[Atom], set[Atom]]]:
        """What each effect makes hold and cease, and when."""
        for effect in effects:
            match effect:
                case ForEach():
                    for node, formula in reader.witnesses(effect.var, effect.where, bindings):
                        inner = {**bindings, effect.var: node}
                        yield from self._changes(effect.effects, inner, all_of((when, formula)), reader)
                case When():
                    holds = reader.read(effect.condition, bindings)
                    for formula, part in ((holds, effect.effects), (negated(holds), effect.otherwise)):
                        if (both := all_of((when, formula))) != FALSE:
                            yield from self._changes(part, bindings, both, reader)
                case _:
                    yield when, *self._change(effect, bindings)

    def _change(
        self, effect: Become | Cease | Assign | Forget | Relate | Unrelate, bindings: Mapping[str, str]
    ) -> tuple[set[Atom], set[Atom]]:
        match effect:
            case Become() | Cease():
                return _in_state(effect, bindings.get(effect.x))
            case Relate():
                return _related(effect, bindings), set()
            case Unrelate():
                return set(), self._unrelated(effect, bindings)
            case Assign() | Forget():
                return set(), set()  # no operator asks for a property that it changes
            case _:
                assert_never(effect)

    def _unrelated(self, effect: Unrelate, bindings: Mapping[str, str]) -> set[Atom]:
        x = bindings.get(effect.x)
        if x is None or (effect.other is not None and effect.other not in bindings):
            return set()
        other = bindings[effect.other] if effect.other is not None else None
        found = {(type_, x, y) for type_ in effect.types for y in self.facts.possible(type_, x)}
        if not effect.directed:
            found |= {(type_, y, x) for type_ in effect.types for y in self.facts.possible_to(type_, x)}
        return {atom for atom in found if other is None or other in atom[1:]}

    def _sensible(self, outcomes: tuple[Outcome, ...]) -> bool:
        """Whether things are put only where it may be of use."""
        if not self.scope.thrifty:
            return True
        return all(
            atom in self.facts.now or atom in self.scope.wanted or not self._is_needless(atom)
            for outcome in outcomes
            for atom in outcome.gained
        )

    def _is_needless(self, atom: Atom) -> bool:
        movable = self.scope.movable
        if atom[0] in HOLDING and movable is not None:
            return atom[2] not in movable
        return self._puts(atom) and atom[2] not in self.scope.spares

    def _puts(self, atom: Atom) -> bool:
        """Whether it says of a thing, not of the agent, that it is in or on another, not in a room."""
        if len(atom) != 3 or atom[0] not in self.facts.containment or atom[1] == self.scope.agent:
            return False
        return self.facts.graph.nodes[atom[2]].kind != "Place"


def _below(node: str, places: Places) -> set[str]:
    """What can't be what `node` is in: itself, and what is in or on it."""
    below = {node}
    while True:
        more = {child for child, place in places.items() if place is not None and place[1] in below} - below
        if not more:
            return below
        below |= more


def _plain(formula: Formula) -> Formula:
    """A stronger formula: of several ways those that are one literal, where there is such a one."""
    match formula:
        case Some() if formula.least == 1 and any(isinstance(part, Literal) for part in formula.parts):
            kept = tuple(part for part in formula.parts if isinstance(part, Literal))
            return kept[0] if len(kept) == 1 else Some(kept)
        case All():
            return all_of(map(_plain, formula.parts))
        case _:
            return formula


def _is_static(condition: Condition, chosen: frozenset[str]) -> bool:
    """Whether no action can change its value, and it speaks of nothing that has to be chosen first."""
    match condition:
        case And() | Or():
            return all(_is_static(part, chosen) for part in condition.parts)
        case Not():
            return _is_static(condition.part, chosen)
        case HasAffordance() | HasClass() | HasKind() | PropertyEquals() | Same():
            return not chosen & {*terms(condition)}
        case _:
            return False


def _in_state(effect: Become | Cease, x: str | None) -> tuple[set[Atom], set[Atom]]:
    if x is None:
        return set(), set()
    if isinstance(effect, Cease):
        return set(), {(effect.state, x)}
    return {(effect.state, x)}, {(effect.instead_of, x)} if effect.instead_of is not None else set()


def asked_for(variables: Iterable[str], choices: tuple[Choose, ...]) -> frozenset[str]:
    """The chosen ones among `variables`, with those that must be chosen before them."""
    wanted = {*variables}
    for choice in reversed(choices):
        if choice.var in wanted:
            wanted |= {name for part in choice.among for name in variables_of(part)}
    return frozenset(choice.var for choice in choices if choice.var in wanted)


def variables_of(condition: Condition) -> set[str]:
    """Every variable in it."""
    return {term for part in parts_of(condition) for term in terms(part) if isinstance(term, str)}


def parts_of(condition: Condition) -> Iterator[Atomic]:
    """The smallest conditions that it consists of."""
    match condition:
        case And() | Or():
            for part in condition.parts:
                yield from parts_of(part)
        case Not():
            yield from parts_of(condition.part)
        case Exists() | AtLeast() | Exactly():
            yield from parts_of(condition.where)
        case ForAll():
            yield from parts_of(condition.where)
            yield from parts_of(condition.then)
        case _:
            yield condition


def effect_variables(effects: tuple[Effect, ...]) -> set[str]:
    """Every variable in them."""
    found: set[str] = set()
    for effect in effects:
        match effect:
            case ForEach():
                found |= variables_of(effect.where) | effect_variables(effect.effects)
            case When():
                found |= variables_of(effect.condition)
                found |= effect_variables(effect.effects) | effect_variables(effect.otherwise)
            case Relate():
                found |= {effect.source, effect.target}
            case Unrelate():
                found |= {effect.x, effect.other or effect.x}
            case Become() | Cease():
                found.add(effect.x)
            case Assign() | Forget():
                continue
            case _:
                assert_never(effect)
    return found


def _related(effect: Relate, bindings: Mapping[str, str]) -> set[Atom]:
    source, target = bindings.get(effect.source), bindings.get(effect.target)
    if source is None or target is None:
        return set()
    return {(effect.type, source, target)} | ({(effect.type, target, source)} if effect.mutual else set())
