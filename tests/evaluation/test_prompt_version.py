"""The version of a run's prompts is in its log and covers worked examples and domains."""

from __future__ import annotations

import pytest

from scenecypher.evaluation.augmentation import augmentation, augmentation_result
from scenecypher.evaluation.replies import METADATA_KEY, PROMPTS, prompt_files, prompt_version
from scenecypher.evaluation.running import RunOptions, run_task


def test_the_digest_covers_all_sources_of_prompts() -> None:
    names = {file.name for folder in PROMPTS for file in prompt_files(folder)}
    assert {
        "cot.txt",
        "domain.pddl",
        "problems.json",
        "layout.py",
        "lookplangraph.py",
        "views.py",
        "session.py",
    } <= names


@pytest.mark.usefixtures("own_folder")
def test_a_result_has_the_prompt_version_of_its_log() -> None:
    log = run_task(augmentation(replies="reference", limit=1), RunOptions(None))
    assert augmentation_result(log).provenance.prompt_version == prompt_version()
    log.eval.metadata = {METADATA_KEY: "others"}
    assert augmentation_result(log).provenance.prompt_version == "others"
    log.eval.metadata = None
    assert augmentation_result(log).provenance.prompt_version == "", "made before it was noted"
