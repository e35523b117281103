"""Play one episode on a leased copy of its scene, reduce the session's events to a trace, and mark the final state.

The token cost of showing a whole scene is that of its text, and of the prompt of chain-of-thought prompting (SG2,
"Analysis on the Computational Cost"; SG-RwR, appendix E).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, get_args

from scenecypher.chat.model import Model, Reply, Request
from scenecypher.db.graph.delta import Delta, apply, compose
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.errors import ActionRefused
from scenecypher.evaluation.episode import SPARE_STEPS, Assignment, AssignmentCache, EpisodePlan, Trace, uses_belief
from scenecypher.evaluation.marking import Marks, is_same_answer, mark_graph, named_in
from scenecypher.evaluation.replies import MeteredModel
from scenecypher.evaluation.stated_tasks import STATED_TASKS, UNCLEAR_TASKS, ScriptedGoals, ScriptedPerson
from scenecypher.evaluation.views import FolderCamera
from scenecypher.evaluation.world_pool import World, WorldPool
from scenecypher.importers.babyai import answer_fault
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.methods.baselines.pddl_problems import MistakeKind
from scenecypher.planner.perception.naming import known_node_reader
from scenecypher.planner.perception.truth import NoisyObserver
from scenecypher.planner.perception.vision import VisionObserver
from scenecypher.planner.prompts.layout import SceneLayout
from scenecypher.planner.sessions.budget import Budget, MeteredVisionModel
from scenecypher.planner.sessions.events import (
    Acted,
    Answered,
    Asked,
    Cause,
    Corrected,
    Event,
    Finished,
    Refused,
    Remembered,
    Retrieved,
    Solved,
)
from scenecypher.planner.sessions.recording import RunRecorder
from scenecypher.planner.sessions.setup import NoModel, SessionSetting, has_belief, prepare_session
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named
from scenecypher.planner.worlds.belief import find_or_create_belief
from scenecypher.planner.worlds.environment import Environment, ObservedWorld, SceneEnvironment
from scenecypher.planner.worlds.human import HumanEnvironment, ask_person
from scenecypher.planner.worlds.minigrid import Executor
from scenecypher.retriever.graph_api import graph_text
from scenecypher.retriever.retrieval import SceneReader

CHARACTERS_PER_TOKEN: Final = 4
COT: Final = "cot"


def prompt_sizes(setting: SessionSetting) -> dict[str, Any]:
    """Measure the tokens of the setting's scene as text in its current state, and of the first CoT prompt of it."""
    reader = SceneReader(setting.gate, Enumerator(setting.store.replicas), setting.scene)
    text, _version = graph_text(reader)
    return {"graph_tokens": len(text) // CHARACTERS_PER_TOKEN, "cot_tokens": _cot_tokens(setting)}


class _PromptShown(Exception):
    """A prompt, in place of a reply to it."""


class _PromptReader:
    """Model that tells its prompt and never replies."""

    def reply(self, request: Request) -> Reply:
        """Raise _PromptShown with the request's texts."""
        raise _PromptShown("".join(message.text for message in request.messages))


def _cot_tokens(setting: SessionSetting) -> int:
    asking = replace(setting, name=COT, model=_PromptReader(), ablations=(), belief=False, world=None)
    try:
        list(prepare_session(asking, recipe_named(COT)).run())
    except _PromptShown as shown:
        return len(str(shown)) // CHARACTERS_PER_TOKEN
    return 0


WRONG_DISCOVERY: Final = "wrong discovery"
DISCOVERY: Final = "discover_objects("

INFEASIBLE_CAUSES: Final[frozenset[Cause]] = frozenset({"missing", "affordance", "already"})
"""Causes of refusals that name an existing action and existing nodes."""


def trace_fields(events: Sequence[Event], *, reprompt: bool) -> dict[str, Any]:
    """Return the fields of a `Trace` that the events determine."""
    end = final_event(events)
    return {
        "outcome": end.outcome,
        "reason": end.reason,
        "answer": end.answer,
        "executed": executed_actions(events),
        "infeasible": count_infeasible(events, reprompt=reprompt),
        "mistakes": dict(Counter(failure_kinds(events))),
        "iterations": tuple(iteration_tokens(events)),
        "steps": end.steps,
        "questions": sum(isinstance(it, Asked) and it.to_person for it in events),
        "prompt_tokens": end.usage.prompt_tokens,
        "completion_tokens": end.usage.completion_tokens,
        "seconds": round(end.seconds, 3),
    }


def failure_kinds(events: Iterable[Event]) -> Iterator[str]:
    """Yield the cause of each refusal, "wrong discovery" for a look that was refused, and LLM+P's kinds of mistakes.

    LookPlanGraph, appendix A; its other kinds, a misread goal and overestimated abilities, need a person.
    """
    for event in events:
        match event:
            case Refused(action=action, cause=cause):
                yield WRONG_DISCOVERY if action.startswith(DISCOVERY) else cause
            case Solved(reason=reason) | Finished(outcome="given_up", reason=reason):
                yield from (kind for kind in get_args(MistakeKind) for _ in range(reason.count(f"{kind}: ")))
            case _:
                pass


def iteration_tokens(events: Iterable[Event]) -> Iterator[tuple[int, int]]:
    """Yield the tokens of each decision: those of all agents, and those of the agent that decides alone."""
    asked = 0
    for event in events:
        match event:
            case Retrieved(usage=usage) | Answered(usage=usage):
                asked += usage.total_tokens
            case Remembered(usage=usage):
                yield usage.total_tokens, usage.total_tokens - asked
                asked = 0
            case _:
                pass


def executed_actions(events: Iterable[Event]) -> tuple[str, ...]:
    """Return the executed actions in order, inserted ones included."""
    return tuple(event.action for event in events if isinstance(event, Acted | Corrected))


def count_infeasible(events: Iterable[Event], *, reprompt: bool) -> int:
    """Count the actions that could not be executed (LookPlanGraph, section V).

    In a whole solution every refused action counts. Elsewhere, a refusal by the scene counts if the method is not asked
    again.
    """
    count, solving = 0, False
    for event in events:
        if isinstance(event, Solved):
            solving = event.final
        elif isinstance(event, Refused):
            is_final = not reprompt and event.cause in INFEASIBLE_CAUSES
            count += bool(is_final or (solving and event.action))
    return count


def fulfils_mission(task_id: str, actions: Iterable[str]) -> bool:
    """Check by MiniGrid's own steps that the actions fulfil the mission of a task such as ``trv1/7``."""
    from scenecypher.importers.babyai import level_instance

    level, _, seed = task_id.partition("/")
    begun = level_instance(level, int(seed))
    executor = Executor(begun.env, begun.things)
    for action in actions:
        with suppress(ActionRefused):
            if executor.do(parse_action(action)).fulfilled:
                return True
    return False


def final_event(events: Sequence[Event]) -> Finished:
    """Return a session's last event."""
    return next(event for event in reversed(events) if isinstance(event, Finished))


AskPerson = Callable[[str], str]

PLANNING_S: Final = 180.0
"""Time limit of symbolic planning for one task, in seconds; it is an upper bound, not a measure of speed."""


def play(
    pool: WorldPool,
    assignments: AssignmentCache,
    episode: EpisodePlan,
    *,
    model: Model | None = None,
    ask: AskPerson = input,
) -> Trace:
    """Play `episode` and mark it; `ask` reaches the person who acts for the robot, if any."""
    recipe = recipe_named(episode.method).without(episode.method, episode.ablations)
    assignment = assignments.of(episode)
    if episode.player:
        model = ScriptedGoals(UNCLEAR_TASKS[episode.task], episode.player)
    recorder = MeteredModel(model or NoModel())
    belief = has_belief(recipe, assignment.scene.vocabulary, wanted=uses_belief(episode, recipe))
    with pool.world(
        assignment.scene, belief=belief, moved=assignment.moved.delta if assignment.moved else None
    ) as world:
        opened, scene = world
        setting = _setting(world, assignment, episode, recorder, ask)
        kept = RunRecorder(opened.store.database, scene, "eval", is_on=opened.records_episodes)
        events = [*kept.kept(prepare_session(setting, recipe_named(episode.method)).run())]
        found = prompt_sizes(setting) if episode.sizes else {}
        deltas = [event.delta for event in opened.store.history(scene, after=scene.version)]
        rooms = None if episode.eyes == "person" else count_rooms_changed(assignment, deltas)
        marked = _marks(assignment, episode, events, deltas, ask)
    return Trace(
        **trace_fields(events, reprompt=recipe.reprompt),
        fault=_answer_fault(assignment, episode, marked, final_event(events).answer),
        rounds=tuple(reply.usage.total_tokens for reply in recorder.replies),
        sources=recorder.sources,
        models=recorder.models,
        nodes=len(assignment.initial.nodes),
        moves=tuple(map(str, assignment.moved.moves)) if assignment.moved else (),
        **found,
        rooms_changed=rooms,
        marks=marked,
    )


def _answer_fault(assignment: Assignment, episode: EpisodePlan, marked: Marks, answer: str) -> str:
    """Return the sub-task whose mistake explains a wrong answer; empty without one."""
    if episode.marking != "answer" or marked.reached or not answer:
        return ""
    colors = vocabulary_named(assignment.scene.vocabulary).looking.colors
    return answer_fault(assignment.initial, assignment.task.instruction, named_in(answer, colors))


def count_rooms_changed(assignment: Assignment, deltas: Sequence[Delta]) -> int:
    """Return how often the agent was in another room after a change of its scene."""
    graph, vocabulary = assignment.initial, assignment.scene.vocabulary
    here, count = SceneLayout(graph, vocabulary).here, 0
    for delta in deltas:
        graph = apply(graph, delta)
        there = SceneLayout(graph, vocabulary).here
        here, count = there, count + (there != here)
    return count


def _setting(
    world: World, assignment: Assignment, episode: EpisodePlan, model: Model, ask: AskPerson
) -> SessionSetting:
    task, recipe, (opened, scene) = assignment.task, recipe_named(episode.method), world
    setting = SessionSetting(
        opened.store,
        opened.gate,
        scene,
        task.instruction,
        episode.method,
        goal=task.goal if task.has_graph_goal else None,
        required_actions=task.action_goals,
        model=model,
        ablations=episode.ablations,
        budget=Budget(episode.steps or 3 * task.budget + SPARE_STEPS, seconds=PLANNING_S if recipe.goal else None),
        belief=uses_belief(episode, recipe),
        schema=episode.schema_scope,
        ids_only=episode.ids_only,
        known_places=episode.known_places,
        examples=assignment.examples,
        answer=ScriptedPerson(UNCLEAR_TASKS[task.id], episode.person) if episode.person else None,
        asking=episode.asking,
    )
    return replace(setting, world=_environment(setting, assignment, episode, ask))


def _environment(
    setting: SessionSetting, assignment: Assignment, episode: EpisodePlan, ask: AskPerson
) -> Environment | None:
    store, scene = setting.store, setting.scene
    match episode.eyes:
        case "truth":
            return None
        case "noise":
            classes = [node.class_ for node in assignment.initial.nodes.values() if node.kind == "Object"]
            truth = SceneEnvironment(store, scene, actor=setting.name)
            return ObservedWorld(truth, NoisyObserver(truth, seed=episode.seed, classes=classes))
        case "pictures" | "person":
            belief = find_or_create_belief(store, scene)
            recipe = recipe_named(setting.name).without(setting.name, setting.ablations)
            known = known_node_reader(
                lambda: store.now(belief).graph, vocabulary=scene.vocabulary, tells_earlier=recipe.priors
            )
            model = MeteredVisionModel(setting.model, setting.image_meter, episode.vision_model)
            if episode.eyes == "person":
                return HumanEnvironment(ask, model=model, known=known)
            folder = Path(episode.pictures) / episode.task
            camera = FolderCamera(folder, assignment.initial, lambda: store.now(scene).graph)
            return ObservedWorld(
                SceneEnvironment(store, scene, actor=setting.name), VisionObserver(model, camera, known)
            )


def _marks(
    assignment: Assignment, episode: EpisodePlan, events: Sequence[Event], deltas: Sequence[Delta], ask: AskPerson
) -> Marks:
    match episode.marking:
        case "answer":
            colors = vocabulary_named(assignment.scene.vocabulary).looking.colors
            return Marks(reached=is_same_answer(final_event(events).answer, assignment.task.answer, among=colors))
        case "person":
            reply = ask_person(ask, f"is this done: {assignment.task.instruction} y or n: ")
            return Marks(reached=reply.casefold().startswith("y"))
        case "minigrid":
            return Marks(reached=fulfils_mission(assignment.task.id, executed_actions(events)))
        case "goal" | "gold":
            end = apply(assignment.initial, compose(deltas))
            if episode.marking == "goal":
                return mark_graph(assignment.scheme, end)
            task, outcome = STATED_TASKS[assignment.task.id], final_event(events).outcome
            return Marks(reached=task.is_done(assignment.initial, end, outcome))
