"""Goals first beside LookPlanGraph and SG2: ``python -m tests.oracle.compare [TASKS]`` prints the tables.

Scripted models and programs stand in the model's place; instructions are the goals in words. Every robot acts on a
belief that was made before things were moved. TASKS is the number of tasks of each group, spread evenly over it
(0, the default: all). The server is a throw-away one.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import mean
from typing import Final, TypeAlias

from scenecypher.chat.model import Message, Reply, Request, Usage
from scenecypher.evaluation import dynamic
from scenecypher.evaluation.episode import AssignmentCache, EpisodePlan, Trace
from scenecypher.evaluation.playing import play
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.settings import Settings
from tests.oracle import goals, lookplangraph, several, sg2
from tests.server import throwaway_server

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
class Group:
    """Tasks of one table, with their episodes but for the method."""

    title: str
    assignments: AssignmentCache
    episodes: tuple[EpisodePlan, ...]

    def some(self, limit: int) -> tuple[EpisodePlan, ...]:
        """Return `limit` episodes, spread evenly over all (0: all)."""
        every = self.episodes
        wanted = min(limit or len(every), len(every))
        return tuple(every[number * len(every) // wanted] for number in range(wanted))


@dataclass(frozen=True, slots=True)
class Played:
    """One episode: its trace, and whether it was a success."""

    trace: Trace
    success: bool


DYNAMIC: Final = {"virtualhome": "`dynamic`, VirtualHome", "behavior": "`dynamic`, BEHAVIOR"}


def groups() -> Iterator[Group]:
    """Yield the groups of tasks: several goals at once in our homes, then `dynamic`'s tasks, all with moved things."""
    given = several.tasks()
    assignments = AssignmentCache((it.task for it in given), scenes=several.scene, plans={})
    moved = ((it.task.id, it.moved, it.seed) for it in given)
    yield Group("`homes`, three goals at once", assignments, tuple(_episode(*each) for each in moved))
    yield from map(dynamic_group, DYNAMIC)


def dynamic_group(world: str) -> Group:
    """Return the tasks of `dynamic` in a world in which something was moved."""
    found = dynamic.dynamic.plan(data=world, methods="sg2", wording="goal")
    tasks = {each.task: _episode(each.task, each.moved, each.seed) for each in found.episodes() if each.moved}
    return Group(DYNAMIC[world], found.assignments, tuple(tasks.values()))


def _episode(task: str, moved: int, seed: int) -> EpisodePlan:
    return EpisodePlan(group="compare", task=task, wording="goal", belief=True, moved=moved, seed=seed)


def played(pool: WorldPool, group: Group, episode: EpisodePlan, method: str, program: Program) -> Played:
    """Play one episode by `method` (``NAME+ABLATION``), with `program` as its model."""
    name, *ablations = method.split("+")
    plan = episode.model_copy(update={"method": name, "ablations": tuple(ablations)})
    trace = play(pool, group.assignments, plan, model=ProgramModel(program))
    return Played(trace, trace.marks.reached and not trace.infeasible)


def row(method: str, stated: str, group: Sequence[Played]) -> str:
    """Return a row of the table: means over all tasks."""
    figures = (
        str(len(group)),
        str(sum(one.success for one in group)),
        f"{mean(len(one.trace.executed) for one in group):.1f}",
        f"{mean(one.trace.rooms_changed or 0 for one in group):.1f}",
        f"{mean(len(one.trace.rounds) for one in group):.1f}",
        f"{mean(sum(one.trace.rounds) for one in group):,.0f}",
    )
    return f"| `{method}` | {stated} | {' | '.join(figures)} |"


def main(limit: str = "0") -> None:
    """Print the tables, with the failures on stderr."""
    with throwaway_server() as at:
        pool = WorldPool(Settings(neo4j_uri=at.uri, neo4j_username=at.username, neo4j_password=at.password))
        for group in groups():
            sys.stdout.write(f"\n{group.title}\n\n| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}\n")
            for method, programs in ROWS.items():
                for stated, program in programs.items():
                    chosen = group.some(int(limit))
                    found = [played(pool, group, episode, method, program) for episode in chosen]
                    sys.stdout.write(f"{row(method, stated, found)}\n")
                    sys.stdout.flush()
                    sys.stderr.writelines(failures(f"{method}, {stated}", chosen, found))
        pool.close()


def failures(name: str, chosen: Sequence[EpisodePlan], found: Sequence[Played]) -> Iterator[str]:
    """Yield a line for each episode of a row that failed."""
    for episode, one in zip(chosen, found, strict=True):
        if not one.success:
            yield f"{name}: {episode.task}: {one.trace.outcome}: {one.trace.reason}; {one.trace.mistakes}\n"


if __name__ == "__main__":
    main(*sys.argv[1:])
