"""The question set, and histories that it asks about: days in our homes, made of tasks, reference plans and undos."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, Literal, TypeAlias, get_args

from scenecypher.chat.model import Usage
from scenecypher.db.graph.delta import Delta, apply, diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo, lookup_scene
from scenecypher.db.store.history import Event, declare_times, plan_undo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, RejectedError, did_you_mean
from scenecypher.evaluation.published import data_lines, data_table
from scenecypher.evaluation.result import Document
from scenecypher.importers.datasets import dataset, reference_plan
from scenecypher.importers.homes import our_home
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.sessions.events import Acted, Began, Finished, Refused
from scenecypher.planner.sessions.recording import RunRecorder
from scenecypher.planner.symbolic.states import apply_call
from scenecypher.planner.vocabularies.vocabulary import operators_of

PREFIX: Final = "memory/"
"""Beginning of the names of histories' scenes in the set of questions."""
MINUTE: Final = timedelta(minutes=1)
PAUSE: Final = timedelta(minutes=20)
ALL_BACK: Final = "all back"
"""The step that takes back everything so far, in place of a task."""
UNDO: Final = "undo"
"""The step that takes back the last action in effect."""
METHOD: Final = "reference-plan"


@dataclass(frozen=True, slots=True)
class History:
    """A day in one of our homes: what is done in turn, by whom. An action takes a minute; each step ends with a pause.

    A step is an actor and a task of the home, UNDO or ALL_BACK.
    """

    home: str
    start: datetime
    steps: Sequence[tuple[str, str]]


HISTORIES: Final[Mapping[str, History]] = {
    name: History(day["home"], day["start"], day["steps"]) for name, day in data_table("histories").items()
}


@dataclass(frozen=True, slots=True)
class Errand:
    """A task of a history: what `actor` was asked to do, beginning at `version`, and what was tried for it.

    Of each action tried there is the version that it led to, or why it was refused.
    """

    actor: str
    instruction: str
    version: int
    tried: tuple[tuple[str, int | None, str], ...]


@dataclass(frozen=True, slots=True)
class Day:
    """A history as it was played in memory: events, the graph at each version from 0 on, and errands in turn."""

    start: datetime
    events: tuple[Event, ...]
    graphs: tuple[SceneGraph, ...]
    errands: tuple[Errand, ...]


@cache
def played(name: str) -> Day:
    """Return a history, played in memory; actions whose precondition does not hold are refused. Raises InputError."""
    if name not in HISTORIES:
        hint = did_you_mean(name[:60], tuple(HISTORIES))
        raise InputError(f"there is no history {name[:60]!r}{hint}")
    history = HISTORIES[name]
    scene, tasks = our_home(history.home)
    instructions = {task.id: task.instruction for task in tasks}
    events: list[Event] = []
    errands: list[Errand] = []
    graphs, time = [scene.graph], history.start
    for actor, what in history.steps:
        before, tried = len(events), list[tuple[str, int | None, str]]()
        for event, refusal in _attempts(history.home, what, graphs[-1], events, scene.vocabulary):
            version = len(events) + 1
            tried.append((event.action, None if refusal else version, refusal))
            if not refusal:
                time += MINUTE
                action_id = f"{name}-{version}"
                events.append(replace(event, version=version, at=time, actor=actor, action_id=action_id, clock=time))
                graphs.append(apply(graphs[-1], event.delta))
        if what in instructions:
            errands.append(Errand(actor, instructions[what], before, tuple(tried)))
        time += PAUSE
    return Day(history.start, tuple(events), tuple(graphs), tuple(errands))


