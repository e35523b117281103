"""Environments of a belief: a MiniGrid level, and a person; their observations correct the belief."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from scenecypher.chat import OpenAIModel, Scripted
from scenecypher.db.condition import evaluate
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, InputError, UnknownReference
from scenecypher.importers.babyai import level_instance
from scenecypher.planner.perception.naming import known_node_reader
from scenecypher.planner.worlds.belief import belief_name, belief_scene
from scenecypher.planner.worlds.belief_simulator import BeliefSimulator
from scenecypher.planner.worlds.environment import Environment, WorldMismatch
from scenecypher.planner.worlds.human import HumanEnvironment
from scenecypher.planner.worlds.minigrid_world import MiniGridEnvironment
from tests.pictures import table
from tests.planner.actions.grasif_worlds import home
from tests.scripted_model import MODEL_NAME, ScriptedModel
from tests.scripted_vision import GridReader

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")


def believer(store: SceneStore, prior: SceneGraph, world: Environment, vocabulary: str) -> BeliefSimulator:
    name = f"test/{uuid4().hex}"
    store.put(belief_scene(ImportedScene(name, prior, vocabulary)))
    return BeliefSimulator(store, store.find(belief_name(name)), world=world, actor="robot")


def done(robot: BeliefSimulator, *actions: str) -> None:
    for action in actions:
        assert [step.action for step in robot.act(action)] == [action]


def test_a_plan_comes_off_in_minigrid_and_in_the_belief(store: SceneStore) -> None:
    begun = level_instance("trv1", 7)
    assert begun.task is not None
    world = MiniGridEnvironment("trv1", 7)
    robot = believer(store, begun.scene.graph, world, "babyai")
    done(robot, *map(str, begun.task.program))
    assert world.fulfilled
    assert evaluate(begun.task.goal, robot.belief(), {})
    with pytest.raises(ActionRefused, match="the episode ended"):
        world.observe("room_1", step=1)
    world.reset()
    assert not world.fulfilled


def test_a_door_that_is_shut_after_all_is_seen(store: SceneStore) -> None:
    begun = level_instance("trv1", 7)
    assert begun.task is not None
    *_, last = begun.task.program
    door = replace(begun.scene.graph.nodes["door_1"], states=("open",))
    nodes = [*(it for it in begun.scene.graph.nodes.values() if it.id != "door_1"), door]
    prior = SceneGraph.of(nodes, begun.scene.graph.relations)
    robot = believer(store, prior, MiniGridEnvironment("trv1", 7), "babyai")
    with pytest.raises(WorldMismatch, match="door_1 is changed: it is closed, it is locked, it is no longer open"):
        done(robot, str(last))
    done(robot, *map(str, begun.task.program))


def test_a_key_that_is_not_in_the_hand_after_all_is_noticed(store: SceneStore) -> None:
    begun = level_instance("trv1", 7)
    assert begun.task is not None
    key = next(call.arguments[0] for call in begun.task.program if call.arguments[0].startswith("key"))
    graph = begun.scene.graph
    kept = [it for it in graph.relations if it.source != key]
    prior = SceneGraph.of(graph.nodes.values(), [*kept, Relation("agent", "HOLDS", key)])
    robot = believer(store, prior, MiniGridEnvironment("trv1", 7), "babyai")
    with pytest.raises(WorldMismatch, match=f"{key} is absent: believed held by agent"):
        done(robot, "open(door_1)")
    assert robot.belief().targets("agent", "HOLDS") == ()


def test_a_look_in_minigrid_shows_the_room(store: SceneStore) -> None:
    begun = level_instance("trv1", 7)
    world = MiniGridEnvironment("trv1", 7)
    here = begun.scene.graph.targets("agent", "INSIDE")[0]
    seen = {it.id for it in world.observe(here, step=1).sightings}
    assert seen == {
        it for it in begun.scene.graph.sources(here, "INSIDE") if begun.scene.graph.nodes[it].kind == "Object"
    }
    with pytest.raises(UnknownReference, match="no 'room_9'"):
        world.observe("room_9", step=1)


def test_an_id_is_one_action() -> None:
    begun = level_instance("trv1", 7)
    assert begun.task is not None
    first, second, *_ = map(str, begun.task.program)
    known = known_node_reader(lambda: begun.scene.graph, vocabulary="babyai")
    person = HumanEnvironment(lambda _: "", model=Scripted([]), known=known)
    for world in (MiniGridEnvironment("trv1", 7), person):
        world.execute(first, action_id="one")
        world.execute(first, action_id="one")
        with pytest.raises(InputError, match="'one' was used for"):
            world.execute(second, action_id="one")


class Person:
    """A person who gives the answers in order, then leaves."""

    def __init__(self, answers: Sequence[str]) -> None:
        self.asked: list[str] = []
        self._answers: Iterator[str] = iter(answers)

    def __call__(self, question: str) -> str:
        self.asked.append(question)
        answer = next(self._answers, None)
        if answer is None:
            raise EOFError
        return answer


def test_a_person_acts_and_takes_the_pictures(store: SceneStore, tmp_path: Path) -> None:
    balls = [Node(f"red ball-{n}", "Object", f"red ball-{n}", "red ball", affordances=("pick_up",)) for n in (1, 2)]
    prior = SceneGraph.of(
        [*home().nodes.values(), *balls], [*home().relations, *(Relation(it.id, "ON", "table-1") for it in balls)]
    )
    picture = tmp_path / "table.png"
    picture.write_bytes(table(["red ball"] * 2).data)
    person = Person(["", str(tmp_path / "none.png"), f"'{picture}'", "it is screwed down", ""])
    reader = GridReader(at="table-1")
    with ScriptedModel(reader) as server, OpenAIModel(base_url=server.base_url, model=MODEL_NAME) as model:
        world = HumanEnvironment(person, model=model, known=known_node_reader(lambda: prior, vocabulary="grasif"))
        robot = believer(store, prior, world, "grasif")
        done(robot, "go_to(kitchen)")
        (look,) = robot.act("discover_objects(table-1)")
        with pytest.raises(ActionRefused, match="it is screwed down"):
            world.execute("pick_up(lamp-1)", action_id="one")
        world.reset()
        with pytest.raises(InputError, match="nobody answers"):
            world.execute("pick_up(lamp-1)", action_id="two")
    assert [line.split(":")[0] for line in look.seen] == [
        "red ball-1 is confirmed",
        "red ball-2 is confirmed",
        "cup-1 is absent",
    ]
    assert person.asked[0] == "please do go_to(kitchen); Enter when it is done, or why it can't be: "
    assert "No such file" in person.asked[2]
    assert reader.pictures == 1


def seen_by(robot_reply: list[dict[str, Any]], *, extent: str = "whole") -> list[str]:
    """Return the replies of both stages of a look at the table."""
    plain = {"count": 1, "relation": "ontop_of", "related_to": "table-1", "states": [], "confidence": None}
    objects = [plain | {"name": "cup-1"}, *(plain | it for it in robot_reply)]
    return ["So it looks.", json.dumps({"extent": extent, "part": None, "reason": None, "objects": objects})]


def robot_of(store: SceneStore, person: Person, model: OpenAIModel) -> BeliefSimulator:
    """Return a robot in the home that acts by a person, whose pictures are read with its own belief in mind."""
    robots: list[BeliefSimulator] = []

    def believed() -> SceneGraph:
        return robots[0].belief()

    world = HumanEnvironment(person, model=model, known=known_node_reader(believed, vocabulary="grasif"))
    robots.append(believer(store, home(), world, "grasif"))
    return robots[0]


@pytest.mark.parametrize(("answer", "word"), [("", "picked up"), ("it is glued down", "left")])
def test_a_new_thing_is_tried_and_the_world_decides(store: SceneStore, tmp_path: Path, answer: str, word: str) -> None:
    picture = tmp_path / "table.png"
    picture.write_bytes(table([]).data)
    person = Person(["", str(picture), answer, "", str(picture)])
    with (
        ScriptedModel(seen_by([{"name": "mug"}]) + seen_by([{"name": "mug-1"}])) as server,
        OpenAIModel(base_url=server.base_url, model=MODEL_NAME) as model,
    ):
        robot = robot_of(store, person, model)
        done(robot, "go_to(kitchen)")
        (look,) = robot.act("discover_objects(table-1)")
        assert look.seen[1] == "mug-1 is new: seen on table-1 for the first time"
        assert robot.belief().nodes["mug-1"].properties["assumed"] == ("pick_up",)
        if word == "picked up":
            done(robot, "pick_up(mug-1)")
        else:
            with pytest.raises(
                WorldMismatch, match=r"glued down.*mug-1 is changed: it does not afford pick_up after all"
            ):
                done(robot, "pick_up(mug-1)")
    mug = robot.belief().nodes["mug-1"]
    assert "assumed" not in mug.properties, "the world has decided"
    assert mug.affordances == (("pick_up",) if word == "picked up" else ())


def test_a_refusal_that_a_look_explains_drops_no_assumption(store: SceneStore, tmp_path: Path) -> None:
    picture = tmp_path / "table.png"
    picture.write_bytes(table([]).data)
    person = Person(["", str(picture), "it rolled away", "", str(picture)])
    with (
        ScriptedModel(seen_by([{"name": "mug"}]) + seen_by([])) as server,
        OpenAIModel(base_url=server.base_url, model=MODEL_NAME) as model,
    ):
        robot = robot_of(store, person, model)
        done(robot, "go_to(kitchen)", "discover_objects(table-1)")
        with pytest.raises(WorldMismatch, match="mug-1 is absent"):
            done(robot, "pick_up(mug-1)")
    assert robot.belief().nodes["mug-1"].properties["assumed"] == ("pick_up",)


def test_a_look_that_shows_nothing_is_refused_and_can_be_repeated(store: SceneStore, tmp_path: Path) -> None:
    picture = tmp_path / "table.png"
    picture.write_bytes(table([]).data)
    person = Person(["", str(picture), str(picture)])
    known = known_node_reader(home, vocabulary="grasif")
    with (
        ScriptedModel(seen_by([], extent="nothing") + seen_by([])) as server,
        OpenAIModel(base_url=server.base_url, model=MODEL_NAME) as model,
    ):
        robot = believer(store, home(), HumanEnvironment(person, model=model, known=known), "grasif")
        done(robot, "go_to(kitchen)")
        with pytest.raises(ActionRefused, match="table-1 was not seen: it could not be made out"):
            done(robot, "discover_objects(table-1)")
        assert robot.belief().targets("cup-1") == ("table-1",)
        done(robot, "discover_objects(table-1)")
    assert robot.belief().nodes["cup-1"].properties["seen"] is True
