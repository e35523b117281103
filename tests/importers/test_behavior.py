"""BEHAVIOR-1K's activities as scenes and tasks: counts, meanings of goals, and words of instructions."""

from __future__ import annotations

import json
import random
import re
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import permutations, product
from pathlib import Path
from statistics import mean
from tarfile import TarFile
from typing import Any, Final
from uuid import uuid4

import pytest
from bddl.parsing import parse_problem

from scenecypher.db.condition import ALWAYS, And, Condition, HasState, Id, Not, evaluate
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.condition_check import check_goal
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, ServiceError
from scenecypher.importers import behavior, published_file
from scenecypher.importers.behavior import (
    CONTAINERS,
    DOMAIN,
    LIGHT,
    OPENABLE,
    PREDICATES,
    STACKED,
    SURFACES,
    TOGGLEABLE,
    Activity,
    BddlExpression,
    activities,
    activity_goal,
    activity_scene,
    activity_task,
    archive,
    definitions,
    instance_name,
    read_activity,
    scenes,
    synset_class,
    tasks,
)
from scenecypher.importers.grasif import read_scene, to_document
from scenecypher.importers.published_file import PublishedFile
from scenecypher.importers.task import Task
from scenecypher.importers.word_tables import instructions
from tests.importers.behavior_names import NAMES
from tests.importers.behavior_reference import arrangement, as_graph, verdicts
from tests.sampling import FULL

BODIES: Final[Mapping[str, slice]] = {
    **dict.fromkeys(("and", "or"), slice(1, None)),
    "not": slice(1, 2),
    "imply": slice(1, 3),
    **dict.fromkeys(("forall", "exists"), slice(2, 3)),
    **dict.fromkeys(("forn", "forpairs"), slice(3, 4)),
    "fornpairs": slice(4, 5),
}
"""Positions of the sub-expressions of each head; any other head is a predicate."""

ALL: Final[Mapping[str, Activity]] = {activity.name: activity for activity in activities()}
GRAPHS: Final[Mapping[str, SceneGraph]] = {name: activity_scene(activity).graph for name, activity in ALL.items()}
ARRANGEMENTS: Final = 200 if FULL else 8
TASKS: Final[Mapping[str, Task]] = {task.id: task for task in tasks()}


def test_the_counts() -> None:
    assert len(definitions()) == 1_016
    assert len(ALL) == len(TASKS) == 188, "the paper counts 177"
    assert mean(places(graph) for graph in GRAPHS.values()) == pytest.approx(1.234, abs=0.001), "the paper has 1.23"
    assert mean(len(graph.nodes) for graph in GRAPHS.values()) == pytest.approx(11.07, abs=0.01), "the paper has 12.1"
    sizes = [len(graph.nodes) for graph in GRAPHS.values()]
    assert (min(sizes), max(sizes)) == (4, 27)


def places(graph: SceneGraph) -> int:
    return sum(node.kind == "Place" for node in graph.nodes.values())


def test_one_scene_whole() -> None:
    (scene,) = scenes("bringing_paper_to_recycling")
    assert (scene.name, scene.vocabulary) == ("grasif/behavior-1k/bringing_paper_to_recycling", "grasif")
    assert scene.source == "bddl 3.5.0, bringing_paper_to_recycling"
    papers = [Node(f"paper-{i}", "Object", f"paper-{i}", "paper", (), ("pick_up",)) for i in (1, 2, 3)]
    in_and_on = ("close", "open", "pick_up", "put_inside")
    recycling_bin = Node("recycling_bin-1", "Object", "recycling_bin-1", "recycling_bin", ("open",), in_and_on)
    floor = Node("floor-1", "Asset", "floor-1", "floor", (), ("put_on",))
    rest = [Node("corridor", "Place", "corridor", "corridor")]
    agent = Node("agent-1", "Agent", "agent-1", "agent")
    assert scene.graph == SceneGraph.of(
        [*papers, recycling_bin, floor, agent, *rest],
        [
            Relation("floor-1", "INSIDE", "corridor"),
            Relation("agent-1", "INSIDE", "corridor"),
            *(Relation(node.id, "ON", "floor-1") for node in [*papers, recycling_bin]),
        ],
    )


