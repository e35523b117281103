"""What a method is shown of the graph before each decision, by its recipe: the memory graph, all of it, or rooms."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, Protocol, assert_never

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import family
from scenecypher.planner.actions.simulator import CommittedAction
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.believing import LOOKS, REVEALING
from scenecypher.planner.method import Call as ToolCall
from scenecypher.planner.method import Memory
from scenecypher.planner.prompts.alfworld_text import describe_action, describe_surroundings
from scenecypher.planner.prompts.graph_json import graph_json
from scenecypher.planner.prompts.graph_words import graph_words
from scenecypher.planner.recipe import Access, Form, Recipe
from scenecypher.planner.session import Teller, View
from scenecypher.planner.surroundings import surroundings
from scenecypher.planner.toolbox import Tool, ToolAnswer, argument
from scenecypher.retriever.collapsed import CollapsedGraph, collapse
from scenecypher.retriever.graph_api import GraphApi
from scenecypher.retriever.graph_text import graph_text

EXPAND: Final = "expand_node"
CONTRACT: Final = "contract_node"


def view_of(recipe: Recipe, access: Access) -> tuple[View | None, Mapping[str, Tool]]:
    """The view that a recipe asks for, and the tools that change what it shows."""
    match recipe.extent:
        case "nothing" | "schema":
            return None, {}
        case "memory":
            return lambda memory: _memory_graph(memory, access, form=recipe.form, priors=recipe.priors), {}
        case "full":
            return lambda memory: _full_graph(memory, access, form=recipe.form), {}
        case "collapsed":
            rooms = Rooms(access)
            return rooms.text, {EXPAND: rooms.expand, CONTRACT: rooms.contract}
        case _:
            assert_never(recipe.extent)


class Rooms:
    """SayPlan's collapsed graph: its places, and what is in those that were expanded so far."""

    def __init__(self, access: Access) -> None:
        self._api = GraphApi(access.reader)
        self._shown: CollapsedGraph | None = None

    def text(self, memory: Memory) -> str:
        """What is shown after the calls that `memory` holds, as the scene is now: nodes and links as JSON."""
        graph = collapse(self._api)
        for tool, room in _rooms_called(memory):
            graph = graph.expand(room) if tool == EXPAND else graph.contract(room)
        self._shown = graph
        return json.dumps(graph.document(), ensure_ascii=False)

    def expand(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Show what is in a room. Raises RejectedError for what is no room."""
        (place,) = collapse(self._api).expand(argument(arguments, "node_name", tool=EXPAND)).expanded
        return ToolAnswer(f"{place} is expanded")

    def contract(self, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Show it no longer. Raises RejectedError for what is not expanded in the text that was shown last."""
        shown = self._shown or collapse(self._api)
        left = shown.contract(argument(arguments, "node_name", tool=CONTRACT)).expanded
        return ToolAnswer(f"{', '.join(left) or 'no room'} stays expanded")


def _rooms_called(memory: Memory) -> Iterator[tuple[str, str]]:
    """The calls that changed what is shown: the tool and the room."""
    for turn in memory.turns:
        call = turn.decision
        if isinstance(call, ToolCall) and call.tool in {EXPAND, CONTRACT} and not turn.refused:
            yield call.tool, argument(call.arguments, "node_name", tool=call.tool)


def inspected(memory: Memory) -> frozenset[str]:
    """The nodes that were looked into so far."""
    return frozenset(call.arguments[0] for call in _done(memory) if call.name in LOOKS and call.arguments)


def touched(memory: Memory) -> frozenset[str]:
    """The nodes that something was done with so far."""
    return frozenset(argument for call in _done(memory) for argument in call.arguments)


def _done(memory: Memory) -> list[ActionCall]:
    return [parse_action(action) for turn in memory.turns for action in turn.done]


def _memory_graph(memory: Memory, access: Access, *, form: Form, priors: bool) -> str:
    return _written(_near(access, touched=touched(memory), priors=priors), memory, access, form=form)


def _near(access: Access, *, touched: frozenset[str], priors: bool) -> SceneGraph:
    through_doors = family(access.scene.vocabulary) == "babyai"
    database, scene = access.store.database, access.scene
    return surroundings(database, scene, touched=touched, priors=priors, through_doors=through_doors)


def _full_graph(memory: Memory, access: Access, *, form: Form) -> str:
    if form == "lines":
        return graph_text(access.reader)[0]
    return _written(access.store.load(access.scene.name).graph, memory, access, form=form)


def _written(graph: SceneGraph, memory: Memory, access: Access, *, form: Form) -> str:
    return WRITERS[form](graph, access.scene.vocabulary, inspected=inspected(memory))


class Writer(Protocol):
    """Writes a graph as text."""

    def __call__(self, graph: SceneGraph, vocabulary: str, *, inspected: Collection[str] = ()) -> str:
        """The same text for equal graphs."""
        ...


WRITERS: Final[Mapping[Form, Writer]] = {"text": graph_words, "json": graph_json, "glance": describe_surroundings}


def hearing(access: Access) -> Teller:
    """Tells of each action what ALFWorld would: what was done, and what is seen where that led to."""

    def tell(step: CommittedAction) -> str:
        call, vocabulary = parse_action(step.action), access.scene.vocabulary
        graph = _near(access, touched=frozenset(call.arguments), priors=False)
        shows = REVEALING.get(family(vocabulary), frozenset())
        return describe_action(call, graph, vocabulary, shows=shows)

    return tell
