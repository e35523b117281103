"""Hydra's label spaces: their names become classes, and each hole of one is told at its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenecypher.errors import DocumentError
from scenecypher.importers.dsg import read_scene
from scenecypher.importers.dsg_format import read_labels
from tests.importers.test_dsg import APARTMENT

LABELS = """\
---
# made for this test
total_semantic_labels: 21
dynamic_labels: [20]
label_names:
  - {label: 0, name: unknown}
  - {label: 5, name: chair}
  - {label: 9, name: furniture}
  - {label: 10, name: computer}
  - {label: 11, name: lamp}
  - label: 16
    name: dining table
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "labels.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_labels_become_classes(tmp_path: Path) -> None:
    space = read_labels(written(tmp_path, LABELS))
    assert space.names == {0: "unknown", 5: "chair", 9: "furniture", 10: "computer", 11: "lamp", 16: "dining table"}
    plain = {node.class_ for node in read_scene(APARTMENT).graph.nodes.values() if node.kind == "Object"}
    named = {node.class_ for node in read_scene(APARTMENT, labels=space).graph.nodes.values() if node.kind == "Object"}
    assert {f"label_{number}" for number, name in space.names.items() if name in named} == plain
    assert "chair" in named
    assert "dining table" in named


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        ("", {"$": "no list 'label_names' is here"}),
        ("label_names: 7\n", {"$": "no list 'label_names' is here"}),
        ("a: [1\nb: }", {"line 2": "no valid YAML"}),
        ("a: &a [*b]\n", {"$": "it has aliases"}),
        (LABELS.replace("name: chair", "nam: chair"), {"$.label_names[1].name": "is missing; add it"}),
        (LABELS.replace("name: chair", "name: "), {"$.label_names[1].name": "should be text, not None"}),
        (LABELS.replace("name: chair", "name: ''"), {"$.label_names[1].name": "is empty"}),
        (LABELS.replace("{label: 5, name: chair}", "chair"), {"$.label_names[1]": "should be a map"}),
        (LABELS.replace("label: 9", "label: nine"), {"$.label_names[2].label": "a whole number, not 'nine'"}),
        (LABELS.replace("label: 9", "label: 5"), {"$.label_names[2]": "label 5 has a name at label_names[1] already"}),
        (
            LABELS.replace("label: 5,", "").replace("label: 16", "label: -1"),
            {"$.label_names[1].label": "is missing", "$.label_names[5].label": "should be at least 0, not -1"},
        ),
    ],
)
def test_holes_are_told_at_their_places(tmp_path: Path, text: str, problems: dict[str, str]) -> None:
    file = written(tmp_path, text)
    with pytest.raises(DocumentError) as refused:
        read_labels(file)
    assert [place for place, _ in refused.value.problems] == [*problems]
    assert all(words in cause for (_, cause), words in zip(refused.value.problems, problems.values(), strict=True))
    assert str(refused.value).startswith(f"{file}: ")


def test_a_label_of_the_map_must_have_a_name(tmp_path: Path) -> None:
    file = written(tmp_path, LABELS.replace("  - {label: 5, name: chair}\n", ""))
    with pytest.raises(DocumentError) as refused:
        read_scene(APARTMENT, labels=read_labels(file))
    assert refused.value.file == str(file)
    assert refused.value.problems == (
        ("$.label_names", "label 5 has no name, and 3 nodes of the map have it; add `- {label: 5, name: ...}`"),
    )


def test_nothing_in_a_label_file_is_run_or_constructed(tmp_path: Path) -> None:
    text = f"label_names: !!python/object/apply:os.system ['touch {tmp_path}/trace']\n"
    with pytest.raises(DocumentError):
        read_labels(written(tmp_path, text + "  - {label: 1, name: a}\n"))
    with pytest.raises(DocumentError, match="no valid YAML"):
        read_labels(written(tmp_path, LABELS.replace("dining table", "!!python/name:os.system x")))
    assert not (tmp_path / "trace").exists()
