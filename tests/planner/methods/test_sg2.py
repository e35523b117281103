"""SG2 and SG2-limit by scripted conversations: order of the agents, their prompts, and the executed actions."""

from __future__ import annotations

import pytest

from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.prompts.terms import environment_schema
from scenecypher.planner.prompts.texts import worked_examples
from scenecypher.planner.sessions.events import Acted, Answered, Asked, Called, Refused, Retrieved, Solved
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

WHERE = "MATCH (n:Entity)-[:INSIDE]->(r:Place) WHERE n.class IN ['agent', 'box'] RETURN n.id AS id, r.id AS room"
DOORS = "MATCH (d:Door) RETURN d.id AS id, d.color AS color, d.states AS states, d.center.x AS x, d.center.y AS y"
CALL = "print(traverse_room([2.5, 2.5], [6, 6], [['key_1', 4, 1], ['key_2', 3, 3], ['ball_1', 4, 4]], [4, 1], [5, 4]))"


def says(mode: str, content: str, explanation: str = "SECRET REASONS") -> str:
    return f"[Explanation]\n{explanation}\n\n[Mode]\n{mode}\n\n[Content]\n{content}"


SCRIPT = [
    says("QUERY", "Which rooms are the agent and the purple box in?"),
    f"```cypher\n{WHERE}\n```",
    "The agent is in room_1, box_1 is in room_2.",
    says("QUERY", "What are the id, color, states and center of the door between the two rooms?"),
    "MATCH (d:Dor) RETURN d.id",
    f"```cypher\n{DOORS}\n```",
    "NOT ADDRESSED",
    "MATCH (d:Door)--(r:Place) RETURN DISTINCT d.id AS id, d.color AS color, d.states AS states, r.id AS r ORDER BY r",
    "door_1, blue, closed and locked, at (5, 4), joins room_1 and room_2.",
    "I think the door needs a key.",
    says("TOOL-CALL", "traverse_room for room_1 with center [2.5, 2.5], size [6, 6], from [4, 1] to [5, 4]"),
    "```python\nprint(traverse_room([2.5, 2.5]))\n```",
    f"```python\n{CALL}\n```",
    says("SOLUTION", SOLUTION),
]
"""The traversal of the paper's Figure 6, with one mistake of each agent."""


@pytest.fixture(scope="module")
def whole(store: SceneStore) -> Played:
    return play(store, "sg2", SCRIPT)


def test_the_agents_are_asked_in_the_paper_s_order(whole: Played) -> None:
    assert whole.roles == [
        *("planner", "writer", "verifier"),
        *("planner", "writer", "writer", "verifier", "writer", "verifier"),
        *("planner", "planner", "caller", "caller"),
        "planner",
    ]
    kinds = [type(event) for event in whole.events]
    assert kinds[:7] == [Asked, Retrieved, Asked, Retrieved, Called, Answered, Solved]
    assert whole.actions == list(PLAN)
    assert (whole.end.outcome, whole.end.actions, whole.end.steps) == ("done", 4, 4)
    assert whole.end.reason == f"carried out: {', '.join(PLAN)}", "what was done, not what was meant"
    assert whole.end.usage == script_usage(len(whole.requests))


def test_the_task_planner_sees_the_schema_and_never_the_graph(whole: Played) -> None:
    first = whole.requests[0]
    own = system_of(first).replace(worked_examples("sg2", "babyai", INSTRUCTION), "")
    assert environment_schema("babyai") in own
    assert "traverse_room(room_center, room_size, items, start, goal)" in own
    assert "pickup(x)" in own
    assert names_in_text(own, ROOMS) == []
    assert whole.said(0) == f"Task: {INSTRUCTION}"
    systems = {system_of(request) for request in whole.requests if role_of(request) == "planner"}
    assert systems == {system_of(first)}
    known = names_in_text(whole.said(13), ROOMS, but=["purple box"])
    assert known == ["ball_1", "box_1", "door_1", "room_1", "room_2"], "what was retrieved, and nothing else"


def test_the_code_writer_sees_the_schema_and_never_the_graph(whole: Played) -> None:
    written = [system_of(request) for request in whole.requests if role_of(request) == "writer"]
    assert len(written) == 4
    assert [names_in_text(text, ROOMS) for text in written] == [[]] * 4
    assert all(environment_schema("babyai") in text and "holds nothing" not in text for text in written)
    assert all("Example" not in text for text in written), "Table 4 has none"


def test_only_the_content_is_passed_on(whole: Played) -> None:
    for request, role in zip(whole.requests, whole.roles, strict=True):
        text = "\n".join(message["content"] for message in request["messages"])
        assert ("SECRET REASONS" in text) is (role == "planner" and request is not whole.requests[0])
        assert whole.key not in text
    assert whole.said(1) == "Question: Which rooms are the agent and the purple box in?"
    assert whole.last(11) == "traverse_room for room_1 with center [2.5, 2.5], size [6, 6], from [4, 1] to [5, 4]"
    assert INSTRUCTION not in "".join(whole.said(number) for number in (1, 2, 4, 8, 11))


