"""GraSIF's operators: effects, refusals, corrections by rule, and random walks against an independent model."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import pytest

from scenecypher.db.graph.delta import apply, invert
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.scene import Relation, SceneGraph
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, UnknownReference
from scenecypher.planner.actions.execution import Infeasible, simulate
from scenecypher.planner.actions.operator import AGENT
from scenecypher.planner.actions.simulator import CommittedAction, Simulator
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.vocabularies.grasif import MACROS, OPERATORS
from scenecypher.planner.vocabularies.household import CONTAINMENT
from tests.db.store.test_store import fresh
from tests.planner.actions.grasif_worlds import ROBOT, home, random_home
from tests.planner.actions.worlds import edited
from tests.sampling import FULL

HOME: Final = home()
IN_KITCHEN: Final = edited(HOME, add=[Relation(ROBOT, "INSIDE", "kitchen")], remove=[(ROBOT, "INSIDE", "office")])
FRIDGE_OPEN: Final = edited(IN_KITCHEN, states={"fridge-1": "open"})
BOX_OPEN: Final = edited(FRIDGE_OPEN, states={"box-1": "open"})
CUP_HELD: Final = edited(IN_KITCHEN, add=[Relation(ROBOT, "HOLDS", "cup-1")], remove=[("cup-1", "ON", "")])
BOX_HELD: Final = edited(BOX_OPEN, add=[Relation(ROBOT, "HOLDS", "box-1")], remove=[("box-1", "INSIDE", "")])


def simulated(graph: SceneGraph, action: str) -> SceneGraph:
    call = parse_action(action)
    arguments = {AGENT: ROBOT, "x": call.arguments[0]}
    return apply(graph, simulate(OPERATORS[call.name], graph, arguments, action=action))


@pytest.mark.parametrize(
    ("graph", "action", "gained", "lost"),
    [
        (HOME, "go_to(kitchen)", (ROBOT, "INSIDE", "kitchen"), (ROBOT, "INSIDE", "office")),
        (IN_KITCHEN, "pick_up(cup-1)", (ROBOT, "HOLDS", "cup-1"), ("cup-1", "ON", "table-1")),
        (FRIDGE_OPEN, "pick_up(box-1)", (ROBOT, "HOLDS", "box-1"), ("box-1", "INSIDE", "fridge-1")),
        (BOX_OPEN, "pick_up(apple-1)", (ROBOT, "HOLDS", "apple-1"), ("apple-1", "INSIDE", "box-1")),
        (CUP_HELD, "put_on(table-1)", ("cup-1", "ON", "table-1"), (ROBOT, "HOLDS", "cup-1")),
        (CUP_HELD, "put_on(fridge-1)", ("cup-1", "ON", "fridge-1"), (ROBOT, "HOLDS", "cup-1")),
        (CUP_HELD, "put_under(table-1)", ("cup-1", "UNDER", "table-1"), (ROBOT, "HOLDS", "cup-1")),
        (CUP_HELD, "attach(lamp-1)", ("cup-1", "ATTACHED_TO", "lamp-1"), (ROBOT, "HOLDS", "cup-1")),
    ],
)
def test_relations_changed_by_an_action(
    graph: SceneGraph, action: str, gained: tuple[str, str, str], lost: tuple[str, str, str]
) -> None:
    after = simulated(graph, action)
    assert after.relations - graph.relations == {Relation(*gained)}
    assert graph.relations - after.relations == {Relation(*lost)}
    assert after.nodes == graph.nodes


@pytest.mark.parametrize(
    ("graph", "action", "node", "states"),
    [
        (IN_KITCHEN, "open(fridge-1)", "fridge-1", ("open",)),
        (FRIDGE_OPEN, "close(fridge-1)", "fridge-1", ("closed",)),
        (IN_KITCHEN, "turn_on(lamp-1)", "lamp-1", ("on",)),
        (edited(IN_KITCHEN, states={"lamp-1": "on"}), "turn_off(lamp-1)", "lamp-1", ("off",)),
    ],
)
def test_states_changed_by_an_action(graph: SceneGraph, action: str, node: str, states: tuple[str, ...]) -> None:
    after = simulated(graph, action)
    assert after.nodes[node].states == states != graph.nodes[node].states
    assert after.relations == graph.relations


@pytest.mark.parametrize(
    ("graph", "action", "says"),
    [
        (HOME, "go_to(table-1)", "table-1 is no room"),
        (IN_KITCHEN, "pick_up(table-1)", "table-1 can not be picked up"),
        (IN_KITCHEN, "pick_up(box-1)", "box-1 is inside fridge-1, which is closed: open(fridge-1) first"),
        (FRIDGE_OPEN, "pick_up(apple-1)", "apple-1 is inside box-1, which is closed: open(box-1) first"),
        (HOME, "pick_up(cup-1)", "cup-1 is not in the agent's room: go_to(kitchen) first"),
        (CUP_HELD, "pick_up(cup-1)", "agent holds cup-1 already"),
        (BOX_HELD, "pick_up(cup-1)", "agent holds box-1, and has one hand"),
        (BOX_HELD, "pick_up(apple-1)", "agent holds box-1, and has one hand"),
        (IN_KITCHEN, "put_on(table-1)", "agent holds nothing: pick something up first"),
        (CUP_HELD, "put_on(lamp-1)", "lamp-1 can not be something to put things on"),
        (CUP_HELD, "put_inside(table-1)", "table-1 can not be something to put things into"),
        (CUP_HELD, "put_inside(fridge-1)", "fridge-1 is closed: open(fridge-1) first"),
        (CUP_HELD, "put_on(desk-1)", "desk-1 is not in the agent's room: go_to(office) first"),
        (BOX_HELD, "put_inside(box-1)", "box-1 is in the hand itself"),
        (CUP_HELD, "put_inside(cup-1)", "cup-1 is in the hand itself"),
        (FRIDGE_OPEN, "open(fridge-1)", "fridge-1 is open already"),
        (IN_KITCHEN, "open(table-1)", "table-1 can not be"),
        (HOME, "turn_on(lamp-1)", "lamp-1 is not in the agent's room: go_to(kitchen) first"),
        (IN_KITCHEN, "turn_off(lamp-1)", "lamp-1 is off already"),
        (IN_KITCHEN, "discover_objects(kitchen)", "kitchen is a room"),
        (IN_KITCHEN, "discover_objects(fridge-1)", "fridge-1 is closed, so that nothing inside can be seen"),
    ],
)
def test_a_refusal_names_the_broken_requirement(graph: SceneGraph, action: str, says: str) -> None:
    with pytest.raises(Infeasible) as refused:
        simulated(graph, action)
    assert says in refused.value.reasons[0]


def test_an_object_held_by_another_agent_can_not_be_taken() -> None:
    from tests.planner.actions.grasif_worlds import node

    other = SceneGraph.of(
        [*IN_KITCHEN.nodes.values(), node("helper", "Agent")],
        {r for r in IN_KITCHEN.relations if r.source != "cup-1"}
        | {Relation("helper", "HOLDS", "cup-1"), Relation("helper", "INSIDE", "kitchen")},
    )
    with pytest.raises(Infeasible, match="helper holds cup-1"):
        simulated(other, "pick_up(cup-1)")


# --- in the database


def put(store: SceneStore, graph: SceneGraph) -> SceneInfo:
    name = fresh("grasif")
    store.put(ImportedScene(name, graph, vocabulary="grasif"))
    return store.find(name)


def summary(steps: list[CommittedAction]) -> list[tuple[str, str | None]]:
    return [(step.action, step.because) for step in steps]


def test_a_correction_goes_opens_frees_the_hand_and_says_why(store: SceneStore) -> None:
    scene = put(store, edited(HOME, add=[Relation(ROBOT, "HOLDS", "pen-1")], remove=[("pen-1", "ON", "")]))
    steps = summary(list(Simulator(store, scene, fix=True).act("pick_up(apple-1)")))
    assert steps == [
        ("go_to(kitchen)", "apple-1 is not in the agent's room"),
        ("open(fridge-1)", "box-1 is inside fridge-1, which is closed"),
        ("open(box-1)", "apple-1 is inside box-1, which is closed"),
        ("put_on(fridge-1)", "agent holds pen-1, and has one hand"),
        ("pick_up(apple-1)", None),
    ]
    history_text = [event.action for event in store.history(scene)]
    assert history_text[0] == "go_to(kitchen)  [inserted: apple-1 is not in the agent's room]"
    assert history_text[-1] == "pick_up(apple-1)"


@pytest.mark.parametrize("action", ["turn_on(lamp-1)", "open(fridge-1)"])
def test_toggles_work_from_any_room(store: SceneStore, action: str) -> None:
    scene = put(store, HOME)
    steps = summary(list(Simulator(store, scene, fix=True).act(action)))
    node = parse_action(action).arguments[0]
    assert steps == [("go_to(kitchen)", f"{node} is not in the agent's room"), (action, None)]
    with pytest.raises(Infeasible, match="not in the agent's room"):
        list(Simulator(store, put(store, HOME)).act(action))


def test_rearrange_is_carried_out_as_its_steps(store: SceneStore) -> None:
    scene = put(store, HOME)
    action = "rearrange(cup-1, inside_of, box-1)"
    steps = summary(list(Simulator(store, scene, fix=True).act(action)))
    asked = f"{MACROS['rearrange'].name}(cup-1, inside_of, box-1) asks for it"
    assert steps[:2] == [("go_to(kitchen)", "cup-1 is not in the agent's room"), ("pick_up(cup-1)", asked)]
    assert steps[-1] == ("put_inside(box-1)", None)
    assert [action for action, because in steps if because is not None][2:] == ["open(fridge-1)", "open(box-1)"]
    assert Relation("cup-1", "INSIDE", "box-1") in store.load(scene.name).graph.relations
    again = summary(list(Simulator(store, scene, fix=True).act("rearrange(cup-1, ontop, table-1)")))
    assert again == [("pick_up(cup-1)", "rearrange(cup-1, ontop, table-1) asks for it"), ("put_on(table-1)", None)]


def test_a_held_object_is_not_picked_up_again(store: SceneStore) -> None:
    scene = put(store, CUP_HELD)
    assert summary(list(Simulator(store, scene).act("rearrange(cup-1, ontop, table-1)"))) == [("put_on(table-1)", None)]


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ("rearrange(cup-1, beside, box-1)", "'beside' is no relation"),
        ("rearrange(cup-1, box-1)", "2 arguments are given; it takes 3, as in rearrange(x, relation, y)"),
        ("rearange(cup-1, inside, box-1)", "did you mean 'rearrange'?"),
    ],
)
def test_an_invalid_rearrangement_is_refused(store: SceneStore, action: str, words: str) -> None:
    with pytest.raises(ActionRefused) as refused:
        list(Simulator(store, put(store, HOME), fix=True).act(action))
    assert words in str(refused.value)


def test_an_unknown_name_is_refused_with_suggestions(store: SceneStore) -> None:
    scene = put(store, HOME)
    for action in ("pick_up(aple-1)", "rearrange(aple-1, ontop, table-1)", "rearrange(cup-1, ontop, aple-1)"):
        with pytest.raises(UnknownReference, match="did you mean 'apple-1'"):
            list(Simulator(store, scene, fix=True).act(action))
    assert store.history(scene) == []


def test_discovering_changes_nothing_in_a_world_and_reveals_in_a_belief(store: SceneStore) -> None:
    scene = put(store, FRIDGE_OPEN)
    (step,) = Simulator(store, scene).act("discover_objects(fridge-1)")
    assert not step.delta
    from dataclasses import replace

    from scenecypher.db.graph.scene import Properties

    hidden = {
        id_: replace(node, properties=Properties({"seen": False})) if node.kind == "Object" else node
        for id_, node in FRIDGE_OPEN.nodes.items()
    }
    belief = put(store, SceneGraph.of(hidden.values(), FRIDGE_OPEN.relations))
    list(Simulator(store, belief).act("discover_objects(fridge-1)"))
    seen = [id_ for id_, node in store.load(belief.name).graph.nodes.items() if node.properties.get("seen")]
    assert seen == ["box-1"]


# --- laws, against a model of our own


@dataclass
class Model:
    """An independent implementation of GraSIF's rules in plain Python over dictionaries."""

    parent: dict[str, tuple[str, str]]
    states: dict[str, set[str]]
    affords: Mapping[str, frozenset[str]]
    rooms: frozenset[str]
    room: str
    held: str | None = None

    @classmethod
    def of(cls, graph: SceneGraph) -> Model:
        parent = {r.source: (r.type, r.target) for r in graph.relations if r.type in CONTAINMENT and r.source != ROBOT}
        states = {id_: set(node.states) for id_, node in graph.nodes.items()}
        affords = {id_: frozenset(node.affordances) for id_, node in graph.nodes.items()}
        (room,) = graph.targets(ROBOT, "INSIDE")
        held = next(iter(graph.targets(ROBOT, "HOLDS")), None)
        return cls(parent, states, affords, frozenset(graph.by_kind["Place"]), room, held)

    def chain(self, x: str) -> list[tuple[str, str]]:
        links = []
        while x in self.parent:
            links.append(self.parent[x])
            x = self.parent[x][1]
        return links

    def touchable(self, x: str) -> bool:
        links = self.chain(x)
        end = links[-1][1] if links else x
        shut = any(type_ == "INSIDE" and "closed" in self.states[outer] for type_, outer in links)
        return (end == self.room if end in self.rooms else end == self.held) and not shut

    def do(self, name: str, x: str) -> bool:
        """Carry out an action and return whether it is feasible."""
        relations = {"put_on": "ON", "put_inside": "INSIDE", "put_under": "UNDER", "attach": "ATTACHED_TO"}
        states = {
            "open": ("open", "closed"),
            "close": ("closed", "open"),
            "turn_on": ("on", "off"),
            "turn_off": ("off", "on"),
        }
        if name == "go_to":
            self.room = x if x in self.rooms else self.room
            return x in self.rooms
        if name == "discover_objects":
            hidden = "closed" in self.states[x] and "open" in self.affords[x]
            return x not in self.rooms and self.touchable(x) and not hidden
        if name not in self.affords[x] or not self.touchable(x):
            return False
        if name == "pick_up":
            return self._lift(x)
        if name in states:
            state, before = states[name]
            changed = state not in self.states[x]
            self.states[x] = (self.states[x] - {before}) | {state} if changed else self.states[x]
            return changed
        return self._lay(x, relations[name])

    def _lift(self, x: str) -> bool:
        if self.held is not None:
            return False
        del self.parent[x]
        self.held = x
        return True

    def _lay(self, x: str, relation: str) -> bool:
        end = self.chain(x)[-1][1] if self.chain(x) else x
        if self.held is None or end == self.held or (relation == "INSIDE" and "closed" in self.states[x]):
            return False
        self.parent[self.held] = (relation, x)
        self.held = None
        return True


