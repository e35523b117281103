"""The read set derived from an operator: sufficient, small, and an error if a node is unreachable."""

from __future__ import annotations

from dataclasses import replace

import pytest

import scenecypher.db.condition as c
from scenecypher.db.store.footprint import START, Hop, Only, Read, Reads
from scenecypher.planner.actions.operator import (
    AGENT,
    Assign,
    Become,
    Cease,
    Choose,
    Effect,
    ForEach,
    Forget,
    Operator,
    Parameter,
    Relate,
    Requirement,
    Unrelate,
    When,
)
from scenecypher.planner.actions.read_plan import WHOLE_NODE, reads_of
from scenecypher.planner.actions.read_set import ANY_NODE


def operator(*requires: c.Condition, effects: tuple[Effect, ...] = (), choose: tuple[Choose, ...] = ()) -> Operator:
    requirements = tuple(Requirement(condition, "no") for condition in requires)
    return Operator("try", (Parameter("x", "a thing"),), requirements, effects, "try", choose)


def reads(*requires: c.Condition, effects: tuple[Effect, ...] = (), choose: tuple[Choose, ...] = ()) -> set[Read]:
    return set(reads_of(operator(*requires, effects=effects, choose=choose)).reads)


def row(*hops: Hop, new: int = 1) -> Read:
    return Read(hops, rows=hops[len(hops) - new :])


def test_facts_of_seeds_need_no_read() -> None:
    assert reads(c.HasState("x", "open"), c.HasKind(AGENT, "Agent"), c.Same("x", AGENT)) == set()


def test_a_relation_between_seeds_is_read_between_them() -> None:
    assert reads(c.Related(AGENT, "CLOSE", "x")) == {row(Hop(AGENT, ("CLOSE",), "x"))}


def test_both_directions_are_read_at_once() -> None:
    effects = (Relate(AGENT, "CLOSE", "x", mutual=True),)
    assert reads(effects=effects) == {row(Hop(AGENT, ("CLOSE",), "x", mutual=True))}


def test_directed_relations_are_read_in_one_direction() -> None:
    assert reads(effects=(Unrelate("x", ("FACING",), directed=True),)) == {row(Hop("x", ("FACING",), ANY_NODE))}


@pytest.mark.parametrize(
    "effect",
    [Become("near", "dirty"), Cease("near", "dirty"), Assign("near", "seen", value=True), Forget("near", "seen")],
)
def test_an_effect_on_a_node_reads_it_whole(effect: Effect) -> None:
    near = c.Related("x", "ON", "near")
    whole = Read((Hop("x", ("ON",), WHOLE_NODE),), whole=(WHOLE_NODE,))
    assert reads(effects=(ForEach("near", near, (effect,)),)) == {row(Hop("x", ("ON",), ANY_NODE)), whole}


def test_a_node_between_two_seeds_is_read_as_a_join() -> None:
    near = c.And((c.Related(AGENT, "CLOSE", "near"), c.Related("near", "CLOSE", "x")))
    hops = (Hop(AGENT, ("CLOSE",), "near"), Hop("near", ("CLOSE",), "x"))
    assert reads(c.Exists("near", near)) == {row(*hops, new=2)}


def test_a_join_covered_by_other_reads_is_dropped() -> None:
    near = c.And((c.Related(AGENT, "CLOSE", "near"), c.Related("near", "CLOSE", "x")))
    dropped = (Unrelate("x", ("CLOSE",)), Unrelate(AGENT, ("CLOSE",)))
    assert reads(c.Exists("near", near), effects=dropped) == {
        row(Hop(ANY_NODE, ("CLOSE",), "x", mutual=True)),
        row(Hop(ANY_NODE, ("CLOSE",), AGENT, mutual=True)),
    }


