"""A method's view of the graph before each decision, by its recipe: the memory graph, all of it, or rooms."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, Protocol, assert_never

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.planner.actions.simulator import CommittedAction
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.belief_simulator import LOOK_ACTIONS
from scenecypher.planner.method import CallTool, Memory
from scenecypher.planner.prompts.alfworld_text import describe_action, describe_surroundings
from scenecypher.planner.prompts.graph_json import graph_json
from scenecypher.planner.prompts.graph_words import graph_words
from scenecypher.planner.recipe import Recipe, SceneAccess, ViewForm
from scenecypher.planner.session import StepWriter, ViewWriter
from scenecypher.planner.surroundings import read_surroundings
from scenecypher.planner.toolbox import Tool, ToolAnswer, argument
from scenecypher.planner.vocabularies.registry import vocabulary_named
from scenecypher.retriever.collapsed import CollapsedGraph, collapse
from scenecypher.retriever.graph_api import GraphApi
from scenecypher.retriever.graph_text import graph_text

EXPAND: Final = "expand_node"
CONTRACT: Final = "contract_node"


def make_view(recipe: Recipe, access: SceneAccess) -> tuple[ViewWriter | None, Mapping[str, Tool]]:
    """Return the view of a recipe, and the tools that change the view."""
    match recipe.extent:
        case "nothing" | "schema":
            return None, {}
        case "memory":
            return lambda memory: _memory_graph(memory, access, form=recipe.form, priors=recipe.priors), {}
        case "full":
            return lambda memory: _full_graph(memory, access, form=recipe.form), {}
        case "collapsed":
            rooms = CollapsedView(access)
            return rooms.text, {EXPAND: rooms.expand, CONTRACT: rooms.contract}
        case _:
            assert_never(recipe.extent)


class CollapsedView:
    """SayPlan's collapsed graph: the places, and the contents of those expanded so far."""

    def __init__(self, access: SceneAccess) -> None:
        self._api = GraphApi(access.reader)
        self._shown: CollapsedGraph | None = None

    def text(self, memory: Memory) -> str:
        """Return the present graph after the calls in `memory`: nodes and links as JSON."""
        graph = collapse(self._api)
        for tool, room in _room_calls(memory):
            graph = graph.expand(room) if tool == EXPAND else graph.contract(room)
        self._shown = graph
        return json.dumps(graph.document(), ensure_ascii=False)

    def expand(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Expand a room. Raises RejectedError if it is no room."""
        (place,) = collapse(self._api).expand(argument(arguments, "node_name", tool=EXPAND)).expanded
        return ToolAnswer(f"{place} is expanded")

    def contract(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Contract a room. Raises RejectedError if it is not expanded in the last text."""
        shown = self._shown or collapse(self._api)
        left = shown.contract(argument(arguments, "node_name", tool=CONTRACT)).expanded
        return ToolAnswer(f"{', '.join(left) or 'no room'} stays expanded")


def _room_calls(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield the calls that changed the view, each as tool and room."""
    for turn in memory.turns:
        call = turn.decision
        if isinstance(call, CallTool) and call.tool in {EXPAND, CONTRACT} and not turn.refused:
            yield call.tool, argument(call.arguments, "node_name", tool=call.tool)


def inspected_nodes(memory: Memory) -> frozenset[str]:
    """Return the nodes that were looked at so far."""
    return frozenset(
        call.arguments[0] for call in _executed_calls(memory) if call.name in LOOK_ACTIONS and call.arguments
    )


def touched_nodes(memory: Memory) -> frozenset[str]:
    """Return the nodes that were arguments of executed actions so far."""
    return frozenset(argument for call in _executed_calls(memory) for argument in call.arguments)


def _executed_calls(memory: Memory) -> list[ActionCall]:
    return [parse_action(action) for turn in memory.turns for action in turn.done]


def _memory_graph(memory: Memory, access: SceneAccess, *, form: ViewForm, priors: bool) -> str:
    return _graph_text(
        _surrounding_graph(access, touched=touched_nodes(memory), priors=priors), memory, access, form=form
    )


def _surrounding_graph(access: SceneAccess, *, touched: frozenset[str], priors: bool) -> SceneGraph:
    through_doors = vocabulary_named(access.scene.vocabulary).looking.whole_rooms
    database, scene = access.store.database, access.scene
    return read_surroundings(database, scene, touched=touched, priors=priors, through_doors=through_doors)


def _full_graph(memory: Memory, access: SceneAccess, *, form: ViewForm) -> str:
    if form == "lines":
        return graph_text(access.reader)[0]
    return _graph_text(access.store.load(access.scene.name).graph, memory, access, form=form)


def _graph_text(graph: SceneGraph, memory: Memory, access: SceneAccess, *, form: ViewForm) -> str:
    return WRITERS[form](graph, access.scene.vocabulary, inspected=inspected_nodes(memory))


class GraphWriter(Protocol):
    """Function that writes a graph as text."""

    def __call__(self, graph: SceneGraph, vocabulary: str, *, inspected: Collection[str] = ()) -> str:
        """Return the text; it is the same for equal graphs."""
        ...


WRITERS: Final[Mapping[ViewForm, GraphWriter]] = {
    "text": graph_words,
    "json": graph_json,
    "glance": describe_surroundings,
}


def alfworld_step_writer(access: SceneAccess) -> StepWriter:
    """Return a writer that words each step like ALFWorld: the action, and what is seen at its place."""

    def write(step: CommittedAction) -> str:
        call, vocabulary = parse_action(step.action), access.scene.vocabulary
        graph = _surrounding_graph(access, touched=frozenset(call.arguments), priors=False)
        revealing = vocabulary_named(vocabulary).looking.revealing
        return describe_action(call, graph, vocabulary, shows=revealing)

    return write
