"""The table of data sets: ids lead to tasks, commands run, and a second import changes nothing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from uuid import uuid4

import pytest
from typer.testing import CliRunner

from scenecypher.cli.app import app
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store import publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from scenecypher.importers.datasets import DATASETS, dataset, task
from tests.sampling import FULL

WIDTH_OF_A_WORD = 40


@pytest.mark.parametrize("name", DATASETS)
def test_each_id_leads_to_its_task_and_scene(name: str) -> None:
    row = dataset(name)
    found = next(row.tasks())
    assert row.name == name
    assert len(name) < WIDTH_OF_A_WORD
    assert "/" not in name
    assert found.id.startswith(f"{name}/")
    assert task(found.id) == (row, found)
    assert next(row.scenes(found.id.removeprefix(f"{name}/"))).name == found.scene


@pytest.mark.parametrize("name", DATASETS)
def test_the_import_command_of_a_task_imports_its_scene(name: str) -> None:
    row = dataset(name)
    found = next(row.tasks())
    _, *arguments = shlex.split(row.command(found.id))
    ran = CliRunner().invoke(app, [*arguments, "--dry-run"])
    assert ran.exit_code == 0, ran.output
    assert found.scene in ran.stdout


@pytest.mark.parametrize("name", DATASETS)
def test_a_second_import_changes_nothing(store: SceneStore, name: str) -> None:
    for scene in islice(DATASETS[name].scenes(), None if FULL else 1):
        again = f"test/again-{uuid4().hex[:10]}"
        assert store.put(replace(scene, name=again)).outcome == "created"
        try:
            second = store.put(replace(next(read_anew(name, scene.name)), name=again))
            assert (second.outcome, second.version) == ("unchanged", 0)
        finally:
            publish.delete_generation(store.database, store.find(again).key)


def read_anew(name: str, scene: str) -> Iterator[ImportedScene]:
    yield from (each for each in DATASETS[name].scenes() if each.name == scene)


@pytest.mark.parametrize(
    ("task_id", "said"),
    [
        ("963_2", "ids look like eai/963_2"),
        ("eai/", "ids look like eai/963_2"),
        ("eia/963_2", "did you mean 'eai'"),
        ("eai/963_9", "no VirtualHome task"),
        ("behavior-1k/juggling", "no activity"),
        ("trv1/-1", "is no seed"),
        ("trv1/٣", "is no seed"),
        ("numqa/99999999999999999999", "is no seed"),
    ],
)
def test_an_unknown_id_is_refused_with_what_to_do(task_id: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        task(task_id)


def test_a_made_level_lists_the_papers_number_but_has_any_seed() -> None:
    assert sum(1 for _ in DATASETS["trv1"].tasks()) == 100
    assert task("trv1/100123")[1].scene == "babyai/trv1/100123"