def test_the_papers_own_example() -> None:
    graph = GRAPHS["assembling_gift_baskets"]
    assert Counter(node.kind for node in graph.nodes.values()) == {"Place": 1, "Asset": 3, "Object": 20, "Agent": 1}
    assert graph.nodes["wicker_basket-1"].affordances == ("pick_up", "put_inside")
    assert graph.nodes["butter_cookie-4"].affordances == ("pick_up",)
    assert graph.targets("butter_cookie-4", "ON") == ("table-1",)
    assert graph.targets("bow-1", "ON") == ("table-2",)


@pytest.mark.parametrize("name", ALL)
def test_the_goal_is_false_at_the_start_of_a_scene_that_keeps_its_promises(name: str) -> None:
    assert not evaluate(TASKS[name].goal, GRAPHS[name], {})
    assert TASKS[name].goal != ALWAYS
    assert list(broken_rules(GRAPHS[name], "grasif")) == []
    placed = [node.id for node in GRAPHS[name].nodes.values() if node.kind != "Place"]
    assert all(GRAPHS[name].targets(node_id, "INSIDE", "ON") for node_id in placed)


def test_a_scene_is_a_grasif_file(tmp_path: Path) -> None:
    for activity in list(ALL.values())[::12]:
        scene = activity_scene(activity)
        file = tmp_path / f"{activity.name}.json"
        file.write_text(json.dumps(to_document(scene)), encoding="utf-8")
        assert read_scene(file).graph == scene.graph


def test_names() -> None:
    assert instance_name("butter_cookie.n.01_2") == "butter_cookie-2"
    assert instance_name("?bottle__of__wine.n.01_1") == "bottle_of_wine-1"
    assert synset_class("post-it.n.01") == "post-it"
    with pytest.raises(ValueError, match="no object"):
        instance_name("candle.n.01")
    with pytest.raises(ValueError, match="no synset"):
        synset_class("candle")


def test_an_unknown_or_unfit_activity_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"no activity 'hoe_weed' among the 1,016 of bddl 3.5.0 .did you mean .hoe_weeds"
    ):
        list(scenes("hoe_weed"))
    with pytest.raises(InputError, match="'bottling_wine' needs more than inroom, inside, ontop, open"):
        list(tasks("bottling_wine"))


def test_the_definitions_are_read_as_bddl_reads_them() -> None:
    for name, activity in ALL.items():
        _, objects, facts_, goal = parse_problem(name, 0, DOMAIN, predefined_problem=definitions(name)[name])
        assert list(activity.objects.items()) == [(synset, tuple(found)) for synset, found in objects.items()]
        assert (list(activity.facts), list(activity.goal)) == (facts_, goal)


def test_the_archive_is_fetched_once_and_told_how_without_a_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    published = archive()
    monkeypatch.setattr(behavior, "KEPT", tmp_path / "cache")
    monkeypatch.setattr(PublishedFile, "_download", lambda _, folder: shutil.copy(published, folder))
    assert archive() == tmp_path / "cache" / published.name
    monkeypatch.undo()
    monkeypatch.setattr(behavior, "KEPT", tmp_path / "cache")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    assert archive().is_file(), "no network is needed any more"
    archive().unlink()
    with pytest.raises(ServiceError, match=r"pip could not download bddl==3.5.0.*put bddl-3.5.0.tar.gz .* into "):
        archive()


SIX: Final = "4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274"


