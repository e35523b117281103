"""`scenecypher plan`: a task in words, carried out step by step."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scenecypher.cli.context import open_gate, open_model, open_store
from scenecypher.cli.scenes import AsJson, Name
from scenecypher.cli.session_view import show
from scenecypher.errors import InputError

if TYPE_CHECKING:
    from chat.model import Model
    from db.catalog import SceneInfo
    from db.store import SceneStore
    from importers.task import Task
    from planner.actions.simulator import Simulator
    from planner.events import Event
    from planner.session import Budget

STEPS = 30
SPARE_STEPS = 10
"""Decisions beyond the actions that a task grants: to say that all is done, and to plan anew."""


def plan(
    scene: Name,
    instruction: Annotated[
        str | None, typer.Argument(metavar="INSTRUCTION", help="What shall be done, in words; else a --task.")
    ] = None,
    *,
    task: Annotated[
        str | None, typer.Option("--task", metavar="ID", help="A task of a data set, as `tasks list` shows it.")
    ] = None,
    method: Annotated[
        str, typer.Option("--method", "-m", help="How decisions are made; symbolic takes a --task and no model.")
    ] = "stepwise",
    max_steps: Annotated[
        int | None, typer.Option("--max-steps", min=1, help="Decisions at most; else 30, or what the task grants.")
    ] = None,
    max_tokens: Annotated[int | None, typer.Option("--max-tokens", min=1, help="Tokens at most.")] = None,
    max_seconds: Annotated[float | None, typer.Option("--max-seconds", min=0, help="Seconds at most.")] = None,
    fix: Annotated[bool, typer.Option("--fix/--no-fix", help="First do what stands in the way, by rule.")] = True,
    reprompt: Annotated[
        bool, typer.Option("--reprompt/--no-reprompt", help="Tell the model why an action is infeasible.")
    ] = True,
    belief: Annotated[
        bool,
        typer.Option("--belief", help="Decide by SCENE@belief, made where absent: what was seen, and what may be."),
    ] = False,
    log: Annotated[Path | None, typer.Option("--log", metavar="FILE", help="Write each event as a JSON line.")] = None,
    as_json: AsJson = False,
) -> None:
    """Carry out a task: a model decides each step, each action is checked and committed (exit code 1: not reached)."""
    from planner.methods.symbolic import NAME as SYMBOLIC
    from planner.session import Budget

    if (instruction is None) == (task is None):
        raise InputError("give either an INSTRUCTION in words or the --task of a data set")
    if belief and method == SYMBOLIC:
        raise InputError("the method symbolic plans on the world as it is; leave out --belief")
    known = _task(task) if task is not None else None
    steps = max_steps or (known.budget + SPARE_STEPS if known else STEPS)
    budget = Budget(steps, tokens=max_tokens, seconds=max_seconds)
    model = None if method == SYMBOLIC else open_model()
    with open_store() as store:
        info = store.find(scene)
        if model is None:
            events = symbolic_events(store, info, _with_goal(known), budget=budget)
        else:
            words_ = instruction or (known.instruction if known else "")
            simulator = _simulator(store, info, actor=method, fix=fix, belief=belief)
            events = session_events(
                store, simulator, words_, model=model, method=method, budget=budget, reprompt=reprompt
            )
        end = show(_logged(events, log), as_json=as_json)
    if end.outcome != "done":
        raise typer.Exit(1)


def _task(task_id: str) -> Task:
    from importers import datasets

    return datasets.task(task_id)[1]


def _with_goal(task: Task | None) -> Task:
    if task is None or not task.has_graph_goal:
        raise InputError("the method symbolic needs a goal that the graph can meet: give a --task that has one")
    return task


def symbolic_events(store: SceneStore, scene: SceneInfo, task: Task, *, budget: Budget) -> Iterator[Event]:
    """A session without a model: a plan for the task's goal on the graph, carried out. Raises InputError."""
    from planner.actions.pddl_engine import check_installed
    from planner.actions.pddl_planner import PLAN_TIMEOUT_S, Question
    from planner.actions.simulator import Simulator
    from planner.method import Memory
    from planner.methods.symbolic import NAME, NoAsker, symbolic
    from planner.session import Session

    check_installed()
    question = Question(task.goal, scene.vocabulary, timeout_s=budget.seconds or PLAN_TIMEOUT_S)
    method = symbolic(store.database, scene, question)
    session = Session(method, Simulator(store, scene, actor=NAME), NoAsker(), budget=budget)
    return session.run(Memory(task.instruction, "", ""))


def _simulator(store: SceneStore, scene: SceneInfo, *, actor: str, fix: bool, belief: bool) -> Simulator:
    """What acts on the scene: directly, or by what is believed of it."""
    from planner.actions.simulator import Simulator
    from planner.belief import belief_of
    from planner.believing import Believing
    from planner.environment import SceneEnvironment

    if not belief:
        return Simulator(store, scene, actor=actor, fix=fix)
    world = SceneEnvironment(store, scene, actor=actor)
    return Believing(store, belief_of(store, scene), world=world, actor=actor, fix=fix)


def session_events(
    store: SceneStore,
    simulator: Simulator,
    instruction: str,
    *,
    model: Model,
    method: str = "stepwise",
    budget: Budget,
    reprompt: bool = True,
) -> Iterator[Event]:
    """A session, from the parts that a command has; `simulator` acts. Raises InputError for an unknown method."""
    from db.enumerate import Enumerator
    from planner.actions.vocabularies import action_list
    from planner.method import Memory
    from planner.methods import method_named
    from planner.session import Session
    from retriever.retriever import Retriever
    from retriever.schema_text import schema_text

    scene, enumerator = simulator.scene, Enumerator(store.database)
    schema = schema_text(enumerator.of(scene), instruction, vocabulary=scene.vocabulary)
    asker = Retriever(model, open_gate(store), enumerator)
    session = Session(method_named(method, model), simulator, asker, budget=budget, reprompt=reprompt)
    return session.run(Memory(instruction, action_list(simulator.operators, simulator.macros), schema))


def _logged(events: Iterable[Event], file: Path | None) -> Iterator[Event]:
    from planner.events import event_document

    try:
        opened = file.open("w", encoding="utf-8") if file else nullcontext()
    except OSError as error:
        msg = f"{file}: can't be written ({error.strerror}); choose another file"
        raise InputError(msg) from error
    with opened as log:
        for event in events:
            if log is not None:
                log.write(json.dumps(event_document(event), ensure_ascii=False) + "\n")
                log.flush()
            yield event
