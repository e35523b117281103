"""Scene graphs as text: LookPlanGraph's sentences (section IV-B, figure 3) and document (appendix C), ALFWorld's words.

The contents of the sentences and their order are the paper's, the words are ours: places; the agent; assets here;
objects seen here; objects remembered here; what is known elsewhere. Additions of ours: nodes already inspected are
marked, since the prompt forbids inspecting them again; floors and the like in one line; colours, cells and doors
(BabyAI); and what an agent holds. The words of ALFWorld's style are those of LookPlanGraph, appendix F-5.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any, Final

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.prompts.layout import TRAITS, SceneLayout, cell_of, is_confirmed, trait_words
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named


def graph_words(graph: SceneGraph, vocabulary: str, *, inspected: Collection[str] = ()) -> str:
    """Return the graph in sentences, sorted: equal for equal graphs."""
    layout = SceneLayout(graph, vocabulary)
    return "\n".join(_paragraphs(layout, inspected))


def _paragraphs(layout: SceneLayout, inspected: Collection[str]) -> Iterable[str]:
    yield f"Places: {', '.join(place.id for place in layout.of_kind('Place')) or 'none known'}."
    held = ", ".join(id_ + trait_words(layout.graph.nodes[id_]) for id_ in layout.held) or "nothing"
    at = _cell(layout, layout.graph.nodes[layout.agent]) if layout.agent else ""
    yield f"You are in {layout.here or 'no known place'}{at}, holding {held}."
    doors = [_door(layout, door) for door in layout.of_kind("Door")]
    yield from _listed("Doors:", doors)
    rooms = {node.id: layout.room_of(node.id) for node in layout.of_kind("Asset", "Object")}
    assets = [*layout.of_kind("Asset")]
    # An object that was looked for and not found has no room and is not listed.
    objects = [node for node in layout.of_kind("Object") if node.id not in layout.held and rooms[node.id]]
    here = [node for node in objects if rooms[node.id] == layout.here]
    structure = conventions_of(layout.vocabulary).structure
    own = [node for node in assets if rooms[node.id] == layout.here]
    bare = [it.id for it in own if it.class_ in structure and not it.states and it.id not in inspected]
    shown = [_asset(it, inspected) for it in own if it.id not in bare]
    yield from _listed("Assets in this room:", [*shown, *([", ".join(bare)] if bare else [])])
    yield from _listed(
        "Objects that you see in this room:", [_thing(layout, it, inspected) for it in here if is_confirmed(it)]
    )
    yield from _listed(
        "Objects that you remember in this room, which may be gone:",
        [_thing(layout, it, inspected) for it in here if not is_confirmed(it)],
    )
    elsewhere = [(_asset(it, inspected), it) for it in assets if rooms[it.id] != layout.here]
    elsewhere += [(_thing(layout, it, inspected), it) for it in objects if rooms[it.id] != layout.here]
    yield from _listed(
        "What you know of other rooms:", [f"{line}, in {rooms[it.id] or 'no known place'}" for line, it in elsewhere]
    )


def _listed(title: str, lines: list[str]) -> Iterable[str]:
    if lines:
        yield title
        yield from lines


def _asset(node: Node, inspected: Collection[str]) -> str:
    looked = ", inspected" if node.id in inspected else ""
    return f"{node.id}{trait_words(node)}{_states(node)}{looked}"


def _thing(layout: SceneLayout, node: Node, inspected: Collection[str]) -> str:
    where = " and ".join(f"{relation} {support}" for relation, support in layout.supports(node.id))
    holder = layout.holder(node.id)
    where = f" {where}" if where else f" held by {holder}" if holder else ""
    remembered = "" if is_confirmed(node) else ", not confirmed"
    looked = ", inspected" if node.id in inspected else ""
    return f"{node.id}{trait_words(node)}{where}{_cell(layout, node)}{_states(node)}{looked}{remembered}"


def _door(layout: SceneLayout, node: Node) -> str:
    joined = " and ".join(layout.places_joined(node.id))
    return f"{node.id}{trait_words(node)} between {joined}{_cell(layout, node)}{_states(node)}"


def _cell(layout: SceneLayout, node: Node) -> str:
    found = cell_of(node, layout.vocabulary)
    return "" if found is None else f" in cell {found}"


def _states(node: Node) -> str:
    return f", {', '.join(node.states)}" if node.states else ""


RELATION_NAMES = {"ontop": "ontop_of", "inside": "inside_of", "under": "under", "attached_to": "attached_to"}
"""Names of the relations in the document."""


def graph_json(graph: SceneGraph, vocabulary: str, *, inspected: Collection[str] = ()) -> str:
    """Return the document on one line, sorted by id: equal for equal graphs."""
    return json.dumps(graph_document(graph, vocabulary, inspected=inspected), ensure_ascii=False)


def graph_document(graph: SceneGraph, vocabulary: str, *, inspected: Collection[str] = ()) -> dict[str, Any]:
    """Return the document.

    It also marks `inspected` nodes and unseen objects and lists doors, which the paper's does not, and has no empty
    lists.
    """
    layout = SceneLayout(graph, vocabulary)
    nodes: dict[str, Any] = {
        "rooms": [{"name": place.id} for place in layout.of_kind("Place")],
        "asset": [
            {"name": node.id, "room": layout.room_of(node.id)} | _attributes(layout, node, inspected)
            for node in layout.of_kind("Asset")
        ],
        "objects": [
            _object_document(layout, node, inspected)
            for node in layout.of_kind("Object")
            if layout.room_of(node.id) is not None
        ],
    }
    doors = [
        _description(layout, door) | {"between": [*layout.places_joined(door.id)]} for door in layout.of_kind("Door")
    ]
    if doors:
        nodes["doors"] = doors
    if layout.agent is not None:
        held = ", ".join(layout.held) or "nothing"
        nodes["agent"] = {"name": layout.agent, "location": layout.here, "holding": held}
    return {"nodes": nodes}


def _object_document(layout: SceneLayout, node: Node, inspected: Collection[str]) -> dict[str, Any]:
    supports = layout.supports(node.id)
    held = node.id in layout.held
    where: list[tuple[str, str | None]] = [(RELATION_NAMES.get(word, word), id_) for word, id_ in supports]
    where = where or [("held_by", layout.agent) if held else ("inside_of", layout.room_of(node.id))]
    relation, related_to = where[0]
    document: dict[str, Any] = {"name": node.id, "relation": relation, "related_to": related_to}
    return document | _attributes(layout, node, inspected) | ({} if is_confirmed(node) else {"confirmed": False})


def _description(layout: SceneLayout, node: Node) -> dict[str, Any]:
    properties = [str(node.properties[name]) for name in TRAITS if name in node.properties]
    lists = {"states": [*node.states], "affordances": [*node.affordances], "properties": properties}
    document: dict[str, Any] = {"name": node.id, **{name: words for name, words in lists.items() if words}}
    found = cell_of(node, layout.vocabulary)
    return document if found is None else {**document, "cell": [*found]}


def _attributes(layout: SceneLayout, node: Node, inspected: Collection[str]) -> dict[str, Any]:
    rest = {key: value for key, value in _description(layout, node).items() if key != "name"}
    return rest | ({"inspected": True} if node.id in inspected else {})


LOOKING: Final = frozenset({"discover_objects", "look_at", "find"})


def describe_surroundings(graph: SceneGraph, vocabulary: str, *, inspected: Collection[str] = ()) -> str:
    """Describe all places and the furniture seen at the agent's place; in a grid, everything in view."""
    if vocabulary_named(vocabulary).looking.whole_rooms:
        return f"You look around.\n{graph_words(graph, vocabulary, inspected=inspected)}"
    layout = SceneLayout(graph, vocabulary)
    places = ", ".join(place.id for place in layout.of_kind("Place"))
    return f"You are in an environment with these places: {places}.\n{_glance(layout)}"


