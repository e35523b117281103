"""The prompts of every method, vocabulary and ablation are those of the files, under any hash seed."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from scenecypher.db.store.scene_store import SceneStore
from tests.prompts.episodes import WORLDS
from tests.prompts.rendering import FOLDER, all_files, folder_size

MAX_BYTES = 1_000_000
UPDATE = "if that is on purpose: make prompts"


@pytest.mark.parametrize("vocabulary", [world.vocabulary for world in WORLDS])
def test_prompts_change_only_on_purpose(store: SceneStore, vocabulary: str) -> None:
    now = all_files(store, vocabulary)
    assert {*now} == {f"{vocabulary}/{file.name}" for file in (FOLDER / vocabulary).iterdir()}, UPDATE
    for name, text in now.items():
        assert text == (FOLDER / name).read_text(encoding="utf-8"), f"{name}; {UPDATE}"


def test_the_files_stay_small() -> None:
    assert 0 < folder_size() < MAX_BYTES
    assert {folder.name for folder in FOLDER.iterdir()} == {world.vocabulary for world in WORLDS}


def test_prompts_are_the_same_bytes_under_any_hash_seed(store: SceneStore) -> None:
    """Render those of all vocabularies in a new process, with another order of sets than here, in new scenes."""
    address = store.database.address
    ran = subprocess.run(
        [sys.executable, "-m", "tests.prompts", "--print", address.uri, address.password],
        env={**os.environ, "PYTHONHASHSEED": "1"},
        stdout=subprocess.PIPE,
        check=True,
    )
    found = json.loads(ran.stdout)
    assert {name.partition("/")[0] for name in found} == {world.vocabulary for world in WORLDS}
    for name, text in found.items():
        kept = (FOLDER / name).read_text(encoding="utf-8")
        assert kept.startswith(text.removesuffix("\n")), name
