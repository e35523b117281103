"""Plans of writes: rows and clauses, names that a scene has not declared, and rows that the server did not find."""

from __future__ import annotations

from typing import Any, Final, LiteralString

import pytest
from neo4j import Record

from scenecypher.db.graph.delta import (
    AddNode,
    AddRelation,
    Change,
    ChangeList,
    Delta,
    RemoveNode,
    RemoveRelation,
    SetKind,
    SetProperty,
)
from scenecypher.db.graph.graph_json import delta_hash, delta_json
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Point, Properties, Relation, SceneGraph
from scenecypher.db.schema import Declared
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import (
    WRITE_EVENT,
    WRITE_PARTS,
    AlreadyCommitted,
    Intent,
    WritePlan,
    check_answer,
    plan_write,
)
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ConflictError, InputError, SceneReplaced
from tests.db.store.test_store import fresh, small

DECLARED = Declared(("HACKS",), ("hacked",))
SCENE = SceneInfo("k", "n", "world", "generic", "ready", 0, DECLARED)
INTENT = Intent("ann", "tidy", "one", kind="undo", undoes=(3, 2))
TAKE_OUT: Final[LiteralString] = "MATCH (:Object {scene: $key, id: 'cup'})-[r:INSIDE]->() DELETE r"
GROUPS = ("remove_relations", "remove_nodes", "add_nodes", "set_kinds", "set_values", "add_relations")


def planned(*changes: Change) -> WritePlan:
    return plan_write(SCENE, small(), Delta.of(changes), intent=INTENT)


def rows(plan: WritePlan) -> dict[str, Any]:
    return {name: plan.parameters[name] for name in GROUPS if plan.parameters[name]}


def test_each_kind_of_change_has_its_rows() -> None:
    vase = Node("vase", "Object", "the vase", "vase", ("clean",), ("grabbable",), Properties({"color": "red"}))
    whole = planned(
        RemoveRelation(Relation("cup", "INSIDE", "fridge")),
        RemoveNode(small().nodes["robot"]),
        AddNode(vase),
        SetKind("fridge", "Asset", "Object"),
        ChangeList("cup", "states", ("wet",), ()),
        ChangeList("cup", "affordances", ("pourable",), ("grabbable",)),
        SetProperty("cup", "color", "blue", None),
        AddRelation(Relation("vase", "ON", "fridge")),
    )
    assert rows(whole) == {
        "remove_relations": [["cup", "INSIDE", "fridge"]],
        "remove_nodes": ["robot"],
        "add_nodes": [
            {
                "kind": "Object",
                "values": {
                    "scene": "k",
                    "id": "vase",
                    "name": "the vase",
                    "class": "vase",
                    "states": ["clean"],
                    "affordances": ["grabbable"],
                    "color": "red",
                },
            }
        ],
        "set_kinds": [["fridge", "Asset", "Object"]],
        "set_values": [["cup", {"states": ["wet"], "affordances": ["pourable"], "color": None}]],
        "add_relations": [["vase", "ON", "fridge"]],
    }
    assert whole.groups == GROUPS, "a relation goes before its end, and comes after it"


def test_only_the_groups_with_changes_are_in_the_statement() -> None:
    plan = planned(SetProperty("cup", "center", None, Point(1.0, 2.0)))
    assert plan.groups == ("set_values",)
    assert plan.body == WRITE_PARTS["set_values"] + WRITE_EVENT


def test_an_event_has_its_author_its_purpose_and_the_delta() -> None:
    delta = Delta.of([ChangeList("cup", "states", ("wet",), ())])
    text = delta_json(delta)
    found = plan_write(SCENE, small(), delta, intent=INTENT).parameters
    assert {name: value for name, value in found.items() if name not in GROUPS} == {
        "key": "k",
        "actor": "ann",
        "action": "tidy",
        "action_id": "one",
        "kind": "undo",
        "undoes": [3, 2],
        "delta": text,
        "hash": delta_hash(text),
        "approved_by": None,
        "more_nodes": 0,
        "more_relations": 0,
    }


