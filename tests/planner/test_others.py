"""What others do between two decisions is told to the model of any method, once and truly; on a real server."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.delta import AddRelation, Change, ChangeList, Delta, RemoveRelation
from scenecypher.db.graph.scene import Relation
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Intent
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.prompts.texts import MEANWHILE
from scenecypher.planner.sessions.events import Event, Finished, Remembered, event_document
from scenecypher.planner.sessions.resuming import resume_session
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.worlds.belief import belief_name
from scenecypher.planner.worlds.belief_simulator import simulator_of
from tests.planner.actions.grasif_worlds import home
from tests.planner.actions.test_operators import put
from tests.planner.methods.coffee import step

OTHER = "visitor"
PUT_AWAY = "put_on(cup-1, desk-1)"


class Lines:
    """A model with scripted replies that records its requests."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines, self.asked = iter(lines), list[Request]()
        self.meanwhile: Callable[[], None] = lambda: None

    def reply(self, request: Request) -> Reply:
        self.asked.append(request)
        self.meanwhile()
        self.meanwhile = lambda: None
        return Reply(next(self._lines), Usage(), "lines", source="scripted")

    def told(self, number: int) -> str:
        """Return the last message of a request."""
        return self.asked[number].messages[-1].text


def says(decision: str, text: str | None = None) -> str:
    question, action = (text if decision == kind else None for kind in ("ask", "act"))
    return json.dumps({"reason": "so", "decision": decision, "question": question, "action": action})


def visit(store: SceneStore, scene: SceneInfo, action: str) -> None:
    """Let somebody else do an action in a scene."""
    assert [*Simulator(store, scene, actor=OTHER).act(action)]


class Talk:
    """A session of a method in a home, whose decisions are taken one by one."""

    def __init__(self, store: SceneStore, method: str, lines: Sequence[str], *, belief: bool | None = None) -> None:
        self.model, self.scene = Lines(lines), put(store, home(), vocabulary="grasif")
        self.setting = SessionSetting(
            store, Gate(store.database), self.scene, "Take the cup.", method, model=self.model, belief=belief
        )
        self.events: list[Event] = []
        self._run: Iterator[Event] = prepare_session(self.setting, recipe_named(method)).run()

    def decide(self) -> None:
        """Take one decision."""
        for event in self._run:
            self.events.append(event)
            if isinstance(event, Remembered | Finished):
                return


def test_others_acts_are_told_once_and_the_state_is_that_of_now(store: SceneStore) -> None:
    talk = Talk(store, "stepwise", [says("act", "go_to(kitchen)"), says("act", "pick_up(cup-1)"), says("done")])
    talk.decide()
    visit(store, talk.scene, "open(fridge-1)")
    visit(store, talk.scene, "pick_up(cup-1)")
    talk.decide()
    talk.decide()
    assert MEANWHILE not in talk.model.told(0)
    assert talk.model.told(1).endswith(f"\n\n{MEANWHILE}\n- {OTHER}: open(fridge-1)\n- {OTHER}: pick_up(cup-1)")
    assert MEANWHILE not in talk.model.told(2)
    assert talk.model.told(2).count("go_to(kitchen)") == 1, "what was done is told once"
    assert "1. so\ngo_to(kitchen): done\n\n" in talk.model.told(2)
    assert len({request.messages[0] for request in talk.model.asked}) == 1, "the long part is the same in all steps"
    told = [request.messages[1].text for request in talk.model.asked]
    assert ["and HOLDS cup-1" in text for text in told] == [False, True, True]
    assert ["INSIDE office" in text for text in told] == [True, False, False]


def test_where_nobody_else_acts_nothing_is_added(store: SceneStore) -> None:
    lines = [says("act", "go_to(kitchen)"), says("act", "fly(cup-1)"), says("act", "pick_up(cup-1)"), says("done")]
    talk = Talk(store, "stepwise", lines)
    for _ in lines:
        talk.decide()
    assert not [request for request in talk.model.asked if MEANWHILE in str(request.messages)]


def test_a_request_that_is_sent_again_has_the_lines_where_they_were(store: SceneStore) -> None:
    talk = Talk(store, "stepwise", [says("act", "go_to(kitchen)"), "hm", says("done")])
    talk.decide()
    visit(store, talk.scene, "open(fridge-1)")
    talk.decide()
    first, again = talk.model.asked[1:]
    assert again.messages[: len(first.messages)] == first.messages
    assert str(again.messages).count(MEANWHILE) == 1


def test_a_conversation_has_the_lines_at_its_end_each_time(store: SceneStore) -> None:
    talk = Talk(store, "react-sg2", ["Thought: so\nAction: expand(kitchen)"] * 3)
    talk.decide()
    for number, action in enumerate(("pick_up(pen-1)", "put_on(desk-1)"), 1):
        visit(store, talk.scene, action)
        talk.decide()
        assert talk.model.told(number).endswith(f"{MEANWHILE}\n- {OTHER}: {action}")
        assert str(talk.model.asked[number].messages).count(MEANWHILE) == 1


def test_what_is_taken_back_is_told(store: SceneStore) -> None:
    talk = Talk(store, "stepwise", [says("act", "go_to(kitchen)"), says("done")])
    talk.decide()
    store.undo(store.find(talk.scene.name), actor=OTHER)
    talk.decide()
    assert talk.model.told(1).endswith(f"- {OTHER}: took back go_to(kitchen)")


