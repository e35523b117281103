"""Pictures are read into subgraphs and compared with gold: over HTTP, recorded, simulated, and by the gold itself."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copy
from typing import Any

import pytest

from scenecypher.chat import OpenAIModel
from scenecypher.cli.app import run_command_line as command
from scenecypher.errors import DocumentError
from scenecypher.evaluation.augmentation import augmentation, augmentation_result
from scenecypher.evaluation.picture_samples import (
    GoldObserver,
    SubgraphNode,
    f1,
    find_mistakes,
    gold_parts,
    measure_similarity,
    score_reading,
    seen_parts,
)
from scenecypher.evaluation.reporting.cells import unfinished_warning
from scenecypher.evaluation.result import ExperimentResult, Row, Table, read_result
from scenecypher.evaluation.running import RunOptions, run_task
from scenecypher.evaluation.views import ViewFile, bundled_views, read_views
from scenecypher.planner.perception.observation import WHOLE
from scenecypher.planner.perception.picture import encode_png
from tests.scripted_model import MODEL_NAME, Fail, ScriptedModel, Step
from tests.scripted_vision import decoded
from tests.views.describers import Describer
from tests.views.generate import make_views

pytestmark = pytest.mark.usefixtures("own_folder")
SETS = 13
LOOKS = 10 + 4 + 11
"""Looks of one view of each set: drift has ten, turns four."""
CUP = {"name": "cup-1", "relation": "ON", "related_to": "table-1"}


def table_of(found: ExperimentResult) -> Table:
    (table,) = found.tables
    return table


@pytest.fixture
def scripted_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")


def described(kind: str, monkeypatch: pytest.MonkeyPatch, **options: Any) -> ExperimentResult:
    """Return the result of a scripted describer over HTTP."""
    with ScriptedModel(Describer(kind)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        return augmentation_result(run_task(augmentation(**options), RunOptions("openai/scripted")))


def scored(kind: str, views: Sequence[ViewFile]) -> list[dict[str, Any]]:
    """Return the scores of a scripted describer, over HTTP and without Inspect."""
    with ScriptedModel(Describer(kind)) as server, OpenAIModel(base_url=server.base_url, model=MODEL_NAME) as model:
        return [score_reading(file, model) for file in views]


def copied(folder: Path, *names: str) -> str:
    """Copy some of the bundled views into a folder; return its path."""
    (folder / "views").mkdir()
    for name in names:
        for suffix in (".json", ".png"):
            copy(bundled_views() / f"{name}{suffix}", folder / "views")
    return str(folder / "views")


def rows_of(found: ExperimentResult) -> dict[str, Row]:
    return {str(row.options["pictures"]): row for row in table_of(found).rows}


def test_a_perfect_describer_reads_every_picture() -> None:
    """The gold is what the pixels show, and the prompts tell all that it takes."""
    views = read_views(bundled_views())
    found = scored("perfect", views)
    assert [file.name for file, seen in zip(views, found, strict=True) if not seen["exact"]] == []
    assert [seen["kept"] for seen in found if seen["kept"] is not None] == [1] * 15


@pytest.mark.usefixtures("scripted_key")
def test_replies_of_a_describer_are_counted_and_score_the_same_when_recorded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    tape = str(tmp_path / "tape.jsonl")
    live = described("perfect", monkeypatch, record=tape, limit=SETS)
    assert {trial.id: trial.mistakes for trial in live.samples if not trial.success} == {}
    assert live.finished
    table = table_of(live)
    rows = rows_of(live)
    assert rows["all"].cells["exact"].count == SETS
    assert (rows["all"].cells["kept"].value, rows["all"].cells["kept"].n) == (1, 4)
    assert "kept" not in rows["tables"].cells
    assert table.published[2].cells["exact"].value == 0.44, "a model looked: Table III stands beside it"
    assert (live.provenance.replies, live.provenance.tokens) == (("live",), LOOKS * 36)
    again = augmentation_result(run_task(augmentation(replies=tape, limit=9), RunOptions(None)))
    assert again.provenance.replies == ("recorded",)
    assert [trial.figures for trial in again.samples] == [
        next(it.figures for it in live.samples if it.id == trial.id) for trial in again.samples
    ]


def test_a_careless_describer_is_told_apart_and_loses_nothing_unseen() -> None:
    views = read_views(bundled_views())
    found = [(file.view.set, seen) for file, seen in zip(views, scored("careless", views), strict=True)]
    assert {seen["kept"] for _, seen in found} == {None, 1}
    assert not any("lost" in seen["slips"] for _, seen in found)
    exact = Counter(kind for kind, seen in found if seen["exact"])
    assert not exact.keys() & {"crowded", "rooms", "sides", "tables", "twins"}
    assert exact["elsewhere"] < 3
    assert {"elsewhere", "sides"} <= {kind for kind, seen in found if "invented" in seen["slips"]}


@pytest.mark.parametrize(
    ("kind", "failed"),
    [
        ("careless", {"drift-01", "states-01", "states-02"}),
        ("overconfident", {"drift-01", "drift-02", "states-01", "states-02"}),
        ("near", set[str]()),
        ("loose", {"states-01", "states-02", "turns-01", "turns-02", "words-01", "words-02"}),
    ],
)
def test_what_makes_beliefs_drift_is_told_apart(kind: str, failed: set[str]) -> None:
    """Looks in turn: ten at one table, twins on two tables, other words for what is known, and states that exclude.

    A describer loses what it tells carelessly; one that uses near words loses nothing.
    """
    views = [it for it in read_views(bundled_views()) if it.view.set in {"drift", "turns", "words", "states"}]
    found = {file.name: seen["exact"] for file, seen in zip(views, scored(kind, views), strict=True)}
    assert {name for name, is_exact in found.items() if not is_exact} == failed


def test_a_thing_that_is_seen_elsewhere_than_the_gold_has_it_is_no_match() -> None:
    gold = [SubgraphNode("cup-1", "cup", "ON", "table-1"), SubgraphNode("cup-2", "cup", "ON", "table-2")]
    assert measure_similarity("table-1", gold, gold[::-1]).exact
    other = [gold[0], SubgraphNode("cup-2", "cup", "ON", "table-1")]
    assert not measure_similarity("table-1", gold, other).exact
    assert not measure_similarity("table-1", gold, [gold[0], replace(gold[1], states=("open",))]).exact


@pytest.mark.usefixtures("scripted_key")
def test_an_unreadable_reply_and_counting_short_are_scored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    describer, folder = Describer("perfect"), copied(tmp_path, "tables-01", "tables-02", "tables-03")

    def step(request: dict[str, Any]) -> Step:
        """Say nothing about `tables-01`, and see one of each sort in `tables-03`."""
        content = request["messages"][-1]["content"]
        text = content if isinstance(content, str) else content[0]["text"]
        if "of table-1." in text:
            return ""
        words = describer(request)
        return re.sub(r"\d+ (?=\w+ \w+ are)", "1 ", str(words)) if "of table-3." in text else words

    with ScriptedModel(step) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        found = augmentation_result(run_task(augmentation(folder=folder), RunOptions("openai/scripted")))
    wrong = {trial.id: trial for trial in found.samples if not trial.success}
    assert set(wrong) == {"tables-01", "tables-03"}
    assert wrong["tables-01"].outcome == "unreadable"
    assert 0 < wrong["tables-03"].figures["edges"] < 1


def test_conventions_make_the_rooms_fair() -> None:
    """The same sight that lists MiniGrid's agent and doors, where nobody told it not to, fails each room."""
    rooms = [file for file in read_views(bundled_views()) if file.view.set == "rooms"]
    assert all(seen["exact"] for seen in scored("perfect", rooms))
    for seen in scored("unexplained", rooms):
        assert not seen["exact"]
        assert seen["slips"]["invented"]


