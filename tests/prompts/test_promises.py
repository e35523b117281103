"""Sentences of prompts that promise something of the world: each is kept, and is not said where it would be false."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.operator import needed_words
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.methods.lookplangraph import lookplangraph
from scenecypher.planner.methods.ours import stepwise
from scenecypher.planner.methods.sayplan import sayplan
from scenecypher.planner.sessions.events import Corrected, Event, Refused, Retrieved
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.vocabularies.virtualhome.operators import OPERATORS
from scenecypher.retriever.retrieval import ROWS_SHOWN
from tests.planner.actions.test_operators import in_memory, put
from tests.planner.actions.worlds import HOME, ROWS, Row, node
from tests.planner.methods.coffee import COFFEE, INSTRUCTION, step
from tests.prompts.episodes import decides


class Lines:
    """A model with scripted replies, the last one repeated, that records its requests."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines, self.asked = [*lines], list[Request]()

    def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply(self._lines[min(len(self.asked), len(self._lines)) - 1], Usage(), "lines", source="scripted")


class Played:
    """An episode in the world of the papers' example, or in another one."""

    def __init__(
        self,
        store: SceneStore,
        method: str,
        *lines: str,
        graph: SceneGraph = COFFEE,
        vocabulary: str = "grasif",
        instruction: str = INSTRUCTION,
        ablations: tuple[str, ...] = (),
        belief: bool | None = None,
        fix: bool | None = None,
    ) -> None:
        self.model = Lines(lines)
        setting = SessionSetting(
            store,
            Gate(store.database),
            put(store, graph, vocabulary=vocabulary),
            instruction,
            method,
            model=self.model,
            ablations=ablations,
            belief=belief,
            fix=fix,
        )
        self.events: list[Event] = [*prepare_session(setting, recipe_named(method)).run()]

    @property
    def system(self) -> str:
        """The first system message."""
        return self.model.asked[0].messages[0].text

    def told(self, number: int) -> str:
        """Return the last message of a request."""
        return self.model.asked[number].messages[-1].text

    def of(self, kind: type[Event]) -> list[Event]:
        """Return the events of one type."""
        return [event for event in self.events if isinstance(event, kind)]


END = step("so", "done", "cup-1")
FAR = step("so", "turn_on", "coffee_machine-1")
CORRECTED = lookplangraph.PROMPTS["corrected"].partition(",")[0]


@pytest.mark.parametrize(("ablations", "fix"), [(("no-correction",), None), ((), False)])
def test_what_has_to_be_done_first_is_done_or_not_promised(
    store: SceneStore, *, ablations: tuple[str, ...], fix: bool | None
) -> None:
    kept = Played(store, "lookplangraph", FAR, END)
    assert CORRECTED in kept.system
    assert kept.of(Corrected)
    broken = Played(store, "lookplangraph", FAR, END, ablations=ablations, fix=fix)
    assert not broken.of(Corrected)
    assert CORRECTED not in broken.system
    assert lookplangraph.PROMPTS["uncorrected"] in broken.system


def test_only_named_repairs_are_promised() -> None:
    assert lookplangraph.repairing_actions("grasif") == ["go_to", "put_on", "open"]
    assert lookplangraph.repairing_actions("babyai") == ["pickup", "open"]


def test_stepwise_says_whether_it_is_corrected(store: SceneStore) -> None:
    lines = decides("act", "turn_on(coffee_machine-1)"), decides("done")
    kept, broken = Played(store, "stepwise", *lines), Played(store, "stepwise", *lines, fix=False)
    assert (bool(kept.of(Corrected)), stepwise.PROMPTS["stepwise_corrected"] in kept.system) == (True, True)
    assert (bool(broken.of(Corrected)), stepwise.PROMPTS["stepwise_checked"] in broken.system) == (False, True)
    assert "go_to(kitchen-1) first" in broken.told(1), "it is told why and what to do first"


def test_only_a_look_shows_or_all_is_shown(store: SceneStore) -> None:
    believing = Played(store, "lookplangraph", step("so", "go_to", "kitchen-1"), END)
    assert lookplangraph.PROMPTS["remembering"].format(looks="discover_objects") in believing.system
    assert "cup-1 ontop table-1, not confirmed" in believing.told(1)
    knowing = Played(store, "lookplangraph", step("so", "go_to", "kitchen-1"), END, belief=False)
    assert lookplangraph.PROMPTS["knowing"] in knowing.system
    assert "only a look shows" not in knowing.system
    assert "cup-1 ontop table-1\n" in knowing.told(1)


def test_a_second_look_is_refused_where_looks_are_known(store: SceneStore) -> None:
    look = step("so", "discover_objects", "table-2")
    played = Played(store, "lookplangraph", look, look, END)
    assert lookplangraph.PROMPTS["once"].format(looks="discover_objects") in played.system
    assert "table-2, inspected" in played.told(1)
    assert played.of(Refused)
    assert "again what is marked inspected" not in Played(store, "lookplangraph", END, belief=False).system


