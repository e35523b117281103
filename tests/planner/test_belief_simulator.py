"""Acting on a belief that may be wrong, on a real server: the world first, then the belief, updated by observations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from uuid import uuid4

import pytest

from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, RejectedError, ReplyRejected, UnknownReference
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.perception.observation import Observation
from scenecypher.planner.worlds.belief import belief_name, belief_scene
from scenecypher.planner.worlds.belief_simulator import BeliefSimulator
from scenecypher.planner.worlds.environment import SceneEnvironment, WorldMismatch
from tests.planner.actions.grasif_worlds import ROBOT, home
from tests.planner.actions.worlds import CUP_HELD, HAND_TYPES, HOME, edited
from tests.planner.actions.worlds import ROBOT as CHARACTER


def moved(graph: SceneGraph, node_id: str, type_: str, target: str) -> SceneGraph:
    kept = [it for it in graph.relations if it.source != node_id]
    return SceneGraph.of(graph.nodes.values(), [*kept, Relation(node_id, type_, target)])


def opened(graph: SceneGraph, node_id: str) -> SceneGraph:
    node = replace(graph.nodes[node_id], states=("open",))
    return SceneGraph.of([*(it for it in graph.nodes.values() if it.id != node_id), node], graph.relations)


class WorldAndBelief:
    """A world, and a belief created from `prior`."""

    def __init__(self, store: SceneStore, world: SceneGraph, prior: SceneGraph) -> None:
        self.store, name = store, f"test/{uuid4().hex}"
        store.put(ImportedScene(name, world, "grasif"))
        store.put(belief_scene(ImportedScene(name, prior, "grasif")))
        self.world, self.belief = store.find(name), store.find(belief_name(name))
        environment = SceneEnvironment(store, self.world, actor="robot")
        self.robot = BeliefSimulator(store, self.belief, world=environment, actor="robot", fix=True)

    def act(self, text: str) -> list[str]:
        return [step.action for step in self.robot.act(text)]

    def graph(self, scene: SceneInfo) -> SceneGraph:
        return self.store.load(scene.name).graph

    def actions(self, scene: SceneInfo) -> list[str]:
        return [event.action.split("  [")[0] for event in self.store.history(scene)]


def test_a_scene_shows_no_node_that_it_lacks(store: SceneStore) -> None:
    world = SceneEnvironment(store, WorldAndBelief(store, home(), home()).world)
    assert world.observe("table-1", step=1).of == "table-1"
    with pytest.raises(UnknownReference, match="there is no 'violin' in"):
        world.observe("violin", step=1)


def test_a_belief_that_is_right_goes_with_its_world(store: SceneStore) -> None:
    pair = WorldAndBelief(store, home(), home())
    carried_out = pair.act("pick_up(cup-1)")
    assert carried_out == ["go_to(kitchen)", "pick_up(cup-1)"]
    assert pair.actions(pair.world) == pair.actions(pair.belief) == carried_out
    world, belief = store.history(pair.world), store.history(pair.belief)
    history_text = ["go_to(kitchen)  [inserted: cup-1 is not in the agent's room]", "pick_up(cup-1)"]
    assert [event.action for event in world] == [event.action for event in belief] == history_text
    assert [event.action_id for event in belief] == [f"{event.action_id}:belief" for event in world]
    assert pair.graph(pair.belief).relations == pair.graph(pair.world).relations
    assert pair.belief.role == "belief"


def test_what_the_belief_refuses_is_not_tried_in_the_world(store: SceneStore) -> None:
    pair = WorldAndBelief(store, home(), home())
    with pytest.raises(Infeasible, match="table-1 can not be picked up"):
        pair.act("pick_up(table-1)")
    assert pair.actions(pair.world) == []


def test_a_thing_that_was_moved_is_missed_looked_for_and_found(store: SceneStore) -> None:
    pair = WorldAndBelief(store, moved(home(), "cup-1", "ON", "desk-1"), home())
    with pytest.raises(WorldMismatch, match=r"not as believed.*cup-1 is absent: believed on table-1, not seen there"):
        pair.act("pick_up(cup-1)")
    assert pair.actions(pair.world) == ["go_to(kitchen)"], "what was possible has been done"
    assert pair.graph(pair.belief).targets("cup-1") == ()

    *_, look = pair.robot.act("discover_objects(desk-1)")
    assert look.seen == (
        "cup-1 is moved: seen on desk-1, believed nowhere",
        "pen-1 is confirmed: seen on desk-1, as believed",
    )
    assert pair.act("pick_up(cup-1)") == ["pick_up(cup-1)"]
    assert pair.graph(pair.belief).relations == pair.graph(pair.world).relations


def test_a_look_that_changes_nothing_takes_no_version(store: SceneStore) -> None:
    """Kind: most commits of a belief are looks that found what was known."""
    pair = WorldAndBelief(store, home(), home())
    first, *_ = pair.robot.act("discover_objects(desk-1)")
    (again,) = pair.robot.act("discover_objects(desk-1)")
    assert (first.seen, first.version) == (again.seen, again.version)
    assert pair.actions(pair.belief) == ["discover_objects(desk-1)"]


def test_a_state_that_is_otherwise_is_learnt(store: SceneStore) -> None:
    pair = WorldAndBelief(store, home(), opened(home(), "fridge-1"))
    with pytest.raises(WorldMismatch, match="fridge-1 is changed: it is closed, it is no longer open"):
        pair.act("pick_up(box-1)")
    assert pair.act("pick_up(box-1)") == ["open(fridge-1)", "pick_up(box-1)"]


def test_a_hand_that_is_full_after_all_is_noticed(store: SceneStore) -> None:
    pair = WorldAndBelief(store, home(), home())
    list(Simulator(store, pair.world, fix=True).act("pick_up(pen-1)"))
    with pytest.raises(WorldMismatch, match=r"agent holds pen-1, and has one hand; pen-1 is moved: held by agent"):
        pair.act("pick_up(cup-1)")
    assert pair.act("pick_up(cup-1)") == ["put_on(fridge-1)", "pick_up(cup-1)"]
    assert pair.graph(pair.belief).relations == pair.graph(pair.world).relations


def test_a_hand_that_is_empty_after_all_is_noticed_and_where_the_robot_is(store: SceneStore) -> None:
    pair = WorldAndBelief(store, home(), home())
    pair.act("pick_up(cup-1)")
    store.undo(pair.world, to=0)
    with pytest.raises(WorldMismatch) as told:
        pair.act("put_on(fridge-1)")
    assert told.value.reasons[1:3] == (
        "cup-1 is absent: believed held by agent, which does not hold it",
        "agent is moved: it is inside office, believed inside kitchen",
    )
    assert "cup-1" not in pair.graph(pair.belief).targets(ROBOT, "HOLDS")
    assert pair.act("discover_objects(table-1)") == ["go_to(kitchen)", "discover_objects(table-1)"]
    assert pair.act("pick_up(cup-1)") == ["pick_up(cup-1)"]
    assert pair.graph(pair.belief).relations == pair.graph(pair.world).relations


def test_in_virtualhome_what_was_let_go_can_be_grabbed_again_and_who_sits_can_stand_up(store: SceneStore) -> None:
    name = f"test/{uuid4().hex}"
    held = edited(CUP_HELD, add=[Relation("cup_30", "TAKEN_OFF", "table_20")])
    store.put(ImportedScene(name, edited(HOME, states={CHARACTER: "sitting"}), "virtualhome"))
    store.put(belief_scene(ImportedScene(name, held, "virtualhome")))
    world = SceneEnvironment(store, store.find(name), actor="robot")
    robot = BeliefSimulator(store, store.find(belief_name(name)), world=world, actor="robot", fix=True)
    with pytest.raises(WorldMismatch, match=r"cup_30 is absent.*character_1 is changed: it is sitting"):
        list(robot.act("walk(book_33)"))
    for action in ("stand_up()", "look_at(table_20)", "grab(cup_30)"):
        (*_, step) = robot.act(action)
        assert step.action == action
    assert store.load(name).graph.targets(CHARACTER, *HAND_TYPES) == ("cup_30",)


def test_a_thing_that_is_only_believed_is_refused_by_the_world(store: SceneStore) -> None:
    ghost = Node("ghost-1", "Object", "ghost-1", "ghost", affordances=("pick_up",))
    prior = SceneGraph.of([*home().nodes.values(), ghost], [*home().relations, Relation("ghost-1", "ON", "table-1")])
    pair = WorldAndBelief(store, home(), prior)
    with pytest.raises(WorldMismatch, match=r"there is no 'ghost-1'.*ghost-1 is absent"):
        pair.act("pick_up(ghost-1)")


def test_without_priors_things_are_known_once_they_are_seen(store: SceneStore) -> None:
    prior = belief_scene(ImportedScene("x", home(), "grasif"), priors=False).graph
    pair = WorldAndBelief(store, home(), prior)
    with pytest.raises(UnknownReference, match="no 'pen-1' in this scene"):
        pair.act("pick_up(pen-1)")
    pair.act("discover_objects(desk-1)")
    assert pair.act("pick_up(pen-1)") == ["pick_up(pen-1)"]


class Blind(SceneEnvironment):
    """A world in which no look succeeds."""

    failure: RejectedError

    def observe(self, of: str, *, step: int) -> Observation:
        del of, step
        raise self.failure


@pytest.mark.parametrize(
    "failure", [UnknownReference("no picture was taken"), ReplyRejected("the model's reply is no JSON")], ids=type
)
def test_what_was_opened_is_open_though_the_look_at_it_fails(store: SceneStore, failure: RejectedError) -> None:
    name = f"test/{uuid4().hex}"
    store.put(ImportedScene(name, HOME, "virtualhome"))
    store.put(belief_scene(ImportedScene(name, HOME, "virtualhome")))
    world = Blind(store, store.find(name), actor="robot")
    world.failure = failure
    belief = store.find(belief_name(name))
    (step,) = BeliefSimulator(store, belief, world=world, actor="robot").act("open(fridge_21)")
    assert step.action == "open(fridge_21)"
    assert step.seen == (f"fridge_21 was not seen: {failure}",)
    assert step.version == store.find(belief.name).version == 1
    for it in (name, belief.name):
        assert "open" in store.load(it).graph.nodes["fridge_21"].states


def test_a_refusal_is_told_as_such_though_the_look_after_it_fails(store: SceneStore) -> None:
    pair = WorldAndBelief(store, moved(home(), "cup-1", "ON", "desk-1"), home())
    world = Blind(store, pair.world, actor="robot")
    world.failure = ReplyRejected("the model's reply is no JSON")
    robot = BeliefSimulator(store, pair.belief, world=world, actor="robot", fix=True)
    with pytest.raises(WorldMismatch, match=r"not as believed.*table-1 was not seen: the model's reply is no JSON"):
        list(robot.act("pick_up(cup-1)"))


def test_an_environment_is_reset(store: SceneStore) -> None:
    name = f"test/{uuid4().hex}"
    store.put(ImportedScene(name, home(), "grasif"))
    environment = SceneEnvironment(store, store.find(name), actor="robot")
    for _ in range(2):
        environment.execute("go_to(kitchen)", action_id="one")
    assert len(store.history(store.find(name))) == 1, "an action id is carried out once"
    environment.reset()
    assert store.load(name).graph == home()


class Meddled(SceneEnvironment):
    """A world in which something happens right after each action."""

    meddle: Callable[[], object] = staticmethod(lambda: None)

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> None:
        super().execute(action, action_id=action_id, because=because)
        self.meddle()


def test_two_sessions_on_one_belief_end_with_a_belief_that_is_right(store: SceneStore) -> None:
    """Another session changes the belief between this one's action in the world and its own change of the belief."""
    pair = WorldAndBelief(store, home(), home())
    pair.act("go_to(kitchen)")
    world = Meddled(store, pair.world, actor="robot")
    moved_away = diff(pair.graph(pair.belief), moved(pair.graph(pair.belief), "cup-1", "ON", "desk-1"))
    other = SceneStore(store.database)
    world.meddle = lambda: other.commit(pair.belief, moved_away, actor="other", action="believe otherwise")
    (step,) = BeliefSimulator(store, pair.belief, world=world, actor="robot").act("pick_up(cup-1)")
    assert (step.action, step.seen) == ("pick_up(cup-1)", ("cup-1 is moved: held by agent",))
    assert pair.actions(pair.world) == ["go_to(kitchen)", "pick_up(cup-1)"]
    assert pair.graph(pair.belief).relations == pair.graph(pair.world).relations