def test_a_limit_spreads_over_all_sets() -> None:
    log = run_task(augmentation(replies="reference", limit=SETS), RunOptions(None))
    assert len({str(it.metadata["set"]) for it in log.samples or ()}) == SETS


def test_an_explanation_names_what_was_missed_and_what_is_too_many() -> None:
    log = run_task(augmentation(replies="simulated", simulated=1, limit=30), RunOptions(None))
    told = [(it.scores or {})["subgraph_match"].explanation or "" for it in log.samples or ()]
    assert any(re.search(r"^missed: \w+ \w+", it, re.MULTILINE) for it in told)
    assert any(re.search(r"^too many: \w+ \w+", it, re.MULTILINE) for it in told)
    assert any(it.endswith("nothing was missed, and nothing is too many") for it in told)


def test_what_was_lost_unseen_is_told_and_lowers_the_figures() -> None:
    """A look that claims to have seen the whole of a table whose right half is cut off."""
    (file,) = [it for it in read_views(bundled_views()) if it.name == "cut-01"]
    kept = GoldObserver(file.view).observe("table-1", step=1)
    seen = seen_parts(file.view, kept)
    assert seen.lost == ()
    lost = seen_parts(file.view, replace(kept, extent=WHOLE))
    assert lost.lost == tuple(file.view.hidden)
    gold = gold_parts(file.view)
    assert find_mistakes(gold, lost) == {"lost": tuple(file.view.hidden)}
    assert measure_similarity("table-1", gold, seen.parts).exact
    assert measure_similarity("table-1", gold, lost.parts).nodes == pytest.approx(2 * 4 / (4 + 7))