def test_random_actions_keep_invariants_and_agree_with_the_model() -> None:
    feasible = sum(map(check_random_actions, range(1_000 if FULL else 60)))
    assert feasible > 300


def check_random_actions(seed: int) -> int:
    """Return how many of 60 random actions were feasible."""
    rng = random.Random(seed)  # noqa: S311
    graph = start = random_home(rng)
    model = Model.of(graph)
    deltas = []
    actions = [f"{name}({id_})" for name in OPERATORS if name != "done" for id_ in graph.nodes if id_ != ROBOT]
    for action in rng.choices(actions, k=60):
        call = parse_action(action)
        expected = model.do(call.name, call.arguments[0])
        try:
            delta = simulate(OPERATORS[call.name], graph, {AGENT: ROBOT, "x": call.arguments[0]}, action=action)
        except Infeasible:
            assert not expected, action
            continue
        assert expected, action
        graph = apply(graph, delta)
        deltas.append(delta)
        assert Model.of(graph) == model, action
        assert list(broken_rules(graph, "grasif")) == []
        assert len(graph.targets(ROBOT, "HOLDS")) <= 1 == len(graph.targets(ROBOT, "INSIDE"))
    for delta in reversed(deltas):
        graph = apply(graph, invert(delta))
    assert graph == start
    return len(deltas)
