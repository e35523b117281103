"""A scene graph in plain sentences: LookPlanGraph's text form of the memory graph (section IV-B, figure 3).

The contents and their order are the paper's, the words are ours: places; the agent; assets here; objects seen here;
objects remembered here; what is known elsewhere. Additions of ours: nodes already inspected are marked, since the
prompt forbids inspecting them again; floors and the like in one line; colours, cells and doors (BabyAI); and what an
agent holds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.planner.prompts.layout import SceneLayout, cell_of, is_confirmed, trait_words


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