def test_pythons_own_pip_downloads_where_none_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published_file, "find_spec", lambda _: None)
    small = PublishedFile("six==1.17.0", "six-1.17.0-py2.py3-none-any.whl", SIX, "a module", "go on without")
    kept = small.fetch(tmp_path, tell=print)
    assert kept == tmp_path / small.file
    monkeypatch.setattr("ensurepip.__file__", str(tmp_path / "ensurepip.py"))
    kept.unlink()
    with pytest.raises(InputError, match="this Python has no pip, which downloads a module; go on without"):
        small.fetch(tmp_path, tell=print)


# The tables of affordances, compared with the package.


def test_the_tables_are_those_of_the_definitions() -> None:
    asked = {(fact[0], synset_class(synset)) for activity in ALL.values() for fact, synset in targets(activity)}
    assert {class_ for predicate, class_ in asked if predicate == "ontop"} == SURFACES
    assert {class_ for predicate, class_ in asked if predicate == "inside"} == CONTAINERS


def test_the_tables_are_those_of_the_annotations() -> None:
    with TarFile.open(archive()) as members:
        file = members.extractfile("bddl-3.5.0/bddl/generated_data/propagated_annots_canonical.json")
        assert file is not None
        annotations: Mapping[str, Any] = json.load(file)
    synsets = {synset for activity in ALL.values() for synset in activity.objects}
    assert {synset_class(synset) for synset in synsets if "openable" in annotations[synset]} == OPENABLE
    assert {synset_class(synset) for synset in synsets if "toggleable" in annotations[synset]} == TOGGLEABLE


def test_no_goal_moves_what_can_not_be_moved() -> None:
    for name, activity in ALL.items():
        for fact, variables in (found for part in activity.goal for found in facts(part, {})):
            if fact[0] in ("ontop", "inside"):
                synset = variables.get(fact[1])
                moved = map(instance_name, activity.objects[synset] if synset else [fact[1]])
                assert all("pick_up" in GRAPHS[name].nodes[node].affordances for node in moved) or (
                    fact == ["ontop", "?car.n.01_1", "?driveway.n.01_1"]
                ), (name, fact)


def test_light_furniture_is_an_object_in_its_room() -> None:
    graph = GRAPHS["packing_moving_van"]
    assert (graph.nodes["chair-1"].kind, graph.nodes["chair-1"].affordances) == ("Object", ("pick_up", "put_on"))
    assert graph.targets("chair-1", "INSIDE") == ("garden",)
    assert LIGHT.isdisjoint(node.class_ for graph in GRAPHS.values() for node in graph.nodes.values() if at_rest(node))


def at_rest(node: Node) -> bool:
    return "pick_up" not in node.affordances


def targets(activity: Activity) -> Iterator[tuple[BddlExpression, str]]:
    """Return each binary fact of the start or the goal, and the synset of its second argument."""
    for part in (*activity.facts, *activity.goal):
        for fact, variables in facts(part, {}):
            if fact[0] in ("ontop", "inside"):
                yield fact, synset_of(fact[2], variables)


def facts(part: BddlExpression, variables: Mapping[str, str]) -> Iterator[tuple[BddlExpression, Mapping[str, str]]]:
    if part[0] not in BODIES:
        yield part, variables
        return
    declared = {word: synset for word, _, synset in (item for item in part[1:] if len(item) == 3 and item[1] == "-")}
    for body in part[BODIES[part[0]]]:
        yield from facts(body, {**variables, **declared})


def synset_of(word: str, variables: Mapping[str, str]) -> str:
    return variables.get(word) or word.lstrip("?").rpartition("_")[0]


# Meanings of goals.

SMALL: Final = {"cup.n.01": ("cup.n.01_1", "cup.n.01_2", "cup.n.01_3"), "box.n.01": ("box.n.01_1", "box.n.01_2")}
CUPS: Final = ("cup-1", "cup-2", "cup-3")
BOXES: Final = ("box-1", "box-2")


