"""Preparation of a session from a recipe: its scene or belief, simulator, view, asker, tools and first memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Final

from scenecypher.chat.model import Model, Reply, Request, model_name, traced
from scenecypher.db.condition import ALWAYS, Condition, condition_document
from scenecypher.db.gate import Gate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.rule_memory import open_duties
from scenecypher.db.rules import rules_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.telemetry import Attributes, trace_steps
from scenecypher.errors import InputError, SceneReplaced
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.actions.ruled import Answer, rule_lines
from scenecypher.planner.actions.simulator import Acting, Simulator
from scenecypher.planner.prompts.terms import environment_schema, scene_words
from scenecypher.planner.sessions.budget import Budget, DeadlineModel, InformedModel, OthersActs, Stopwatch, UsageMeter
from scenecypher.planner.sessions.events import Began, Event, Finished, GoalState
from scenecypher.planner.sessions.goal_check import judge
from scenecypher.planner.sessions.method import (
    AskingBack,
    Memory,
    MethodContext,
    Recipe,
    SceneAccess,
    SchemaScope,
    Tool,
)
from scenecypher.planner.sessions.session import SchemaWriter, Session
from scenecypher.planner.sessions.views import make_view
from scenecypher.planner.symbolic.parts import afforded
from scenecypher.planner.symbolic.plan import (
    PLAN_TIMEOUT_S,
    PlanRequest,
    PlanResult,
    find_plan,
    planning_state,
    why_unreachable,
)
from scenecypher.planner.symbolic.states import RequiredAction
from scenecypher.planner.vocabularies.vocabulary import action_list, brief_action_list, vocabulary_named
from scenecypher.planner.worlds.belief import find_or_create_belief
from scenecypher.planner.worlds.belief_simulator import LOOK_ACTIONS, BeliefSimulator, can_look
from scenecypher.planner.worlds.environment import Environment, SceneEnvironment, is_scene
from scenecypher.retriever.retrieval import SceneReader
from scenecypher.retriever.retriever import Retriever
from scenecypher.retriever.schema_text import schema_text

AGENT_RUN: Final = "invoke_agent"
"""OpenTelemetry's name of a run of an agent."""


class NoModel:
    """Placeholder for methods that need no model."""

    def reply(self, request: Request) -> Reply:
        """Refuse every request. Raises InputError."""
        del request
        raise InputError("this needs a model: set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server")


@dataclass(frozen=True, slots=True)
class SessionSetting:
    """Task and setting of a session: a scene of the world, an instruction, and its goal if one is known.

    `name` is the method's name, which is stored in the history as actor. `belief`, `fix` and `reprompt` override the
    recipe (None: the recipe decides), as `schema` does. With `ids_only`, an action names nodes by their ids, as in the
    papers' simulators: names and classes are refused. `known_places` is as in `BeliefSimulator`. `world` executes a
    belief's actions (None: the scene itself); `image_meter` counts the tokens of its pictures. `engine_timeout_s`
    limits each search for a plan, unless the budget has seconds. `meaning` finds what the scene calls otherwise than a
    stated goal does. `since` is the scene's version at which the session began (None: the present one). `place` are the
    options that chose the `world`, by name. `examples` are those of `Memory`. `answer` asks a person where a rule of
    the house demands it (None: nobody is there, and such actions are refused), and what is meant; `asking` says when
    (None: where it is unclear).
    """

    store: SceneStore
    gate: Gate
    scene: SceneInfo
    instruction: str
    name: str
    goal: Condition | None = None
    required_actions: tuple[RequiredAction, ...] = ()
    model: Model = field(default_factory=NoModel)
    ablations: tuple[str, ...] = ()
    budget: Budget = field(default_factory=Budget)
    belief: bool | None = None
    fix: bool | None = None
    reprompt: bool | None = None
    schema: SchemaScope | None = None
    ids_only: bool = False
    known_places: bool = False
    world: Environment | None = None
    image_meter: UsageMeter = field(default_factory=UsageMeter)
    engine_timeout_s: float = PLAN_TIMEOUT_S
    meaning: Meaning = NO_MEANING
    since: int | None = None
    place: Mapping[str, str] = field(default_factory=dict)
    examples: Mapping[str, str] = field(default_factory=dict)
    answer: Answer | None = None
    asking: AskingBack | None = None


@dataclass(frozen=True, slots=True)
class PreparedSession:
    """A session ready to run, its first event and memory; `others` reads what others do meanwhile."""

    session: Session
    began: Began
    memory: Memory
    others: OthersActs

    def run(self) -> Iterator[Event]:
        """Run the whole session; the first event is Began."""
        return self.traced(self._events())

    def traced(self, events: Iterator[Event]) -> Iterator[Event]:
        """Yield the events of this session, or of its rest, as one span."""
        began = self.began
        about = {
            "gen_ai.operation.name": AGENT_RUN,
            "gen_ai.provider.name": "scenecypher",
            "gen_ai.agent.name": began.method,
            "gen_ai.request.model": began.model or None,
            "scenecypher.scene": began.scene,
        }
        return trace_steps(f"{AGENT_RUN} {began.method}", about, events, attributes_of=_totals)

    def _events(self) -> Iterator[Event]:
        yield self.began
        yield from self.session.run(self.memory)


