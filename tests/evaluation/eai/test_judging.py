"""Recorded plans have the same outcomes in the database as in the original's own engine."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Final

import pytest
from inspect_ai.log import read_eval_log

from scenecypher.cli.app import run_command_line as command
from scenecypher.db.condition import evaluate
from scenecypher.db.store.connection import Address
from scenecypher.evaluation.eai.action_sequencing import ActionScorer, met_goals_range
from scenecypher.evaluation.eai.grounding import GroundedStep, Unreadable, ground_plan
from scenecypher.evaluation.eai.published import published_figures, recorded_models
from scenecypher.evaluation.eai.recorded_result import eai_result
from scenecypher.evaluation.eai.recordings import fetch_recordings, read_recordings
from scenecypher.evaluation.eai.subgoal import SubgoalScorer
from scenecypher.evaluation.eai.task_scenes import TaskScenePool
from scenecypher.evaluation.eai.task_table import EAI_TASKS, value_of
from scenecypher.evaluation.eai.tasks import task_goals, task_start
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.importers.eai import package_folder
from scenecypher.importers.virtualhome import packaged_pairs
from scenecypher.importers.virtualhome_tasks import relevant_objects
from scenecypher.settings import Settings
from tests.evaluation.eai.samples import OUTPUTS, Outputs, outputs, wheel_of
from tests.planner.actions.evolving_graph import Engine, line_of

TASKS: Final = ("231_2", "750_2", "211_1", "511_1")
"""Tasks of the sample whose scenes the quick tests import."""
FIGURES: Final = ("parsing", "hallucination", "arguments", "wrong_order", "missing_step", "affordance")
CATEGORIES: Final = {
    "NotParseable": ("parsing",),
    "Hallucination": ("hallucination", "arguments"),
    "Runtime": FIGURES[3:],
    "GoalUnreachable": ("goal_missed",),
    "Correct": ("correct",),
}
"""Outcomes by the original's name."""
ENDS: Final = {
    "claude-3-haiku-20240307": "correct",
    "cohere-command-r": "arguments",
    "cohere-command-r-plus": "affordance",
}