def _attempts(
    home: str, what: str, graph: SceneGraph, events: list[Event], vocabulary: str
) -> Iterator[tuple[Event, str]]:
    """Yield the events of one step, without who and when, each with the reason if it was refused."""
    at = datetime(2000, 1, 1, tzinfo=UTC)
    if what in {UNDO, ALL_BACK}:
        revert = plan_undo(reversed(events), to=0 if what == ALL_BACK else None)
        yield Event(0, at, "", revert.action, "", "undo", revert.undoes, revert.delta), ""
        return
    operators, agent = operators_of(vocabulary), min(graph.by_kind["Agent"])
    for text in reference_plan(f"homes/{home}/{what}"):
        try:
            after = apply_call(parse_action(text), graph, operators=operators, agent=agent)
        except RejectedError as error:
            yield Event(0, at, "", text, "", "act", (), Delta()), str(error)
            continue
        yield Event(0, at, "", text, "", "act", (), diff(graph, after)), ""
        graph = after


def play(store: SceneStore, name: str, to: str) -> SceneInfo:
    """Play a history in the scene `to`, with its times as the scene's clock and its errands as runs.

    If the scene already contains the history, nothing is done. Raises InputError for an unknown history.
    """
    day = played(name)
    known = lookup_scene(store.database, to)
    if known is not None and known.version == len(day.events):
        return known
    if known is not None:
        store.delete(to)
    store.put(replace(our_home(HISTORIES[name].home)[0], name=to))
    info = store.find(to)
    for event in day.events:
        if event.kind == "undo":
            store.undo(info, to=0 if len(event.undoes) > 1 else None, actor=event.actor)
        else:
            store.commit(info, event.delta, actor=event.actor, action=event.action, action_id=event.action_id)
    declare_times(store.database, info, day.start, {event.version: event.at for event in day.events})
    for errand in day.errands:
        recorder = RunRecorder(store.database, info, "plan")
        recorder.add(Began(info.name, METHOD, (), errand.instruction, "", errand.actor, errand.version))
        for step, (action, version, refusal) in enumerate(errand.tried, 1):
            refused = Refused(step, action, "missing", (refusal,))
            recorder.add(refused if version is None else Acted(step, action, version, 1))
        done = [version for _, version, _ in errand.tried if version]
        recorder.add(Finished("done", "", len(errand.tried), len(done), Usage(), 0.0))
    return store.find(to)


Kind: TypeAlias = Literal[
    "lookup", "count", "multi-hop", "state", "negation", "superlative", "path", "comparison", "yes/no", "unanswerable"
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
MemoryKind: TypeAlias = Literal[
    "as of",
    "who",
    "when",
    "before",
    "between",
    "untouched",
    "how often",
    "how long",
    "order",
    "undone",
    "was it so",
    "last",
    "why",
    "refused",
]
MEMORY_KINDS: Final[tuple[MemoryKind, ...]] = get_args(MemoryKind)
DATA: Final = ("virtualhome", "babyai", "grasif")
ALL: Final = "all"
MEMORY: Final = "memory"
"""The set about what happened in histories (`scenecypher.evaluation.histories`), which ALL leaves out."""


class GoldQuestion(Document):
    """Line of a file of the set.

    `scene` is a data set's name and an id there, such as ``eai/963_2``. `rows` are the gold rows, in any order; there
    are none if the scene can't answer. `cypher` is a query that returns exactly these rows.
    """

    id: str
    data: str
    scene: str
    kind: Kind | MemoryKind
    question: str
    rows: list[list[Any]]
    cypher: str


def load_questions(data: str = ALL) -> tuple[GoldQuestion, ...]:
    """Return the questions of one of DATA, all of them, or those of MEMORY. Raises InputError."""
    if data == MEMORY:
        return data_lines(f"questions/{MEMORY}", GoldQuestion)
    if data != ALL and data not in DATA:
        hint = did_you_mean(data[:60], (ALL, *DATA)) or f"; there are {', '.join((ALL, *DATA))}"
        raise InputError(f"there are no questions about {data[:60]!r}{hint}")
    return tuple(
        question for name in DATA if data in {ALL, name} for question in data_lines(f"questions/{name}", GoldQuestion)
    )


def load_question_scene(scene: str) -> ImportedScene:
    """Return a scene as its importer makes it. Raises InputError, with installation help, if its source is missing."""
    name, _, within = scene.partition("/")
    return next(dataset(name).scenes(within or None))
