"""The prompts of every method, vocabulary and ablation are those of the files, under the hash seed of any run."""

from __future__ import annotations

import os

import pytest

from scenecypher.db.store.scene_store import SceneStore
from tests.prompts.episodes import WORLDS
from tests.prompts.rendering import FOLDER, all_files, folder_size

MAX_BYTES = 1_000_000
UPDATE = "if that is on purpose: make prompts"


@pytest.mark.parametrize("vocabulary", [world.vocabulary for world in WORLDS])
def test_prompts_change_only_on_purpose(store: SceneStore, vocabulary: str) -> None:
    """Each run has another order of sets: what depends on it is not what the files have."""
    assert os.environ.get("PYTHONHASHSEED", "random") == "random", "leave PYTHONHASHSEED unset"
    now = all_files(store, vocabulary)
    assert {*now} == {f"{vocabulary}/{file.name}" for file in (FOLDER / vocabulary).iterdir()}, UPDATE
    for name, text in now.items():
        assert text == (FOLDER / name).read_text(encoding="utf-8"), f"{name}; {UPDATE}"


def test_the_files_stay_small() -> None:
    assert 0 < folder_size() < MAX_BYTES
    assert {folder.name for folder in FOLDER.iterdir()} == {world.vocabulary for world in WORLDS}
