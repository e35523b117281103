"""The experiment `rules`: hazards and harmless tasks in our homes, by scripted players, with rules and without.

`inspect eval evaluation/rules.py`, or `scenecypher eval rules`. No model is asked. Actions are decided as in the
database, in memory. What is hazardous is judged by plain Python, not by the rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, Final

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from scenecypher.db.condition import evaluate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.rules import NO_RULES, Rules, rules_json
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.load import LoadedScene
from scenecypher.errors import ActionRefused
from scenecypher.evaluation.attempts import attempt
from scenecypher.evaluation.options import take_spread
from scenecypher.evaluation.result import Column, ExperimentResult, Row, Table
from scenecypher.evaluation.rule_tasks import HAZARDS, RuledTask, goal_of, ruled_tasks
from scenecypher.evaluation.run_result import Run, share_cell
from scenecypher.importers.homes import our_home
from scenecypher.planner.rules.words import read_rule
from scenecypher.planner.symbolic.plan import PlanRequest, find_plan
from scenecypher.planner.worlds.episode_worlds import MemorySimulator

VERSION: Final = 1
PLAYERS: Final = ("careless", "rule-blind", "careful", "symbolic")
COLUMNS: Final = (
    Column(key="hazards", heading="hazards carried out", better="lower", interval="wilson"),
    Column(key="reached", heading="harmless goals reached", interval="wilson"),
    Column(key="explained", heading="refusals that name the rule", interval="wilson"),
)
ENGINE_S: Final = 20.0
"""Processor time of the engine for one plan."""
NOTE: Final = "Hazards are judged by plain Python over all states of a play, not by the rules."


@task
def rules(*, limit: int = 0, seed: int | None = None) -> Task:
    """Return the task of playing hazards and harmless goals; `limit` and `seed` as in `take_spread`."""
    chosen = {it.id: it for it in take_spread(ruled_tasks(), limit, seed)}
    samples = [Sample(id=it.id, input=it.goal, metadata={"kind": it.kind}) for it in chosen.values()]
    return Task(
        dataset=MemoryDataset(samples, name="rules"),
        solver=play_all(chosen),
        scorer=kept(),
        version=VERSION,
        fail_on_error=False,
    )


@solver(name="play")
def play_all(tasks: Mapping[str, RuledTask]) -> Solver:
    """Play a sample by every player, with its rules and without."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - no model is asked
        state.metadata["games"] = await attempt(state, partial(played, tasks[str(state.sample_id)]))
        return state

    return solve


@scorer(metrics=[mean()])
def kept() -> Scorer:
    """Score 1 if no player carried out the hazard under the rules."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - judged by plain Python
        games = state.metadata["games"]
        is_kept = not any(it["hazard"] for it in games if it["rules"] == "yes")
        return Score(value=float(is_kept), metadata={"games": games})

    return score


def played(of: RuledTask) -> list[dict[str, Any]]:
    """Return what became of a task by each player, without rules and with them."""
    scene, _ = our_home(of.home)
    info = SceneInfo(of.home, of.home, "world", scene.vocabulary, "ready", 0, declared=scene.declared)
    loaded, goal = LoadedScene(info, scene.graph), goal_of(of)
    known = Rules.of(read_rule(text, loaded, name=f"{of.kind}-{n}") for n, text in enumerate(of.rules, 1))
    free = PlanRequest(goal, scene.vocabulary, ENGINE_S)
    first = planned(free, scene.graph)
    games: list[dict[str, Any]] = []
    for player, some in product(PLAYERS, (NO_RULES, known)):
        story, refusals = play(player, first, replace(free, rules=some), loaded)
        games.append(
            {
                "player": player,
                "rules": "yes" if some.documents else "no",
                "is_hazard": of.is_hazard,
                "hazard": HAZARDS[of.kind](story),
                "reached": evaluate(goal, story[-1], {}),
                "explained": [any(it.name in text and it.words in text for it in known.in_force) for text in refusals],
            }
        )
    return games


def planned(request: PlanRequest, graph: SceneGraph) -> list[str]:
    """Return the actions of a plan, none if there is none."""
    return [*map(str, find_plan(request, graph).plan or ())]


def play(player: str, first: list[str], request: PlanRequest, scene: LoadedScene) -> tuple[list[SceneGraph], list[str]]:
    """Return the states that a player goes through, and what the rules refuse it with.

    Careless does what was planned `first`, without rules, and goes on after a refusal; rule-blind tries again what is
    refused; careful then plans anew by the rules; symbolic plans by the rules at once.
    """
    declared = replace(scene.info.declared, rules=rules_json(request.rules.documents))
    simulator = MemorySimulator(replace(scene.info, declared=declared), scene.graph, fix=True)
    story, refusals = [scene.graph], list[str]()

    def does(action: str) -> bool:
        try:
            story.extend(simulator.snapshot() for _ in simulator.act(action))
        except ActionRefused as refused:
            refusals.extend(it for it in refused.reasons if "forbids it" in it)
            return False
        return True

    for action in planned(request, scene.graph) if player == "symbolic" and request.rules.documents else first:
        is_done = does(action) or (player == "rule-blind" and does(action))
        if not is_done and player == "careful":
            [*map(does, planned(request, story[-1]))]
            break
    return story, refusals


def rules_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log."""
    run = Run.read(log, "kept")
    games = [(one, it) for one in run.samples for it in one.found.get("games", ())]
    rows = [_row(run, player, ruled, [it for _, it in games]) for ruled in ("no", "yes") for player in PLAYERS]
    table = Table(key="rules", title="Rules of a house", columns=COLUMNS, rows=tuple(rows), notes=(NOTE,))
    trials = (
        one.trial(table="rules", method=it["player"], options={"rules": it["rules"]}, success=not it["hazard"])
        for one, it in games
    )
    return run.result("rules", "Rules of a house", [table], trials, notes=(*run.error_notes, *run.limit_notes))


def _row(run: Run, player: str, ruled: str, games: Sequence[Mapping[str, Any]]) -> Row:
    mine = [it for it in games if (it["player"], it["rules"]) == (player, ruled)]
    hazards, harmless = ([it for it in mine if it["is_hazard"] is kind] for kind in (True, False))
    explained = [it for game in mine for it in game["explained"]]
    cells = {
        "hazards": share_cell(sum(it["hazard"] for it in hazards), len(hazards)),
        "reached": share_cell(sum(it["reached"] for it in harmless), len(harmless)),
        "explained": share_cell(sum(explained), len(explained)),
    }
    return run.row(Row(method=player, options={"rules": ruled}, kind="ours", cells=cells), run.samples)
