"""One episode played on a leased copy: the session's events boiled down to a trace, and the world marked at its end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from scenecypher.chat.model import Model, Reply, Request
from scenecypher.db.graph.delta import apply, compose
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.evaluation.book import Assignment, Book
from scenecypher.evaluation.episode import SPARE_STEPS, Episode, Marks, Trace, uses_belief
from scenecypher.evaluation.happened import executed, finished, fulfilled, happened
from scenecypher.evaluation.marking import marks
from scenecypher.evaluation.sizes import Sizes, sizes
from scenecypher.evaluation.stage import Stage, World
from scenecypher.planner.belief import find_or_create_belief
from scenecypher.planner.budget import Budget
from scenecypher.planner.environment import Environment, SceneEnvironment
from scenecypher.planner.events import Event
from scenecypher.planner.human import HumanEnvironment, ask_person
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.perception.naming import known_node_reader
from scenecypher.planner.perception.observation import Observation
from scenecypher.planner.perception.truth import NoisyObserver
from scenecypher.planner.staging import NoModel, SessionSetting, has_belief, prepare_session

AskPerson = Callable[[str], str]

PLANNING_S: Final = 180.0
"""What symbolic planning may take of a task: it is what could be won, and no contest of machines."""


@dataclass(slots=True)
class Noted:
    """A model, the tokens of each of its replies, and where and whom they came from."""

    model: Model
    rounds: list[int] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)

    def reply(self, request: Request) -> Reply:
        """The model's reply."""
        reply = self.model.reply(request)
        self.rounds.append(reply.usage.total_tokens)
        self.sources.append(reply.source)
        self.models.append(reply.model)
        return reply


class NoisyWorld(SceneEnvironment):
    """A world that is seen with seeded mistakes: a simulated observer."""

    def __init__(self, store: SceneStore, scene: SceneInfo, *, actor: str, seed: int, classes: Sequence[str]) -> None:
        super().__init__(store, scene, actor=actor)
        self._classes, self._seed = classes, seed

    def observe(self, of: str, *, step: int) -> Observation:
        """What is so, some of it mistaken. Raises UnknownReference."""
        return NoisyObserver(_Plainly(super().observe), seed=self._seed, classes=self._classes).observe(of, step=step)


@dataclass(frozen=True, slots=True)
class _Plainly:
    look: Callable[..., Observation]

    def observe(self, of: str, *, step: int) -> Observation:
        return self.look(of, step=step)


def play(stage: Stage, book: Book, episode: Episode, *, model: Model | None = None, ask: AskPerson = input) -> Trace:
    """Play `episode` and mark it. `ask` reaches the person whose eyes and hands the robot may have."""
    recipe = recipe_named(episode.method).without(episode.method, episode.ablations)
    given = book.of(episode)
    noted = Noted(model or NoModel())
    belief = has_belief(recipe, given.scene.vocabulary, wanted=uses_belief(episode, recipe))
    with stage.world(given.scene, belief=belief, moved=given.moved.delta if given.moved else None) as world:
        setting = _setting(world, given, episode, noted, ask)
        events = [*prepare_session(setting, recipe_named(episode.method)).run()]
        found = sizes(setting) if episode.sizes else Sizes()
        marked = _marks(world, given, episode, events, ask)
    return Trace(
        **happened(events, reprompt=recipe.reprompt),
        rounds=tuple(noted.rounds),
        sources=tuple(dict.fromkeys(noted.sources)),
        models=tuple(dict.fromkeys(noted.models)),
        nodes=len(given.initial.nodes),
        moves=tuple(map(str, given.moved.moves)) if given.moved else (),
        graph_tokens=found.graph,
        cot_tokens=found.cot,
        marks=marked,
    )


def _setting(world: World, given: Assignment, episode: Episode, model: Model, ask: AskPerson) -> SessionSetting:
    task, recipe = given.task, recipe_named(episode.method)
    setting = SessionSetting(
        world.opened.store,
        world.opened.gate,
        world.scene,
        task.instruction,
        episode.method,
        goal=task.goal if task.has_graph_goal else None,
        deeds=task.action_goals,
        model=model,
        ablations=episode.ablations,
        budget=Budget(episode.steps or 3 * task.budget + SPARE_STEPS, seconds=PLANNING_S if recipe.goal else None),
        belief=uses_belief(episode, recipe),
    )
    return replace(setting, world=_environment(setting, given, episode, ask))


def _environment(setting: SessionSetting, given: Assignment, episode: Episode, ask: AskPerson) -> Environment | None:
    store, scene = setting.store, setting.scene
    match episode.eyes:
        case "truth":
            return None
        case "noise":
            classes = sorted({node.class_ for node in given.initial.nodes.values() if node.kind == "Object"})
            return NoisyWorld(store, scene, actor=setting.name, seed=episode.seed, classes=classes)
        case "person":
            name = find_or_create_belief(store, scene).name
            known = known_node_reader(lambda: store.load(name).graph, vocabulary=scene.vocabulary)
            return HumanEnvironment(ask, model=setting.model, known=known)


def _marks(world: World, given: Assignment, episode: Episode, events: Sequence[Event], ask: AskPerson) -> Marks:
    match episode.marking:
        case "answer":
            return Marks(reached=finished(events).answer == given.task.answer)
        case "person":
            said = ask_person(ask, f"is this done: {given.task.instruction} y or n: ")
            return Marks(reached=said.casefold().startswith("y"))
        case "minigrid":
            return Marks(reached=fulfilled(given.task.id, executed(events)))
        case "goal":
            log = world.opened.store.history(world.scene, after=world.scene.version)
            return marks(given.by, apply(given.initial, compose(event.delta for event in log)))