def test_a_plan_takes_the_bounds_that_it_raises() -> None:
    plan = planned(ChangeList("cup", "states", ("wet",), ()))
    more = plan.with_bounds({"most_text_name": 3})
    assert more.parameters == {**plan.parameters, "raised": {"most_text_name": 3}}
    assert more.body.index("set_values") < more.body.index("SET s += $raised") < more.body.index("CREATE (e:Event")


VASE = Node("vase", "Object", "vase", "vase")


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (AddRelation(Relation("cup", "BREAKS", "fridge")), "BREAKS"),
        (SetProperty("cup", "broken", None, after=True), "broken"),
        (AddNode(Node("vase", "Object", "vase", "vase", (), (), Properties({"worn": 1, "broken": True}))), "broken"),
    ],
)
def test_the_first_undeclared_name_is_refused(change: Change, name: str) -> None:
    with pytest.raises(InputError, match=f"^'{name}' is neither in the schema nor declared by this scene; declare it"):
        planned(ChangeList("cup", "states", ("wet",), ()), change)


@pytest.mark.parametrize(
    "change",
    [
        AddRelation(Relation("cup", "HACKS", "fridge")),
        SetProperty("cup", "hacked", None, 1),
        SetProperty("cup", "color", "blue", "red"),
        AddNode(Node("vase", "Object", "vase", "vase", (), (), Properties({"hacked": 1, "color": "red"}))),
        AddNode(VASE),
    ],
)
def test_known_and_declared_names_are_accepted(change: Change) -> None:
    assert rows(planned(change))


def test_a_property_that_nobody_declares_any_more_can_be_removed() -> None:
    cup = Node("cup", "Object", "cup", "cup", (), (), Properties({"broken": True}))
    delta = Delta.of([SetProperty("cup", "broken", before=True, after=None)])
    plan = plan_write(SCENE, SceneGraph.of([cup]), delta, intent=INTENT)
    assert rows(plan) == {"set_values": [["cup", {"broken": None}]]}


def record(**values: Any) -> Record:
    return Record({"status": "ready", "version": 3, "done": None, **values})  # type: ignore[no-untyped-call]


@pytest.mark.parametrize("found", [None, record(status="retired")])
def test_a_scene_that_is_another_by_now_takes_no_commit(found: Record | None) -> None:
    with pytest.raises(SceneReplaced):
        check_answer(found, SCENE, INTENT, None)


def test_another_version_than_the_expected_one_is_a_conflict_that_names_both() -> None:
    with pytest.raises(ConflictError, match="the scene is at version 3, not 2; look at what changed since"):
        check_answer(record(), SCENE, Intent("ann", "tidy", "one", 2), None)


def test_a_repeated_action_is_told_with_its_version_and_delta() -> None:
    done = {"version": 2, "delta": "[]", "hash": delta_hash("[]")}
    for text in (None, "[]"):
        with pytest.raises(AlreadyCommitted) as repeated:
            check_answer(record(done=done), SCENE, INTENT, text)
        assert (repeated.value.version, repeated.value.delta_text) == (2, "[]")
    with pytest.raises(InputError, match="action id 'one' was used for another change"):
        check_answer(record(done=done), SCENE, INTENT, delta_json(Delta.of([AddRelation(Relation("a", "ON", "b"))])))


def test_rows_that_the_server_does_not_find_write_nothing(store: SceneStore) -> None:
    """What was changed by hand, without a version, is loaded anew; then the Delta does not fit."""
    name = fresh("rows")
    store.put(ImportedScene(name, small()))
    info, gone = store.find(name), Relation("cup", "INSIDE", "fridge")
    store.now(info)
    store.database.execute(TAKE_OUT, {"key": info.key}, timeout_s=30)
    with pytest.raises(ConflictError, match="is not there"):
        store.commit(info, Delta.of([RemoveRelation(gone)]), actor="ann", action="take it out")
    assert (store.find(name).version, store.history(info)) == (0, [])
