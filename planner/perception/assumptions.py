"""Affordances that a belief assumes of new things: confirmed by an action that comes off, dropped by a refusal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace

from scenecypher.db.condition import HasAffordance, conjuncts
from scenecypher.db.graph.delta import SetProperty
from scenecypher.db.graph.scene import GraphView, Node, Properties
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.perception.draft import BeliefDraft
from scenecypher.planner.perception.findings import Finding, MergeResult
from scenecypher.planner.perception.new_things import ASSUMED


def assumed_of(node: Node) -> tuple[str, ...]:
    """Return the affordances of a node that are assumed."""
    words = node.properties.get(ASSUMED)
    return tuple(str(word) for word in words) if isinstance(words, tuple) else ()


def needed_assumptions(belief: GraphView, operator: Operator, call: ActionCall) -> Mapping[str, frozenset[str]]:
    """Return the assumed affordances that an action needs, by node; its arguments are ids."""
    arguments = {parameter.name: word for parameter, word in zip(operator.parameters, call.arguments, strict=True)}
    assumed = {word: frozenset(assumed_of(belief.nodes[word])) for word in arguments.values() if word in belief}
    if not any(assumed.values()):
        return {}
    needed = defaultdict[str, set[str]](set)
    for part in (it for requirement in operator.requires for it in conjuncts(requirement.condition)):
        if isinstance(part, HasAffordance) and isinstance(part.x, str) and part.x in arguments:
            needed[arguments[part.x]].add(part.affordance)
    found = {node: assumed.get(node, frozenset()) & words for node, words in needed.items()}
    return {node: words for node, words in found.items() if words}


def confirmations(belief: GraphView, needed: Mapping[str, frozenset[str]]) -> Iterator[SetProperty]:
    """Yield the changes by which affordances are assumed no longer, since an action has shown them."""
    for node_id, words in needed.items():
        before = assumed_of(belief.nodes[node_id])
        yield SetProperty(node_id, ASSUMED, before, tuple(it for it in before if it not in words) or None)


def merge_refusal(belief: GraphView, needed: Mapping[str, frozenset[str]], *, vocabulary: str) -> MergeResult:
    """Drop assumed affordances that an action needed, after the world refused it for no reason that was seen."""
    draft, findings = BeliefDraft(belief, vocabulary), list[Finding]()
    for node_id, words in needed.items():
        node = belief.nodes[node_id]
        rest = tuple(it for it in assumed_of(node) if it not in words)
        facts = {name: value for name, value in node.properties.items() if name != ASSUMED}
        draft.nodes[node_id] = replace(
            node,
            affordances=tuple(it for it in node.affordances if it not in words),
            properties=Properties(facts | ({ASSUMED: rest} if rest else {})),
        )
        words_text = ", ".join(sorted(words))
        findings.append(Finding("changed", node_id, f"it does not afford {words_text} after all: that was assumed"))
    return MergeResult(draft.delta(), tuple(findings))