def _totals(event: Event) -> Attributes:
    """Return what the end of a run adds to its span."""
    if not isinstance(event, Finished):
        return {}
    return {
        "gen_ai.usage.input_tokens": event.usage.prompt_tokens + event.seeing.prompt_tokens,
        "gen_ai.usage.output_tokens": event.usage.completion_tokens + event.seeing.completion_tokens,
        "scenecypher.outcome": event.outcome,
        "scenecypher.steps": event.steps,
        "scenecypher.actions": event.actions,
    }


def prepare_session(setting: SessionSetting, recipe: Recipe) -> PreparedSession:
    """Prepare a session of `recipe` with the setting's ablations. Raises InputError, SceneNotFound."""
    if not recipe.ends_refused:
        setting = replace(setting, budget=replace(setting.budget, infeasible=None))
    ablations, recipe = recipe.ablations_named(setting.name, setting.ablations), recipe_in(setting, recipe)
    settings = {**_other_settings(setting, recipe), **asdict(setting.budget)}
    watch, named = Stopwatch(setting.budget.seconds), model_name(setting.model)
    setting = replace(setting, model=DeadlineModel(setting.model, watch))
    is_environment = recipe.sees_schema and recipe.schema == "environment"
    environment = environment_schema(setting.scene.vocabulary) if is_environment else ""
    if recipe.goal and setting.goal is None:
        raise InputError(
            f"the method {setting.name} needs a goal that the graph can meet: give a --task that has one, or a --goal"
        )
    simulator = _simulator(setting, recipe)
    scene, enumerator = simulator.scene, Enumerator(setting.store.replicas)
    reader = SceneReader(setting.gate, enumerator, scene)
    access = SceneAccess(setting.store, scene, reader, traced(setting.model), environment)
    view, tools = make_view(recipe, access, instruction=setting.instruction)

    def now() -> SceneGraph:
        return setting.store.now(scene).graph

    def told() -> tuple[str, ...]:
        return rule_lines(rules_of(setting.store.now(setting.scene).info.declared), setting.instruction)

    def timeout_s() -> float:
        return setting.engine_timeout_s if watch.left is None else watch.left

    others = OthersActs(setting.store, simulator, setting.name)
    context = MethodContext(
        InformedModel(traced(setting.model), others, told, varies=not recipe.paper),
        scene.vocabulary,
        frozenset(ablations),
        plan_goal=lambda goal, required_actions=(): _plan(setting, scene, goal, required_actions, timeout_s()),
        occurring=lambda: enumerator.of(simulator.scene),
        read_all=now,
        events=lambda: setting.store.latest(scene),
        why_unreachable=lambda goal: why_unreachable(goal, planning_state(now(), scene.vocabulary)),
        timeout_s=timeout_s,
        max_steps=setting.budget.steps,
        fix=simulator.fix,
        belief=recipe.belief,
        meaning=setting.meaning,
        asking="never" if setting.answer is None else setting.asking or "unclear",
        goal=setting.goal,
        required_actions=setting.required_actions,
    )
    own: dict[str, Tool] = {name: partial(tool, access) for name, tool in recipe.tools.items()}
    session = Session(
        recipe.build(context),
        simulator,
        recipe.asker(access) if recipe.asker else Retriever(setting.model, setting.gate, enumerator),
        tools={**tools, **own},
        view=view,
        schema=(lambda: environment) if environment else _schema_writer(setting, recipe, simulator, enumerator),
        others=others,
        step_writer=partial(recipe.step_writer, access) if recipe.step_writer else None,
        budget=setting.budget,
        reprompt=recipe.reprompt,
        watch=watch,
        image_meter=setting.image_meter,
        judge=lambda stated: _judge(setting, stated),
        answer=setting.answer or (lambda _: ""),
    )
    began = Began(
        setting.scene.name,
        setting.name,
        setting.ablations,
        setting.instruction,
        named,
        setting.name,
        setting.scene.version,
        scene.version if recipe.belief else None,
        settings,
    )
    memory = Memory(setting.instruction, _actions(recipe, simulator, now), examples=setting.examples)
    return PreparedSession(session, began, memory, others)


def _judge(setting: SessionSetting, stated: Condition | None) -> tuple[GoalState, tuple[str, ...]]:
    """Return whether the setting's goal, else the `stated` one, holds in the scene; unknown where another world acts.

    Required actions count from the version at which the session began. What rules of the house still want is told too.
    """
    goal = stated if setting.goal is None else setting.goal
    if setting.world is not None and not is_scene(setting.world):
        return "unknown", ()
    wanted = ALWAYS if goal is None else goal
    try:
        now = setting.store.now(setting.scene)
        duties = [f"still to do: {it.words}" for it in open_duties(rules_of(now.info.declared), now.graph)]
        if goal is None and not setting.required_actions:
            return "unknown", (*duties,)
        begun_at = setting.scene.version if setting.since is None else setting.since
        found = judge(setting.store, setting.scene, wanted, setting.required_actions, after=begun_at)
    except SceneReplaced:
        return "unknown", ()
    return ("met", (*duties,)) if found.met else ("not met", (*found.unmet, *duties))


