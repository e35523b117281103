"""Drawings of relations: what the script is given, and what is told where the library can't be had."""

from __future__ import annotations

from pathlib import Path

from scenecypher.ui.render import cytoscape, drawn
from tests.planner.actions.household_worlds import SILENT


def test_without_a_network_one_line_says_what_is_missing(tmp_path: Path) -> None:
    lines = list[str]()
    assert cytoscape(lines.append, cache=tmp_path, repository="http://127.0.0.1:1") == ""
    assert lines[0] == "fetching cytoscape 3.33.1 (once)…"
    assert lines[1].startswith("relations are listed, not drawn: can't fetch cytoscape: cytoscape-3.33.1.jar: ")
    assert len(lines) == 2


def test_a_folder_that_can_not_be_written_to_is_told_and_stops_nothing(tmp_path: Path) -> None:
    taken = tmp_path / "cache"
    taken.touch()
    lines = list[str]()
    assert cytoscape(lines.append, cache=taken) == ""
    assert len(lines) == 1
    assert lines[0].startswith("relations are listed, not drawn: ")
    assert str(taken) in lines[0]


def test_a_drawing_names_the_ends_of_its_relations() -> None:
    document = drawn(SILENT, (it for it in SILENT.relations if it.source == "cup"))
    assert document == {
        "nodes": {"cup": ["cup", "Object"], "tray": ["tray", "Object"]},
        "relations": [["cup", "ON", "tray"]],
    }
