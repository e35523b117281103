"""The form in which a model states a goal: its parts as text in the language of goals, or that none can be reached."""

from __future__ import annotations

from collections.abc import Iterator
from string import Template
from typing import Final

from pydantic import BaseModel, ConfigDict

from scenecypher.db.store.enumerations import Enumerations
from scenecypher.retriever.library import told, words_for


class GoalForm(BaseModel):
    """What the model answers: parts of a goal, none where nothing is to be done, or that it is impossible."""

    model_config = ConfigDict(extra="forbid")

    reason: str
    impossible: bool
    goal: list[str]


_HOME: Final = (
    (
        "Put all $objects2 into the $container and close it.",
        "x: all $object2; y: one $container; x INSIDE y; y is closed",
    ),
    ("Clear the $surface.", "x: all thing where x ON $surface; not x ON $surface"),
    ("Give each $object a $surface of its own.", "x: all $object; y: one $surface for each x; x ON y"),
)
_GRID: Final = (
    ("Pick up the $color $object.", "x: one $color $object; x is held"),
    ("The $color door shall not be open.", "x: one $color door; not x is open"),
    ("Fetch any $object2, and have any door opened.", "x: one $object2; y: one door; x is held; y is open"),
)
"""Worked goals, for homes and for grids: an instruction, and its goal."""


def goal_examples(occurring: Enumerations) -> Iterator[tuple[str, str]]:
    """Yield worked examples in words of a scene: an instruction, and the form that states its goal, as JSON."""
    words, has_doors = dict(words_for(occurring)), dict(occurring.kinds).get("Door", 0) > 0
    words |= {use.name: str(use.values[0]) for use in occurring.properties if use.name == "color" and use.values}
    for said, goal in _HOME if "asset" in words else _GRID if has_doors else ():
        try:
            found = told(said, words), Template(goal).substitute(words).split("; ")
        except KeyError:
            continue
        yield found[0], GoalForm(reason="as it is asked", impossible=False, goal=found[1]).model_dump_json()
