"""What a belief assumes of things that are seen for the first time: an id, a name, and what can be done with them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from scenecypher.db.graph.scene import Node, Properties
from scenecypher.planner.perception.matching import is_unnamed
from scenecypher.planner.perception.observation import Sighting
from scenecypher.planner.perception.wording import NUMBERED, normal_form, without_number
from scenecypher.planner.vocabularies.registry import vocabulary_named

ASSUMED: Final = "assumed"
"""Property of a node: affordances that nobody has stated; an action that comes off confirms them."""
_NUMBERED: Final = re.compile(r".*?([-_])(\d+)")


class NewThings:
    """Maker of the nodes of things that are new to the belief of `nodes`."""

    def __init__(self, nodes: Mapping[str, Node], *, vocabulary: str) -> None:
        self._vocabulary, self._ids, self._mark = vocabulary, {*nodes}, _number_mark(nodes)
        self._taken = {normal_form(word) for node in nodes.values() for word in (node.id, node.name)}
        self._numbers, self._alike = dict[str, int](), defaultdict[str, list[Node]](list)
        for node in nodes.values():
            stem = without_number(node.id)
            self._numbers[stem] = max(self._numbers.get(stem, 0), _number(node.id))
            if node.kind == "Object":
                self._alike[normal_form(node.class_)].append(node)

    def add(self, seen: Sighting) -> Node:
        """Return the node of a thing that is seen for the first time; it has no states yet.

        An observer that shares the graph's ids tells what can be done with it; else it is assumed.
        """
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
        """Return the affordances of most objects of a class, sorted; else what the vocabulary assumes."""
        alike = self._alike.get(normal_form(class_))
        if alike is None:
            return tuple(sorted(vocabulary_named(self._vocabulary).looking.affordances_of(class_)))
        counts = Counter(word for node in alike for word in node.affordances)
        return tuple(sorted(word for word, count in counts.items() if 2 * count > len(alike)))

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


def _number(node_id: str) -> int:
    found = _NUMBERED.fullmatch(node_id)
    return int(found[2]) if found else 0


def _number_mark(nodes: Mapping[str, Node]) -> str:
    """Return what most ids have before their number: a hyphen or an underscore."""
    marks = Counter(found[1] for node_id in nodes if (found := _NUMBERED.fullmatch(node_id)))
    return marks.most_common(1)[0][0] if marks else "_"
