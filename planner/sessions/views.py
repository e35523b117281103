"""A method's view of the graph before each decision, by its recipe: the memory graph, all of it, or rooms."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import Any, Final, assert_never

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.planner.actions.simulator import CommittedAction
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.perception.draft import was_partial
from scenecypher.planner.prompts.graph_texts import describe_action, describe_surroundings, graph_json, graph_words
from scenecypher.planner.prompts.layout import SceneLayout, surroundings
from scenecypher.planner.sessions.method import (
    CallTool,
    Memory,
    Recipe,
    SceneAccess,
    Tool,
    ToolAnswer,
    ViewForm,
    argument,
)
from scenecypher.planner.sessions.session import ViewWriter
from scenecypher.planner.symbolic.parts import usable
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named
from scenecypher.planner.worlds.belief_simulator import LOOK_ACTIONS
from scenecypher.planner.worlds.perturbation import AFFORDED_RELATIONS
from scenecypher.retriever.collapsed import CollapsedGraph, collapse
from scenecypher.retriever.graph_api import GraphApi, graph_text
from scenecypher.retriever.library import Mention, Mentions
from scenecypher.retriever.outline import agent_words

EXPAND: Final = "expand_node"
UNTOLD: Final = ("FACING",)
"""Relations that no plan needs to know of."""
OMITTED: Final = frozenset({"id", "kind", "category", "prefab", "center", "size_x", "size_y", "size_z"})
"""What is told once for like nodes, and properties that no action reads."""
CONTRACT: Final = "contract_node"


def make_view(
    recipe: Recipe, access: SceneAccess, *, instruction: str = ""
) -> tuple[ViewWriter | None, Mapping[str, Tool]]:
    """Return the view of a recipe, and the tools that change the view. Things that `instruction` names are relevant."""
    match recipe.extent:
        case "nothing" | "schema":
            return None, {}
        case "words":
            return lambda _: "\n".join(map(agent_words, access.reader.enumerator.of(access.scene).agents)), {}
        case "memory":
            return MemoryView(access, recipe, instruction).text, {}
        case "full" if recipe.form == "lines":
            return lambda _: graph_text(access.reader)[0], {}
        case "full":
            return lambda it: _graph_text(access.store.now(access.scene).graph, it, access, form=recipe.form), {}
        case "collapsed":
            rooms = CollapsedView(access)
            return rooms.text, {EXPAND: rooms.expand, CONTRACT: rooms.contract}
        case _:
            assert_never(recipe.extent)


class CollapsedView:
    """SayPlan's collapsed graph: the places, and the contents of those expanded so far."""

    def __init__(self, access: SceneAccess) -> None:
        self._api, self._vocabulary = GraphApi(access.reader), access.scene.vocabulary
        self._shown: CollapsedGraph | None = None

    def text(self, memory: Memory) -> str:
        """Return the present graph after the calls in `memory`: nodes and links as JSON."""
        graph = collapse(self._api)
        for tool, room in _room_calls(memory):
            graph = graph.expand(room) if tool == EXPAND else graph.contract(room)
        self._shown = graph
        if vocabulary_named(self._vocabulary).looking.whole_rooms:  # a grid: the papers' own, whose prompts stay
            return json.dumps(graph.document(), ensure_ascii=False)
        told = brief(graph.document(), self._api.graph(), self._vocabulary)
        return json.dumps(told, ensure_ascii=False, separators=(",", ":"))

    def expand(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Expand a room. Raises RejectedError if it is no room."""
        (place,) = collapse(self._api).expand(argument(arguments, "node_name", tool=EXPAND)).expanded
        return ToolAnswer(f"{place} is expanded")

    def contract(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Contract a room. Raises RejectedError if it is not expanded in the last text."""
        shown = self._shown or collapse(self._api)
        left = shown.contract(argument(arguments, "node_name", tool=CONTRACT)).expanded
        return ToolAnswer(f"{', '.join(left) or 'no room'} stays expanded")


def brief(document: Mapping[str, Any], graph: SceneGraph, vocabulary: str) -> dict[str, Any]:
    """Return the document of a collapsed graph without what no plan needs.

    Left out are what no action can touch, what faces what, the room of what is on or in something of that room, sizes,
    positions, and classes that ids tell. Of each kind like nodes are one with their `ids`; of links with one type and
    target, [x, type, y], x is the list of their sources.
    """
    hidden, layout = scenery(graph, vocabulary, looks=False), SceneLayout(graph, vocabulary)
    alike: dict[str, dict[str, list[str]]] = {}
    for id_, node in ((it["id"], it) for it in document["nodes"] if it["id"] not in hidden):
        known = {"name": id_, "class": id_.rstrip("0123456789").rstrip("_-")}
        told = {key: value for key, value in node.items() if key not in OMITTED and value != known.get(key)}
        alike.setdefault(node["kind"], {}).setdefault(json.dumps(told), []).append(id_)
    linked: dict[tuple[str, str], list[str]] = {}
    for source, type_, target in document["links"]:
        is_told = graph.nodes[target].kind == "Place" and layout.supports(source) and layout.room_of(source) == target
        if type_ not in UNTOLD and not {source, target} & hidden and not is_told:
            linked.setdefault((type_, target), []).append(source)
    nodes = {kind: [{**json.loads(told), "ids": ids} for told, ids in its.items()] for kind, its in alike.items()}
    return {"nodes": nodes, "links": [[x if x[1:] else x[0], *link] for link, x in linked.items()]}


def _room_calls(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield the calls that changed the view, each as tool and room."""
    for turn in memory.turns:
        call = turn.decision
        if isinstance(call, CallTool) and call.tool in {EXPAND, CONTRACT} and not turn.refused:
            yield call.tool, argument(call.arguments, "node_name", tool=call.tool)


def inspected_nodes(memory: Memory) -> frozenset[str]:
    """Return the nodes that were looked at so far; one that was seen in part may be looked at again."""
    looks = ((turn, parse_action(action)) for turn in memory.turns for action in turn.done)
    return frozenset(
        call.arguments[0]
        for turn, call in looks
        if call.name in LOOK_ACTIONS and call.arguments and not was_partial(turn.feedback, call.arguments[0])
    )


def touched_nodes(memory: Memory) -> frozenset[str]:
    """Return the nodes that were arguments of executed actions so far."""
    return frozenset(
        argument for turn in memory.turns for action in turn.done for argument in parse_action(action).arguments
    )


class MemoryView:
    """LookPlanGraph's memory graph (section IV-B): what is around the agent, and what it remembers that matters.

    What matters elsewhere are the nodes that it touched or saw and, with the recipe's `named`, which is ours, all of
    the classes that the instruction names. Walls and the like are left out unless they matter, or something is or could
    be put on them.
    """

    def __init__(self, access: SceneAccess, recipe: Recipe, instruction: str) -> None:
        self._access, self._recipe, self._instruction = access, recipe, instruction

    @cached_property
    def _named(self) -> frozenset[str]:
        """The classes that the instruction names."""
        mentions = Mentions.of(self._instruction)
        known = self._access.reader.enumerator.of(self._access.scene).known()["class"]
        return frozenset(class_ for class_ in known if mentions.mention(class_) is Mention.WHOLE)

    def text(self, memory: Memory) -> str:
        """Return the graph as text."""
        touched, priors = touched_nodes(memory), self._recipe.priors
        grid = vocabulary_named(self._access.scene.vocabulary).looking.whole_rooms
        named = self._named if self._recipe.named and priors and not grid else frozenset[str]()
        graph = _surrounding_graph(self._access, touched=touched, classes=named, priors=priors)
        shown = self._without_scenery(graph, touched | inspected_nodes(memory))
        return _graph_text(shown, memory, self._access, form=self._recipe.form)

    def _without_scenery(self, graph: SceneGraph, touched: frozenset[str]) -> SceneGraph:
        """Return the graph without what no action can touch, unless it was touched or is named."""
        named = (id_ for class_ in self._named for id_ in graph.by_class.get(class_, ()))
        dropped = scenery(graph, self._access.scene.vocabulary) - touched - {*named}
        return SceneGraph.of(
            (node for node in graph.nodes.values() if node.id not in dropped),
            (it for it in graph.relations if not {it.source, it.target} & dropped),
        )


def scenery(graph: SceneGraph, vocabulary: str, *, looks: bool = True) -> frozenset[str]:
    """Return the walls and the furniture that bear nothing, nor could, and that no action (but `looks`) can touch."""
    chosen = vocabulary_named(vocabulary)
    acting = {name: it for name, it in chosen.operators.items() if looks or name not in LOOK_ACTIONS}
    types, structure = chosen.conventions.containment, chosen.conventions.structure
    bearing = {it.target for it in graph.relations if it.type in types and graph.nodes[it.source].kind == "Object"}
    bare = [it for it in graph.nodes.values() if not {*it.affordances} & {*AFFORDED_RELATIONS} and it.id not in bearing]
    walls = {it.id for it in bare if it.class_ in structure}
    furniture = {it.id for it in bare if it.kind == "Asset"} - walls
    return frozenset(walls | furniture - usable(acting, graph, furniture))


def _surrounding_graph(
    access: SceneAccess, *, touched: frozenset[str], classes: frozenset[str] = frozenset(), priors: bool
) -> SceneGraph:
    through_doors = vocabulary_named(access.scene.vocabulary).looking.whole_rooms
    now = access.store.now(access.scene).graph
    return surroundings(now, touched=touched, classes=classes, priors=priors, through_doors=through_doors)


def _graph_text(graph: SceneGraph, memory: Memory, access: SceneAccess, *, form: ViewForm) -> str:
    return WRITERS[form](graph, access.scene.vocabulary, inspected=inspected_nodes(memory))


WRITERS: Final[Mapping[ViewForm, Callable[..., str]]] = {
    "text": graph_words,
    "json": graph_json,
    "glance": describe_surroundings,
}


def alfworld_step(access: SceneAccess, step: CommittedAction) -> str:
    """Word a step like ALFWorld: the action, and what is seen at its place."""
    call, vocabulary = parse_action(step.action), access.scene.vocabulary
    graph = _surrounding_graph(access, touched=frozenset(call.arguments), priors=False)
    return describe_action(call, graph, vocabulary, shows=vocabulary_named(vocabulary).looking.revealing)
