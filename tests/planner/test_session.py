"""Sessions with a scripted model behind real HTTP, on a real database: events, feedback, budgets, prompts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from scenecypher.chat import OpenAIModel, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.scene import Relation
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ConflictError, InputError, ModelUnavailable, RejectedError
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.methods.ours.stepwise import Stepwise
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.events import (
    Acted,
    Asked,
    Corrected,
    Event,
    Finished,
    Proposed,
    Refused,
    Remembered,
    Retrieved,
    event_document,
)
from scenecypher.planner.sessions.method import Asker, Memory
from scenecypher.planner.sessions.session import Session
from scenecypher.planner.vocabularies.vocabulary import action_list, operators_of
from scenecypher.retriever.retrieval import Retrieval
from scenecypher.retriever.retriever import Retriever
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME, ROBOT, edited
from tests.scripted_model import MODEL_NAME, Fail, Script, ScriptedModel

INSTRUCTION = "Put the cup into the fridge."
SCHEMA = "(:Object) 4: a thing that can be moved"
CUP_AT_FRIDGE = edited(HOME, remove=[("cup_30", "INSIDE", "")], add=[Relation("cup_30", "INSIDE", "kitchen_10")])

Serve = Callable[[Script], ScriptedModel]


class FixedAsker:
    """An asker with one answer, or a refusal."""

    def __init__(self, answer: str | RejectedError = "cup_30") -> None:
        self.answer = answer
        self.asked: list[tuple[str, SceneInfo]] = []

    def ask(self, question: str, scene: SceneInfo) -> Retrieval:
        self.asked.append((question, scene))
        if isinstance(self.answer, RejectedError):
            raise self.answer
        return Retrieval(question, "answered", self.answer, (), Usage(5, 2), cypher="MATCH (n:Object) RETURN n.id")


def says(decision: str, text: str | None = None, *, reason: str = "because") -> str:
    question, action = (text if decision == kind else None for kind in ("ask", "act"))
    return json.dumps({"reason": reason, "decision": decision, "question": question, "action": action})


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as stack:
        yield lambda script: stack.enter_context(ScriptedModel(script))


@pytest.fixture
def scene(store: SceneStore) -> SceneInfo:
    return put(store, CUP_AT_FRIDGE)


def run(
    store: SceneStore,
    scene: SceneInfo,
    server: ScriptedModel,
    *,
    asker: Asker | None = None,
    budget: Budget = Budget(),  # noqa: B008 - it never changes
    fix: bool = False,
    reprompt: bool = True,
) -> list[Event]:
    with OpenAIModel(model=MODEL_NAME, base_url=server.base_url, api_key="none", retries=0) as model:
        simulator = Simulator(store, scene, actor="stepwise", fix=fix)
        session = Session(Stepwise(model), simulator, asker or FixedAsker(), budget=budget, reprompt=reprompt)
        memory = Memory(INSTRUCTION, action_list(simulator.operators), SCHEMA)
        return [event for event in session.run(memory) if not isinstance(event, Remembered)]


def last_prompt(server: ScriptedModel, number: int = -1) -> str:
    messages: list[dict[str, Any]] = server.requests[number]["messages"]
    return str(messages[-1]["content"])


def end(events: list[Event]) -> Finished:
    *before, finished = events
    assert isinstance(finished, Finished)
    assert not any(isinstance(event, Finished) for event in before)
    return finished


def test_a_task_with_a_question_a_refusal_and_its_repair(store: SceneStore, scene: SceneInfo, serve: Serve) -> None:
    asker = FixedAsker()
    server = serve(
        [
            says("ask", "Which cup is there?", reason="I need its id"),
            says("act", "grab(cup_30)"),
            says("act", "put_in(cup_30, fridge_21)"),
            says("act", "open(fridge_21)", reason="it is closed"),
            says("act", "put_in(cup_30, fridge)"),
            says("done", reason="the cup is in the fridge"),
        ]
    )
    events = run(store, scene, server, asker=asker)
    assert [type(event) for event in events] == [
        *(Asked, Retrieved, Proposed, Acted, Proposed, Refused, Proposed, Acted, Proposed, Acted, Finished)
    ]
    assert events[0] == Asked(1, "Which cup is there?", "I need its id")
    assert events[1] == Retrieved(1, "Which cup is there?", "cup_30", "MATCH (n:Object) RETURN n.id", Usage(5, 2))
    reasons = ("fridge_21 is closed: open(fridge_21) first",)
    assert events[5] == Refused(3, "put_in(cup_30, fridge_21)", "affordance", reasons)
    assert asker.asked == [("Which cup is there?", scene)]
    finished = end(events)
    assert (finished.outcome, finished.reason) == ("done", "the cup is in the fridge")
    assert (finished.steps, finished.actions) == (6, 3)
    assert finished.usage == Usage(6 * 11 + 5, 6 * 7 + 2)
    assert Relation("cup_30", "INSIDE", "fridge_21") in store.load(scene.name).graph.relations
    history = store.history(scene)
    assert [event.action for event in history] == ["grab(cup_30)", "open(fridge_21)", "put_in(cup_30, fridge_21)"]
    assert {event.actor for event in history} == {"stepwise"}


def test_the_prompt_holds_what_was_said_and_done_and_never_the_graph(
    store: SceneStore, scene: SceneInfo, serve: Serve
) -> None:
    server = serve(
        [
            says("ask", "Which cup is there?", reason="I need its id"),
            says("act", "put_in(cup_30, fridge_21)"),
            says("act", "grab(cup_30)", reason="hold it first"),
            says("done"),
        ]
    )
    run(store, scene, server)
    system = server.requests[0]["messages"][0]["content"]
    assert SCHEMA in system
    for operator in operators_of("virtualhome").values():
        assert operator.signature in system
        assert operator.words in system
    assert last_prompt(server, 0) == f"Instruction: {INSTRUCTION}\n\nStep 1: decide."
    told = last_prompt(server)
    assert "1. I need its id\nasked: Which cup is there?\nfound: cup_30" in told
    assert f"refused: {ROBOT} does not hold cup_30: grab(cup_30) first; fridge_21 is closed" in told
    assert "3. hold it first\ngrab(cup_30): done" in told
    assert told.endswith("Step 4: decide.")
    everything = json.dumps(server.requests)
    unmentioned = set(HOME.nodes) - {"cup_30", "fridge_21", ROBOT}
    assert not [id_ for id_ in unmentioned if id_ in everything], "the graph is not in the prompt"
    assert scene.key not in everything


def test_the_same_episode_sends_the_same_bytes(store: SceneStore, serve: Serve) -> None:
    script = [says("act", "put_in(cup_30, fridge_21)"), says("act", "grab(cup_30)"), says("done")]
    servers = [serve(list(script)) for _ in range(2)]
    for server in servers:
        run(store, put(store, CUP_AT_FRIDGE), server, fix=True)
    assert servers[0].requests == servers[1].requests


def test_corrections_are_events_and_are_told(store: SceneStore, scene: SceneInfo, serve: Serve) -> None:
    server = serve([says("act", "put_in(cup_30, fridge_21)"), says("done")])
    events = run(store, scene, server, fix=True)
    assert [type(event) for event in events] == [Proposed, Corrected, Corrected, Acted, Finished]
    assert events[1] == Corrected(1, "grab(cup_30)", f"{ROBOT} does not hold cup_30", 1)
    assert events[2] == Corrected(1, "open(fridge_21)", "fridge_21 is closed", 2)
    assert "grab(cup_30): done first, since" in last_prompt(server)
    assert end(events).actions == 3


def test_three_infeasible_proposals_in_a_row_end_a_session(store: SceneStore, scene: SceneInfo, serve: Serve) -> None:
    bad = says("act", "grab(table_20)")
    server = serve(
        [bad, says("act", "fly(away)"), says("act", "grab(cup_30)"), bad, bad, says("act", "open(sofa)"), bad]
    )
    events = run(store, scene, server)
    refused = [event for event in events if isinstance(event, Refused)]
    assert [event.cause for event in refused] == ["affordance", "no_action", "affordance", "affordance", "unknown"]
    finished = end(events)
    assert (finished.outcome, finished.steps, finished.actions) == ("infeasible", 6, 1)
    assert len(server.requests) == 6


def test_what_is_answered_between_two_refusals_breaks_the_row(
    store: SceneStore, scene: SceneInfo, serve: Serve
) -> None:
    bad, question = says("act", "grab(table_20)"), says("ask", "Which cup is there?")
    events = run(store, scene, serve([bad, bad, question, bad, bad, says("done")]), asker=FixedAsker())
    assert end(events).outcome == "done"


def test_replies_that_mean_nothing_are_asked_again_then_count(
    store: SceneStore, scene: SceneInfo, serve: Serve
) -> None:
    server = serve(["what?", "{}", says("act"), "?", says("done")])
    events = run(store, scene, server)
    assert [type(event) for event in events] == [Refused, Finished]
    assert isinstance(events[0], Refused)
    assert events[0].cause == "reply"
    assert "give the action too" in events[0].reasons[0]
    assert "That reply can't be used" in last_prompt(server, 1)
    assert "1. the reply could not be used" in last_prompt(server, 3)
    assert end(events).usage == Usage(5 * 11, 5 * 7), "wasted replies are paid for too"


def test_three_such_replies_in_a_row_end_a_session(store: SceneStore, scene: SceneInfo, serve: Serve) -> None:
    events = run(store, scene, serve(lambda _: "no json"))
    assert [type(event) for event in events] == [Refused, Refused, Refused, Finished]
    assert end(events).outcome == "infeasible"


@pytest.mark.parametrize(
    ("budget", "end_and_requests"),
    [
        (Budget(steps=2), ("steps", 2)),
        (Budget(tokens=30), ("tokens", 2)),
        (Budget(seconds=0.0), ("seconds", 0)),
    ],
)
def test_a_spent_budget_ends_a_session(
    store: SceneStore, scene: SceneInfo, serve: Serve, budget: Budget, end_and_requests: tuple[str, int]
) -> None:
    server = serve(lambda _: says("ask", "Anything?"))
    finished = end(run(store, scene, server, budget=budget))
    assert (finished.outcome, len(server.requests)) == end_and_requests


def test_giving_up_is_not_done(store: SceneStore, scene: SceneInfo, serve: Serve) -> None:
    finished = end(run(store, scene, serve([says("give_up", reason="there is no cup")])))
    assert (finished.outcome, finished.reason) == ("given_up", "there is no cup")


def test_without_reprompting_an_infeasible_action_is_not_told(
    store: SceneStore, scene: SceneInfo, serve: Serve
) -> None:
    infeasible, unknown = says("act", "grab(table_20)"), says("act", "grab(sofa)")
    server = serve([infeasible] * 4 + [unknown, says("done")])
    events = run(store, scene, server, reprompt=False)
    assert end(events).outcome == "done"
    told = last_prompt(server)
    assert "can not be grabbed" not in told
    assert "there is no 'sofa' in this scene" in told


def test_a_question_that_is_refused_is_told(store: SceneStore, scene: SceneInfo, serve: Serve) -> None:
    server = serve([says("ask", "Why?"), says("done")])
    events = run(store, scene, server, asker=FixedAsker(ConflictError("ask something else")))
    assert [type(event) for event in events] == [Asked, Refused, Finished]
    assert "found: ask something else" in last_prompt(server)


def test_a_failing_model_service_is_not_swallowed(store: SceneStore, scene: SceneInfo, serve: Serve) -> None:
    server = serve([says("act", "grab(cup_30)"), Fail(401, "no such key")])
    with pytest.raises(ModelUnavailable):
        run(store, scene, server)
    assert [event.action for event in store.history(scene)] == ["grab(cup_30)"]


def test_a_session_that_is_stopped_leaves_whole_actions(store: SceneStore, scene: SceneInfo, serve: Serve) -> None:
    server = serve(lambda _: says("act", "put_in(cup_30, fridge_21)"))
    with OpenAIModel(model=MODEL_NAME, base_url=server.base_url, api_key="none") as model:
        simulator = Simulator(store, scene, fix=True)
        events = Session(Stepwise(model), simulator, FixedAsker()).run(Memory(INSTRUCTION, "", SCHEMA))
        assert isinstance(next(events), Proposed)
        assert isinstance(next(events), Corrected)
        events.close()  # type: ignore[attr-defined]
    assert [event.action.split()[0] for event in store.history(scene)] == ["grab(cup_30)"]


def test_questions_go_through_the_retriever(store: SceneStore, scene: SceneInfo, serve: Serve) -> None:
    cypher = "MATCH (c:Object {class: 'cup'}) RETURN c.id AS cup"

    def script(request: dict[str, Any]) -> str:
        text = str(request["messages"][-1]["content"])
        if "decide." not in text:
            return cypher
        return says("done", reason="known") if "found: cup_30" in text else says("ask", "Which cup is there?")

    server = serve(script)
    with OpenAIModel(model=MODEL_NAME, base_url=server.base_url, api_key="none") as model:
        asker = Retriever(model, Gate(store.database), Enumerator(store.replicas))
        events = run(store, scene, server, asker=asker)
    assert [type(event) for event in events] == [Asked, Retrieved, Finished]
    assert isinstance(events[1], Retrieved)
    assert (events[1].answer, events[1].cypher) == ("cup_30", cypher)


def test_an_event_is_one_json_object() -> None:
    document = event_document(Refused(2, "grab(x)", "unknown", ("no x",)))
    assert json.loads(json.dumps(document)) == {
        "event": "refused",
        "step": 2,
        "action": "grab(x)",
        "cause": "unknown",
        "reasons": ["no x"],
    }


def test_an_unknown_method_is_refused_with_what_there_is() -> None:
    with pytest.raises(InputError, match=r"no method 'stepwize' .*did you mean 'stepwise'.*choose one of stepwise"):
        recipe_named("stepwize")
