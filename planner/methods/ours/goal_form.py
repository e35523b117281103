"""The form in which a model states a goal, and examples of it in words of each scene."""

from __future__ import annotations

from collections.abc import Iterator
from string import Template

from pydantic import BaseModel

from scenecypher.db.store.enumerations import Enumerations
from scenecypher.planner.sessions.goal_words import WORDS
from scenecypher.retriever.library import told, words_for


class GoalForm(BaseModel, extra="forbid"):
    """What the model answers: parts of a goal, none where nothing is to be done, or that it is impossible."""

    reason: str
    impossible: bool
    goal: list[str]


def goal_examples(occurring: Enumerations) -> Iterator[tuple[str, str]]:
    """Yield worked examples in words of a scene: an instruction, and the form that states its goal, as JSON."""
    words, has_doors = dict(words_for(occurring)), dict(occurring.kinds).get("Door", 0) > 0
    words |= {use.name: str(use.values[0]) for use in occurring.properties if use.name == "color" and use.values}
    for said, goal in WORDS["worked"]["home"] if "asset" in words else WORDS["worked"]["grid"] if has_doors else ():
        try:
            found = told(said, words), Template(goal).substitute(words).split("; ")
        except KeyError:
            continue
        yield found[0], GoalForm(reason="as it is asked", impossible=False, goal=found[1]).model_dump_json()
