"""The form in which a model states a goal: strict, flat, and worked out in words of each scene."""

from __future__ import annotations

import pytest

from scenecypher.chat.structured_reply import schema_of
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.enumerate import count_graph
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.importers.babyai import read_level
from scenecypher.importers.grasif import scene as office
from scenecypher.importers.virtualhome import packaged_scene
from scenecypher.planner.methods.ours.goal_then_plan import GoalForm, goal_examples
from scenecypher.planner.sessions.goal_words import GoalParser


def test_the_schema_is_strict_and_flat() -> None:
    schema = schema_of(GoalForm)
    assert "$defs" not in schema
    assert set(schema["required"]) == set(schema["properties"])  # type: ignore[call-overload]


@pytest.mark.parametrize("scene", [packaged_scene("963_2"), office("our-office"), read_level("numqa", 3)])
def test_the_worked_goals_are_goals_of_the_scene_that_they_are_told_in(scene: ImportedScene) -> None:
    """Each example is read by the parser, in words that occur here; none is a model's way to a refused goal."""
    examples = [*goal_examples(count_graph(scene.graph))]
    goals = ["; ".join(GoalForm.model_validate_json(form).goal) for _, form in examples]
    parser = GoalParser(scene.graph, scene.vocabulary)
    assert len({*map(parser.read, goals)}) == 3
    assert len({said for said, _ in examples}) == 3
    assert not [said for said, _ in examples if "$" in said]
    assert any("not " in it for it in goals), "a negation"


def test_a_scene_without_words_for_them_has_no_worked_goals() -> None:
    assert [*goal_examples(Enumerations())] == []
