"""Page of the data sets, counted, beside the papers' figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from scenecypher.db.condition import evaluate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.importers.babyai_grid import ROOT
from scenecypher.importers.datasets import DATASETS, NONE, Dataset, ReadGraph, reference_plans
from scenecypher.importers.task import Task

UNPLANNED: Final[Mapping[str, str]] = {
    "behavior-1k/stacking_wood": "its goal contradicts itself: six logs, each on the table or on a log, but exactly "
    "two on the table and exactly two on logs",
    "behavior-1k/sorting_books_on_shelf": "seven books that lie on one another at the start and may do so at the end: "
    "too many ways to lay them for the planner that made the reference plans; `symbolic` plans it now",
}
"""Tasks of the GraSIF form without a reference plan, with the reasons."""

HEAD: Final = """\
# Data sets and tasks

A data set has scenes and tasks. Those that come with SceneCypher or are read from public packages are counted here,
beside the papers' figures (`python -m docs.generate datasets` makes this page in some minutes; a test compares the
two).

One command imports a data set; `--only ID` imports the scene of one task, `--dry-run` counts and writes nothing:

```console
$ scenecypher import grasif --subset sayplan-office
grasif/sayplan-office: created, 203 nodes, 166 relations
$ scenecypher import grasif --subset our-office
grasif/our-office: created, 213 nodes, 206 relations
$ scenecypher import homes
homes/apartment: created, 115 nodes, 583 relations
homes/cottage: created, 115 nodes, 467 relations
2 scenes imported; 0 failed
$ scenecypher import grasif --subset behavior-1k --only raking_leaves
grasif/behavior-1k/raking_leaves: created, ...
$ scenecypher import grasif --subset robothow --only 8_1
grasif/robothow/8_1: created, 196 nodes, 192 relations
$ scenecypher import virtualhome --only 963_2
virtualhome/963_2: ..., 283 nodes, 5,674 relations
$ scenecypher import babyai --level trv1 --seed 7
babyai/trv1/7: created, ...
```

## Tasks

A task is an instruction, its initial scene, and a test of success. The goal is a condition on the graph; some tasks
of VirtualHome also require actions ("grab, then wash or rinse"), and BabyAI's questions have an answer instead. Ids
begin with the data set's name.

```console
$ scenecypher tasks list --dataset eai --category "Wash clothes"
task  goal  scene  instruction
...
eai: 4 tasks, 4 graph
$ scenecypher tasks show eai/27_2
eai/27_2  Walk to the kitchen and find the basket of clothes. ...
  scene: virtualhome/27_2
  import: scenecypher import virtualhome --only 27_2
...
```

`tasks list` without `--dataset` lists all installed data sets; `--goal actions` and `--about soap` filter the tasks.

`check` evaluates the goal. If the task is not done, it prints the missing conditions, and the exit code is 1:

```console
$ scenecypher import virtualhome --only 27_2 --final
...
2 scenes imported; 0 failed
```

<!-- exits 1 -->
```console
$ scenecypher tasks check eai/27_2
eai/27_2: not done in virtualhome/27_2, version 0
  missing: washing_machine_1001 is not on
  missing: clothes_jacket_1003 is not on washing_machine_1001
  missing: soap_1002 is not on washing_machine_1001
```

Any scene can be checked, here the home after the recorded program:

```console
$ scenecypher tasks check eai/27_2 virtualhome/27_2@final
eai/27_2: done in virtualhome/27_2@final, version 0
```

Action goals are checked on the scene's history, in order; undone actions do not count.

A GraSIF file of your own may hold tasks beside its scene; `--file` reads them, by their ids:

<!-- shown: needs a file -->
```sh
scenecypher import grasif kitchen.json
scenecypher tasks check serve_breakfast --file kitchen.json
```

`scenes diff` compares two scenes:

```console
$ scenecypher scenes diff virtualhome/27_2 virtualhome/27_2@final
...
+ soap_1002 ON washing_machine_1001
...
22 changes
```

`scenes diff NAME@3` compares version 3 with now, `NAME@3 NAME@7` two versions ([past](past.md)), and
`NAME --replaced` a scene with the generation that a later import replaced, until `db clean` collects it.

## Sizes

Rooms and nodes are means a scene; nodes count rooms and the agent. Actions are the mean of the reference plans.

