"""What a belief assumes of things that are seen for the first time: an id, a name, and what can be done with them.

Assumed affordances are confirmed by an action that comes off, and dropped by a refusal.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from scenecypher.db.condition import HasAffordance, conjuncts
from scenecypher.db.graph.delta import SetProperty
from scenecypher.db.graph.scene import GraphView, Node, Properties
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.perception.draft import BeliefDraft, MergeResult
from scenecypher.planner.perception.matching import is_unnamed
from scenecypher.planner.perception.observation import Sighting
from scenecypher.planner.perception.wording import NUMBERED, normal_form, without_number
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named

ASSUMED: Final = "assumed"
"""Property of a node: affordances that nobody has stated; an action that comes off confirms them."""
_NUMBERED: Final = re.compile(r".*?([-_])(\d+)")
"""An id with a number: what is before the number, a hyphen or an underscore, and the number."""


class NewThings:
    """Maker of the nodes of things that are new to the belief of `nodes`."""

    def __init__(self, nodes: Mapping[str, Node], *, vocabulary: str) -> None:
        self._vocabulary, self._ids = vocabulary, {*nodes}
        self._taken = {normal_form(word) for node in nodes.values() for word in (node.id, node.name)}
        self._alike, marks = defaultdict[tuple[str, str], list[Node]](list), Counter[str]()
        self._numbers = dict[str, int]()
        for node in nodes.values():
            if found := _NUMBERED.fullmatch(node.id):
                stem = without_number(node.id)
                self._numbers[stem] = max(self._numbers.get(stem, 0), int(found[2]))
                marks[found[1]] += 1
            self._alike[node.kind, normal_form(node.class_)].append(node)
        self._mark = marks.most_common(1)[0][0] if marks else "_"

    def add(self, seen: Sighting) -> Node:
        """Return the node of a new thing, without states; what can be done with it is assumed if it is not told."""
        node_id = self._free_id(seen)
        self._ids.add(node_id)
        name = node_id if seen.id is None and is_unnamed(seen) else seen.name
        self._taken |= {normal_form(node_id), normal_form(name)}
        node = Node(node_id, "Object", name, seen.class_, (), seen.affordances)
        if seen.id is not None or seen.affordances:
            return node
        assumed = self._usual_affordances(seen.class_)
        facts = {ASSUMED: assumed} if assumed else {}
        return replace(node, affordances=assumed, properties=Properties(facts))

    def _usual_affordances(self, class_: str) -> tuple[str, ...]:
        """Return the affordances of most objects of a class; else those of its furniture, and what is assumed."""
        objects, furniture = (self._alike.get((kind, normal_form(class_)), []) for kind in ("Object", "Asset"))
        assumed = () if objects else vocabulary_named(self._vocabulary).looking.affordances_of(class_)
        alike = objects or furniture
        counts = Counter(word for node in alike for word in node.affordances)
        return tuple(sorted({*assumed, *(word for word, count in counts.items() if 2 * count > len(alike))}))

    def _free_id(self, seen: Sighting) -> str:
        """Return the sighting's id or one-word name, else its class with a number, as ids are written.

        No id differs from another id or a name only in case, hyphens, underscores or spaces.
        """
        if seen.id is not None and seen.id not in self._ids:
            return seen.id
        if not is_unnamed(seen) and len(seen.name.split()) == 1 and normal_form(seen.name) not in self._taken:
            return seen.name
        stem = "_".join(seen.class_.split())
        told = NUMBERED.search(seen.name)
        own = f"{stem}{self._mark}{told[0].lstrip('-_ ')}" if told else ""
        if own and normal_form(own) not in self._taken:
            return own
        number = 1 + self._numbers.get(normal_form(stem), 0)
        while normal_form(f"{stem}{self._mark}{number}") in self._taken:
            number += 1
        self._numbers[normal_form(stem)] = number
        return f"{stem}{self._mark}{number}"


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
    draft = BeliefDraft(belief, vocabulary)
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
        draft.tell("changed", node_id, f"it does not afford {words_text} after all: that was assumed")
    return draft.result()