def test_a_look_is_merged_into_what_another_session_believes_by_then(store: SceneStore) -> None:
    pair = WorldAndBelief(store, home(), home())
    pair.act("go_to(office)")
    world = Meddled(store, pair.world, actor="robot")
    moved_away = diff(pair.graph(pair.belief), moved(pair.graph(pair.belief), "pen-1", "ON", "table-1"))
    other = SceneStore(store.database)
    world.meddle = lambda: other.commit(pair.belief, moved_away, actor="other", action="believe otherwise")
    (step,) = BeliefSimulator(store, pair.belief, world=world, actor="robot").act("discover_objects(desk-1)")
    assert step.seen == ("pen-1 is moved: seen on desk-1, believed on table-1",)
    assert pair.graph(pair.belief).relations == pair.graph(pair.world).relations


class Ended(Exception):
    """The program's end, in between."""


def test_what_only_the_world_has_is_completed_before_the_next_action(store: SceneStore) -> None:
    pair = WorldAndBelief(store, home(), home())
    pair.act("go_to(kitchen)")
    ending = Meddled(store, pair.world, actor="robot")
    ending.meddle = end_program
    with pytest.raises(Ended):
        list(BeliefSimulator(store, pair.belief, world=ending, actor="robot").act("pick_up(cup-1)", action_id="one"))
    list(Simulator(store, pair.world, actor="robot").act("open(fridge-1)"))
    assert pair.actions(pair.belief) == ["go_to(kitchen)"]
    environment = SceneEnvironment(store, pair.world, actor="robot")
    robot = BeliefSimulator(store, pair.belief, world=environment, past=pair.world, actor="robot")
    list(robot.act("go_to(office)"))
    (step,) = robot.act("pick_up(cup-1)", action_id="one")
    assert (step.action, step.version) == ("pick_up(cup-1)", 2)
    done = ["go_to(kitchen)", "pick_up(cup-1)", "go_to(office)"]
    assert pair.actions(pair.belief) == done, "what was done past the belief stays unknown"
    assert pair.actions(pair.world) == [*done[:2], "open(fridge-1)", done[2]]
    with pytest.raises(InputError, match=r"'one' was used for pick_up\(cup-1\)"):
        list(robot.act("go_to(kitchen)", action_id="one"))


def end_program() -> None:
    raise Ended