def test_gold_replies_have_no_published_rows(capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["eval", "augmentation", "--log-dir", "logs", "--limit", "3"]) == 0
    (file,) = Path("logs-results").glob("*.result.json")
    found = read_result(file)
    assert [row.cells["exact"].value for row in table_of(found).rows] == [1.0] * 4, "three sets, and all"
    assert (table_of(found).published, found.provenance.replies) == ((), ("reference",))
    assert "replies: reference" in capsys.readouterr().out


def test_a_resumed_run_repeats_only_failed_samples(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    looks, is_broken = list[str](), True

    def step(request: dict[str, Any]) -> Step:
        """See nothing; while broken, fail on the rack."""
        (at,) = re.findall(r"Look at this picture of (\S+)\. ", request["messages"][-1]["content"][0]["text"])
        looks.append(at)
        return Fail(400, "out of order") if is_broken and at == "rack-1" else ""

    with ScriptedModel(step) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        ids = ",".join(f"{name}-01" for name in ("blurred", "crowded", "cut", "elsewhere", "rooms", "shelves"))
        assert command(["eval", "augmentation", "--model", "scripted", "--sample-ids", ids, "--json"]) == 2
        printed = capsys.readouterr()
        before = json.loads(printed.out)
        assert f"eval augmentation --resume {before['provenance']['log']}" in " ".join(printed.err.split()).replace(
            "/ ", "/"
        )
        is_broken, first = False, looks[:]
        looks.clear()
        assert command(["eval", "augmentation", "--resume", before["provenance"]["log"], "--json"]) == 0
    after = json.loads(capsys.readouterr().out)
    assert {one["id"] for one in before["samples"] if one["outcome"] == "failed"} == {"shelves-01"}
    assert [one["outcome"] for one in after["samples"]] == ["unreadable"] * 6
    assert (len(first), looks) == (6, ["rack-1"])


def test_a_killed_run_reports_the_number_of_wanted_samples() -> None:
    log = run_task(augmentation(replies="reference", limit=3), RunOptions(None))
    killed = log.model_copy(update={"status": "started", "results": None, "samples": (log.samples or [])[:1]})
    found = augmentation_result(killed)
    assert (found.finished, found.provenance.samples, found.provenance.wanted) == (False, 1, 3)
    assert unfinished_warning(found).startswith("NOT FINISHED: 1 of 3 samples were played")


def test_a_simulated_observer_is_labelled_and_has_no_published_rows() -> None:
    first, other = (
        augmentation_result(run_task(augmentation(replies="simulated", simulated=seed, limit=12), RunOptions(None)))
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
    assert len(taken) == 68
    assert {name: (bundled_views() / f"{name}.json").read_text("utf-8") for name in taken} == {
        name: one.text() for name, one in views.items()
    }
    for name in ("rooms-01", "tables-04", "blurred-02", "sides-01", "shelves-02", "drift-02", "states-01", "words-02"):
        for image, made in zip(taken[name].images(), views[name].pictures.values(), strict=True):
            assert (decoded(image.data_url) == decoded(made.data_url)).all()


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
        ({"others": ["b.png"]}, r"\$\.others\[0\]: there is no such file"),
        ({"looks": [{"image": "b.png"}]}, r"\$\.looks\[0\]\.image: there is no such file"),
        ({"hidden": ["fork-1"]}, r"\$\.hidden\[0\]: 'fork-1' should be one of the priors"),
        ({"hidden": ["cup-1"], "priors": [CUP]}, r"\$\.hidden\[0\]: 'cup-1' should be .* not in the gold"),
        ({"golden": []}, r"\$\.golden: is no field that is known here; mend its name, or remove it"),
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
    row = table_of(found).rows[0]
    assert (row.failed, row.lost, row.cells, row.note) == (1, 1, {}, "not finished: 0 of 1 played")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["no-such-folder"], "a *.json beside each picture; docs/experiments.md has the form"),
        (["--simulated", "1", "--model", "openai/x"], "--model and --simulated exclude each other; give one"),
        (["--record", "x.jsonl"], "name one with --model"),
    ],
)
def test_invalid_commands_are_refused_with_advice(
    words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command(["eval", "augmentation", *words]) == 2
    assert told in capsys.readouterr().err


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
