"""Pictures become subgraphs and are compared with gold: over HTTP, recorded, simulated, and by the gold itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scenecypher.cli.app import run_command_line as command
from scenecypher.errors import DocumentError, InputError
from scenecypher.evaluation.augmentation import augmentation
from scenecypher.evaluation.augmentation_report import result
from scenecypher.evaluation.reporting.cells import unfinished
from scenecypher.evaluation.result import Result, Table, read
from scenecypher.evaluation.running import Run, run
from scenecypher.evaluation.subgraphs import Part, f1, likeness
from scenecypher.evaluation.views import read_views, shipped
from tests.scripted_model import Fail, ScriptedModel, Step
from tests.scripted_vision import GridReader, amounts_of, decoded
from tests.views.making import made

pytestmark = pytest.mark.usefixtures("own_folder")
CUP = {"name": "cup-1", "relation": "ON", "related_to": "table-1"}


def sees(request: dict[str, Any]) -> Step:
    """Reads real pictures; of `tables-03` it counts alike things short, of `tables-01` it says nothing."""
    content = request["messages"][-1]["content"]
    if isinstance(content, str):
        return json.dumps(amounts_of(content))
    (at,) = re.findall(r"Look at this picture of (\S+)\. ", content[0]["text"])
    if at == "table-1":
        return ""
    words = GridReader(places=False, at=at, relation="inside" if at.startswith("room") else "on top of")(request)
    return re.sub(r"There are \d+", "There are 1", str(words)) if at == "table-3" else words


def table_of(found: Result) -> Table:
    (table,) = found.tables
    return table


def test_real_pictures_over_http_are_scored_and_their_replies_score_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    tape = str(tmp_path / "tape.jsonl")
    with ScriptedModel(sees) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        live = result(run(augmentation(record=tape), Run("openai/scripted", limit=20, at_once=4)))
    assert live.finished
    wrong = {trial.id: trial for trial in live.samples if not trial.success}
    assert set(wrong) == {"tables-01", "tables-03"}, "all others are read from their pixels without a mistake"
    assert wrong["tables-01"].outcome == "unreadable"
    assert 0 < wrong["tables-03"].figures["edges"] < 1
    table = table_of(live)
    assert [row.cells["exact"].count for row in table.rows] == [16, 2, 18]
    assert table.published[2].cells["exact"].value == 0.44, "a model looked: Table III stands beside it"
    assert (live.provenance.replies, live.provenance.tokens) == (("live",), 20 * 36 - 18)
    again = result(run(augmentation(replies=tape), Run(None, limit=20, at_once=4)))
    assert again.provenance.replies == ("recorded",)
    assert table_of(again).rows[2].cells == table.rows[2].cells


def test_the_gold_itself_is_no_reading_of_the_papers_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["eval", "augmentation", "--log-dir", "logs", "--limit", "3"]) == 0
    (file,) = Path("logs").glob("*.result.json")
    found = read(file)
    assert [row.cells["exact"].value for row in table_of(found).rows] == [1.0]
    assert (table_of(found).published, found.provenance.replies) == ((), ("reference",))
    assert "replies: reference" in capsys.readouterr().out


def test_a_resumed_run_looks_at_what_failed_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    looks, is_broken = list[str](), True

    def step(request: dict[str, Any]) -> Step:
        """Sees nothing; while it is broken, it does not even look into the second room."""
        (at,) = re.findall(r"Look at this picture of (\S+)\. ", request["messages"][-1]["content"][0]["text"])
        looks.append(at)
        return Fail(400, "out of order") if is_broken and at == "room-2" else ""

    with ScriptedModel(step) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert command(["eval", "augmentation", "--model", "scripted", "--limit", "3", "--json"]) == 0
        before = json.loads(capsys.readouterr().out)
        is_broken, first = False, looks[:]
        looks.clear()
        assert command(["eval", "augmentation", "--resume", before["provenance"]["log"], "--json"]) == 0
    after = json.loads(capsys.readouterr().out)
    assert {one["id"] for one in before["samples"] if one["outcome"] == "failed"} == {"rooms-02"}
    assert [one["outcome"] for one in after["samples"]] == ["unreadable"] * 3
    assert (len(first), looks) == (3, ["room-2"])


def test_a_killed_run_says_how_many_were_wanted() -> None:
    log = run(augmentation(replies="reference"), Run(None, limit=3))
    killed = log.model_copy(update={"status": "started", "results": None, "samples": (log.samples or [])[:1]})
    found = result(killed)
    assert (found.finished, found.provenance.samples, found.provenance.wanted) == (False, 1, 3)
    assert unfinished(found).startswith("NOT FINISHED: 1 of 3 samples were tried")


def test_a_simulated_observer_says_so_and_stands_beside_nothing() -> None:
    first, other = (result(run(augmentation(replies="simulated", seed=seed), Run(None, limit=12))) for seed in (1, 2))
    table = table_of(first)
    assert table.rows != table_of(other).rows
    assert {row.label for row in table.rows} == {"simulated observer"}
    assert (table.published, table.paper, {row.kind for row in table.rows}) == ((), "", {"ours"})
    assert 0 < (table.rows[0].cells["exact"].count or 0) < 12


def test_the_views_that_come_along_are_those_that_are_made() -> None:
    """Pixels are compared, since libraries compress alike pictures to different bytes."""
    views = {one.name: one for one in made()}
    taken = {one.name: one for one in read_views(shipped())}
    assert len(taken) == 36
    assert {name: (shipped() / f"{name}.json").read_text("utf-8") for name in taken} == {
        name: one.text() for name, one in views.items()
    }
    for name in ("rooms-01", "tables-04"):
        assert (decoded(taken[name].image().data_url) == decoded(views[name].picture.data_url)).all()


def write_view(folder: Path, name: str = "one", **fields: Any) -> Path:
    (folder / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    view = {"image": "a.png", "asset": {"name": "table-1"}, "gold": [CUP]} | fields
    file = folder / f"{name}.json"
    file.write_text(json.dumps({key: value for key, value in view.items() if value is not None}), encoding="utf-8")
    return file


def test_pictures_of_no_set_are_counted_with_all_and_once(tmp_path: Path) -> None:
    write_view(tmp_path)
    write_view(tmp_path, "two", set="kitchen")
    rows = table_of(result(run(augmentation(folder=str(tmp_path), replies="reference"), Run(None)))).rows
    assert [(row.options["pictures"], row.cells["pictures"].value) for row in rows] == [("kitchen", 1), ("all", 2)]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"image": "../a.png"}, r"\$\.image: leads out of the folder; give a path within it"),
        ({"image": "b.png"}, r"\$\.image: there is no such file; put the picture"),
        ({"gold": None}, r"\$\.gold: is missing; add it"),
        ({"gold": [CUP, CUP]}, r"\$\.gold\[1\]\.name: 'cup-1' is told twice; number things"),
        ({"gold": [CUP | {"name": "table-1"}]}, r"\$\.gold\[0\]\.name: 'table-1' is told twice"),
        (
            {"gold": [CUP | {"related_to": "shelf-1"}]},
            r"\$\.gold\[0\]\.related_to: 'shelf-1' does not lead to",
        ),
        ({"priors": [CUP | {"related_to": "cup-1"}]}, r"\$\.priors\[0\]\.related_to: 'cup-1' does not lead"),
        ({"gold": [CUP | {"relation": "NEAR"}]}, r"\$\.gold\[0\]\.relation: "),
        ({"golden": []}, r"\$\.golden: is no field that is known here; remove it"),
    ],
)
def test_a_wrong_view_is_refused_at_its_place(fields: dict[str, Any], told: str, tmp_path: Path) -> None:
    write_view(tmp_path, **fields)
    with pytest.raises(DocumentError, match=told):
        read_views(tmp_path)


def test_a_picture_outside_is_not_reached_by_a_link(tmp_path: Path) -> None:
    within = tmp_path / "within"
    within.mkdir()
    write_view(within, image="link.png")
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (within / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(DocumentError, match="leads out of the folder"):
        read_views(within)


def test_what_is_no_picture_fails_as_a_sample_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "views").mkdir()
    write_view(tmp_path / "views")
    (tmp_path / "views" / "a.png").write_bytes(b"%PDF")
    found = result(run(augmentation(folder="views", replies="reference"), Run(None)))
    assert (table_of(found).rows[0].failed, table_of(found).rows[0].cells["nodes"].value) == (1, 0.0)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["no-such-folder"], "a *.json beside each picture; docs/evaluation.md has the form"),
        (["--simulated", "1", "--model", "openai/x"], "--model and --simulated exclude each other; give one"),
        (["--record", "x.jsonl"], "name one with --model"),
    ],
)
def test_a_wrong_command_says_what_to_do(words: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["eval", "augmentation", *words]) == 2
    assert told in capsys.readouterr().err


def test_chances_are_chances() -> None:
    with pytest.raises(InputError, match="missed can't be 2; give a chance from 0 to 1"):
        augmentation(missed=2)


def trays(*bowls: int) -> list[Part]:
    """As many bowls on the table, with so many apples in each."""
    parts = []
    for number, apples in enumerate(bowls):
        parts.append(Part(f"bowl-{number}", "bowl", "ON", "table-1"))
        parts += [Part(f"apple-{number}{it}", "apple", "INSIDE", f"bowl-{number}") for it in range(apples)]
    return parts


@pytest.mark.parametrize(
    ("seen", "nodes", "edges", "exact"),
    [
        (trays(0, 2), 1.0, 1.0, True),
        (trays(1, 1), 1.0, 1.0, False),
        (trays(2, 1), 8 / 9, 8 / 9, False),
        ([*trays(2), Part("bowl-9", "bowl")], 1.0, 6 / 7, False),
        ([], 0.0, 0.0, False),
    ],
    ids=["numbers differ", "otherwise spread", "one too many", "one not placed", "nothing"],
)
def test_likeness(seen: list[Part], nodes: float, edges: float, *, exact: bool) -> None:
    found = likeness("table-1", trays(2, 0), seen)
    assert (found.nodes, found.edges) == pytest.approx((nodes, edges))
    assert found.exact is exact


def test_nothing_of_nothing_is_all() -> None:
    assert (f1([], []), likeness("table-1", [], []).exact) == (1.0, True)
