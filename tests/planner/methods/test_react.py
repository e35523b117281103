"""The four ReActs and graph prompting by scripted conversations: calls, observations, solutions, and what each sees."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from db.store import SceneStore
from planner.events import Acted, Answered, Called, Event, Refused, Solved
from planner.methods.prompting import STYLES
from planner.prompts.calls import Step, arguments_in, step_in
from planner.prompts.worked import worked
from scenecypher.errors import ReplyRejected
from tests.planner.actions.grasif_worlds import home
from tests.planner.actions.worlds import HOME
from tests.planner.methods.playing import INSTRUCTION, PLAN, ROOMS, SOLUTION, named_in, paid, play, system_of
from tests.planner.methods.worked_examples import lines

ITEMS = "[['key_1', 4, 1], [key_2, 3, 3], ('ball_1', 4, 4)]"


def acts(call: str, thought: str = "I look.") -> str:
    return f"Thought: {thought}\nAction: {call}"


def kinds(events: Sequence[Event]) -> list[type[Event]]:
    return [type(event) for event in events]


def test_react_sg2_expands_nodes_and_has_the_tools(store: SceneStore) -> None:
    played = play(
        store,
        "react-sg2",
        [
            acts("expand(door_1)"),
            acts("get_attrs(door_1)"),
            acts("expand(node_id='doors')"),
            acts(f"traverse_room([2.5, 2.5], room_size=[6, 6], items={ITEMS}, start=[4, 1], goal=[5, 4])"),
            acts(f"finish({SOLUTION})"),
        ],
    )
    system = system_of(played.requests[0])
    own = system.replace(worked("react-sg2", "babyai", INSTRUCTION), "")
    assert named_in(own, ROOMS) == []
    assert "CONNECTS" not in own, "its prompt is the calls, not the schema"
    assert played.said(0) == f"Task: {INSTRUCTION}"
    seen = played.last(1)
    assert seen.startswith("Observation: {")
    assert '"links": [["door_1", "CONNECTS", "room_1"]' in seen
    assert '"size_x": 6' in seen, "attributes of neighbors too"
    assert "there is no call 'get_attrs'; use expand, traverse_room, finish" in played.last(2)
    assert "there is no node 'doors'" in played.last(3)
    assert played.last(4) == 'Observation: ["ball_1"]'
    assert "Action: expand('door_1')" in played.said(4), "the whole history is there again"
    assert kinds(played.events[:6]) == [Called, Answered, Called, Refused, Called, Answered]
    assert played.actions == list(PLAN)
    assert played.end.usage == paid(5)


@pytest.mark.parametrize(
    ("method", "calls", "tools"),
    [
        ("react-limit", ["get_neighbors", "get_attrs"], True),
        ("react-rwr", ["get_nodes", "get_links", "get_attrs", "get_neighbors"], False),
    ],
)
def test_the_other_sets_of_calls(store: SceneStore, method: str, calls: list[str], *, tools: bool) -> None:
    script = [acts("expand(door_1)")] + [
        acts(f"{name}({'' if name[4] in 'nl' and name != 'get_neighbors' else 'door_1'})") for name in calls
    ]
    played = play(store, method, [*script, acts("finish([])")])
    system = system_of(played.requests[0])
    assert [
        name for name in ("get_nodes", "get_links", "get_attrs", "get_neighbors", "expand") if f"\n{name}(" in system
    ] == sorted(calls, key=["get_nodes", "get_links", "get_attrs", "get_neighbors"].index)
    assert ("traverse_room(" in system) is tools
    assert worked(method, "babyai", INSTRUCTION) in system != ""
    assert "there is no call 'expand'" in played.last(1)
    assert len(played.of(Answered)) == len(calls)
    assert played.of(Solved) == [Solved(len(calls) + 1, (), "I look.")]
    assert played.end.outcome == "done"


def test_react_limits_examples_walk_and_react_rwrs_do_not() -> None:
    limit, rwr = (worked(name, "babyai", INSTRUCTION) for name in ("react-limit", "react-rwr"))
    assert limit.count("Action: traverse_room(") == 6
    assert "traverse_room" not in rwr
    assert "Action: get_neighbors(" in limit


def test_react_alfworld_acts_and_hears_in_words(store: SceneStore) -> None:
    script = [acts("open(door_1)"), acts("pickup(key_1)", "A key."), acts("remove(ball_1)"), acts("done()")]
    played = play(store, "react-alfworld", script)
    assert played.said(0).endswith(f"Your task is to: {INSTRUCTION}")
    assert "key_1" in played.said(0)
    assert "box_1" not in played.said(0), "what is in another room is not told"
    assert played.last(1).startswith("Observation: Nothing happens: open(door_1) was refused: blue door (door_1) is")
    assert played.last(2) == "Observation: pickup(key_1) was carried out."
    assert played.actions == ["pickup(key_1)", "remove(ball_1)"]
    assert [type(event) for event in played.of(Acted)] == [Acted, Acted]
    assert (played.end.outcome, played.end.usage) == ("done", paid(4))


def test_react_alfworld_sees_what_it_goes_to(store: SceneStore) -> None:
    script = [
        acts("go_to(table-1)"),
        acts("go_to(kitchen)"),
        acts("go_to(table-1)"),
        acts("pick_up(cup-1)"),
        acts("done()"),
    ]
    played = play(store, "react-alfworld", script, graph=home(), vocabulary="grasif", instruction="take the cup")
    assert "discover_objects" not in system_of(played.requests[0])
    assert "cup-1" not in played.said(0)
    assert played.last(1).startswith("Observation: Nothing happens")
    assert "cup-1" in played.last(3)
    assert "Action: go_to(table-1)" in played.said(4)
    assert len({request["messages"][1]["content"] for request in played.requests}) == 1, "it looks around once"
    assert "pick_up(cup-1)" in played.actions
    assert (played.end.outcome, played.end.usage) == ("done", paid(5))


def test_react_alfworld_sees_what_it_walks_to_in_a_home(store: SceneStore) -> None:
    script = [acts("walk(kitchen_10)"), acts("walk(table_20)"), acts("find(cup_30)"), acts("done()")]
    played = play(store, "react-alfworld", script, graph=HOME, vocabulary="virtualhome", instruction="find the cup")
    system = system_of(played.requests[0])
    assert "\nfind(" not in system
    assert "you see what is on it, and in it if it is open" in system
    assert "cup_30" not in played.said(0)
    assert "cup_30" not in played.last(1), "a room alone shows nothing"
    assert "cup_30" in played.last(2)
    assert "Action: walk(table_20)" in played.said(3)
    assert "there is no call 'find'" in played.last(3)
    assert played.actions == ["walk(kitchen_10)", "find(table_20)"]


@pytest.mark.parametrize("style", STYLES)
def test_graph_prompting_shows_the_whole_graph_once(store: SceneStore, style: str) -> None:
    played = play(store, style, ["I think so.", f"First the key.\n\n**Solution:** {SOLUTION}"])
    system, asked = system_of(played.requests[0]), played.said(0)
    assert asked == f"The scene graph:\n{lines(ROOMS)}\n\nTask: {INSTRUCTION}"
    assert STYLES[style].how in system
    for name in ("cot", "bag", "algorithm"):
        text = worked(name, "babyai", INSTRUCTION)
        assert (text in system) is (name in {STYLES[style].examples, STYLES[style].method})
    assert "no line that begins with Solution:" in played.last(1)
    assert played.of(Solved) == [Solved(1, PLAN, "First the key.")]
    assert played.actions == list(PLAN)
    assert played.end.usage == paid(2)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Thought: a\nb\nAction: expand(x)", Step("a\nb", "expand", "x")),
        ("Thought 1: a\nAction 1: expand[x]\nObservation 1: y\nThought 2: b\nAction 2: z(1)", Step("a", "expand", "x")),
        ("Action: `get_nodes()`", Step("", "get_nodes", "")),
        ("Thought: f(x)\nAction: finish([pickup(a), open(b)])", Step("f(x)", "finish", "[pickup(a), open(b)]")),
    ],
)
def test_a_step_is_the_first_thought_and_action(text: str, step: Step) -> None:
    assert step_in(text, "f(x)") == step


def test_arguments_are_literals_or_bare_words() -> None:
    names = ("a", "b")
    assert arguments_in(Step("", "f", "room_1, b=[1, -2.5, (x, 'y')]"), names) == {
        "a": "room_1",
        "b": [1, -2.5, ["x", "y"]],
    }
    assert arguments_in(Step("", "f", "table-1, b = bed_side-2"), names) == {"a": "table-1", "b": "bed_side-2"}
    assert arguments_in(Step("", "f", "the red ball"), ("a",)) == {"a": "the red ball"}
    for odd in ("...", "b'x'", '"\\ud800"', "0x" + "f" * 5_000, "1e999", "-1e999", "2j"):
        found = arguments_in(Step("", "f", odd), ("a",))
        assert found == {"a": odd}, "what no log can hold stays as it was written"
        json.dumps(found, ensure_ascii=False).encode()
    for written in ("1", "1, 2, 3", "a=1, c=2", "*x"):
        with pytest.raises(ReplyRejected, match="f takes a, b; call it so"):
            arguments_in(Step("", "f", written), names)
