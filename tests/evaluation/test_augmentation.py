"""Pictures are read into subgraphs and compared with gold: over HTTP, recorded, simulated, and by the gold itself."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from scenecypher.cli.app import run_command_line as command
from scenecypher.errors import DocumentError, InputError
from scenecypher.evaluation.augmentation import augmentation
from scenecypher.evaluation.augmentation_result import augmentation_result
from scenecypher.evaluation.reporting.cells import unfinished_warning
from scenecypher.evaluation.result import ExperimentResult, Table, read_result
from scenecypher.evaluation.running import RunOptions, run_task
from scenecypher.evaluation.subgraphs import SubgraphNode, f1, measure_similarity
from scenecypher.evaluation.views import bundled_views, read_views
from scenecypher.planner.perception.picture import encode_png
from tests.scripted_model import Fail, ScriptedModel, Step
from tests.scripted_vision import GridReader, amounts_of, decoded
from tests.views.generate import make_views

pytestmark = pytest.mark.usefixtures("own_folder")
CUP = {"name": "cup-1", "relation": "ON", "related_to": "table-1"}


def picture_reply(request: dict[str, Any]) -> Step:
    """Read real pictures; undercount interchangeable things of `tables-03`, and say nothing about `tables-01`."""
    content = request["messages"][-1]["content"]
    if isinstance(content, str):
        return json.dumps(amounts_of(content))
    (at,) = re.findall(r"Look at this picture of (\S+)\. ", content[0]["text"])
    if at == "table-1":
        return ""
    words = GridReader(places=False, at=at, relation="inside" if at.startswith("room") else "on top of")(request)
    return re.sub(r"There are \d+", "There are 1", str(words)) if at == "table-3" else words


def table_of(found: ExperimentResult) -> Table:
    (table,) = found.tables
    return table


def test_real_pictures_over_http_are_scored_and_their_replies_score_the_same(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    tape = str(tmp_path / "tape.jsonl")
    with ScriptedModel(picture_reply) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        live = augmentation_result(
            run_task(augmentation(record=tape), RunOptions("openai/scripted", limit=20, at_once=4))
        )
    assert live.finished
    wrong = {trial.id: trial for trial in live.samples if not trial.success}
    assert set(wrong) == {"tables-01", "tables-03"}, "all others are read from their pixels without a mistake"
    assert wrong["tables-01"].outcome == "unreadable"
    assert 0 < wrong["tables-03"].figures["edges"] < 1
    table = table_of(live)
    assert [row.cells["exact"].count for row in table.rows] == [16, 2, 18]
    assert table.published[2].cells["exact"].value == 0.44, "a model looked: Table III stands beside it"
    assert (live.provenance.replies, live.provenance.tokens) == (("live",), 20 * 36 - 18)
    again = augmentation_result(run_task(augmentation(replies=tape), RunOptions(None, limit=20, at_once=4)))
    assert again.provenance.replies == ("recorded",)
    assert table_of(again).rows[2].cells == table.rows[2].cells


def test_gold_replies_have_no_published_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["eval", "augmentation", "--log-dir", "logs", "--limit", "3"]) == 0
    (file,) = Path("logs").glob("*.result.json")
    found = read_result(file)
    assert [row.cells["exact"].value for row in table_of(found).rows] == [1.0]
    assert (table_of(found).published, found.provenance.replies) == ((), ("reference",))
    assert "replies: reference" in capsys.readouterr().out


def test_a_resumed_run_repeats_only_failed_samples(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    looks, is_broken = list[str](), True

    def step(request: dict[str, Any]) -> Step:
        """See nothing; while broken, fail on the second room."""
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


def test_a_killed_run_reports_the_number_of_wanted_samples() -> None:
    log = run_task(augmentation(replies="reference"), RunOptions(None, limit=3))
    killed = log.model_copy(update={"status": "started", "results": None, "samples": (log.samples or [])[:1]})
    found = augmentation_result(killed)
    assert (found.finished, found.provenance.samples, found.provenance.wanted) == (False, 1, 3)
    assert unfinished_warning(found).startswith("NOT FINISHED: 1 of 3 samples were tried")


def test_a_simulated_observer_is_labelled_and_has_no_published_rows() -> None:
    first, other = (
        augmentation_result(run_task(augmentation(replies="simulated", seed=seed), RunOptions(None, limit=12)))
        for seed in (1, 2)
    )
    table = table_of(first)
    assert table.rows != table_of(other).rows
    assert {row.label for row in table.rows} == {"simulated observer"}
    assert (table.published, table.paper, {row.kind for row in table.rows}) == ((), "", {"ours"})
    assert 0 < (table.rows[0].cells["exact"].count or 0) < 12


def test_bundled_views_equal_generated_views() -> None:
    """Compare pixels, since versions of libraries compress equal pictures to different bytes."""
    views = {one.name: one for one in make_views()}
    taken = {one.name: one for one in read_views(bundled_views())}
    assert len(taken) == 36
    assert {name: (bundled_views() / f"{name}.json").read_text("utf-8") for name in taken} == {
        name: one.text() for name, one in views.items()
    }
    for name in ("rooms-01", "tables-04"):
        assert (decoded(taken[name].image().data_url) == decoded(views[name].picture.data_url)).all()


def write_view(folder: Path, name: str = "one", **fields: Any) -> Path:
    (folder / "a.png").write_bytes(encode_png(b"\xff\0\0", width=1, height=1).data)
    view = {"image": "a.png", "asset": {"name": "table-1"}, "gold": [CUP]} | fields
    file = folder / f"{name}.json"
    file.write_text(json.dumps({key: value for key, value in view.items() if value is not None}), encoding="utf-8")
    return file


def test_pictures_without_a_set_are_counted_once_in_all(tmp_path: Path) -> None:
    write_view(tmp_path)
    write_view(tmp_path, "two", set="kitchen")
    rows = table_of(
        augmentation_result(run_task(augmentation(folder=str(tmp_path), replies="reference"), RunOptions(None)))
    ).rows
    assert [(row.options["pictures"], row.cells["pictures"].value) for row in rows] == [("kitchen", 1), ("all", 2)]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"image": "../a.png"}, r"\$\.image: leads out of the folder; give a path within it"),
        ({"image": "b.png"}, r"\$\.image: there is no such file; put the picture"),
        ({"gold": None}, r"\$\.gold: is missing; add it"),
        ({"gold": [CUP, CUP]}, r"\$\.gold\[1\]\.name: 'cup-1' occurs twice; number things"),
        ({"gold": [CUP | {"name": "table-1"}]}, r"\$\.gold\[0\]\.name: 'table-1' occurs twice"),
        (
            {"gold": [CUP | {"related_to": "shelf-1"}]},
            r"\$\.gold\[0\]\.related_to: 'shelf-1' does not lead to",
        ),
        ({"priors": [CUP | {"related_to": "cup-1"}]}, r"\$\.priors\[0\]\.related_to: 'cup-1' does not lead"),
        ({"gold": [CUP | {"relation": "NEAR"}]}, r"\$\.gold\[0\]\.relation: "),
        ({"golden": []}, r"\$\.golden: is no field that is known here; remove it"),
    ],
)
def test_an_invalid_view_is_refused_with_its_json_path(fields: dict[str, Any], told: str, tmp_path: Path) -> None:
    write_view(tmp_path, **fields)
    with pytest.raises(DocumentError, match=told):
        read_views(tmp_path)


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    within = tmp_path / "within"
    within.mkdir()
    write_view(within, image="link.png")
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (within / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(DocumentError, match="leads out of the folder"):
        read_views(within)


def test_an_invalid_picture_fails_its_sample_alone(tmp_path: Path) -> None:
    (tmp_path / "views").mkdir()
    write_view(tmp_path / "views")
    (tmp_path / "views" / "a.png").write_bytes(b"%PDF")
    found = augmentation_result(run_task(augmentation(folder="views", replies="reference"), RunOptions(None)))
    assert (table_of(found).rows[0].failed, table_of(found).rows[0].cells["nodes"].value) == (1, 0.0)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["no-such-folder"], "a *.json beside each picture; docs/evaluation.md has the form"),
        (["--simulated", "1", "--model", "openai/x"], "--model and --simulated exclude each other; give one"),
        (["--record", "x.jsonl"], "name one with --model"),
    ],
)
def test_invalid_commands_are_refused_with_advice(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["eval", "augmentation", *words]) == 2
    assert told in capsys.readouterr().err


def test_chances_are_between_0_and_1() -> None:
    with pytest.raises(InputError, match="missed can't be 2; give a chance from 0 to 1"):
        augmentation(missed=2)


def bowls_of_apples(*bowls: int) -> list[SubgraphNode]:
    """Return bowls on the table, each with the given number of apples."""
    parts = []
    for number, apples in enumerate(bowls):
        parts.append(SubgraphNode(f"bowl-{number}", "bowl", "ON", "table-1"))
        parts += [SubgraphNode(f"apple-{number}{it}", "apple", "INSIDE", f"bowl-{number}") for it in range(apples)]
    return parts


@pytest.mark.parametrize(
    ("seen", "nodes", "edges", "exact"),
    [
        (bowls_of_apples(0, 2), 1.0, 1.0, True),
        (bowls_of_apples(1, 1), 1.0, 1.0, False),
        (bowls_of_apples(2, 1), 8 / 9, 8 / 9, False),
        ([*bowls_of_apples(2), SubgraphNode("bowl-9", "bowl")], 1.0, 6 / 7, False),
        ([], 0.0, 0.0, False),
    ],
    ids=["numbers differ", "otherwise spread", "one too many", "one not placed", "nothing"],
)
def test_similarity(seen: list[SubgraphNode], nodes: float, edges: float, *, exact: bool) -> None:
    found = measure_similarity("table-1", bowls_of_apples(2, 0), seen)
    assert (found.nodes, found.edges) == pytest.approx((nodes, edges))
    assert found.exact is exact


def test_empty_subgraphs_are_equal() -> None:
    assert (f1([], []), measure_similarity("table-1", [], []).exact) == (1.0, True)