@pytest.mark.parametrize("method", ["sg2", "react-sg2", "sg-rwr", "lookplangraph", "react-alfworld", "sayplan"])
def test_no_method_has_to_know_of_it(store: SceneStore, method: str) -> None:
    expand = {"command": {"command_name": "expand_node", "node_name": "kitchen"}}
    lines = {
        "sg2": "no form",
        "sg-rwr": "no form",
        "react-sg2": "Thought: so\nAction: expand(kitchen)",
        "lookplangraph": step("so", "go_to", "office"),
        "react-alfworld": "> think: so",
        "sayplan": json.dumps({"chain_of_thought": [], "reasoning": "", "mode": "exploring", "plan": None} | expand),
    }
    talk = Talk(store, method, [lines[method]] * 6, belief=False)
    talk.decide()
    asked = len(talk.model.asked)
    visit(store, talk.scene, "pick_up(pen-1)")
    talk.decide()
    assert MEANWHILE not in str([request.messages for request in talk.model.asked[:asked]])
    assert f"{MEANWHILE}\n- {OTHER}: pick_up(pen-1)" in talk.model.told(asked)


def test_under_a_belief_only_what_happens_near_is_noticed(store: SceneStore) -> None:
    acts = [step("so", "go_to", "kitchen"), step("so", "turn_on", "lamp-1"), step("so", "done", "lamp-1")]
    talk = Talk(store, "lookplangraph", acts)
    talk.decide()
    near = Simulator(store, talk.scene, actor=OTHER)
    assert [*near.act("pick_up(cup-1)")]
    talk.decide()
    assert talk.model.told(1).endswith(f"{MEANWHILE}\n- {OTHER}: pick_up(cup-1)")
    belief = store.load(belief_name(talk.scene.name)).graph
    assert belief.targets("agent", "HOLDS") == ("cup-1",), "it was noticed, and is believed"
    assert "holding cup-1" in talk.model.told(1)


def test_under_a_belief_what_happens_elsewhere_is_not_noticed(store: SceneStore) -> None:
    acts = [step("so", "go_to", "office"), step("so", "go_to", "office"), step("so", "done", "desk-1")]
    talk = Talk(store, "lookplangraph", acts)
    talk.decide()
    change_in_the_kitchen(store, talk.scene)
    talk.decide()
    assert MEANWHILE not in talk.model.told(1)
    assert "closed" in store.load(belief_name(talk.scene.name)).graph.nodes["fridge-1"].states


def test_under_a_belief_what_happened_where_the_robot_was_not_yet_is_not_noticed(store: SceneStore) -> None:
    """Kind: the robot is told of what was done in a room before it came there."""
    acts = [step("so", "go_to", room) for room in ("office", "kitchen")] + [step("so", "done", "lamp-1")]
    talk = Talk(store, "lookplangraph", acts)
    talk.decide()
    talk.model.meanwhile = lambda: change_in_the_kitchen(store, talk.scene)
    talk.decide()
    talk.decide()
    assert MEANWHILE not in talk.model.told(2)


def test_under_a_belief_nobody_is_told_what_was_done_out_of_sight(store: SceneStore) -> None:
    """Kind: the robot is told where a thing was put that it only saw being taken away."""
    acts = [step("so", "go_to", "kitchen"), step("so", "turn_on", "lamp-1"), step("so", "done", "lamp-1")]
    talk = Talk(store, "lookplangraph", acts)
    talk.decide()
    gone, there = Relation("cup-1", "ON", "table-1"), Relation("cup-1", "ON", "desk-1")
    moved: list[Change] = [RemoveRelation(gone), AddRelation(there)]
    store.change(store.find(talk.scene.name), lambda _: Delta.of(moved), intent=Intent(OTHER, PUT_AWAY, uuid4().hex))
    talk.decide()
    assert talk.model.told(1).endswith(f"{MEANWHILE}\n- {OTHER}: did something with cup-1, table-1")
    assert "desk-1" not in str([event.action for event in store.history(store.find(belief_name(talk.scene.name)))])


def change_in_the_kitchen(store: SceneStore, scene: SceneInfo) -> None:
    """Open the fridge by another hand than the robot's."""
    delta = Delta.of([ChangeList("fridge-1", "states", removed=("closed",), added=("open",))])
    store.change(store.find(scene.name), lambda _: delta, intent=Intent(OTHER, "open(fridge-1)", uuid4().hex))


def test_what_a_person_does_by_the_belief_is_told_once(store: SceneStore) -> None:
    acts = [step("so", "go_to", "kitchen"), step("so", "turn_on", "lamp-1"), step("so", "done", "lamp-1")]
    talk = Talk(store, "lookplangraph", acts)
    talk.decide()
    assert [*simulator_of(store, store.find(belief_name(talk.scene.name))).act("pick_up(cup-1)")]
    talk.decide()
    assert talk.model.told(1).endswith(f"{MEANWHILE}\n- person: pick_up(cup-1)")


def test_a_resumed_session_is_told_what_was_done_in_between(store: SceneStore, tmp_path: Path) -> None:
    talk = Talk(store, "stepwise", [says("act", "go_to(kitchen)"), says("done")])
    talk.decide()
    log = tmp_path / "log"
    log.write_text("".join(json.dumps(event_document(event)) + "\n" for event in talk.events))
    visit(store, talk.scene, "open(fridge-1)")
    setting = replace(talk.setting, scene=store.find(talk.scene.name))
    assert [*resume_session(setting, recipe_named("stepwise"), log)]
    assert talk.model.told(1).endswith(f"- {OTHER}: open(fridge-1)")
