"""The time limit of a session: passed on to engines and model, and enforced within a solution too."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from scenecypher.chat.model import Message, Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ModelUnavailable
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.methods.baselines.whole_plans import LlmPlusP
from scenecypher.planner.sessions.budget import Budget, DeadlineModel, Stopwatch
from scenecypher.planner.sessions.events import Acted, Event, Finished
from scenecypher.planner.sessions.method import Decision, Memory, MethodContext, Recipe, Solve
from scenecypher.planner.sessions.session import Session
from scenecypher.planner.sessions.setup import NoModel, SessionSetting, prepare_session
from scenecypher.retriever.retriever import Retriever
from tests.planner.actions.grasif_worlds import home
from tests.planner.actions.test_operators import put

SOLUTION = Solve(("go_to(kitchen)", "pick_up(cup-1)", "go_to(office)", "put_on(desk-1)"))


class TickingStopwatch(Stopwatch):
    """A stopwatch that advances by a second at each reading."""

    looks = 0

    @property
    def seconds(self) -> float:
        self.looks += 1
        return float(self.looks)


class FunctionMethod:
    """A method that decides by a function."""

    def __init__(self, decide: Callable[[], Decision]) -> None:
        self._decide = decide

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:  # noqa: ARG002 - it does as it is told
        return self._decide(), Usage()


def run_session(store: SceneStore, decide: Callable[[], Decision], budget: Budget) -> list[Event]:
    scene = put(store, home(), vocabulary="grasif")
    asker = Retriever(NoModel(), Gate(store.database), Enumerator(store.replicas))
    session = Session(FunctionMethod(decide), Simulator(store, scene), asker, budget=budget, watch=TickingStopwatch())
    return [*session.run(Memory("", "", ""))]


def test_a_solution_ends_when_the_time_is_over(store: SceneStore) -> None:
    *events, last = run_session(store, lambda: SOLUTION, Budget(seconds=4))
    assert isinstance(last, Finished)
    assert (last.outcome, last.reason) == ("seconds", "the limit of 4 s is reached")
    assert [event.action for event in events if isinstance(event, Acted)] == ["go_to(kitchen)", "pick_up(cup-1)"]


def test_a_model_that_is_too_late_is_the_end_and_any_other_failure_an_error(store: SceneStore) -> None:
    def late() -> Decision:
        raise ModelUnavailable("no answer in time; try again")

    (last,) = run_session(store, late, Budget(seconds=2))
    assert isinstance(last, Finished)
    assert last.outcome == "seconds"
    with pytest.raises(ModelUnavailable):
        run_session(store, late, Budget(seconds=10))


def test_model_and_engine_have_no_more_time_than_is_left(store: SceneStore) -> None:
    asked: list[Request] = []

    class Noting:
        def reply(self, request: Request) -> Reply:
            asked.append(request)
            return Reply("", Usage(), "", source="scripted")

    watch = Stopwatch(50.0)
    watch.start(20.0)
    request = Request((Message("user", "?"),))
    DeadlineModel(Noting(), watch).reply(request)
    assert asked == [request], "it is the same request"
    assert asked[0].timeout_s is not None
    assert 0 < asked[0].timeout_s <= 30
    given: list[MethodContext] = []

    def build(it: MethodContext) -> LlmPlusP:
        given.append(it)
        return LlmPlusP(it)

    scene = put(store, home(), vocabulary="grasif")
    setting = SessionSetting(store, Gate(store.database), scene, "", "x", budget=Budget(seconds=5))
    prepare_session(setting, Recipe(build=build, words="", model=False))
    assert given[0].timeout_s() <= 5