def test_what_the_instruction_names_is_told_wherever_it_is(store: SceneStore) -> None:
    instruction = "bring the cup to the table"
    kept = Played(store, "lookplangraph", END, instruction=instruction, ablations=("named-classes",))
    named = lookplangraph.PROMPTS["named"].format(remembered=" remembered")
    assert named in kept.system
    elsewhere = kept.told(0).partition("What you know of other rooms:\n")[2].partition("\n\n")[0].splitlines()
    assert elsewhere == ["table-1, in kitchen-1", "cup-1 ontop table-1, not confirmed, in kitchen-1"]
    for without in ((), ("named-classes", "no-priors")):
        broken = Played(store, "lookplangraph", END, instruction=instruction, ablations=without)
        assert named not in broken.system
        assert "What you know of other rooms" not in broken.told(0)


def test_what_is_known_in_other_rooms_is_what_contains_it(store: SceneStore) -> None:
    played = Played(store, "lookplangraph", END, instruction="clean the spoons", ablations=("named-classes",))
    assert "cupboard-1, closed, in kitchen-1" in played.told(0)
    assert "spoon-1 inside cupboard-1, not confirmed, in kitchen-1" in played.told(0)


def test_walls_are_left_out_where_nothing_is_on_them(store: SceneStore) -> None:
    walls = [node("wall_1", "Asset"), node("wall_2", "Asset"), node("floor_3", "Asset", affordances="surfaces")]
    graph = SceneGraph.of(
        [*HOME.nodes.values(), *walls, node("picture_4", "Object", affordances="grabbable")],
        [
            *HOME.relations,
            *(Relation(it.id, "INSIDE", "kitchen_10") for it in walls),
            Relation("picture_4", "ON", "wall_2"),
            Relation("picture_4", "INSIDE", "kitchen_10"),
        ],
    )
    played = Played(store, "lookplangraph", END, graph=graph, vocabulary="virtualhome", instruction="go")
    assert lookplangraph.PROMPTS["structure"] in played.system
    told = played.told(0)
    assert "wall_1" not in told
    assert "\nfloor_3, wall_2\n" in told, "what bears something, or can, is told in one line"
    named = Played(store, "lookplangraph", END, graph=graph, vocabulary="virtualhome", instruction="paint the wall")
    assert "wall_1" in named.told(0)
    assert lookplangraph.PROMPTS["structure"] not in Played(store, "lookplangraph", END).system
    whole = Played(store, "lookplangraph", END, graph=graph, vocabulary="virtualhome", ablations=("full-graph",))
    assert lookplangraph.PROMPTS["structure"] not in whole.system
    assert "wall_1" in whole.told(0)


def test_as_many_rows_are_shown_as_query_writers_are_told(store: SceneStore) -> None:
    many = SceneGraph.of(
        [*COFFEE.nodes.values(), *(replace(COFFEE.nodes["spoon-1"], id=f"s{n}", name=f"s{n}") for n in range(30))],
        [*COFFEE.relations, *(Relation(f"s{n}", "INSIDE", "cupboard-1") for n in range(30))],
    )
    query = "```cypher\nMATCH (o:Object {class: 'spoon'}) RETURN o.id AS id, o.name AS name ORDER BY id\n```"
    lines = decides("ask", "Which spoons?"), query, decides("done")
    played = Played(store, "stepwise", *lines, graph=many)
    (found,) = played.of(Retrieved)
    assert isinstance(found, Retrieved)
    assert found.answer.count("id: ") == ROWS_SHOWN
    assert "and 11 more rows" in found.answer
    assert f"At most {ROWS_SHOWN} rows are shown" in played.model.asked[1].messages[0].text
    assert f"at most {ROWS_SHOWN} rows" in " ".join(played.system.split())


def test_a_plan_is_tried_only_where_there_is_a_simulator(store: SceneStore) -> None:
    plan = (
        '{"chain_of_thought": [], "reasoning": "", "mode": "planning", "command": null, "plan": ["go_to(kitchen-1)"]}'
    )
    assert sayplan.PROMPTS["tried"] in Played(store, "sayplan", plan).system


@pytest.mark.parametrize("row", ROWS, ids=[row.action for row in ROWS])
def test_what_an_action_needs_is_refused_without_it(row: Row) -> None:
    call = parse_action(row.action)
    operator = OPERATORS[call.name]
    for parameter, id_ in zip(operator.parameters, call.arguments, strict=True):
        if needed_words(operator, parameter.name):
            graph = row.graph
            bare = replace(graph.nodes[id_], affordances=(), class_="nothing")
            others = (it for it in graph.nodes.values() if it.id != id_)
            with pytest.raises(Infeasible):
                in_memory(SceneGraph.of([*others, bare], graph.relations), row.action)
