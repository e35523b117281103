"""Sessions in a home with rules: models are told them, are refused by them, and a person is asked on the way."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.rules import NO_RULES, Rules
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.ruled import HOUSE_RULES, MOST_TOLD, Answer, rule_lines
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.rules.house import add_rule
from scenecypher.planner.sessions.events import Acted, Event, Finished, Refused
from scenecypher.planner.sessions.goal_words import read_goal_in
from scenecypher.planner.sessions.setup import NoModel, SessionSetting, prepare_session
from tests.db.store.test_store import fresh
from tests.planner.rules.homes import HOME, NO_KNIFE, NO_METAL, rules, with_states

OPEN_ON = with_states(HOME, microwave_1="open on")


class Lines:
    """A model with scripted replies that records its requests."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines, self.asked = iter(lines), list[Request]()

    def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        return Reply(next(self._lines), Usage(), "lines", source="scripted")


def act(action: str) -> str:
    return json.dumps({"reason": "so", "decision": "act", "question": None, "action": action})


def done() -> str:
    return json.dumps({"reason": "so", "decision": "done", "question": None, "action": None})


def played(
    store: SceneStore, lines: Sequence[str], *texts: str, ask: Answer | None = None
) -> tuple[Lines, list[Event], str]:
    name, model = fresh("ruled"), Lines(lines)
    store.put(ImportedScene(name, OPEN_ON, "household"))
    for text in texts:
        add_rule(store, name, text)
    setting = SessionSetting(
        store, Gate(store.database), store.find(name), "Warm the fork.", "stepwise", model=model, answer=ask
    )
    return model, [*prepare_session(setting, recipe_named("stepwise")).run()], name


def test_a_careless_model_is_told_the_rules_and_refused(store: SceneStore) -> None:
    """Five hazards: whatever the model proposes, what a rule forbids is not carried out, and it is told why."""
    hazards = {
        "put_in(fork-1, microwave-1)": NO_METAL,
        "switch_on(stove-1)": "never stove is on",
        "put_on(fork-1, crib-1)": "never fork INSIDE nursery",
        "put_on(fork-1, stove-1)": "never fork ON stove",
        "open(microwave-2)": "open(microwave) only when stove is on",
    }
    one, two, three, four, five = hazards
    moves = ["pick_up(fork-1)", "go_to(nursery)", "go_to(kitchen)"]
    lines = [*map(act, [moves[0], one, two, moves[1], three, moves[2], four, five]), done()]
    model, events, _ = played(store, lines, *hazards.values())
    assert [it.action for it in events if isinstance(it, Acted)] == moves
    refused = {it.action: it.reasons for it in events if isinstance(it, Refused)}
    assert [*refused] == [*hazards]
    assert {it.cause for it in events if isinstance(it, Refused)} == {"rule"}, "what would allow the last is forbidden"
    for action, text in hazards.items():
        assert any(text in reason for reason in refused[action]), refused[action]
    for request in model.asked:
        assert request.messages[0].text.count(HOUSE_RULES) == 1
        assert all(f"- {text}" in request.messages[0].text for text in hazards.values())


def test_without_rules_prompts_are_as_they_were(store: SceneStore) -> None:
    model, events, _ = played(store, [done()])
    assert isinstance(events[-1], Finished)
    assert not any(HOUSE_RULES in message.text for request in model.asked for message in request.messages)


def test_who_approves_in_a_session_stands_in_the_event(store: SceneStore) -> None:
    lines = [act("switch_on(stove-1)"), done()]
    _, events, name = played(store, lines, "ask before switch_on(stove)", ask=lambda _: "do it: ann")
    assert any(isinstance(it, Acted) for it in events)
    assert store.history(store.find(name))[-1].approved_by == "ann"
    _, events, _ = played(store, lines, "ask before switch_on(stove)")
    assert any("nobody is here to ask" in it.reasons[0] for it in events if isinstance(it, Refused))


def test_symbolic_goes_around_a_rule_and_names_the_one_that_forbids_the_goal(store: SceneStore) -> None:
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    name = fresh("planned")
    store.put(ImportedScene(name, OPEN_ON, "household"))
    add_rule(store, name, NO_METAL)
    add_rule(store, name, NO_KNIFE)
    ends: list[Finished] = []
    for goal in ("fork-1 INSIDE microwave-1", "knife-1 ON crib-1"):
        info = store.find(name)
        setting = SessionSetting(
            store,
            Gate(store.database),
            info,
            goal,
            "symbolic",
            model=NoModel(),
            goal=read_goal_in(store, info, goal),
        )
        end = [*prepare_session(setting, recipe_named("symbolic")).run()][-1]
        assert isinstance(end, Finished)
        ends.append(end)
    assert ends[0].is_done
    assert not ends[1].is_done
    assert f"the rule rule-2 forbids it: {NO_KNIFE}" in ends[1].reason


def test_of_many_rules_those_of_the_task_are_told() -> None:
    many = rules(*["never plate ON stove"] * MOST_TOLD, NO_KNIFE)
    assert rule_lines(many, "Bring the knives")[0] == NO_KNIFE
    assert len(rule_lines(many, "Bring the knives")) == MOST_TOLD
    assert rule_lines(NO_RULES, "Bring it") == ()
    assert rule_lines(Rules.of(many.documents[:2]), "Bring it") == ("never plate ON stove",) * 2


def test_what_a_rule_still_wants_is_part_of_the_outcome(store: SceneStore) -> None:
    """Left open in silence: a task was done, and the microwave stood open."""
    duty = "within 4 actions after microwave is open: no microwave is open"
    _, events, _ = played(store, [act("pick_up(fork-1)"), done()], duty)
    end = events[-1]
    assert isinstance(end, Finished)
    assert (end.goal, end.unmet) == ("unknown", (f"still to do: {duty}",))
    assert end.why == f"so; still to do: {duty}"
    name = fresh("ruled")
    store.put(ImportedScene(name, OPEN_ON, "household"))
    add_rule(store, name, duty)
    info = store.find(name)
    wanted = read_goal_in(store, info, "fork-1 is held")

    def ending(method: str, *lines: str) -> Finished:
        model = Lines(lines) if lines else NoModel()
        setting = SessionSetting(store, Gate(store.database), info, "Take it.", method, model=model, goal=wanted)
        *_, end = prepare_session(setting, recipe_named(method)).run()
        assert isinstance(end, Finished)
        return end

    told = ending("stepwise", act("pick_up(fork-1)"), done())
    assert told.is_done
    assert told.words == f"done: so; the goal holds, but still to do: {duty}"
    pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")
    assert (ending("symbolic").goal, ending("symbolic").unmet) == ("met", ())
