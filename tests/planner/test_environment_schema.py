"""The schema of an environment: equal for all of its scenes, without counts, and with all that its actions name."""

from __future__ import annotations

import re

import pytest

from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import BUILT_IN
from scenecypher.importers.homes import OURS, our_home
from scenecypher.planner.prompts.terms import environment_schema
from tests.planner.methods.playing import play, system_of


@pytest.mark.parametrize("vocabulary", BUILT_IN)
def test_it_has_neither_counts_nor_classes_of_a_home(vocabulary: str) -> None:
    """Kind of fault: a schema that tells what is in one scene."""
    text = environment_schema(vocabulary)
    assert not re.search(r"[a-z)] \d+\b", text), text
    lines = text.splitlines()
    listed = ",".join(
        lines[lines.index(title) + 1] for title in ("VALUES in states", "VALUES in affordances") if title in lines
    )
    for home in OURS:
        classes = {node.class_ for node in our_home(home)[0].graph.nodes.values()}
        assert not classes & {*re.findall(r"\w+", listed)}


def test_it_has_the_words_of_its_environment() -> None:
    home, grid = environment_schema("virtualhome_ext"), environment_schema("babyai")
    for word in ("INSIDE", "HOLDS_RH", "BETWEEN", "closed", "heated", "plugged_in", "can_open", "prefab"):
        assert re.search(rf"\b{word}\b", home), word
    assert "TAKEN_OFF" not in home, "it remembers what was before an action"
    for word in ("CONNECTS", "HOLDS", "locked", "grabbable", "color"):
        assert re.search(rf"\b{word}\b", grid), word
    assert "root, room, agent, door, key, ball, box" in grid, "the papers list these types"


@pytest.mark.parametrize(("method", "ends"), [("sg2", "[Explanation]\nx\n\n[Mode]\nSOLUTION\n\n[Content]\nred")])
def test_the_papers_methods_are_shown_it(store: SceneStore, method: str, ends: str) -> None:
    system = system_of(play(store, method, [ends]).requests[0])
    assert environment_schema("babyai") in system