def small(goal: str, name: str = "small") -> Condition:
    text = f"(define (problem x) (:domain omnigibson) (:objects) (:init) (:goal {goal}))"
    activity = read_activity(name, text)
    assert activity is not None
    return activity_goal(replace(activity, objects=SMALL))


def worlds() -> Iterator[tuple[SceneGraph, dict[str, str | None]]]:
    """Yield every way to have each of three cups in one of two boxes or in none."""
    nodes = [Node(node_id, "Object", node_id, node_id[:3]) for node_id in CUPS + BOXES]
    for chosen in product((*BOXES, None), repeat=3):
        where: dict[str, str | None] = dict(zip(CUPS, chosen, strict=True))
        yield SceneGraph.of(nodes, [Relation(cup, "INSIDE", box) for cup, box in where.items() if box]), where


def matched(where: Mapping[str, str | None]) -> bool:
    """Return True if two cups and two boxes can be paired so that each cup is in its box."""
    return any(where[one] == "box-1" and where[other] == "box-2" for one, other in permutations(CUPS, 2))


CUP: Final = "(?cup.n.01 - cup.n.01)"
BOX: Final = "(?box.n.01 - box.n.01)"
IN: Final = "(inside ?cup.n.01 ?box.n.01)"
IN_1: Final = "(inside ?cup.n.01 ?box.n.01_1)"

MEANINGS: Final = {
    f"(forpairs {CUP} {BOX} {IN})": matched,
    f"(forpairs {BOX} {CUP} {IN})": matched,
    f"(forall {CUP} {IN_1})": lambda where: set(where.values()) == {"box-1"},
    f"(forall {CUP} (exists {BOX} {IN}))": lambda where: None not in where.values(),
    f"(exists {BOX} (forall {CUP} {IN}))": lambda where: set(where.values()) in ({"box-1"}, {"box-2"}),
    f"(forn (2) {CUP} {IN_1})": lambda where: [*where.values()].count("box-1") == 2,
    f"(forn (1) {BOX} (exists {CUP} {IN}))": lambda where: len({*where.values()} - {None}) == 1,
    f"(not (exists {CUP} {IN_1}))": lambda where: "box-1" not in where.values(),
    "(imply (inside ?cup.n.01_1 ?box.n.01_1) (inside ?cup.n.01_2 ?box.n.01_2))": (
        lambda where: where["cup-1"] != "box-1" or where["cup-2"] == "box-2"
    ),
    "(or (inside ?cup.n.01_1 ?box.n.01_1) (inside ?cup.n.01_1 ?box.n.01_2))": lambda where: where["cup-1"] is not None,
    "(and (inside cup.n.01_1 box.n.01_1) (real ?cup.n.01_2))": lambda where: where["cup-1"] == "box-1",
}


@pytest.mark.parametrize("goal", MEANINGS)
def test_a_goal_means_what_it_says_in_every_world(goal: str) -> None:
    condition, meaning = small(goal), MEANINGS[goal]
    outcomes = {evaluate(condition, graph, {}) == meaning(where) for graph, where in worlds()}  # type: ignore[no-untyped-call]
    assert outcomes == {True}
    assert len({evaluate(condition, graph, {}) for graph, _ in worlds()}) == 2, "it can hold and it can fail"


def test_pairs_of_one_class_are_of_different_things() -> None:
    one = "(?cup.n.01 - cup.n.01)"
    other = "(?other - cup.n.01)"
    pairs = small(f"(forpairs {one} {other} (ontop ?cup.n.01 ?other))")
    nodes = [Node(cup, "Object", cup, "cup") for cup in CUPS]
    ring = [Relation("cup-1", "ON", "cup-2"), Relation("cup-2", "ON", "cup-3"), Relation("cup-3", "ON", "cup-1")]
    itself = [Relation(cup, "ON", cup) for cup in CUPS]
    assert evaluate(pairs, SceneGraph.of(nodes, ring), {})
    assert not evaluate(pairs, SceneGraph.of(nodes, itself), {})