| data set | tasks | paper | scenes | rooms | paper | nodes | paper | actions | paper |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
"""

PLANS_HEAD: Final = """
A reference plan is the shortest that was found for a task, by [symbolic planning](acting.md#without-a-model) and A*,
without needless actions; the operators carried out each, and it reaches the goal. The plans come with the package
(`importers/data/reference_plans.jsonl`; `python -m scenecypher.planner.symbolic.reference` finds them anew). A plan's
end is the goal graph of LookPlanGraph's average plan precision. Tasks without a plan:

"""

DIFFERENCES: Final = """
Differences and their reasons:

"""

GOALS_HEAD: Final = """
## Goals

A task is done when its goal holds of the graph, when its actions were executed, when both hold, or when its question
is answered. No graph goal holds at the start. If a source has the graph after its recorded program, the goal holds of
that graph.

| data set | graph | graph and actions | actions | question | false at the start | true after the program |
|---|--:|--:|--:|--:|--:|--:|
"""

TAIL: Final = """
## GraSIF's parts

GraSIF's own files can't be shipped, so its three parts are rebuilt. BEHAVIOR-1K's goals are those of its definitions,
with instructions of ours. A scene of RobotHow is the home before a recorded program, in GraSIF's terms: rooms, assets
and objects (what can be grabbed is an object), without floors, walls, ceilings and doors, and with one relation a
node:

- an asset and the agent are in their room, whatever else they are on or in;
- an object is held, else inside what is no room, else on something, else in the room. Of several things that it is
  on, it is on the one that lies on another: the mouse is on the mouse pad, not on the desk.

Its goal is what the program changed of the nodes that it names; of a program that only walks, the room that the robot
ends in. If VirtualHome lays clothes *on* a washing machine, so does the goal. The instruction says all of it, in our
words.

## Your own homes

`scenecypher import homes FOLDER` reads a folder with `graph.json`, an environment graph of VirtualHome, and
`tasks.json`: a title and tasks, each with an id, an instruction and a goal as a list of desired states, such as
`plum INSIDE garbagecan` or `breadslice HEATED`. A word is a node's id or a class; a class of several nodes stands for
any one of them, the same in all states of the goal. Tasks that are examples say so and bring a program;
`eval household` shows those of the folder's next home. HEATED and WASHED are what a closed microwave or toaster, and
a closed dishwasher, that is switched on gives to what is in it.
"""


@dataclass(slots=True)
class DatasetCounts:
    """The counts of a data set."""

    scenes: int = 0
    rooms: int = 0
    nodes: int = 0
    goals: Counter[str] = field(default_factory=Counter)
    false_at_start: int = 0
    true_at_end: int | None = None


@dataclass(frozen=True, slots=True)
class PageRows:
    """A data set's rows in the table of sizes and in that of goals."""

    sizes: str
    goals: str


def count_dataset(dataset: Dataset) -> DatasetCounts:
    """Return the counts of a data set, reading each scene once. Raises InputError if its source is not installed."""
    counts = DatasetCounts()
    tasks: dict[str, list[Task]] = {}
    for task in dataset.tasks():
        counts.goals[task.goal_kind] += 1
        tasks.setdefault(task.scene, []).append(task)
    for scene in dataset.scenes():
        counts.scenes += 1
        counts.nodes += len(scene.graph.nodes)
        counts.rooms += sum(scene.graph.nodes[place].class_ != ROOT for place in scene.graph.by_kind.get("Place", ()))
        counts.false_at_start += sum(_is_goal_of(task, scene.graph, value=False) for task in tasks.get(scene.name, ()))
    read = dataset.read_final_graph
    if read is not None:
        counts.true_at_end = sum(_is_true_at_end(task, dataset, read) for each in tasks.values() for task in each)
    return counts


def rows_of(dataset: Dataset) -> PageRows:
    """Return the rows of a data set. Raises InputError if its source is not installed."""
    counts = count_dataset(dataset)
    published = dataset.published
    total, scenes = counts.goals.total(), counts.scenes
    sizes = (
        *(dataset.name, f"{total}", published.tasks),
        *(f"{scenes}", _mean(counts.rooms, scenes), published.rooms),
        *(_mean(counts.nodes, scenes), published.nodes),
        *(mean_actions(dataset.name), published.actions),
    )
    kinds = (f"{counts.goals[kind] or NONE}" for kind in ("graph", "both", "actions", "question"))
    end = NONE if counts.true_at_end is None else f"{counts.true_at_end}"
    goals = (dataset.name, *kinds, f"{counts.false_at_start or NONE}", end)
    return PageRows(_line(sizes), _line(goals))


def all_rows() -> Mapping[str, PageRows]:
    """Return the rows of every data set; takes some minutes."""
    return {name: rows_of(dataset) for name, dataset in DATASETS.items()}


def page(rows: Mapping[str, PageRows]) -> str:
    """Return the whole page, with the rows of each data set."""
    return "".join(
        (
            HEAD,
            *(rows[name].sizes for name in DATASETS),
            PLANS_HEAD,
            *(f"- **{task_id}**: {why}.\n" for task_id, why in UNPLANNED.items()),
            DIFFERENCES,
            *_differences(),
            GOALS_HEAD,
            *(rows[name].goals for name in DATASETS),
            TAIL,
        )
    )


def mean_actions(name: str) -> str:
    """Return the mean length of a data set's reference plans, or a dash."""
    plans = [plan for task_id, plan in reference_plans().items() if task_id.startswith(f"{name}/")]
    return _mean(sum(map(len, plans)), len(plans)) if plans else NONE


def _differences() -> Iterator[str]:
    for name, row in DATASETS.items():
        told = row.published.difference
        yield f"- **{name}**: {row.title}; {told}.\n" if told else f"- **{name}**\n"


def _is_goal_of(task: Task, graph: SceneGraph, *, value: bool) -> bool:
    return task.has_graph_goal and evaluate(task.goal, graph, {}) is value


def _is_true_at_end(task: Task, dataset: Dataset, read_final_graph: ReadGraph) -> bool:
    within = task.id.removeprefix(f"{dataset.name}/")
    return _is_goal_of(task, read_final_graph(within), value=True)


def _mean(total: int, number: int) -> str:
    return f"{total / number:.2f}".rstrip("0").rstrip(".")


def _line(cells: tuple[str, ...]) -> str:
    return f"| {' | '.join(cells)} |\n"
