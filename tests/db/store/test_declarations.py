"""What a scene declares changes like anything else: by a version with an event, and its history stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from scenecypher.db.graph.delta import AddRelation, Delta, SetProperty
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Properties, Relation, SceneGraph
from scenecypher.db.schema import Declared
from scenecypher.db.store import scene_store
from scenecypher.db.store.commit import Decide, Intent
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, SceneReplaced
from scenecypher.planner.vocabularies.own_actions import read_pddl_scene
from tests.db.store.test_store import big, fresh, small

RED = Delta.of([SetProperty("cup", "color", "blue", "red")])
SERIAL = Declared(properties=("serial_number",))
LEANING = Declared(("LEANS_ON",), ("serial_number",))
DOMAIN = """(define (domain switches) (:predicates (lit ?x))
  (:action light :parameters (?x) :precondition (not (lit ?x)) :effect (lit ?x)))"""
PROBLEM = """(define (problem dark) (:domain switches) (:objects lamp other) (:init (lit other)) (:goal (lit lamp)))"""


def numbered(graph: SceneGraph, *, leaning: bool = False) -> SceneGraph:
    cup = graph.nodes["cup"]
    cup = replace(cup, properties=Properties({**cup.properties, "serial_number": "7"}))
    more = {Relation("cup", "LEANS_ON", "fridge")} if leaning else set()
    return SceneGraph.of([*({**graph.nodes, "cup": cup}).values()], {*graph.relations, *more})


def kinds(store: SceneStore, name: str) -> list[tuple[int, str, str]]:
    return [(it.version, it.kind, it.action) for it in store.history(store.find(name))]


def deciding(delta: Delta) -> Decide:
    return lambda _: delta


def acted_in(store: SceneStore, scene: ImportedScene) -> str:
    store.put(scene)
    store.commit(store.find(scene.name), RED, actor="ann", action="paint the cup")
    return scene.name


def test_one_more_or_one_less_declared_name_keeps_the_history(store: SceneStore) -> None:
    """History lost: one more `--declare` replaced the scene, and `history` began anew."""
    name = acted_in(store, ImportedScene(fresh("declared"), numbered(small()), declared=SERIAL))
    more = ImportedScene(name, numbered(small(), leaning=True), declared=LEANING)
    done = store.put(more)
    assert (done.outcome, done.version, done.changes) == ("updated", 2, 2)
    assert store.find(name).declared == LEANING
    assert store.put(more).outcome == "unchanged"
    less = store.put(ImportedScene(name, small()))
    assert (less.outcome, less.version) == ("updated", 3)
    assert kinds(store, name) == [(1, "act", "paint the cup"), (2, "act", "import"), (3, "act", "import")]
    assert store.find(name).declared == LEANING, "of what the history has facts"
    store.undo(store.find(name))
    assert store.load(name).graph == numbered(small(), leaning=True)
    assert store.load_at(f"{name}@0").graph == numbered(small())


def test_a_name_that_is_declared_without_a_use_is_a_version_too(store: SceneStore) -> None:
    """History lost: a declaration alone replaced the scene; it has an event of its own, which undo passes over."""
    name = acted_in(store, ImportedScene(fresh("unused"), small()))
    red = store.load(name).graph
    assert store.put(ImportedScene(name, red, declared=LEANING)).outcome == "updated"
    assert kinds(store, name)[1:] == [(2, "declare", "declare LEANS_ON, serial_number")]
    assert store.undo(store.find(name)).version == 3
    assert store.load(name).graph == small()
    assert store.redo(store.find(name)).version == 4


def test_another_mapping_of_a_problem_keeps_the_history(store: SceneStore, tmp_path: Path) -> None:
    """History lost: the same problem with another `--mapping` replaced the scene."""
    domain, problem, mapping = (tmp_path / it for it in ("d.pddl", "p.pddl", "m.toml"))
    domain.write_text(DOMAIN)
    problem.write_text(PROBLEM)
    mapping.write_text('[predicates]\nlit = "state on"\n')
    name = fresh("mapped")
    store.put(read_pddl_scene(problem, domain, name=name))
    one = store.find(name)
    store.commit(one, Delta.of([SetProperty("lamp", "color", None, "red")]), actor="ann", action="paint it")
    scene = read_pddl_scene(problem, domain, mapping=mapping, name=name)
    assert store.put(scene).outcome == "updated"
    two = store.find(name)
    assert (two.key, two.vocabulary != one.vocabulary) == (one.key, True)
    assert store.load(name).graph == scene.graph
    assert [it.action for it in store.history(two)] == ["paint it", "import"]
    with pytest.raises(SceneReplaced):
        store.change(one, deciding(RED), intent=Intent("late", "by the old actions", "late"))
    with pytest.raises(SceneReplaced):
        store.redeclare(one, vocabulary="household", declared=one.declared)


def test_who_keeps_the_scene_in_memory_learns_of_new_declarations(store: SceneStore) -> None:
    """Two processes: one that keeps the scene in memory must not decide by what it declared before."""
    name, other = fresh("kept"), SceneStore(store.database)
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    for number, kept in enumerate((store, other)):
        kept.change(info, deciding(Delta()), intent=Intent("t", "look", f"look-{number}"))
    store.put(ImportedScene(name, small(), declared=LEANING))
    now = store.find(name)
    leans = Delta.of([AddRelation(Relation("cup", "LEANS_ON", "fridge"))])
    store.change(now, deciding(leans), intent=Intent("t", "lean", "lean"))
    number_it = Delta.of([SetProperty("cup", "serial_number", None, "9")])
    other.change(now, deciding(number_it), intent=Intent("t", "number", "number"))
    with pytest.raises((SceneReplaced, InputError)):
        store.change(info, deciding(RED), intent=Intent("t", "late", "late"))
    assert store.load(name).graph.nodes["cup"].properties["serial_number"] == "9"


def test_who_decides_by_what_a_scene_declared_before_is_told_in_every_process(store: SceneStore) -> None:
    """A scene that another process keeps in memory and that was declared anew: its events alone don't say so."""
    name, other = fresh("kept"), SceneStore(store.database)
    store.put(ImportedScene(name, small()))
    info = store.find(name)
    other.now(info)
    store.put(ImportedScene(name, small(), declared=LEANING))
    assert other.now(info).info.declared == store.find(name).declared != info.declared
    with pytest.raises(SceneReplaced):
        other.change(info, deciding(RED), intent=Intent("t", "late", "late"))
    late = SceneStore(store.database)
    late.now(store.find(name))
    store.put(ImportedScene(name, small(), declared=replace(LEANING, relation_types=("LEANS_ON", "HANGS_ON"))))
    with pytest.raises(SceneReplaced):
        late.change(replace(info, declared=LEANING), deciding(RED), intent=Intent("t", "late", "later"))
    assert [it.kind for it in store.history(info)] == ["declare", "declare"]


def test_a_history_ends_only_on_demand(store: SceneStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """History lost without a word: another scene under an old name says what ends, and wants `--replace`."""
    name = acted_in(store, ImportedScene(fresh("ended"), small()))
    monkeypatch.setattr(scene_store, "CHANGES_PER_COMMIT", 50)
    other = ImportedScene(name, big(50))
    with pytest.raises(InputError, match="which ends its history of 1 versions; have it replaced"):
        store.put(other)
    with pytest.raises(InputError, match="it is a world, the other a belief"):
        store.put(ImportedScene(name, small(), role="belief"))
    assert kinds(store, name) == [(1, "act", "paint the cup")]
    assert store.put(other, replaces=True).outcome == "replaced"