@pytest.mark.parametrize("goal", ["(cooked ?cup.n.01_1)", "(exists (?x - jar.n.01) (open ?x))", "(ontop ?cup.n.01)"])
def test_an_expression_of_another_form_is_refused_and_not_misread(goal: str) -> None:
    with pytest.raises(ValueError, match=r"no expression of BEHAVIOR's goals"):
        small(goal)


def test_states() -> None:
    assert small("(not (open ?box.n.01_1))").parts == (Not(HasState(Id("box-1"), "open")),)  # type: ignore[union-attr]
    assert small("(toggled_on ?box.n.01_1)").parts == (HasState(Id("box-1"), "on"),)  # type: ignore[union-attr]


def test_stacked_books_are_inside_the_shelf() -> None:
    """The one goal that wants items both inside one and on another; with a narrow `inside` it is impossible."""
    start, goal = GRAPHS["sorting_books_on_shelf"], TASKS["sorting_books_on_shelf"].goal
    piles = [("comic_book-2", "comic_book-1"), ("comic_book-3", "comic_book-2")]
    piles += [("notebook-2", "notebook-1"), ("textbook-2", "textbook-1")]
    bottoms = ("comic_book-1", "notebook-1", "textbook-1")
    moved = {Relation(top, "ON", below) for top, below in piles} | {Relation(b, "INSIDE", "shelf-1") for b in bottoms}
    sources = {relation.source for relation in moved}
    kept = {relation for relation in start.relations if relation.source not in sources}
    done = SceneGraph.of(start.nodes.values(), kept | moved)
    assert list(broken_rules(done, "grasif")) == []
    assert evaluate(goal, done, {})


def test_the_one_goal_that_no_scene_meets() -> None:
    """Six logs, each on the table or on a log, yet exactly two on the table and exactly two on logs."""
    start, goal = GRAPHS["stacking_wood"], TASKS["stacking_wood"].goal
    logs = [f"log-{i}" for i in range(1, 7)]
    for below in product(("table-1", "log-1", "floor-1"), repeat=6):
        lying = {Relation(log, "ON", at if at != log else "table-1") for log, at in zip(logs, below, strict=True)}
        kept = {relation for relation in start.relations if relation.source not in logs}
        assert not evaluate(goal, SceneGraph.of(start.nodes.values(), kept | lying), {})


# The instructions.

NUMBERS: Final = {
    2: "two|both",
    3: "three",
    4: "four",
    5: "five",
    6: "six",
    7: "seven",
    8: "eight",
    16: "sixteen",
}


@pytest.mark.parametrize("name", ALL)
def test_the_instruction_names_each_class_of_the_goal_and_how_many(name: str) -> None:
    instruction = instructions("behavior-1k")[name]
    assert instruction[0].isupper()
    assert instruction.endswith(".")
    for class_, number in asked_for(ALL[name]).items():
        one, many = NAMES.get(class_, (class_.replace("_", " "), ""))
        several = many or f"{one}s"
        wanted = rf"\b({NUMBERS[number]})\b( \w+){{0,4}}? {several}\b" if number > 1 else rf"\b({one}|{several})\b"
        assert re.search(wanted, instruction, re.IGNORECASE), (class_, number, instruction)


def asked_for(activity: Activity) -> Mapping[str, int]:
    """Return the count of each class in the goal: as quantified or named, one if any will do."""
    wanted: Counter[str] = Counter()
    for part in activity.goal:
        for synset, number in quantified(part, activity):
            wanted[synset] = max(wanted[synset], number)
    constants = {
        word.lstrip("?")
        for part in activity.goal
        for fact, variables in facts(part, {})
        for word in fact[1:]
        if word not in variables
    }
    for synset, number in Counter(synset_of(word, {}) for word in constants).items():
        wanted[synset] = max(wanted[synset], number)
    return {synset_class(synset): number for synset, number in wanted.items()}


