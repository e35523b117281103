"""The experiment `ssc` with a server that speaks OpenAI's protocol: rows, votes, cassettes and failures."""

from __future__ import annotations

import json
import re
from itertools import count
from json import JSONDecoder
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from scenecypher.cli.app import run_command_line as command
from scenecypher.errors import InputError
from scenecypher.evaluation.eai import goal_interpretation, transition
from scenecypher.evaluation.eai.pddl import PddlAction, parse_actions
from scenecypher.evaluation.eai.task_table import EAI_TASKS, TaskName
from scenecypher.evaluation.eai.transition import asked_actions, gold_actions
from scenecypher.evaluation.ssc.forms import action_form
from scenecypher.evaluation.ssc.prompts import GOAL_PARTS, load_prompts, own_prompt
from tests.scripted_model import Fail, ScriptedModel

ROWS = ("eai/greedy", "eai/ssc", "paper-content/greedy", "paper-content/ssc")


@pytest.fixture(autouse=True)
def somewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Direct Inspect's own files to the test's folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)


def gold(task_id: str) -> str:
    return json.dumps({"output": "\n".join(written(gold_actions()[name]) for name in asked_actions(task_id))})


def written(it: PddlAction) -> str:
    parts = f":parameters {it.parameters} :precondition {it.precondition} :effect {it.effect}"
    return f"(:action {it.name} {parts})"


