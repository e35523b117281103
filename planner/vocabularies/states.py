"""States that a node of a vocabulary can have, and which of them exclude one another."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from scenecypher.db.graph.scene import Node
from scenecypher.db.vocabulary import DEFAULT
from scenecypher.planner.actions.needed import needed_kinds
from scenecypher.planner.actions.operator import Become, nested_effects
from scenecypher.planner.vocabularies.registry import operators_of


@dataclass(frozen=True, slots=True)
class StateRule:
    """What the actions of a vocabulary say of one state.

    It excludes the states `excludes`. Only a node with one of `affordances`, or of one of `classes`, can have it; any
    node if both are empty. `usual` are the affordances that the actions name first.
    """

    excludes: set[str] = field(default_factory=set)
    affordances: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    usual: set[str] = field(default_factory=set)


@cache
def state_rules(vocabulary: str) -> Mapping[str, StateRule]:
    """Return the rules of states that exclude one another, such as open and closed, from the operators' effects.

    The default vocabulary's hold besides, for states that no action of this one changes.
    """
    rules = defaultdict[str, StateRule](StateRule)
    for operator in operators_of(vocabulary).values():
        for effect in nested_effects(operator.effects):
            if isinstance(effect, Become) and effect.instead_of is not None:
                affordances, classes = needed_kinds(operator, effect.x)
                for state, other in ((effect.state, effect.instead_of), (effect.instead_of, effect.state)):
                    rules[state].excludes.add(other)
                    rules[state].affordances.update(affordances)
                    rules[state].classes.update(classes)
                    rules[state].usual.update(affordances[:1])
    return dict(rules) if vocabulary == DEFAULT else {**state_rules(DEFAULT), **rules}


@dataclass(frozen=True, slots=True)
class ToldStates:
    """States of a node after a look: affordances that they show, and told states that are not believed."""

    states: tuple[str, ...]
    shown: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()


def believable_states(node: Node, told: Iterable[str], *, vocabulary: str, is_stated: bool) -> ToldStates:
    """Return the states of a node by a look that tells some of them; others stay unless a told one excludes them.

    Told states that exclude one another are not believed, nor those that need an affordance that the node lacks. Unless
    it `is_stated` what the node affords, a seen state shows that it has them.
    """
    rules, seen = state_rules(vocabulary), {*told}
    clear = {it for it in seen if it not in rules or not rules[it].excludes & seen}
    lacking = {it for it in clear if it in rules and not _can_be(node, it, rules[it])}
    believed = clear - lacking if is_stated else clear
    shown = {word for it in believed & lacking for word in rules[it].usual}
    excluded = {state for it in believed if it in rules for state in rules[it].excludes}
    states = believed | ({*node.states} - excluded)
    return ToldStates(tuple(sorted(states)), tuple(sorted(shown)), tuple(sorted(seen - believed)))


def _can_be(node: Node, state: str, rule: StateRule) -> bool:
    """Check if a node has an affordance that a state needs, or has or had a state of the same kind."""
    if not rule.affordances and not rule.classes:
        return True
    is_known = {state, *rule.excludes} & {*node.states}
    return bool(is_known or rule.affordances & {*node.affordances} or node.class_ in rule.classes)
