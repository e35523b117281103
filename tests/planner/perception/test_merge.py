"""Merge of observations into the belief: each finding, and the law that looking everywhere finds everything."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from scenecypher.chat.embeddings import local_words
from scenecypher.db.graph.delta import apply, invert
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.scene import Node, Point, Properties, Relation, SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import UnknownReference
from scenecypher.meaning import Meaning
from scenecypher.planner.perception.draft import MergeResult
from scenecypher.planner.perception.merge import merge
from scenecypher.planner.perception.observation import Extent, ExtentKind, Observation, Sighting
from scenecypher.planner.perception.truth import true_observation
from scenecypher.planner.worlds.belief import initial_belief
from tests.planner.actions.grasif_worlds import home, node, random_home

COVERS = conventions_of("grasif").containment


def observed(*sightings: Sighting, of: str = "table-1", covers: tuple[str, ...] = COVERS) -> Observation:
    return Observation(of, sightings, 3, covers)


def thing(name: str, support: tuple[str, str] | None = ("ON", "table-1"), **more: object) -> Sighting:
    return replace(Sighting(name, name.rpartition("-")[0] or name, support), **more)  # type: ignore[arg-type]


def kinds_and_nodes(found: MergeResult) -> list[tuple[str, str]]:
    return [(finding.kind, finding.node) for finding in found.findings]


def merged(belief: SceneGraph, observation: Observation) -> tuple[SceneGraph, MergeResult]:
    found = merge(belief, observation, vocabulary="grasif")
    after = apply(belief, found.delta)
    assert apply(after, invert(found.delta)) == belief, "a merge is reversible"
    assert not list(broken_rules(after, "grasif"))
    return after, found


def test_what_is_where_it_was_believed_is_confirmed() -> None:
    after, found = merged(initial_belief(home()), observed(thing("cup-1", confidence=0.8)))
    assert kinds_and_nodes(found) == [("confirmed", "cup-1")]
    assert dict(after.nodes["cup-1"].properties) == {"seen": True, "last_seen": 3, "confidence": 0.8}


def test_what_was_elsewhere_has_moved_with_all_that_is_in_it() -> None:
    after, found = merged(initial_belief(home()), observed(thing("cup-1"), thing("box-1")))
    assert kinds_and_nodes(found) == [("confirmed", "cup-1"), ("moved", "box-1")]
    assert found.findings[1].words == "seen on table-1, believed inside fridge-1"
    assert after.targets("box-1") == ("table-1",)
    assert after.targets("apple-1") == ("box-1",)


def test_what_is_not_seen_where_it_was_believed_is_absent_and_keeps_its_node() -> None:
    after, found = merged(initial_belief(home()), observed())
    assert kinds_and_nodes(found) == [("absent", "cup-1")]
    assert after.targets("cup-1") == ()
    assert after.nodes["cup-1"].properties == Properties({"seen": False, "confidence": 0.0})
    assert after.targets("pen-1") == ("desk-1",), "nothing elsewhere is touched"


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("trash can", [("confirmed", "garbage_can-1")]),
        ("potato", [("new", "potato-1"), ("absent", "garbage_can-1")]),
    ],
)
def test_a_word_that_means_the_same_is_of_the_thing_that_is_believed_there(
    word: str, expected: list[tuple[str, str]]
) -> None:
    """Doubled: what another model calls by another word was new, and the believed thing absent."""
    world, embed = home(), local_words()
    assert embed is not None
    bin_ = replace(world.nodes["cup-1"], id="garbage_can-1", class_="garbage_can")
    nodes = (bin_ if it.id == "cup-1" else it for it in world.nodes.values())
    relations = (replace(it, source=bin_.id) if it.source == "cup-1" else it for it in world.relations)
    belief, seen = initial_belief(SceneGraph.of(nodes, relations)), observed(thing(word))
    found = merge(belief, seen, vocabulary="grasif", meaning=Meaning(lambda: embed))
    assert kinds_and_nodes(found) == expected
    assert ("absent", "garbage_can-1") in kinds_and_nodes(merge(belief, seen, vocabulary="grasif"))


def test_only_what_is_seen_whole_makes_anything_absent() -> None:
    before = initial_belief(home())
    part = replace(observed(thing("pen-1")), extent=Extent("part", "the left half", "it is cut off"))
    after, found = merged(before, part)
    assert kinds_and_nodes(found) == [("partial", "table-1"), ("moved", "pen-1"), ("missed", "cup-1")]
    assert after.targets("cup-1") == ("table-1",)


@pytest.mark.parametrize("kind", ["nothing", "elsewhere", "doubted"])
def test_what_does_not_show_the_place_is_not_merged(kind: ExtentKind) -> None:
    observation = replace(observed(thing("pen-1"), thing("tree")), extent=Extent(kind, why="a garden"))
    after, found = merged(initial_belief(home()), replace(observation, states=("wet",)))
    assert after == initial_belief(home())
    assert kinds_and_nodes(found) == [("unseen", "table-1")]
    assert "(a garden): nothing was merged" in found.findings[0].words


def test_a_new_thing_gets_a_node_of_its_own() -> None:
    spoon = thing("spoon", states=("clean",), affordances=("pick_up",))
    after, found = merged(initial_belief(home()), observed(thing("cup-1"), spoon, thing("spoon")))
    assert kinds_and_nodes(found) == [("confirmed", "cup-1"), ("new", "spoon-1"), ("new", "spoon-2")]
    assert after.nodes["spoon-1"].states == ("clean",)
    assert after.by_class["spoon"] == ("spoon-1", "spoon-2")


@pytest.mark.parametrize(("count", "kinds"), [(1, "absent"), (2, ""), (3, "moved"), (4, "moved new")])
def test_things_alike_are_counted(count: int, kinds: str) -> None:
    apples = [Node(f"apple-{n}", "Object", f"apple-{n}", "apple") for n in (7, 8)]
    on = [Relation(apple.id, "ON", "desk-1") for apple in apples]
    belief = initial_belief(SceneGraph.of([*home().nodes.values(), *apples], [*home().relations, *on]))
    observation = observed(*[thing("apple", ("ON", "desk-1"))] * count, thing("pen-1", ("ON", "desk-1")), of="desk-1")
    after, found = merged(belief, observation)
    assert sum(kind == "confirmed" for kind, _ in kinds_and_nodes(found)) == min(count, 2) + 1, (
        "the third is the one that was in the fridge"
    )
    assert [kind for kind, _ in kinds_and_nodes(found) if kind != "confirmed"] == kinds.split()
    assert len(after.sources("desk-1", "ON")) == count + 1


def test_states_that_changed_are_told() -> None:
    observation = replace(observed(thing("cup-1", states=("dirty",))), of="table-1", states=("wet",))
    after, found = merged(initial_belief(home()), observation)
    assert kinds_and_nodes(found) == [("changed", "table-1"), ("confirmed", "cup-1"), ("changed", "cup-1")]
    assert found.findings[2].words == "it is dirty"
    assert after.nodes["table-1"].states == ("wet",)


def test_a_thing_on_a_thing_that_was_seen_is_placed() -> None:
    after, found = merged(
        initial_belief(home()), observed(thing("pea", ("INSIDE", "Bowl")), thing("bowl"), thing("cup-1"))
    )
    assert sorted(kinds_and_nodes(found)) == [("confirmed", "cup-1"), ("new", "bowl-1"), ("new", "pea-1")]
    assert after.targets("pea-1") == ("bowl-1",)


@pytest.mark.parametrize(
    "odd",
    [
        (thing("pen-1", None),),
        (thing("pen-1", ("ON", "desk-1")),),
        (thing("a", ("ON", "b")), thing("b", ("ON", "a"))),
    ],
    ids=["no support", "another place", "a circle"],
)
def test_what_can_not_be_placed_is_told_and_not_merged(odd: tuple[Sighting, ...]) -> None:
    before = initial_belief(home())
    after, found = merged(before, observed(thing("cup-1"), *odd))
    assert kinds_and_nodes(found)[1:] == [("unplaced", sighting.name) for sighting in odd]
    assert after.relations == before.relations


def test_what_is_looked_at_is_not_on_itself() -> None:
    observation = observed(thing("box-1", ("ON", "apple-1")), thing("fridge-1", ("ON", "apple-1")), of="apple-1")
    after, found = merged(initial_belief(home()), observation)
    assert [kind for kind, _ in kinds_and_nodes(found)] == ["new", "new"], (
        "what bears it can't lie on it: they are others"
    )
    assert after.targets("apple-1") == ("box-1",)


def test_nothing_is_concluded_of_what_could_not_be_seen() -> None:
    before = initial_belief(home())
    observation = true_observation(home(), "fridge-1", step=1, vocabulary="grasif")
    after, found = merged(before, observation)
    assert observation.covers == ("ON", "UNDER", "ATTACHED_TO"), "it is closed"
    assert kinds_and_nodes(found) == []
    assert after == before


def test_positions_tell_things_alike_apart() -> None:
    ball = Node("ball_1", "Object", "ball_1", "ball", properties=Properties({"color": "red", "center": Point(1, 1)}))
    room = Node("room_1", "Place", "room_1", "room")
    belief = SceneGraph.of([room, ball], [Relation("ball_1", "INSIDE", "room_1")])
    red, blue = Properties({"color": "red"}), Properties({"color": "blue"})

    def look(traits: Properties, x: float, *cells: tuple[int, int]) -> list[tuple[str, str]]:
        sighting = Sighting("ball", "ball", ("INSIDE", "room_1"), position=Point(x, 1), traits=traits)
        observation = Observation("room_1", (sighting,), 1, ("INSIDE",), cells=frozenset(cells) or None)
        return kinds_and_nodes(merge(belief, observation, vocabulary="babyai"))

    assert look(red, 1) == [("confirmed", "ball_1")]
    assert look(blue, 1) == [("new", "ball_2"), ("absent", "ball_1")]
    assert look(red, 2) == [("new", "ball_2"), ("absent", "ball_1")]
    assert look(red, 2, (2, 1)) == [("new", "ball_2")], "where it was believed was not in view"


def test_virtualhome_things_stay_in_their_room() -> None:
    world = SceneGraph.of(
        [
            Node("kitchen_1", "Place", "kitchen", "kitchen"),
            Node("table_2", "Asset", "table", "table"),
            Node("cup_3", "Object", "cup", "cup"),
            Node("sink_4", "Asset", "sink", "sink"),
        ],
        [
            *(Relation(it, "INSIDE", "kitchen_1") for it in ("table_2", "cup_3", "sink_4")),
            Relation("cup_3", "ON", "table_2"),
            Relation("cup_3", "CLOSE", "sink_4"),
            Relation("sink_4", "CLOSE", "cup_3"),
        ],
    )
    here = true_observation(world, "kitchen_1", step=1, vocabulary="virtualhome")
    assert here.sightings == (), "a cup on a table is seen at the table"
    observation = Observation("sink_4", (Sighting("cup", "cup", ("ON", "sink_4"), id="cup_3"),), 1, ("ON", "INSIDE"))
    found = merge(initial_belief(world), observation, vocabulary="virtualhome")
    after = apply(initial_belief(world), found.delta)
    assert kinds_and_nodes(found) == [("moved", "cup_3")]
    assert after.targets("cup_3", "ON", "INSIDE") == ("kitchen_1", "sink_4")
    assert after.targets("cup_3", "CLOSE") == ("sink_4",)
    mugs = Sighting("mug", "mug", ("ON", "table")), Sighting("mug", "mug", ("INSIDE", "kitchen"))
    room = Observation("kitchen_1", mugs, 1, ("ON", "INSIDE"))
    after = apply(initial_belief(world), merge(initial_belief(world), room, vocabulary="virtualhome").delta)
    assert after.targets("mug_1", "ON", "INSIDE") == ("kitchen_1", "table_2"), "on the table, and in the room"
    assert after.targets("mug_1", "CLOSE") == ("table_2",)
    assert after.outgoing["mug_2"] == (Relation("mug_2", "INSIDE", "kitchen_1"),)
    assert after.nodes["mug_1"].affordances == ("grabbable",)
    assert after.targets("cup_3", "ON") == ("table_2",), "what lies on furniture is not missed in a picture of the room"


def test_a_look_at_what_is_not_believed_is_refused() -> None:
    with pytest.raises(UnknownReference, match=r"'tabel-1'.*did you mean 'table-1'"):
        merge(initial_belief(home()), observed(of="tabel-1"), vocabulary="grasif")


@pytest.mark.parametrize("number", range(40))
def test_looking_everywhere_makes_a_stale_belief_true(number: int) -> None:
    chance = random.Random(number)  # noqa: S311
    world = random_home(chance)
    belief = initial_belief(_stale(world, chance), priors=bool(number % 4))
    for _ in range(len(world.nodes)):
        for node_id in sorted(world.nodes):
            if world.nodes[node_id].kind not in {"Place", "Agent"} and node_id in belief:
                opened = _opened(world, node_id)
                belief, _found = merged(belief, true_observation(opened, node_id, step=1, vocabulary="grasif"))
    objects = set(world.by_kind.get("Object", ())) - {it.target for it in world.relations if it.type == "HOLDS"}
    assert {_where(world, node_id) for node_id in objects} == {_where(belief, node_id) for node_id in objects}
    false = set(belief.by_kind.get("Object", ())) - set(world.nodes)
    assert not [node_id for node_id in false if belief.targets(node_id) or belief.nodes[node_id].properties["seen"]]


def test_two_things_are_not_on_each_other() -> None:
    kept = home().relations - {Relation("box-1", "INSIDE", "fridge-1")}
    belief = initial_belief(SceneGraph.of(home().nodes.values(), [*kept, Relation("box-1", "ON", "cup-1")]))
    after, found = merged(belief, observed(thing("cup-1", ("ON", "box-1"))))
    assert kinds_and_nodes(found) == [("unplaced", "cup-1")], "the box is believed on the cup"
    assert after == belief


@pytest.mark.parametrize("number", range(60))
def test_whatever_is_told_a_merge_is_sound(number: int) -> None:
    chance = random.Random(number)  # noqa: S311
    belief = initial_belief(random_home(chance))
    words = [*belief.nodes, "asset", "thing", "a room", "cup", "nowhere"]
    kinds: tuple[ExtentKind, ...] = ("whole", "part", "nothing", "elsewhere")
    for _ in range(4):
        names = [chance.choice(words) for _ in range(chance.randint(0, 6))]
        sightings = [
            Sighting(
                name,
                name.partition("-")[0],
                chance.choice(((chance.choice((*COVERS, None)), chance.choice((*words, *names, None))), None)),
                confidence=chance.random(),
            )
            for name in names
        ]
        of = chance.choice([it for it in belief.nodes if belief.nodes[it].kind != "Agent"])
        seen = replace(observed(*sightings, of=of), extent=Extent(chance.choice(kinds)))
        before = belief
        belief, found = merged(belief, seen)
        gone = {it.node for it in found.findings if it.kind == "absent"}
        assert not gone or seen.extent.is_whole
        assert not gone & {it for it in names if it in before}, "what is named is seen"
        assert belief.nodes.keys() >= before.nodes.keys()


def _opened(world: SceneGraph, node_id: str) -> SceneGraph:
    node = world.nodes[node_id]
    is_open = replace(node, states=tuple(state for state in node.states if state != "closed"))
    return SceneGraph.of([*(it for it in world.nodes.values() if it.id != node_id), is_open], world.relations)


def _stale(world: SceneGraph, chance: random.Random) -> SceneGraph:
    """Return a former state of the world: some things at other places, and one that no longer exists."""
    assets = world.by_kind["Asset"]
    relations = set(world.relations)
    for relation in sorted(world.relations):
        if world.nodes[relation.source].kind == "Object" and relation.type in COVERS and chance.random() < 0.5:
            relations.discard(relation)
            relations.add(Relation(relation.source, "ON", chance.choice(assets)))
    gone = Node("gone-1", "Object", "gone-1", "gone")
    return SceneGraph.of([*world.nodes.values(), gone], [*relations, Relation("gone-1", "ON", assets[0])])


def _where(graph: SceneGraph, node_id: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    inside = ((it.type, it.target) for it in graph.outgoing.get(node_id, ()) if it.type in COVERS)
    return node_id, tuple(inside) if node_id in graph else ()


def placed(position: tuple[float, float, float]) -> Properties:
    return Properties({"center": Point(*position), "size_x": 0.2})


def test_what_depends_on_the_place_goes_with_it() -> None:
    """A bowl moved by a picture kept its position, so that the next look with positions made a second bowl."""
    nodes = [
        replace(it, properties=placed((5, 5, 1))) if it.id in {"box-1", "apple-1"} else it
        for it in home().nodes.values()
    ]
    near = [
        Relation("box-1", "CLOSE", "lamp-1"),
        Relation("lamp-1", "CLOSE", "apple-1"),
        Relation("apple-1", "CLOSE", "box-1"),
    ]
    before = initial_belief(SceneGraph.of(nodes, [*home().relations, *near]))
    after, _ = merged(before, observed(thing("cup-1"), thing("box-1")))
    for moved in ("box-1", "apple-1"):
        assert "center" not in after.nodes[moved].properties, "what is in it has moved too"
        assert after.nodes[moved].properties["size_x"] == 0.2
    assert {it for it in after.relations if it.type == "CLOSE"} == {near[2]}
    seen = replace(observed(thing("cup-1"), thing("box", position=Point(1, 1, 1))), step=4)
    again, found = merged(after, seen)
    assert kinds_and_nodes(found) == [("confirmed", "cup-1"), ("confirmed", "box-1")]
    assert again.nodes["box-1"].properties["center"] == Point(1, 1, 1)


@pytest.mark.parametrize("vocabulary", ["household", "virtualhome"])
def test_a_thing_is_in_the_room_if_its_home_s_things_are(vocabulary: str) -> None:
    """A new thing had no room where all others had one, so that nobody could walk to it; contents kept the old room."""
    nodes = [node("kitchen", "Place"), node("hall", "Place"), node("table-1", "Asset"), node("shelf-1", "Asset")]
    nodes += [node(it, "Object") for it in ("cup-1", "bowl-1", "pea-1")]
    rooms = {"table-1": "kitchen", "shelf-1": "hall", **dict.fromkeys(("cup-1", "bowl-1", "pea-1"), "hall")}
    on = [
        Relation("cup-1", "ON", "shelf-1"),
        Relation("bowl-1", "ON", "shelf-1"),
        Relation("pea-1", "INSIDE", "bowl-1"),
    ]
    belief = initial_belief(SceneGraph.of(nodes, [*on, *(Relation(it, "INSIDE", room) for it, room in rooms.items())]))
    sightings = (thing("bowl-1", id="bowl-1"), thing("fork"))
    found = merge(belief, Observation("table-1", sightings, 1, ("ON", "INSIDE")), vocabulary=vocabulary)
    after = apply(belief, found.delta)
    assert after.targets("fork-1", "INSIDE") == after.targets("bowl-1", "INSIDE") == ("kitchen",)
    assert after.targets("pea-1", "INSIDE") == ("bowl-1", "kitchen")
    assert apply(after, invert(found.delta)) == belief