def test_a_node_is_read_whole_only_where_its_own_facts_matter() -> None:
    inside = c.Related("x", "INSIDE", "box")
    relations = row(Hop("x", ("INSIDE",), ANY_NODE))
    assert reads(c.Exists("box", inside)) == {relations}
    shut = c.Exists("box", c.And((inside, c.Not(c.HasState("box", "closed")))))
    named = c.Exists("box", c.And((inside, c.PropertyEquals("box", "name", "Tom"))))
    whole = Read((Hop("x", ("INSIDE",), WHOLE_NODE),), whole=(WHOLE_NODE,))
    assert reads(shut) == {relations, replace(whole, only=(Only("states", "closed"),))}
    assert reads(shut, named) == {relations, whole}


def test_nodes_needed_for_several_facts_are_read_once() -> None:
    inside, on = c.Related("x", "INSIDE", "y"), c.Related("x", "ON", "y")
    found = reads(
        c.Exists("y", c.And((inside, c.HasKind("y", "Place")))), c.Exists("y", c.And((on, c.HasClass("y", "sink"))))
    )
    only = (Only("class", "sink"), Only("kind", "Place"))
    assert Read((Hop("x", ("INSIDE", "ON"), WHOLE_NODE),), whole=(WHOLE_NODE,), only=only) in found
    assert len(found) == 2


def test_relations_removed_from_found_nodes_are_read_as_a_join() -> None:
    effects = (ForEach("held", c.HeldBy("held", AGENT), (Unrelate("held", ("INSIDE",)),)),)
    holds = Hop(AGENT, ("HOLDS", "HOLDS_LH", "HOLDS_RH"), "held")
    split = Hop(AGENT, ("HOLDS", "HOLDS_LH", "HOLDS_RH"), ANY_NODE)
    assert reads(effects=effects) == {row(split), row(holds, Hop(ANY_NODE, ("INSIDE",), "held", mutual=True))}


def test_needs_that_depend_on_a_seeds_affordance_are_guarded() -> None:
    contents = ForEach("content", c.Related("content", "INSIDE", "x"), (Relate("content", "ON", "x"),))
    found = reads(effects=(When(c.HasAffordance("x", "can_open"), (contents,)),))
    assert {read.guard for read in found} == {("x", "can_open")}


def test_climbing_from_several_seeds_is_one_read() -> None:
    rooms = tuple(Choose(room, (c.Within(of, room, ("INSIDE",)),)) for of, room in ((AGENT, "here"), ("x", "there")))
    climb = Hop(START, ("INSIDE",), ANY_NODE, far=True)
    assert reads(choose=rooms) == {Read((climb,), rows=(climb,), starts=(AGENT, "x"))}


def test_nodes_are_looked_up_by_class() -> None:
    either = c.Or((c.HasClass("part", "hand"), c.HasClass("part", "face")))
    found = reads_of(operator(effects=(ForEach("part", either, (Relate(AGENT, "CLOSE", "part"),)),)))
    assert found.classes == ("face", "hand")
    assert set(found.reads) == {row(Hop(AGENT, ("CLOSE",), ANY_NODE))}


@pytest.mark.parametrize(
    "condition",
    [
        c.Exists("y", c.HasState("y", "open")),
        c.Exists("y", c.Not(c.Related("x", "ON", "y"))),
        c.ForAll("y", c.HasAffordance("y", "can_open"), c.HasState("y", "closed")),
        c.Exists("y", c.Or((c.Related("x", "ON", "y"), c.HasState("y", "open")))),
    ],
)
def test_an_operator_that_needs_the_whole_scene_is_refused(condition: c.Condition) -> None:
    with pytest.raises(ValueError, match="no known variable leads to 'y': relate it to a parameter"):
        reads(condition)


def test_an_operator_that_names_a_node_is_refused() -> None:
    with pytest.raises(ValueError, match="an operator can't name the node 'cup_1'"):
        reads(c.Related(c.Id("cup_1"), "ON", "x"))


def test_more_than_a_statement_holds_is_refused() -> None:
    with pytest.raises(ValueError, match="reads too much for one statement"):
        Reads(("agent", "a", "b", "c", "d"))
