"""The interpreter of operators: unmet requirements of an action, the Delta of its effects, the kinds of mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, assert_never

from scenecypher.db.condition import Condition, evaluate, witnesses
from scenecypher.db.graph.delta import AddRelation, Change, ChangeList, Delta, RemoveRelation, SetProperty
from scenecypher.db.graph.scene import GraphView, Relation, SceneGraph, relation_between
from scenecypher.db.graph.value import Value, typed_key
from scenecypher.errors import ActionRefused, UnknownReference
from scenecypher.planner.actions import operator as op
from scenecypher.planner.actions.text import ActionCall


@dataclass(frozen=True, slots=True)
class UnmetRequirement:
    """A requirement that does not hold: the message, its variables' bindings, and the remedy if known.

    `choices` are remedies to choose from, where an argument is not decided.
    """

    requirement: op.Requirement
    fact: str
    bindings: Mapping[str, str]
    choices: tuple[ActionCall, ...] = ()

    @property
    def remedy(self) -> ActionCall | None:
        """The repairing action; None without a rule or with an unbound argument."""
        repair = self.requirement.repair
        return repair_call(repair, self.bindings) if repair else None

    @property
    def words(self) -> str:
        """The text for the model that proposed the action."""
        remedies = (self.remedy,) if self.remedy else self.choices
        return f"{self.fact}: {' or '.join(map(str, remedies))} first" if remedies else self.fact


class Infeasible(ActionRefused):
    """An action whose precondition does not hold; the first of `unmet` decides the kind of mistake."""

    def __init__(self, action: str, unmet: tuple[UnmetRequirement, ...]) -> None:
        super().__init__(action, [part.words for part in unmet])
        self.unmet = unmet


MAX_CHOICES: Final = 3
"""Remedies that a refusal names where an argument must be chosen."""
NO_AGENT: Final = "this scene has no agent: `scenecypher scenes set NAME --agent robot --in ROOM` adds one"

NodePicker: TypeAlias = Callable[[Iterable[str]], str | None]
"""Picks one of several equally suitable ids; None if there are none."""


def lowest_id(nodes: Iterable[str]) -> str | None:
    """Return the lowest id, so that every run makes the same choice."""
    return min(nodes, default=None)


def bind_operator(
    operator: op.Operator, graph: GraphView, arguments: Mapping[str, str], *, pick_node: NodePicker = lowest_id
) -> dict[str, str]:
    """Return `arguments` (ids by parameter, and the agent's) extended by the operator's choices."""
    return bind_choices(operator.choose, graph, arguments, pick_node=pick_node)


def bind_choices(
    choices: tuple[op.Choose, ...], graph: GraphView, bindings: Mapping[str, str], *, pick_node: NodePicker = lowest_id
) -> dict[str, str]:
    """Return `bindings` extended by a node for each choice that has one."""
    found = dict(bindings)
    for choice in choices:
        for where in choice.among:
            node = pick_node(witnesses(choice.var, where, graph=graph, bindings=found))
            if node is not None:
                found[choice.var] = node
                break
    return found


def unmet_requirements(
    operator: op.Operator, graph: GraphView, bindings: Mapping[str, str]
) -> tuple[UnmetRequirement, ...]:
    """Return the requirements that do not hold, in the operator's order; `bindings` are those of `bind_operator`."""
    return tuple(
        UnmetRequirement(requirement, format_message(requirement.message, graph, bindings), bindings)
        for requirement in operator.requires
        if not evaluate(requirement.condition, graph, bindings)
    )


def repair_call(repair: op.Repair, bindings: Mapping[str, str]) -> ActionCall | None:
    """Return a repair as an action on the bound nodes; None if an argument is unbound."""
    if not all(argument in bindings for argument in repair.arguments):
        return None
    return ActionCall(repair.action, tuple(bindings[argument] for argument in repair.arguments))


def repair_choices(
    repair: op.Repair, graph: GraphView, bindings: Mapping[str, str], *, most: int = MAX_CHOICES
) -> tuple[ActionCall, ...]:
    """Return a repair on each node that its choices allow, by id, `most` of them."""
    found = [dict(bindings)]
    for choice in repair.choose:
        found = [
            {**each, choice.var: node} for each in found for node in _possible_choices(choice, graph, each)[:most]
        ][:most]
    calls = (repair_call(repair, each) for each in found)
    return tuple(call for call in calls if call is not None)


def _possible_choices(choice: op.Choose, graph: GraphView, bindings: Mapping[str, str]) -> list[str]:
    options = (sorted(witnesses(choice.var, where, graph=graph, bindings=bindings)) for where in choice.among)
    return next(filter(None, options), [])


def effects_delta(operator: op.Operator, graph: GraphView, bindings: Mapping[str, str]) -> Delta:
    """Return the changes that the action's effects make in `graph`, without checking its precondition."""
    collector = _EffectCollector(graph)
    for effect in operator.effects:
        collector.add(effect, bindings)
    return collector.delta()


def simulate(
    operator: op.Operator,
    graph: GraphView,
    arguments: Mapping[str, str],
    *,
    action: str,
    pick_node: NodePicker = lowest_id,
) -> Delta:
    """Return the Delta of one action, on a whole scene or on the part that it reads. Raises Infeasible."""
    bindings = bind_operator(operator, graph, arguments, pick_node=pick_node)
    missing = unmet_requirements(operator, graph, bindings)
    if missing:
        raise Infeasible(action, missing)
    return effects_delta(operator, graph, bindings)


def format_message(message: str, graph: GraphView, bindings: Mapping[str, str]) -> str:
    """Fill in a requirement's message with the nodes' names; an unbound variable keeps its own name."""
    return message.format_map(
        _NamesByVariable((var, _display_name(graph, node_id)) for var, node_id in bindings.items())
    )


class _NamesByVariable(dict[str, str]):
    def __missing__(self, var: str) -> str:
        return var


def _display_name(graph: GraphView, node_id: str) -> str:
    """Return the id, preceded by the name if that differs: only ids are unique."""
    node = graph.nodes.get(node_id)
    return node_id if node is None or node.name == node_id else f"{node.name} ({node_id})"


@dataclass(slots=True)
class _EffectCollector:
    """The facts removed and added by the effects so far; all effects are evaluated on the same graph."""

    graph: GraphView
    lost: set[Relation] = field(default_factory=set)
    gained: set[Relation] = field(default_factory=set)
    states: dict[str, tuple[set[str], set[str]]] = field(default_factory=dict)
    values: dict[tuple[str, str], Value | None] = field(default_factory=dict)

    def add(self, effect: op.Effect, bindings: Mapping[str, str]) -> None:
        match effect:
            case op.Become() | op.Cease():
                self._become(effect, bindings)
            case op.Assign() | op.Forget():
                self._assign(effect, bindings)
            case op.Relate():
                self._relate(effect, bindings)
            case op.Unrelate():
                self._unrelate(effect, bindings)
            case op.ForEach():
                for node in witnesses(effect.var, effect.where, graph=self.graph, bindings=bindings):
                    self._add_all(effect.effects, {**bindings, effect.var: node})
            case op.When():
                holds = evaluate(effect.condition, self.graph, bindings)
                self._add_all(effect.effects if holds else effect.otherwise, bindings)
            case _:
                assert_never(effect)

    def delta(self) -> Delta:
        """Return the net effect: a fact removed and added remains, and one that exists is not added."""
        changes: list[Change] = [RemoveRelation(relation) for relation in self.lost - self.gained]
        changes += [AddRelation(it) for it in self.gained if not self.graph.has(it.source, it.type, it.target)]
        changes += self._list_changes()
        changes += self._value_changes()
        return Delta.from_net(changes)

    def _add_all(self, effects: tuple[op.Effect, ...], bindings: Mapping[str, str]) -> None:
        for effect in effects:
            self.add(effect, bindings)

    def _become(self, effect: op.Become | op.Cease, bindings: Mapping[str, str]) -> None:
        node_id = bindings.get(effect.x)
        if node_id is None:
            return
        joins, leaves = self.states.setdefault(node_id, (set(), set()))
        if isinstance(effect, op.Cease):
            leaves.add(effect.state)
            return
        joins.add(effect.state)
        if effect.instead_of is not None:
            leaves.add(effect.instead_of)

    def _assign(self, effect: op.Assign | op.Forget, bindings: Mapping[str, str]) -> None:
        node_id = bindings.get(effect.x)
        if node_id is not None:
            self.values[node_id, effect.key] = effect.value if isinstance(effect, op.Assign) else None

    def _relate(self, effect: op.Relate, bindings: Mapping[str, str]) -> None:
        source, target = bindings.get(effect.source), bindings.get(effect.target)
        if source is None or target is None:
            return
        self.gained.add(relation_between(source, effect.type, target))
        if effect.mutual:
            self.gained.add(relation_between(target, effect.type, source))

    def _unrelate(self, effect: op.Unrelate, bindings: Mapping[str, str]) -> None:
        node_id = bindings.get(effect.x)
        if node_id is None or (effect.other is not None and effect.other not in bindings):
            return
        other = bindings[effect.other] if effect.other is not None else None
        backward = () if effect.directed else self.graph.incoming.get(node_id, ())
        for relation in (*self.graph.outgoing.get(node_id, ()), *backward):
            if relation.type in effect.types and (other is None or other in (relation.source, relation.target)):
                self.lost.add(relation)

    def _list_changes(self) -> Iterator[ChangeList]:
        for node_id, (joins, leaves) in self.states.items():
            present = set(self.graph.nodes[node_id].states)
            added, removed = joins - present, (leaves - joins) & present
            if added or removed:
                yield ChangeList(node_id, "states", tuple(sorted(added)), tuple(sorted(removed)))

    def _value_changes(self) -> Iterator[SetProperty]:
        for (node_id, key), value in self.values.items():
            before = self.graph.nodes[node_id].properties.get(key)
            if typed_key(before) != typed_key(value):
                yield SetProperty(node_id, key, before, value)


Mistake: TypeAlias = Literal["wrong_order", "missing_step", "affordance", "unseen_object", "additional_step"]
"""Wrong time, a missing step, not possible with this object, unknown object, or needless."""

SKIPPABLE: Final[Mistake] = "additional_step"
"""The mistake that does not end a plan: the step is skipped and the plan continues."""

MISTAKE_OF_FAULT: Final[Mapping[op.Fault, Mistake]] = {
    "missing": "missing_step",
    "affordance": "affordance",
    "already": SKIPPABLE,
}


def mistake_of(refusal: Infeasible | UnknownReference, history: Iterable[SceneGraph]) -> Mistake:
    """Return the kind of mistake; `history` holds the graphs from the plan's start up to the refusal.

    The first unmet requirement decides. A missing step counts as a wrong order if each condition of `held_earlier` held
    at some time in the history.
    """
    match refusal:
        case UnknownReference():
            return "unseen_object"
        case Infeasible():
            first = refusal.unmet[0]
            mistake = MISTAKE_OF_FAULT[first.requirement.fault]
            return "wrong_order" if mistake == "missing_step" and _was_met(first, history) else mistake
        case _:
            assert_never(refusal)


def _was_met(unmet: UnmetRequirement, history: Iterable[SceneGraph]) -> bool:
    """Return whether each condition of `held_earlier` held at some time, not necessarily at the same time."""
    remaining: list[Condition] = [*unmet.requirement.held_earlier]
    if not remaining:
        return False
    for graph in history:
        remaining = [condition for condition in remaining if not evaluate(condition, graph, unmet.bindings)]
        if not remaining:
            return True
    return False
