"""The four ReActs and graph prompting by scripted conversations: calls, observations, solutions and prompts."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from scenecypher.db.graph.scene import Relation
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ReplyRejected
from scenecypher.planner.methods.baselines.prompting import STYLES
from scenecypher.planner.prompts.home_examples import graph_lines as lines
from scenecypher.planner.prompts.texts import ReActStep, parse_arguments, parse_step, worked_examples
from scenecypher.planner.sessions.events import Answered, Called, Event, Finished, Proposed, Refused, Solved
from tests.planner.actions.grasif_worlds import home
from tests.planner.actions.worlds import HOME
from tests.planner.methods.mail import BRING_THE_MAIL, MAIL
from tests.planner.methods.playing import (
    INSTRUCTION,
    PLAN,
    ROOMS,
    SOLUTION,
    names_in_text,
    play,
    script_usage,
    system_of,
)

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
    own = system.replace(worked_examples("react-sg2", "babyai", INSTRUCTION), "")
    assert names_in_text(own, ROOMS) == []
    assert "CONNECTS" not in own, "its prompt is the calls, not the schema"
    assert played.said(0) == f"Task: {INSTRUCTION}"
    seen = played.last(1)
    assert seen.startswith("Observation: {")
    assert '"links": [["door_1", "CONNECTS", "room_1"]' in seen
    assert '"size_x": 6' in seen, "attributes of neighbors too"
    assert "there is no call 'get_attrs'; use expand, traverse_room, finish" in played.last(2)
    assert "there is no 'doors' in this scene" in played.last(3)
    assert played.last(4) == 'Observation: ["ball_1"]'
    assert "Action: expand(door_1)" in played.said(4), "the whole history is there again"
    assert kinds(played.events[:6]) == [Called, Answered, Called, Refused, Called, Answered]
    assert played.actions == list(PLAN)
    assert played.end.usage == script_usage(5)


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
    assert worked_examples(method, "babyai", INSTRUCTION) in system != ""
    assert "there is no call 'expand'" in played.last(1)
    assert len(played.of(Answered)) == len(calls)
    assert played.of(Solved) == [Solved(len(calls) + 1, (), "I look.")]
    assert played.end.outcome == "done"


def test_react_limits_examples_walk_and_react_rwrs_do_not() -> None:
    limit, rwr = (worked_examples(name, "babyai", INSTRUCTION) for name in ("react-limit", "react-rwr"))
    assert limit.count("Action: traverse_room(") == 6
    assert "traverse_room" not in rwr
    assert "Action: get_neighbors(" in limit


def test_react_alfworld_acts_and_hears_in_words(store: SceneStore) -> None:
    script = ["> open(door_1)", "> think: A key.", "pickup(key_1)", "> remove(ball_1)", "> open(door_1)", "> done()"]
    played = play(store, "react-alfworld", script)
    assert played.said(0).endswith(f"Your task is to: {INSTRUCTION}")
    assert "key_1" in played.said(0)
    assert "box_1" not in played.said(0), "what is in another room is not told"
    assert played.last(1).startswith("Nothing happens: open(door_1) was refused: ")
    assert played.last(2) == "OK."
    assert played.last(3).startswith("You pickup key_1. Places: ")
    assert "holding key_1" in played.last(3)
    assert "box_1" not in played.last(4)
    assert "box_1" in played.last(5), "beyond an open door all is in view"
    assert played.actions == ["pickup(key_1)", "remove(ball_1)", "open(door_1)"]
    assert [event.reason for event in played.events if isinstance(event, Proposed)] == ["", "A key.", "", ""]
    assert (played.end.outcome, played.end.usage) == ("done", script_usage(6))


def test_react_alfworlds_example_is_what_a_session_says(store: SceneStore) -> None:
    """Appendix F-5: a worked task in the prompt; going to a room shows its furniture, going to a thing its contents."""
    _, *example = worked_examples("react-alfworld", "grasif", "").split("***\n")
    replies = [line for line in example[0].splitlines() if line.startswith(">")]
    played = play(store, "react-alfworld", replies, graph=MAIL, vocabulary="grasif", instruction=BRING_THE_MAIL)
    assert played.end.outcome == "done"
    assert f"***\n{played.said(-1)}\n> done()\n***" in worked_examples("react-alfworld", "grasif", "")
    assert worked_examples("react-alfworld", "grasif", "") in system_of(played.requests[0])
    assert Relation("mail-1", "INSIDE", "tray-1") in store.load(played.scene).graph.relations


def test_react_alfworld_sees_what_it_goes_to(store: SceneStore) -> None:
    script = ["> go_to(table-1)", "> go_to(kitchen)", "> go_to(table-1)", "> pick_up(cup-1)", "> done()"]
    played = play(store, "react-alfworld", script, graph=home(), vocabulary="grasif", instruction="take the cup")
    assert "discover_objects" not in system_of(played.requests[0])
    assert "cup-1" not in played.said(0)
    assert "table-1" not in played.said(0)
    assert played.last(1).startswith("Nothing happens: go_to(table-1) was refused: ")
    assert (
        played.last(2)
        == "You are in the middle of kitchen. Looking quickly around you, you see fridge-1, lamp-1, table-1."
    )
    assert played.last(3) == "You are at table-1. On table-1 you see cup-1."
    assert "> go_to(table-1)" in played.said(4)
    assert played.last(4) == "You pick up cup-1."
    assert len({request["messages"][1]["content"] for request in played.requests}) == 1, "it looks around once"
    assert "pick_up(cup-1)" in played.actions
    assert (played.end.outcome, played.end.usage) == ("done", script_usage(5))


def test_react_alfworld_sees_what_it_walks_to_in_a_home(store: SceneStore) -> None:
    script = ["walk(kitchen_10)", "> walk(table_20)", "I look.\n> find(cup_30)\nOK.", "> walk(fridge_21)", "> done()"]
    played = play(store, "react-alfworld", script, graph=HOME, vocabulary="virtualhome", instruction="find the cup")
    system = system_of(played.requests[0])
    assert "\nfind(" not in system
    assert "you see what is on it, and in it if it is open" in system
    assert "cup_30" not in played.said(0)
    assert "you see" in played.last(1)
    assert "table_20" in played.last(1), "a room shows its furniture"
    assert "cup_30" not in played.last(1), "and no more"
    assert "cup_30" in played.last(2)
    assert "> walk(table_20)" in played.said(3)
    assert "there is no call 'find'" in played.last(3)
    assert played.last(4).startswith("You are at fridge_21. fridge_21 is closed")
    assert played.actions == ["walk(kitchen_10)", "find(table_20)", "find(fridge_21)"]


@pytest.mark.parametrize(
    "text", ["", "> ", "> think:", "> think: ", "Thought: so\nAction: done()", "I go to the table."]
)
def test_react_alfworld_asks_again_for_what_is_no_action(store: SceneStore, text: str) -> None:
    played = play(store, "react-alfworld", [text, text, text, "> done()"], graph=MAIL, vocabulary="grasif")
    assert "it is no action; reply in this form:\n> think: your thought\nor\n> go_to(node_id)" in played.last(2)
    assert [type(event) for event in played.events] == [Refused, Finished]
    assert (played.end.outcome, played.end.usage) == ("done", script_usage(4))


@pytest.mark.parametrize("style", STYLES)
def test_graph_prompting_shows_the_whole_graph_once(store: SceneStore, style: str) -> None:
    played = play(store, style, ["I think so.", f"First the key.\n\n**Solution:** {SOLUTION}"])
    system, asked = system_of(played.requests[0]), played.said(0)
    assert asked == f"The scene graph:\n{lines(ROOMS)}\n\nTask: {INSTRUCTION}"
    assert STYLES[style].how in system
    for name in ("cot", "bag", "algorithm"):
        text = worked_examples(name, "babyai", INSTRUCTION)
        assert (text in system) is (name in {STYLES[style].examples, STYLES[style].method})
    assert "no line that begins with Solution:" in played.last(1)
    assert played.of(Solved) == [Solved(1, PLAN, "First the key.")]
    assert played.actions == list(PLAN)
    assert played.end.usage == script_usage(2)


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("Thought: a\nb\nAction: expand(x)", ReActStep("a\nb", "expand", "x")),
        (
            "Thought 1: a\nAction 1: expand[x]\nObservation 1: y\nThought 2: b\nAction 2: z(1)",
            ReActStep("a", "expand", "x"),
        ),
        ("Action: `get_nodes()`", ReActStep("", "get_nodes", "")),
        ("Thought: f(x)\nAction: finish([pickup(a), open(b)])", ReActStep("f(x)", "finish", "[pickup(a), open(b)]")),
    ],
)
def test_a_step_is_the_first_thought_and_action(text: str, step: ReActStep) -> None:
    assert parse_step(text, "f(x)") == step


def test_arguments_are_literals_or_bare_words() -> None:
    names = ("a", "b")
    assert parse_arguments(ReActStep("", "f", "room_1, b=[1, -2.5, (x, 'y')]"), names) == {
        "a": "room_1",
        "b": [1, -2.5, ["x", "y"]],
    }
    assert parse_arguments(ReActStep("", "f", "table-1, b = bed_side-2"), names) == {"a": "table-1", "b": "bed_side-2"}
    assert parse_arguments(ReActStep("", "f", "the red ball"), ("a",)) == {"a": "the red ball"}
    for odd in ("...", "b'x'", '"\\ud800"', "0x" + "f" * 5_000, "1e999", "-1e999", "2j"):
        found = parse_arguments(ReActStep("", "f", odd), ("a",))
        assert found == {"a": odd}, "what no log can hold stays as it was written"
        json.dumps(found, ensure_ascii=False).encode()
    for written in ("1", "1, 2, 3", "a=1, c=2", "*x"):
        with pytest.raises(ReplyRejected, match="f takes a, b; call it so"):
            parse_arguments(ReActStep("", "f", written), names)
