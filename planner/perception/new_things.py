"""What a belief assumes of things that are seen for the first time: an id, a name, and what can be done with them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from scenecypher.db.graph.scene import Node, Properties
from scenecypher.planner.perception.matching import is_unnamed
from scenecypher.planner.perception.observation import Sighting
from scenecypher.planner.perception.wording import normal_form, without_number
from scenecypher.planner.vocabularies.registry import vocabulary_named

ASSUMED: Final = "assumed"
"""Property of a node: affordances that nobody has stated; an action that comes off confirms them."""
_NUMBERED: Final = re.compile(r".*?([-_])(\d+)")


def new_node(nodes: Mapping[str, Node], seen: Sighting, *, vocabulary: str) -> Node:
    """Return the node of a thing that is new to the belief of `nodes`.

    An observer that shares the graph's ids tells what can be done with it; else it is assumed (`usual_affordances`).
    """
    node_id = _free_id(nodes, seen)
    name = node_id if seen.id is None and is_unnamed(seen) else seen.name
    node = Node(node_id, "Object", name, seen.class_, seen.states or (), seen.affordances)
    if seen.id is not None or seen.affordances:
        return node
    assumed = usual_affordances(nodes, seen.class_, vocabulary=vocabulary)
    facts = {ASSUMED: assumed} if assumed else {}
    return replace(node, affordances=assumed, properties=Properties(facts))


def usual_affordances(nodes: Mapping[str, Node], class_: str, *, vocabulary: str) -> tuple[str, ...]:
    """Return the affordances of most objects of a class, sorted; if there is none, what the vocabulary assumes."""
    alike = [it for it in nodes.values() if it.kind == "Object" and normal_form(it.class_) == normal_form(class_)]
    if not alike:
        return tuple(sorted(vocabulary_named(vocabulary).looking.affordances_of(class_)))
    counts = Counter(word for node in alike for word in node.affordances)
    return tuple(sorted(word for word, count in counts.items() if 2 * count > len(alike)))


def _free_id(nodes: Mapping[str, Node], seen: Sighting) -> str:
    """Return the sighting's id or one-word name, else its class with the next number, as other ids are written.

    No id differs from another id or a name only in case, hyphens, underscores or spaces.
    """
    if seen.id is not None and seen.id not in nodes:
        return seen.id
    taken = {normal_form(word) for node in nodes.values() for word in (node.id, node.name)}
    if not is_unnamed(seen) and len(seen.name.split()) == 1 and normal_form(seen.name) not in taken:
        return seen.name
    stem, mark = "_".join(seen.class_.split()), _number_mark(nodes)
    numbers = (_number(node_id) for node_id in nodes if without_number(node_id) == normal_form(stem))
    number = 1 + max(numbers, default=0)
    while normal_form(f"{stem}{mark}{number}") in taken:
        number += 1
    return f"{stem}{mark}{number}"


def _number(node_id: str) -> int:
    found = _NUMBERED.fullmatch(node_id)
    return int(found[2]) if found else 0


def _number_mark(nodes: Mapping[str, Node]) -> str:
    """Return what most ids have before their number: a hyphen or an underscore."""
    marks = Counter(found[1] for node_id in nodes if (found := _NUMBERED.fullmatch(node_id)))
    return marks.most_common(1)[0][0] if marks else "_"