class ErringModel:
    """Model that fails at temperature 0; of five samples two are garbage, and one is wrong."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self._count = count()

    def __call__(self, request: dict[str, Any]) -> str:
        self.requests.append(request)
        right = gold(transition.task_ids()[0])
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
        options = ["--model", "openai/scripted", "--limit", "1", "--record", "tape.jsonl"]
        code, live = run_command(options, capsys)
    assert (code, live["finished"], live["provenance"]["model"]) == (0, True, "openai-api/openai/scripted")
    (table,) = live["tables"]
    rows = {f"{row['options']['prompt']}/{row['method']}": row["cells"] for row in table["rows"]}
    assert tuple(rows) == ROWS
    for form in ("eai", "paper-content"):
        greedy, voted = rows[f"{form}/greedy"], rows[f"{form}/ssc"]
        assert (greedy["f1"]["value"], greedy["svr"]["value"], greedy["asked"]["value"]) == (0, 0, 1)
        assert (voted["f1"]["value"], voted["svr"]["value"], voted["asked"]["value"]) == (100, 100, 5)
        assert (voted["svr_samples"]["count"], voted["svr_samples"]["n"]) == (3, 5)
    assert [request["temperature"] for request in erring.requests] == [0, *[0.7] * 5] * 2
    assert len(table["published"]) == 4
    (changes,) = live["derived"]
    assert [row["cells"]["f1"]["value"] for row in changes["rows"]] == [None, None], "of no F1 there is no change"
    assert [round(row["cells"]["f1"]["value"], 1) for row in changes["published"]] == [581.2, 173.9], (
        "as in its Table 1"
    )
    code, again = run_command(["--replies", "tape.jsonl", "--limit", "1"], capsys)
    assert (code, again["provenance"]["replies"]) == (0, ["recorded"])
    assert [row["cells"] for row in again["tables"][0]["rows"]] == [row["cells"] for row in table["rows"]]
    assert again["provenance"]["model"] == "scripted", "whose replies they are"
    for written in Path("logs-results").glob("*.result.json"):
        written.unlink()
    assert command(["eval", "report", "logs", "--out", "page"]) == 0
    page = Path("page/report.md").read_text("utf-8")
    assert page.count("| paper content prompt, SSC | ours |") == 4, "made of logs: two results, each with the changes"


def test_rows_of_a_sweep_are_ours_except_for_five_replies(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedModel(ErringModel()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        asked = ["--model", "openai/scripted", "--prompt", "eai", "--samples", "1,5,7", "--limit", "1"]
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
        code, found = run_command(["--model", "openai/scripted", "--limit", "1"], capsys)
    assert (code, found["finished"], {row["failed"] for row in found["tables"][0]["rows"]}) == (2, False, {1})
    assert found["notes"][0].startswith("4 ended by")
    assert "out of order" in found["notes"][0]


def test_goals_over_http_are_scored_and_a_limit_is_marked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel = tmp_path / "prompts.whl"
    text = "\n".join(part for start, end in GOAL_PARTS.values() for part in (start, "tv, id: 1", end))
    with ZipFile(wheel, "w") as archive:
        archive.writestr(
            EAI_TASKS["goal"].prompt_file,
            json.dumps([{"identifier": one, "llm_prompt": text} for one in goal_interpretation.task_ids()[:2]]),
        )
    none = json.dumps({key: [] for key in ("node goals", "edge goals", "action goals")})
    options = ["--task", "goal", "--model", "openai/scripted", "--limit", "1", "--recordings", str(wheel), "--json"]
    with ScriptedModel(lambda _: none) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "a-key")
        assert command(["eval", "ssc", *options]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["cells"]["svr"]["value"] for row in found["tables"][0]["rows"]] == [100] * 4
    assert (found["tables"][0]["rows"][0]["cells"]["f1"]["value"], len(server.requests)) == (0, 12)
    assert (found["provenance"]["wanted"], found["provenance"]["arguments"]["limit"]) == (4, 1)
    assert command(["eval", "ssc", "--resume", found["provenance"]["log"], "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["finished"]


def test_our_prompts_contain_only_the_task_of_the_original() -> None:
    for task in (EAI_TASKS[name] for name in ("action-sequencing", "subgoal", "transition")):
        eai, ours = load_prompts(task, "eai"), load_prompts(task, "paper-content")
        task_id = next(iter(eai.texts))
        theirs, messages = eai.messages(task_id)[-1].text, ours.messages(task_id)
        has_system = task.name == "subgoal"
        assert [one.role for one in messages] == (["system", "user"] if has_system else ["user"])
        text = "\n".join(one.text for one in messages)
        assert not {"{task}", "{domain}", "%%"} & {*text.split()}
        assert ("proximity" in text.casefold()) is not has_system, "appendix A.2.3 has no such rule"
        assert "State consistency" in text
        for start, end in task.prompt_parts:
            own = theirs[theirs.rindex(start) :].partition(end)[0].strip()
            assert own in messages[-1].text
    with pytest.raises(InputError, match="lacks"):
        own_prompt(EAI_TASKS["transition"], "another text")


def test_missing_prompts_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no prompt"):
        load_prompts(EAI_TASKS["subgoal"], "eai").messages("nothing")
    with pytest.raises(InputError, match="download it again"):
        load_prompts(EAI_TASKS["goal"], "eai", wheel=tmp_path / "missing.whl")


def test_the_goal_prompt_has_the_facts_of_its_task_and_the_papers_parts() -> None:
    facts = {name: f"the {name} of this task" for name in GOAL_PARTS}
    original = "\n".join(part for name, (start, end) in GOAL_PARTS.items() for part in (start, facts[name], end))
    text = own_prompt(EAI_TASKS["goal"], original)
    assert all(text.count(fact) == 1 for fact in facts.values())
    assert "{" + "goal}" not in text
    heads = [line.lstrip("# ") for line in text.splitlines() if line.startswith("#")]
    assert {"Constraints", "How to think", "Checklist", "In three steps", "Format", "Rules of the output"} <= {*heads}


@pytest.mark.parametrize(
    ("task", "start", "examples"),
    [("goal", '{"node', 1), ("action-sequencing", '{\n"WALK', 1), ("subgoal", '{"necessity_to_use_action": "', 2)],
)
def test_examples_in_the_papers_content_satisfy_the_schema(task: TaskName, start: str, examples: int) -> None:
    text = own_prompt(EAI_TASKS[task], _original_of(task))
    found = [f"{start}{part}" for part in text.split(start)[1:]]
    ends = [JSONDecoder(object_pairs_hook=list).raw_decode(one)[1] for one in found]
    assert len(found) == examples
    for one, end in zip(found, ends, strict=True):
        assert EAI_TASKS[task].form(one[:end]) is not None


def _original_of(task: TaskName) -> str:
    if task == "goal":
        return "\n".join(part for start, end in GOAL_PARTS.values() for part in (start, "tv, id: 1", end))
    texts = load_prompts(EAI_TASKS[task], "eai").texts
    return next(iter(texts.values()))


def test_pddl_examples_in_the_papers_content_are_readable() -> None:
    text = own_prompt(EAI_TASKS["transition"], _original_of("transition"))
    example = re.sub(r";.*", "", text.partition("Put together:")[2].partition("# Hints")[0])
    written = [f"(:action{part}".rpartition(")")[0] + ")" for part in example.split("(:action")[1:]]
    found = parse_actions(json.dumps({"output": " ".join(written)}))
    assert found is not None
    assert {*found} == {"store_in", "cover_with", "slide_beside", "listen_to"}
    assert all(action_form(action) is not None for action in found.values())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "--model"),
        (["--model", "m", "--method", "ssc-early"], "ssc-early"),
        (["--model", "m", "--prompt", "structured"], "structured"),
        (["--model", "m", "--task", "cook"], "cook"),
        (["--model", "m", "--task", "subgoal", "--samples", "5,none"], "'none' samples"),
        (["--model", "m", "--task", "subgoal", "--samples", "0"], "give 1 or more"),
        (["--replies", "tape", "--record", "tape"], "records nothing"),
    ],
)
def test_incompatible_options_are_refused(options: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(["eval", "ssc", *options]) == 2
    assert said in capsys.readouterr().err