def describe_action(call: ActionCall, graph: SceneGraph, vocabulary: str, *, shows: Collection[str]) -> str:
    """Describe the result of an action after which `graph` is the agent's view.

    An action of LOOKING only reveals its argument; one of `shows` has an effect and reveals its argument, too.
    """
    layout = SceneLayout(graph, vocabulary)
    done = f"You {call.name.replace('_', ' ')} {', '.join(call.arguments)}".strip()
    if vocabulary_named(vocabulary).looking.whole_rooms:
        return f"{done}. {graph_words(graph, vocabulary)}"
    node = graph.nodes.get(call.arguments[0]) if call.arguments else None
    if node is not None and node.kind == "Place" and node.id == layout.here:
        return _glance(layout)
    if node is not None and call.name in LOOKING:
        return f"You are at {node.id}. {_seen_at(layout, node.id)}"
    if node is not None and call.name in shows:
        return f"{done}. {_seen_at(layout, node.id)}"
    return f"{done}."


def _glance(layout: SceneLayout) -> str:
    assets = [node.id for node in layout.of_kind("Asset") if layout.room_of(node.id) == layout.here]
    held = f" You hold {', '.join(layout.held)}." if layout.held else ""
    sees = f"Looking quickly around you, you see {', '.join(assets) or 'nothing'}."
    return f"You are in the middle of {layout.here or 'no known place'}. {sees}{held}"


def _seen_at(layout: SceneLayout, of: str) -> str:
    """Describe a node's states and its visible contents."""
    states = layout.graph.nodes[of].states
    parts = [f"{of} is {', '.join(states)}."] if states else []
    return " ".join([*parts, *(_contents(layout, of) or [f"On {of} you see nothing."])])


def _contents(layout: SceneLayout, of: str) -> list[str]:
    found = ((type_, [*_seen_objects(layout, of, type_)]) for type_ in conventions_of(layout.vocabulary).containment)
    return [
        f"{type_.replace('_', ' ').capitalize()} {of} you see {', '.join(things)}."
        for type_, things in sorted(found)
        if things
    ]


def _seen_objects(layout: SceneLayout, of: str, type_: str) -> Iterator[str]:
    nodes = (layout.graph.nodes[it] for it in sorted(layout.graph.sources(of, type_)))
    return (node.id for node in nodes if node.kind == "Object" and is_confirmed(node))
