"""SG-RwR, its shots and ablations by scripted conversations: order of the agents, their prompts, executed actions."""

from __future__ import annotations

import pytest

from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.prompts.terms import environment_schema
from scenecypher.planner.prompts.texts import worked_examples
from scenecypher.planner.sessions.events import Answered, Asked, Called, Finished, Refused, Retrieved, Solved
from tests.planner.methods.playing import (
    INSTRUCTION,
    PLAN,
    ROOMS,
    SOLUTION,
    Played,
    names_in_text,
    play,
    role_of,
    script_usage,
    system_of,
)

ITEMS = "[['key_1', 4, 1], ['key_2', 3, 3], ['ball_1', 4, 4]]"
GOOD = f"print('remove', traverse_room([2.5, 2.5], [6, 6], {ITEMS}, [4, 1], [5, 4]))"
QUERY = "MATCH (o:Object)-[:INSIDE]->(r:Place {id: 'room_1'}) RETURN o.id AS id, o.center.x AS x, o.center.y AS y"


def asks(query: str) -> str:
    return f"[Explanation]\nSECRET REASONS\n\n[Query]\n{query}"


def codes(code: str) -> str:
    return f"[Explanation]\nSECRET REASONS\n\n[Code]\n```python\n{code}\n```"


def ends(actions: str, name: str = "Actions") -> str:
    return f"[Summary]\nFound out and solved.\n\n[{name}]\n{actions}\n\nTASK TERMINATE"


@pytest.fixture(scope="module")
def whole(store: SceneStore) -> Played:
    """The traversal of the paper's Figure 6, with assumptions, errors and a query that finds nothing."""
    return play(
        store,
        "sg-rwr",
        [
            asks("Which items are in room_1, and at which center?"),
            "```cypher\nMATCH (o:Object {name: 'room_1'}) RETURN o.id\n```",
            "```cypher\nMATCH (o:Object)--(r:Rom) RETURN o.id\n```",
            f"```cypher\n{QUERY}\n```",
            "[Summary]\nkey_1 at (4, 1), key_2 at (3, 3), ball_1 at (4, 4).\n\nINFO RETRIEVED",
            codes("room = [2.5, 2.5]  # assuming that it is there\nprint(traverse_room(room))"),
            codes("print(traverse_rooms([2.5, 2.5]))"),
            codes(GOOD),
            ends(SOLUTION),
        ],
    )


def test_reasoner_and_retriever_take_turns(whole: Played) -> None:
    assert whole.roles == ["reasoner", *["retriever"] * 4, *["reasoner"] * 4]
    assert [type(event) for event in whole.events][:7] == [
        *(Asked, Retrieved, Called, Answered, Called, Answered, Solved)
    ]
    assert whole.actions == list(PLAN)
    assert (whole.end.outcome, whole.end.steps) == ("done", 4)
    assert whole.end.usage == script_usage(len(whole.requests))
    retrieved = whole.events[1]
    assert isinstance(retrieved, Retrieved)
    assert retrieved.cypher == QUERY
    assert retrieved.usage == script_usage(4)


def test_both_see_the_schema_and_never_the_graph(whole: Played) -> None:
    reasoner, retriever = system_of(whole.requests[0]), system_of(whole.requests[1])
    assert environment_schema("babyai") in reasoner
    assert environment_schema("babyai") in retriever
    assert names_in_text(reasoner, ROOMS) == [], "zero-shot: no example either"
    assert names_in_text(retriever, ROOMS) == []
    assert "traverse_room(" in reasoner
    assert "traverse_room(" not in retriever
    known = names_in_text(whole.said(8), ROOMS, but=["purple box"])
    assert known == ["ball_1", "key_1", "key_2", "room_1"], "what was retrieved, and nothing else"


def test_the_retriever_gets_the_query_alone_and_checks_its_own_work(whole: Played) -> None:
    for request in whole.requests[1:5]:
        text = "\n".join(message["content"] for message in request["messages"])
        assert "SECRET REASONS" not in text
        assert INSTRUCTION not in text
    assert whole.said(1) == "[Query]\nWhich items are in room_1, and at which center?"
    assert "nothing was found" in whole.last(2)
    assert "The query failed: no label `Rom`" in whole.last(3)
    assert "id: ball_1, x: 4.0, y: 4.0" in whole.last(4)
    assert whole.last(5) == "The Retriever's answer:\nkey_1 at (4, 1), key_2 at (3, 3), ball_1 at (4, 4)."
    assert "MATCH" not in whole.said(8)


def test_assumptions_and_errors_are_put_back_to_the_reasoner(whole: Played) -> None:
    assert "the code assumes something; remove all assumptions" in whole.last(6)
    assert "assuming that it is there" in whole.requests[6]["messages"][-2]["content"]
    assert "there is no 'traverse_rooms' (did you mean 'traverse_room'?)" in whole.last(7)
    assert whole.last(8) == "The output of the code:\nremove ['ball_1']"


@pytest.mark.parametrize("heading", ["[Summary]\n", "[Analysis]\n", "**[Answer]**: ", "", "[Explanation]\n"])
def test_what_is_said_under_another_heading_is_remembered(store: SceneStore, heading: str) -> None:
    """Kind: what a model found out is lost to it, since it stood under another heading than the form's."""
    first = f"{heading}The ball is in the way.\n\n[Query]\nWhere is the door?\n\n[Answer]\nIN THE MOON"
    rows = f"```cypher\n{QUERY}\n```"
    found = "[Summary]\nIt is at (5, 4).\n\nINFO RETRIEVED"
    played = play(store, "sg-rwr", [first, rows, found, ends("red", "Answer")])
    remembered = played.requests[-1]["messages"][2]["content"]
    assert remembered.startswith("[Explanation]\n")
    assert "The ball is in the way.\n\n[Query]\nWhere is the door?" in remembered
    assert "MOON" not in remembered, "what it makes up of the rest of the conversation is not"


