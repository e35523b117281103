"""The experiment `ssc` with a server that speaks OpenAI's protocol: rows, votes, cassettes and failures."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from scenecypher.cli.app import run_command_line as command
from scenecypher.errors import InputError
from scenecypher.evaluation.eai.goal_interpretation_gold import goal_task_ids
from scenecypher.evaluation.eai.task_table import EAI_TASKS
from scenecypher.evaluation.eai.transition_gold import asked_actions, gold_actions, transition_task_ids
from scenecypher.evaluation.result import read_result
from scenecypher.evaluation.ssc.prompts import load_prompts, structured_prompt
from tests.evaluation.eai.samples import wheel_of
from tests.scripted_model import Fail, ScriptedModel

ROWS = ("eai/greedy", "eai/ssc", "structured/greedy", "structured/ssc")


@pytest.fixture(autouse=True)
def somewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Direct Inspect's own files to the test's folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def gold(task_id: str) -> str:
    return json.dumps({"output": "\n".join(gold_actions()[name].pddl() for name in asked_actions(task_id))})


class ErringModel:
    """Model that fails at temperature 0; of five samples two are garbage, and one is wrong."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._count = count()

    def __call__(self, request: dict[str, Any]) -> str:
        self.requests.append(request)
        right = gold(transition_task_ids()[0])
        if not request["temperature"]:
            return "I would open the door."
        return ("garbage", right.replace("(next_to ", "(facing "), f"<think>hm</think>{right}", "{", right)[
            next(self._count) % 5
        ]


def run_command(options: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, Any]:
    code = command(["eval", "ssc", "--task", "transition", "--workers", "1", "--json", *options])
    return code, json.loads(capsys.readouterr().out)


def test_a_vote_succeeds_where_greedy_decoding_fails_live_and_recorded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    erring = ErringModel()
    with ScriptedModel(erring) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        options = ["--model", "openai/scripted", "--limit", "4", "--record", "tape.jsonl"]
        code, live = run_command(options, capsys)
    assert (code, live["finished"], live["provenance"]["model"]) == (0, True, "openai-api/openai/scripted")
    (table,) = live["tables"]
    rows = {f"{row['options']['prompt']}/{row['method']}": row["cells"] for row in table["rows"]}
    assert tuple(rows) == ROWS
    for form in ("eai", "structured"):
        greedy, voted = rows[f"{form}/greedy"], rows[f"{form}/ssc"]
        assert (greedy["f1"]["value"], greedy["svr"]["value"], greedy["asked"]["value"]) == (0, 0, 1)
        assert (voted["f1"]["value"], voted["svr"]["value"], voted["asked"]["value"]) == (100, 100, 5)
        assert (voted["svr_samples"]["count"], voted["svr_samples"]["n"]) == (3, 5)
    assert [request["temperature"] for request in erring.requests] == [0, *[0.7] * 5] * 2
    assert len(table["published"]) == 4
    code, again = run_command(["--replies", "tape.jsonl", "--limit", "4"], capsys)
    assert (code, again["provenance"]["replies"]) == (0, ["recorded"])
    assert [row["cells"] for row in again["tables"][0]["rows"]] == [row["cells"] for row in table["rows"]]
    assert again["provenance"]["model"] == "scripted", "whose replies they are"
    for written in Path("logs").glob("*.result.json"):
        written.unlink()
    assert command(["eval", "report", "logs", "--out", "page"]) == 0
    assert Path("page/report.md").read_text("utf-8").count("| structured prompt, SSC | measured |") == 2, "made of logs"