@pytest.fixture
def pool(address: Address, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[WorldPool]:
    for name, value in (("URI", address.uri), ("USERNAME", address.username), ("PASSWORD", address.password)):
        monkeypatch.setenv(f"NEO4J_{name}", value)
    monkeypatch.setenv("NEO4J_DATABASE", address.database)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    found = WorldPool()
    yield found
    found.close()


def judge_with_engine(task_id: str, plan: tuple[GroundedStep, ...]) -> Mapping[str, Any]:
    """Return the judgement by the original's engine, in memory."""
    start = task_start(task_id)
    engine, wanted = Engine(start.graph, pinned=False), task_goals(task_id, start.graph)
    outcome, needless, words = "executed", 0, list[str]()
    for step in plan:
        verdict = engine.step(line_of(step.call.name, step.call.arguments))
        if verdict.feasible:
            words.append(step.word)
        elif verdict.mistake == "additional_step":
            needless += 1
        else:
            outcome = str(verdict.mistake)
            break
    end = engine.graph(start.graph)
    states, relations = ([evaluate(one, end, {}) for one in kind] for kind in (wanted.states, wanted.relations))
    return {
        "outcome": outcome,
        "additional_step": needless,
        "steps": len(words),
        "states": [sum(states), len(states)],
        "relations": [sum(relations), len(relations)],
        "actions": [*met_goals_range(words, wanted.actions), len(wanted.actions)],
    }


def test_plans_end_in_the_database_as_in_the_engine(pool: WorldPool) -> None:
    scorer, outcomes = ActionScorer(pool), set[str]()
    for model, task_id, said in outputs("action-sequencing"):
        if task_id not in TASKS:
            continue
        judged = scorer.score(task_id, said)
        outcomes.add(judged["outcome"])
        plan = ground_plan(said, task_start(task_id).objects)
        if isinstance(plan, Unreadable):
            assert (judged["outcome"], judged["steps"]) == (plan.fault, 0)
        else:
            wanted = judge_with_engine(task_id, plan)
            assert {key: judged[key] for key in wanted} == wanted, (model, task_id)
        assert judged["human"] == (task_id == "511_1")
    assert outcomes == {"executed", *FIGURES}
    assert scorer.score("231_2", None)["outcome"] == "parsing"
    with TaskScenePool(pool).lease("231_2") as (store, scene):
        assert store.load(scene.name).graph == task_start("231_2").graph, "all is taken back, and brought there again"


def test_sub_goals_are_expanded_and_carried_out(pool: WorldPool) -> None:
    scorer, said = SubgoalScorer(pool), OUTPUTS["subgoal"]
    ends = {model: scorer.score("231_2", said[model]["231_2"])["outcome"] for model in ENDS}
    assert ends == ENDS
    held = '{"output": ["INSIDE(plate.1000, sink.42) or ON(x)", "CLEAN(plate.1000)", "ONTOP(plate.1000, plate)"]}'
    assert scorer.score("231_2", held)["outcome"] in {"parsing", *FIGURES}


@pytest.mark.slow
def test_sub_goals_end_as_in_the_original(pool: WorldPool) -> None:
    pytest.importorskip("lark")
    from virtualhome_eval.evaluation.subgoal_decomposition.subgoal_sim_utils import evaluate_task

    folder, scorer = package_folder(), SubgoalScorer(pool)
    where = SimpleNamespace(dataset_dir=str(folder / "dataset"), resource_dir=str(folder / "resources/virtualhome"))
    vocabulary = str(next(folder.rglob("vocabulary.json")))
    for model, task_id, said in outputs("subgoal"):
        kind, *rest = evaluate_task(vocabulary, 1, task_id, said, where)
        judged = scorer.score(task_id, said)
        assert judged["outcome"] in CATEGORIES[kind], (model, task_id, kind)
        if isinstance(counts := rest[-1], dict) and "node_tot_num" in counts:
            met = [judged[key] for key in ("states", "relations", "actions")]
            assert met == [
                [counts[f"{key}_success_num"], counts[f"{key}_tot_num"]] for key in ("node", "edge", "action")
            ]


def test_the_command_prints_published_beside_re_scored(
    pool: WorldPool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said: Outputs = {"action-sequencing": {"mistral-large-2402": {"231_2": '{"WALK": ["plate"]}', "27_2": "{}"}}}
    wheel = str(wheel_of(said, tmp_path / "some.whl"))
    asked = ["--task", "action-sequencing", "--limit", "2", "--recordings", wheel, "--log-dir", str(tmp_path)]
    assert command(["eval", "eai", "--recorded", *asked, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    row = found["tables"][0]["rows"][0]
    assert (found["finished"], found["provenance"]["replies"], row["method"]) == (
        True,
        ["recorded"],
        "mistral-large-2402",
    )
    assert (row["cells"]["executed.published"]["value"], row["cells"]["executed"]["n"]) == (83.6, 2)
    assert found["tables"][1]["rows"][0]["cells"]["parsing"]["count"] == 2, "one is missing, one is empty"
    log = read_eval_log(found["provenance"]["log"])
    cut = log.model_copy(update={"status": "cancelled", "samples": (log.samples or [])[:1]})
    assert not eai_result(cut).finished, "a run that did not finish says so"


def test_invalid_options_are_refused_with_advice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel = str(wheel_of({"action-sequencing": {"one": {"27_2": "{}"}}}, tmp_path / "one.whl"))
    assert command(["eval", "eai"]) == 2
    assert "--recorded" in capsys.readouterr().err
    assert command(["eval", "eai", "--recorded", "--task", "sub-goal", "--recordings", wheel]) == 2
    assert "did you mean 'subgoal'" in capsys.readouterr().err
    assert command(["eval", "eai", "--recorded", "--model", "two", "--recordings", wheel]) == 2
    assert "there are one" in capsys.readouterr().err


def test_the_relevant_objects_are_those_of_the_importer() -> None:
    for task_id in TASKS[:2]:
        pair, objects = next(packaged_pairs(task_id)), task_start(task_id).objects
        assert {node for found in objects.values() for node in found.values()} == {*relevant_objects(pair)}


@pytest.mark.slow
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("model", recorded_models())
def test_every_model_has_the_published_figures(pool: WorldPool, model: str) -> None:
    wheel = fetch_recordings(Settings().home, tell=lambda _: None)
    said, scorer = (
        {one.task_id: one.output for one in read_recordings("action-sequencing", wheel)[model]},
        ActionScorer(pool),
    )
    task = EAI_TASKS["action-sequencing"]
    figures = scorer.figures([scorer.score(one, said.get(one)) for one in scorer.task_ids()])
    wanted = published_figures(model, task)
    assert figures["executed"].value == pytest.approx(wanted["esr"], abs=0.5)
    low, high = value_of(figures["success_least"]), value_of(figures["success_most"])
    assert low - 0.5 <= wanted["tsr"] <= high + 0.5
    for name in FIGURES:
        assert figures[name].value == pytest.approx(wanted[task.published[name]], abs=0.5), name