def test_errors_are_fed_back_to_whoever_made_them(whole: Played) -> None:
    assert "Dor" in whole.last(5)
    assert "did you mean `Door`?" in whole.last(5), "the gate's hint"
    assert "Result 1" in whole.last(6)
    assert "Result 2" in whole.last(8), "the Verifier sees all results so far"
    assert "no [mode]" in whole.last(10)
    assert "line 1" in whole.last(12)
    assert "missing" in whole.last(12)
    assert whole.last(13) == "The result of the tool:\n['ball_1']"
    assert "MATCH" not in whole.said(13), "no query comes to the Task Planner"


def test_the_same_episode_sends_the_same_bytes(store: SceneStore, whole: Played) -> None:
    again = play(store, "sg2", SCRIPT)
    assert again.key != whole.key
    assert again.requests == whole.requests


def test_three_replies_that_mean_nothing_are_a_turn_that_is_told(store: SceneStore) -> None:
    played = play(store, "sg2", ["hm", "hm", says("THINK", "x"), says("SOLUTION", "[]")])
    assert [type(event) for event in played.events][:2] == [Refused, Solved]
    assert "could not be used: its mode is 'THINK'" in played.said(3)
    assert played.end.usage == script_usage(4)


def test_a_refused_action_is_skipped_and_fails_the_static_setting(store: SceneStore) -> None:
    played = play(store, "sg2", [says("SOLUTION", "[pickup(key_2), open(door_1), pickup(key_1), remove(ball_1)]")])
    assert played.actions == ["pickup(key_2)", "pickup(key_1)", "remove(ball_1)"]
    assert played.end.outcome == "infeasible"
    assert len(played.requests) == 1


def test_stepwise_a_refused_action_is_told(store: SceneStore) -> None:
    script = [says("SOLUTION", "[pickup(key_2), open(door_1)]"), says("SOLUTION", "[pickup(key_1), open(door_1)]")]
    played = play(store, "sg2", script, ablations=("stepwise",))
    assert played.actions == ["pickup(key_2)", "pickup(key_1)", "open(door_1)"]
    assert "does not hold a key of its colour" in played.last(1)
    assert (played.end.outcome, len(played.of(Acted))) == ("done", 3)


@pytest.mark.parametrize(("ablation", "verdict"), [("verifier-hints", "and what is missing"), ("no-verifier", "")])
def test_the_verifier_may_be_another_or_none(store: SceneStore, ablation: str, verdict: str) -> None:
    script = [
        says("QUERY", "Which color has the door?"),
        "MATCH (d:Door) RETURN d.color AS color",
        *(["It is blue."] if verdict else []),
        says("SOLUTION", "[]"),
    ]
    played = play(store, "sg2", script, ablations=(ablation,))
    assert played.roles == ["planner", "writer", *(["verifier"] if verdict else []), "planner"]
    assert verdict in system_of(played.requests[2])
    assert played.said(-1).endswith("It is blue." if verdict else "The Retriever's answer:\nblue")


def test_a_question_is_answered(store: SceneStore) -> None:
    question = "find the color of the box in a room next to the room with 2 keys"
    played = play(store, "sg2", [says("SOLUTION", "Purple.")], instruction=question)
    assert (played.end.outcome, played.end.answer, played.actions) == ("done", "Purple", [])


def test_an_answer_that_fails_is_paid_for_whole(store: SceneStore) -> None:
    look = "Thought: I look.\nAction: get_neighbors(agent)"
    script = [says("QUERY", "Which room?"), look, look, "hm", "hm", "hm", says("SOLUTION", "[]")]
    played = play(store, "sg2-limit", script)
    assert played.of(Refused)
    assert played.end.usage == script_usage(7)


def test_sg2_limit_s_retriever_has_two_calls_and_a_context_of_its_own(store: SceneStore) -> None:
    played = play(
        store,
        "sg2-limit",
        [
            says("QUERY", "Which room is the agent in?"),
            "Thought: I look.\nAction: expand(agent)",
            "Thought: I look.\nAction: get_neighbors(agent)\nObservation: ['kitchen']",
            "Thought: I look at nobody.\nAction: get_attrs(agnt)",
            "Thought: I know.\nAction: answer(The agent is in room_1.)",
            says("SOLUTION", SOLUTION),
        ],
    )
    assert played.roles == ["planner", "limited", "limited", "limited", "limited", "planner"]
    assert "there is no call 'expand'" in played.last(2)
    assert played.last(3) == 'Observation: ["room_1"]'
    assert "there is no 'agnt' in this scene" in played.last(4)
    assert "kitchen" not in played.said(4), "what it made up is left out"
    assert played.said(1) == "Query: Which room is the agent in?"
    assert names_in_text(system_of(played.requests[1]), ROOMS) == []
    assert played.last(5) == "The Retriever's answer:\nThe agent is in room_1."
    assert "Thought" not in played.said(5)
    assert played.actions == list(PLAN)
    assert played.end.usage == script_usage(6)
