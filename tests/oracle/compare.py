"""Goals first beside LookPlanGraph and SG2: ``python -m tests.oracle.compare [TASKS]`` prints the table.

Scripted models and programs stand in the model's place; instructions are the goals in words. TASKS is the number of
tasks of each group, spread evenly over it (0, the default: all).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Final, TypeAlias

from scenecypher.chat.model import Message, Reply, Request, Usage
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.evaluation import dynamic, household
from scenecypher.evaluation.episode import EpisodePlan, Trace
from scenecypher.evaluation.experiment import Experiment
from scenecypher.evaluation.playing import play
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.pddl_planner import planning_state
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.prompts.layout import SceneLayout
from tests.oracle import goals, lookplangraph, sg2

Program: TypeAlias = Callable[[Sequence[Message]], str]


def _looking(messages: Sequence[Message]) -> str:
    return lookplangraph.reply(messages[0].text, messages[-1].text)


STATED: Final[Mapping[str, Program]] = {name: partial(goals.reply, name) for name in goals.GOALS}
ROWS: Final[Mapping[str, Mapping[str, Program]]] = {
    "lookplangraph": {"oracle": _looking},
    "sg2": {"oracle": sg2.reply},
    "goal-then-plan": {"right": STATED["right"]},
    "explore-then-plan": STATED,
    "explore-then-plan+usual-places": {"right": STATED["right"]},
}
"""Programs by the method that they are asked by."""
COLUMNS: Final = ("method", "goals", "tasks", "success", "actions", "rooms changed", "calls", "tokens")


@dataclass(frozen=True, slots=True)
class ProgramModel:
    """Program as a model; its tokens are estimated at four characters each."""

    program: Program

    def reply(self, request: Request) -> Reply:
        """Return the program's reply."""
        text = self.program(request.messages)
        prompt = sum(len(message.text) for message in request.messages)
        return Reply(text, Usage(prompt // 4, len(text) // 4), "program", source="scripted")


@dataclass(frozen=True, slots=True)
class Played:
    """One episode: its trace, whether it was a success, and the number of times that the agent changed rooms."""

    trace: Trace
    success: bool
    rooms: int


def experiments(method: str) -> Iterator[tuple[str, Experiment]]:
    """Yield the groups of tasks."""
    yield "homes", household.plan_experiment(methods=method, wording="goal")
    for world, title in (("virtualhome", "`dynamic`, VirtualHome"), ("behavior", "`dynamic`, BEHAVIOR")):
        seen = f"{method}-gt" if method == "lookplangraph" else method
        yield title, dynamic.plan_experiment(data=world, methods=seen, wording="goal")


def episodes(found: Experiment, limit: int = 0) -> list[EpisodePlan]:
    """Return each task's episode once, under a belief; `limit` of them are spread evenly over all (0: all)."""
    by_task = {episode.task: episode.model_copy(update={"belief": True}) for episode in found.episodes()}
    every = [*by_task.values()]
    return [every[number * len(every) // limit] for number in range(min(limit, len(every)))] if limit else every


def played(pool: WorldPool, found: Experiment, episode: EpisodePlan, program: Program) -> Played:
    """Play one episode."""
    trace = play(pool, found.assignments, episode, model=ProgramModel(program))
    given = found.assignments.of(episode)
    rooms = rooms_changed(given.initial, given.scene.vocabulary, trace.executed)
    return Played(trace, trace.marks.reached and not trace.infeasible, rooms)


def rooms_changed(graph: SceneGraph, vocabulary: str, actions: Sequence[str]) -> int:
    """Return how often the agent was in another room after an action."""
    state = planning_state(graph, vocabulary)
    assert state is not None
    changes, here = 0, SceneLayout(graph, vocabulary).here
    for action in actions:
        try:
            state = state.after(parse_action(action))
        except Infeasible:
            continue
        there = SceneLayout(state.graph, vocabulary).here
        changes, here = changes + (there != here), there
    return changes


def row(method: str, stated: str, group: Sequence[Played]) -> str:
    """Return a row of the table: means over all tasks."""
    figures = (
        str(len(group)),
        str(sum(one.success for one in group)),
        f"{mean(len(one.trace.executed) for one in group):.1f}",
        f"{mean(one.rooms for one in group):.1f}",
        f"{mean(len(one.trace.rounds) for one in group):.1f}",
        f"{mean(sum(one.trace.rounds) for one in group):,.0f}",
    )
    return f"| `{method}` | {stated} | {' | '.join(figures)} |"


def main(limit: str = "0") -> None:
    """Print the tables, with the failures on stderr."""
    pool = WorldPool()
    for title in dict(experiments("sg2")):
        sys.stdout.write(f"\n{title}\n\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n")
        for method, programs in ROWS.items():
            found = dict(experiments(method))[title]
            chosen = episodes(found, int(limit))
            for stated, program in programs.items():
                group = [played(pool, found, episode, program) for episode in chosen]
                sys.stdout.write(f"{row(method, stated, group)}\n")
                sys.stdout.flush()
                for one, episode in zip(group, chosen, strict=True):
                    if not one.success:
                        told = f"{one.trace.outcome}: {one.trace.reason}; {one.trace.mistakes}"
                        sys.stderr.write(f"{method}, {stated}: {episode.task}: {told}\n")
    pool.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
