"""Parts of experiments: `--limit` spreads over the tasks, `--seed` draws them, `--sample-ids` names samples."""

from __future__ import annotations

import json
from collections.abc import Mapping
from inspect import signature
from pathlib import Path
from typing import Any, Final

import pytest
from inspect_ai.dataset import Sample
from inspect_ai.log import read_eval_log
from typer.main import get_command

from scenecypher.cli.app import run_command_line as command
from scenecypher.cli.evaluate import OURS, eval_app
from scenecypher.cli.evaluate_run import Choices
from scenecypher.evaluation.experiments import experiment_name
from scenecypher.evaluation.options import split_names, take_of_each
from tests.scripted_model import Fail, ScriptedModel

pytest.importorskip("eai_eval", reason="needs `pip install --no-deps eai-eval`")
pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")

LIMIT: Final = 4
OPTIONS: Final[Mapping[str, str]] = dict.fromkeys(OURS, "") | {
    "babyai-slm": "--model scripted",
    "grasif": "--data sayplan-office,behavior-1k",
    "ssc": "--model scripted --task transition",
}
"""Options of each experiment with which it has samples."""
PLAYED: Final = ("augmentation", "grasif", "questions", "rules", "ssc")
"""An experiment for each function from a log to a result: the choice of named samples is one for all."""


def samples(name: str, *words: str) -> list[Sample]:
    """Return the samples that a command would play."""
    commands: Any = get_command(eval_app)
    given = commands.commands[name].make_context(name, [*OPTIONS[name].split(), *words]).params
    make = OURS[name].make
    own = {one: given.pop(one) for one in signature(make).parameters if one != "choices"}
    return list(make(Choices(**given), **own).dataset)


def test_each_experiment_has_its_help_and_the_name_of_its_task() -> None:
    """An experiment without help, or whose log names another one."""
    for name, one in OURS.items():
        assert one.make.__doc__, "it is the command's help"
        assert experiment_name(one.parts().task.__name__) == name


def by_table(found: list[Sample]) -> dict[str, dict[str, list[str]]]:
    """Return the ids of samples by table, then by task."""
    tables: dict[str, dict[str, list[str]]] = {}
    for one in found:
        metadata = one.metadata or {}
        episode, id_ = metadata.get("episode", {}), str(one.id)
        table = str(episode.get("group") or (metadata["task"] if "task_id" in metadata else ""))
        task = str(episode.get("task") or metadata.get("task_id") or metadata.get("task") or id_)
        tables.setdefault(table, {}).setdefault(task, []).append(id_)
    return tables


@pytest.mark.usefixtures("server_settings")
@pytest.mark.parametrize("name", OURS)
def test_a_limit_spreads_over_each_table_and_a_seed_draws(name: str) -> None:
    whole = by_table(samples(name))
    spread, first, again, other = (
        by_table(samples(name, "--limit", str(LIMIT), *words))
        for words in ((), ("--seed", "1"), ("--seed", "1"), ("--seed", "2"))
    )
    for table, tasks in whole.items():
        assert all(split_names(id_) == [id_] for ids in tasks.values() for id_ in ids), "ids can be named"
        order = list(tasks)
        places = [order.index(task) for task in spread[table]]
        assert len(places) == LIMIT
        assert places == sorted(places)
        assert places[-1] >= len(order) // 2, "not the first ones"
        assert first[table] == again[table]
        assert first[table].keys() != other[table].keys()
        for chosen in (spread, first, other):
            assert all(ids == tasks[task] for task, ids in chosen[table].items()), "a task keeps all its rows"


@pytest.mark.usefixtures("server_settings")
@pytest.mark.parametrize("name", PLAYED)
def test_named_samples_are_played_and_no_others(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ids = [str(one.id) for one in samples(name, "--limit", "2", "--seed", "3")][::-1][:2]
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    monkeypatch.setenv("SCENECYPHER_SAMPLE_RETRIES", "0")
    with ScriptedModel(lambda _: Fail(400, "out of order")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        words = [*OPTIONS[name].split(), "--sample-ids", ",".join(ids), "--json"]
        assert command(["eval", name, *words]) == (2 if "--model" in words else 0)
    found = json.loads(capsys.readouterr().out)
    log = read_eval_log(found["provenance"]["log"])
    assert {str(one.id) for one in log.samples or ()} == {*ids}
    assert found["notes"][-1].startswith(f"LIMITED: only {len(ids)} of ")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--seed", "1"], "give --limit too"),
        (["--sample-ids", "x", "--limit", "1"], "leave --limit and --seed out"),
        (["--sample-ids", "lokup/x"], "there is no sample"),
    ],
)
def test_contradictory_parts_are_refused(
    words: list[str], told: str, own_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del own_folder
    assert command(["eval", "augmentation", *words]) == 2
    assert told in capsys.readouterr().err


def test_kinds_have_equal_shares() -> None:
    kinds = {"a": range(20), "b": range(100, 103), "c": range(200, 203)}
    items = [item for group in kinds.values() for item in group]

    def chosen(limit: int, seed: int | None = None) -> list[int]:
        return take_of_each(items, limit, seed, kind=lambda item: "abc"[item // 100])

    assert chosen(3) == [0, 100, 200]
    assert chosen(8) == [0, 6, 13, *kinds["b"], 200, 201]
    assert chosen(2) == [0, 100]
    assert chosen(1) == [0]
    assert chosen(12) == [0, 3, 6, 10, 13, 16, *kinds["b"], *kinds["c"]]
    assert chosen(0) == chosen(26) == chosen(99) == items
    assert chosen(5, 1) == chosen(5, 1) != chosen(5, 2)