def quantified(part: BddlExpression, activity: Activity) -> Iterator[tuple[str, int]]:
    match part:
        case ["forall", [_, _, synset], body]:
            yield synset, len(activity.objects[synset])
            yield from quantified(body, activity)
        case ["exists", [_, _, synset], body]:
            yield synset, 1
            yield from quantified(body, activity)
        case ["forn", [number], [_, _, synset], body]:
            yield synset, int(number)
            yield from quantified(body, activity)
        case ["forpairs", [_, _, one], [_, _, other], body]:
            yield one, len(activity.objects[one])
            yield other, len(activity.objects[other])
            yield from quantified(body, activity)
        case [head, *parts] if head in BODIES:
            for inner in parts:
                yield from quantified(inner, activity)


def test_there_is_an_instruction_for_each_activity_and_no_other() -> None:
    assert instructions("behavior-1k").keys() == ALL.keys()
    assert len(set(instructions("behavior-1k").values())) == 188
    task = TASKS["raking_leaves"]
    assert (task.budget, task.category) == (108, "behavior-1k")
    assert task.formula == (
        "(and (forall (?entire_leaf.n.01 - entire_leaf.n.01) (inside ?entire_leaf.n.01 ?sack.n.01_1)))"
    )
    assert task == activity_task(ALL[task.id], task.instruction)
    assert {"ontop", "inside", "open"} <= PREDICATES


# On a real server.


def test_a_scene_is_imported_once_and_its_goal_is_the_same_as_cypher(store: SceneStore, database: Database) -> None:
    (scene,) = scenes("assembling_gift_baskets")
    scene = replace(scene, name=f"test/behavior-{uuid4().hex[:10]}")
    baskets = [f"wicker_basket-{i}" for i in (1, 2, 3, 4)]
    things = [f"{class_}-{i}" for class_ in ("candle", "butter_cookie", "swiss_cheese", "bow") for i in (1, 2, 3, 4)]
    kept = {relation for relation in scene.graph.relations if relation.source not in things}
    packed = {Relation(thing, "INSIDE", baskets[int(thing[-1]) - 1]) for thing in things}
    done = replace(scene, graph=SceneGraph.of(scene.graph.nodes.values(), kept | packed))
    try:
        assert store.put(scene).outcome == "created"
        assert store.put(scene).outcome == "unchanged"
        assert store.load(scene.name).graph == scene.graph
        goal = TASKS["assembling_gift_baskets"].goal
        assert not check_goal(store, store.find(scene.name), goal).holds
        store.put(done)
        assert check_goal(store, store.find(scene.name), goal).holds
    finally:
        store.delete(scene.name)


@pytest.mark.parametrize("name", sorted(set(ALL) - STACKED))
def test_each_part_of_a_goal_holds_where_the_package_itself_says_so(name: str) -> None:
    """Random arrangements, except for `STACKED`, whose goals go beyond `bddl` here."""
    activity, chance = ALL[name], random.Random(name)  # noqa: S311
    goal = activity_goal(activity)
    assert isinstance(goal, And)
    for _ in range(ARRANGEMENTS):
        arranged = arrangement(activity, chance)
        graph = as_graph(activity, arranged)
        assert [evaluate(part, graph, {}) for part in goal.parts] == verdicts(activity, arranged), arranged


def test_the_arrangements_decide_nearly_every_part_both_ways() -> None:
    seen: dict[tuple[str, int], set[bool]] = {}
    for name in sorted(ALL):
        chance = random.Random(name)  # noqa: S311
        for _ in range(ARRANGEMENTS):
            for number, verdict in enumerate(verdicts(ALL[name], arrangement(ALL[name], chance))):
                seen.setdefault((name, number), set()).add(verdict)
    both = sum(len(found) == 2 for found in seen.values())
    assert both / len(seen) > 0.8, f"{both} of {len(seen)}"
