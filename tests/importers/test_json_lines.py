"""JSON Lines: each line is a scene of its own, and a file of lines under another name is told so."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from scenecypher.errors import DocumentError
from scenecypher.importers.detect import read_any
from scenecypher.importers.json_file import json_lines, read_json
from tests.importers.test_bad_input import good_networkx, good_virtualhome, vh
from tests.scenecypher.cli.conftest import RunCommand, command

read_scene = partial(read_any, file_format="networkx")

__all__ = ["command"]


def written(file: Path, *lines: Any) -> Path:
    texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
    file.write_text("".join(f"{text}\n" for text in texts), encoding="utf-8")
    return file


def test_each_line_is_a_document(tmp_path: Path) -> None:
    file = written(tmp_path / "homes.jsonl", {"a": "é"}, "", [1], "{")
    lines = json_lines(file)
    assert [line.number for line in lines] == [1, 3, 4]
    assert [read_json(file, line=line) for line in lines[:2]] == [{"a": "é"}, [1]]
    with pytest.raises(DocumentError) as refused:
        read_json(file, line=lines[2])
    assert refused.value.place == "line 4, column 2"


IO = Path("/proc/self/io")


@pytest.mark.skipif(not IO.exists(), reason="what a process reads is counted on Linux only")
def test_lines_are_read_in_one_pass(tmp_path: Path) -> None:
    """Growth with the size of the input: the whole file was read again for each of its lines."""
    file = written(tmp_path / "homes.jsonl", *({"a": "x" * 20_000} for _ in range(100)))
    before = _bytes_read()
    for line in json_lines(file):
        read_json(file, line=line)
    assert _bytes_read() - before < 3 * file.stat().st_size


def _bytes_read() -> int:
    return int(IO.read_text(encoding="ascii").split()[1])


def test_lines_under_another_name_are_told(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"line 2, column 1: a second document begins here.*call it NAME.jsonl"):
        read_scene(written(tmp_path / "homes.json", good_networkx(), good_networkx()))
    with pytest.raises(DocumentError, match="no valid JSON"):
        read_scene(written(tmp_path / "homes.json", '{"nodes": []} }'))
    with pytest.raises(DocumentError, match="no line is here"):
        json_lines(written(tmp_path / "empty.jsonl", "", ""))


@pytest.mark.parametrize(("form", "good"), [("networkx", good_networkx()), ("virtualhome", good_virtualhome())])
def test_each_line_is_imported_as_a_scene(command: RunCommand, tmp_path: Path, form: str, good: Any) -> None:
    file = written(tmp_path / "homes.jsonl", good, {"nodes": 7}, good)
    ran = command("import", form, str(file), "--dry-run", "--json")
    assert ran.code == 2
    assert [scene["name"] for scene in ran.json["scenes"]] == [f"{form}/homes/1", f"{form}/homes/3"]
    assert [failure["source"] for failure in ran.json["failed"]] == [f"{file}:2"]
    folder = command("import", form, str(tmp_path), "--dry-run", "--json")
    assert len(folder.json["scenes"]) == 2


def test_a_room_that_a_home_has_twice_is_refused_with_its_line(command: RunCommand, tmp_path: Path) -> None:
    twice = good_virtualhome()
    twice["nodes"] = [*twice["nodes"], {**twice["nodes"][0]}]
    same = {**good_virtualhome(), "edges": [vh(2, "INSIDE", 1), vh(3, "INSIDE", 2), vh(2, "INSIDE", 1)]}
    ran = command(
        "import", "virtualhome", str(written(tmp_path / "h.jsonl", good_virtualhome(), twice, same)), "--dry-run"
    )
    assert ran.code == 2
    assert "h.jsonl:2: $.nodes[3].id: 1 is the id of $.nodes[0].id already" in ran.err
    assert "h.jsonl:3: $.edges[2]: is the same relation as $.edges[0]" in ran.err