ASSUMING = (
    "door = 'door_1'  # Assume it is locked",
    "door = 'door_1'  # Assumed to be locked",
    "assume_door = 'door_1'",
    "door = 'door_1'  # an assumption",
)


@pytest.mark.parametrize("line", ASSUMING)
def test_code_that_goes_on_assuming_is_a_turn_that_is_told(store: SceneStore, line: str) -> None:
    """Kind of fault: a filter of words that lets their other forms through."""
    assuming = codes(f"{line}\nprint('door_1')")
    played = play(store, "sg-rwr", [assuming, assuming, assuming, ends("red", "Answer")])
    assert [type(event) for event in played.events] == [Refused, Finished]
    assert "could not be used: the code assumes" in played.last(3)
    assert (played.end.outcome, played.end.answer, played.end.usage) == ("done", "red", script_usage(4))


@pytest.mark.parametrize(("method", "has_method"), [("sg-rwr-fs", False), ("sg-rwr-alg", True)])
def test_shots_are_worked_tasks_and_the_method_in_words(store: SceneStore, method: str, *, has_method: bool) -> None:
    played = play(store, method, [ends("[pickup(key_1)]")])
    system = system_of(played.requests[0])
    assert worked_examples("tasks", "babyai", INSTRUCTION) in system
    assert (worked_examples("algorithm", "babyai", INSTRUCTION) in system) is has_method
    assert played.actions == ["pickup(key_1)"]


def test_single_coder_writes_one_program_that_queries_and_mends_it(store: SceneStore) -> None:
    program = """
rows = query("MATCH (d:Door)--(r:Place) RETURN d.id AS door, d.color AS color, d.center AS at, r.id AS room")
door = rows[0]
keys = query("MATCH (k:Object {class: 'key'}) RETURN k.id AS id, k.color AS color, k.center.x AS x, k.center.y AS y")
key = [k for k in keys if k["color"] == door["color"]][0]
rest = query("MATCH (o:Object)-[:INSIDE]->(r:Place {id: 'room_1'}) RETURN o.id AS id, o.center AS center")
room = query("MATCH (r:Place {id: 'room_1'}) RETURN r.center AS center, r.size_x AS w, r.size_y AS h")[0]
way = traverse_room(room["center"], [room["w"], room["h"]], rest, [key["x"], key["y"]], door["at"])
steps = ["pickup(" + key["id"] + ")"] + ["remove(" + id + ")" for id in way] + ["open(" + door["door"] + ")"]
box = query("MATCH (b:Object {class: 'box', color: 'purple'}) RETURN b.id AS id")[0]["id"]
print("The way is blocked by", way)
print("[" + ", ".join(steps + ["pickup(" + box + ")"]) + "]")
"""
    script = [
        "```python\nprint(query('MATCH (d:Door) DELETE d'))\n```",
        "```python\nx = 1\n```",
        f"```python\n{program}\n```",
    ]
    played = play(store, "single-coder", script)
    assert played.roles == ["coder"] * 3
    system = system_of(played.requests[0])
    assert "query(cypher)" in system
    assert "traverse_room(" in system
    assert names_in_text(system, ROOMS) == []
    assert "The program failed: line 1: ValueError" in played.last(1)
    assert "printed nothing" in played.last(2)
    assert played.actions == list(PLAN)
    assert (played.end.outcome, played.end.usage) == ("done", script_usage(3))


def test_a_retriever_that_fails_is_paid_for_whole(store: SceneStore) -> None:
    empty = ["INFO RETRIEVED"] * 3
    played = play(store, "sg-rwr", [asks("Which room?"), f"```cypher\n{QUERY}\n```", *empty, ends("[]")])
    assert played.of(Refused)
    assert played.end.usage == script_usage(6)


def test_a_translation_that_fails_is_paid_for_whole(store: SceneStore) -> None:
    script = [ends("Take it.", "Plan"), *["``"] * 3, ends("Take it.", "Plan"), "[]"]
    played = play(store, "rwr-text", script)
    assert played.of(Refused)
    assert played.end.usage == script_usage(6)


def test_rwr_text_has_no_code_reads_the_graph_and_translates(store: SceneStore) -> None:
    played = play(
        store,
        "rwr-text",
        [
            codes("print(1)"),
            asks("Which key fits the door?"),
            "key_1 is blue as is door_1.",
            ends("Take the blue key, remove the ball, open the door and take the box.", "Plan"),
            SOLUTION,
        ],
    )
    assert played.roles == ["reasoner", "reasoner", "reader", "reasoner", "translator"]
    assert "[Code]" not in system_of(played.requests[0])
    assert names_in_text(system_of(played.requests[0]), ROOMS) == []
    assert '["door_1", "CONNECTS", "room_1"]' in system_of(played.requests[2]), "this Retriever reads the graph"
    assert "remove the ball" in played.last(4)
    assert "pickup(x)" in system_of(played.requests[4])
    assert played.actions == list(PLAN)
    assert played.end.usage == script_usage(5)
    assert {role_of(request) for request in played.requests} == {"reasoner", "reader", "translator"}


@pytest.mark.parametrize("method", ["sg-rwr", "sg-rwr-fs", "sg-rwr-alg", "rwr-text"])
def test_asking_at_once_stands_in_the_prompt(store: SceneStore, method: str) -> None:
    """Kind of fault: a switch that is offered and changes nothing."""
    end = ends("red", "Answer")
    asked = [
        system_of(play(store, method, [end], ablations=ablations).requests[0]) for ablations in ((), ("ask-at-once",))
    ]
    assert ["Ask at once for all" in system for system in asked] == [False, True]