def settings_of(setting: SessionSetting, recipe: Recipe) -> Iterator[tuple[str, Any]]:
    """Yield what must be the same when a session is resumed, by name and as plain JSON values. Raises InputError.

    The limits of its budget may be others then.
    """
    yield "scene", setting.scene.name
    yield "method", setting.name
    yield "ablations", list(setting.ablations)
    yield "instruction", setting.instruction
    yield "model", model_name(setting.model)
    yield from _other_settings(setting, recipe_in(setting, recipe)).items()


def recipe_in(setting: SessionSetting, recipe: Recipe) -> Recipe:
    """Return a recipe with the setting's ablations, and what it states otherwise. Raises InputError."""
    given = recipe.without(setting.name, setting.ablations)
    return replace(
        given,
        belief=has_belief(given, setting.scene.vocabulary, wanted=setting.belief),
        fix=given.fix if setting.fix is None else setting.fix,
        reprompt=given.reprompt if setting.reprompt is None else setting.reprompt,
        schema=setting.schema or given.schema,
    )


def _other_settings(setting: SessionSetting, chosen: Recipe) -> dict[str, Any]:
    document = {
        "goal": None if setting.goal is None else condition_document(setting.goal),
        "required_actions": setting.required_actions,
        "belief": chosen.belief,
        "fix": chosen.fix,
        "reprompt": chosen.reprompt,
        "place": {**setting.place},
        "schema": chosen.schema if chosen.sees_schema else None,
        "ids_only": setting.ids_only,
        "known_places": setting.known_places,
    }
    found: dict[str, Any] = json.loads(json.dumps(document))
    return found


def _schema_writer(
    setting: SessionSetting, recipe: Recipe, simulator: Simulator, enumerator: Enumerator
) -> SchemaWriter | None:
    """Return the writer of the present schema, the scene's own; None for methods that are shown none, or another."""
    if recipe.model and recipe.extent == "words":
        return lambda: scene_words(enumerator.of(simulator.scene), simulator.operators)
    if not recipe.sees_schema:
        return None
    vocabulary, names = simulator.scene.vocabulary, recipe.names
    return lambda: schema_text(enumerator.of(simulator.scene), setting.instruction, vocabulary=vocabulary, names=names)


def _actions(recipe: Recipe, simulator: Simulator, now: Callable[[], SceneGraph]) -> str:
    """Return the actions that the method is told of; in a belief what is afforded is not known, and a look finds."""
    chosen = vocabulary_named(simulator.scene.vocabulary)
    is_brief = recipe.extent == "words" or (recipe.extent == "collapsed" and not chosen.looking.whole_rooms)
    if is_brief and simulator.scene.role != "belief":
        of_use = {name: it for name, it in simulator.operators.items() if name not in LOOK_ACTIONS or not it.effects}
        return brief_action_list(afforded(of_use, now()), simulator.macros)
    listed = None if recipe.every_action else chosen.words.listed
    if listed is None:
        return action_list(simulator.operators, simulator.macros)
    return action_list({name: simulator.operators[name] for name in listed})


def has_belief(recipe: Recipe, vocabulary: str, *, wanted: bool | None) -> bool:
    """Check if a method of `recipe` acts on a belief; `wanted` overrides the recipe."""
    return recipe.belief and can_look(vocabulary) if wanted is None else wanted


def _simulator(setting: SessionSetting, recipe: Recipe) -> Simulator:
    """Return the simulator: on the scene itself, or on the belief about it."""
    store, scene = setting.store, setting.scene
    how: Acting = {"actor": setting.name, "fix": recipe.fix, "ask": setting.answer}
    if not recipe.belief:
        return Simulator(store, scene, ids_only=setting.ids_only, **how)
    return BeliefSimulator(
        store,
        find_or_create_belief(store, scene),
        world=setting.world or SceneEnvironment(store, scene, actor=setting.name, ask=setting.answer),
        past=scene,
        watched=scene if setting.world is None else None,
        ids_only=setting.ids_only,
        known_places=setting.known_places,
        **how,
    )


def _plan(
    setting: SessionSetting,
    scene: SceneInfo,
    goal: Condition,
    required_actions: tuple[RequiredAction, ...],
    timeout_s: float,
) -> PlanResult:
    clock_s = timeout_s if setting.budget.seconds is not None else float("inf")
    now = setting.store.now(scene)
    rules = rules_of(now.info.declared)
    question = PlanRequest(goal, scene.vocabulary, timeout_s, clock_s, required_actions, rules=rules)
    found, nodes = find_plan(question, now.graph), len(now.graph.nodes)
    looked = f"; {found.nodes} of the scene's {nodes} nodes were looked at, those that the goal is about"
    return replace(found, why=f"{found.why}{looked}") if found.plan is None and found.nodes < nodes else found