def test_rows_of_a_sweep_are_ours_except_for_five_replies(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedModel(ErringModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        asked = ["--model", "openai/scripted", "--prompt", "eai", "--samples", "1,5,7", "--limit", "4"]
        code, found = run_command(asked, capsys)
    (table,) = found["tables"]
    assert (code, [(row["label"], row["kind"], row["cells"]["asked"]["value"]) for row in table["rows"]]) == (
        0,
        [
            ("eai prompt, greedy", "paper", 1),
            ("eai prompt, SSC, N = 1", "ours", 1),
            ("eai prompt, SSC", "paper", 5),
            ("eai prompt, SSC, N = 7", "ours", 7),
        ],
    )


def test_a_row_of_failures_is_unfinished(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModel(lambda _: Fail(400, "out of order")) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        code, found = run_command(["--model", "openai/scripted", "--limit", "4"], capsys)
    assert (code, found["finished"], {row["failed"] for row in found["tables"][0]["rows"]}) == (2, False, {1})
    assert found["notes"][0].startswith("4 ended by")
    assert "out of order" in found["notes"][0]


def test_goals_over_http_are_scored_and_a_limit_is_marked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel = tmp_path / "prompts.whl"
    text = "\n".join(part for start, end in EAI_TASKS["goal"].prompt_parts for part in (start, "tv, id: 1", end))
    with ZipFile(wheel, "w") as archive:
        archive.writestr(
            EAI_TASKS["goal"].prompt_file,
            json.dumps([{"identifier": one, "llm_prompt": text} for one in goal_task_ids()[:2]]),
        )
    none = json.dumps({key: [] for key in ("node goals", "edge goals", "action goals")})
    options = ["--task", "goal", "--model", "openai/scripted", "--limit", "4", "--recordings", str(wheel), "--json"]
    with ScriptedModel(lambda _: none) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        assert command(["eval", "ssc", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["cells"]["svr"]["value"] for row in found["tables"][0]["rows"]] == [100] * 4
    assert (found["tables"][0]["rows"][0]["cells"]["f1"]["value"], len(server.requests)) == (0, 12)
    assert found["notes"][0].startswith("LIMITED: only 4 of 8 samples")
    assert command(["eval", "ssc", "--resume", found["provenance"]["log"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["finished"]


def test_votes_across_models_are_a_result_for_the_report_and_another_log_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    said = {name: dict.fromkeys(goal_task_ids()[:2], "{}") for name in ("a-model", "b-model")}
    wheel = str(wheel_of({"goal": said}, tmp_path / "some.whl"))
    options = ["eval", "ssc", "--recorded", "--task", "goal", "--limit", "2", "--recordings", wheel]
    assert command([*options, "--log-dir", "out", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["notes"][0].startswith("LIMITED: the first 2")
    (written,) = (tmp_path / "out").glob("*.result.json")
    assert read_result(written).experiment == "ssc"
    assert command([*options, "--log", str(written)]) == 2
    assert "eval eai --recorded" in capsys.readouterr().err


def test_structured_prompts_contain_only_the_task_of_the_original(tmp_path: Path) -> None:
    for task in map(EAI_TASKS.__getitem__, ("action-sequencing", "subgoal", "transition")):
        eai, ours = load_prompts(task, "eai"), load_prompts(task, "structured")
        task_id = next(iter(eai.texts))
        theirs, text = eai.messages(task_id)[-1].text, ours.messages(task_id)[0].text
        assert len(ours.messages(task_id)) == 1
        assert "{task}" not in text
        assert "{domain}" not in text
        assert "Proximity" in text
        assert "State consistency" in text
        for start, end in task.prompt_parts:
            own = theirs[theirs.rindex(start) :].partition(end)[0].strip()
            assert own in text
    with pytest.raises(InputError, match="no prompt"):
        load_prompts(EAI_TASKS["subgoal"], "eai").messages("nothing")
    with pytest.raises(InputError, match="lacks"):
        structured_prompt(EAI_TASKS["transition"], "another text")
    with pytest.raises(InputError, match="download it again"):
        load_prompts(EAI_TASKS["goal"], "eai", wheel=tmp_path / "missing.whl")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--model"),
        (["--recorded", "--model", "m"], "no model"),
        (["--model", "m", "--method", "guess"], "guess"),
        (["--model", "m", "--prompt", "rude"], "rude"),
        (["--model", "m", "--task", "cook"], "cook"),
        (["--model", "m", "--task", "subgoal", "--samples", "5,none"], "'none' samples"),
        (["--model", "m", "--task", "subgoal", "--samples", "0"], "give 1 or more"),
        (["--recorded", "--task", "cook"], "cook"),
        (["--replies", "tape", "--record", "tape"], "records nothing"),
    ],
)
def test_incompatible_options_are_refused(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["eval", "ssc", *options]) == 2
    assert said in capsys.readouterr().err
