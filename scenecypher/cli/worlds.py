"""The worlds and observers of a belief, by their options; and the person at the terminal: questions and approval."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from scenecypher.cli.context import say, warn
from scenecypher.errors import InputError, RuleBroken, did_you_mean

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.commit import Committed
    from scenecypher.planner.actions.ruled import Answer, AskBack
    from scenecypher.planner.sessions.budget import UsageMeter
    from scenecypher.planner.worlds.environment import Environment
    from scenecypher.scenes import SceneDatabase

SCENE: Final = "scene"
WORLDS: Final = (SCENE, "minigrid", "human")
ROBOT: Final = "robot"
TRUTH: Final = "truth"
NOISY: Final = re.compile(r"noisy:(\d+)")
INSTANCE: Final = re.compile(r"(?:.*/)?([^/]+)/(\d+)")
"""The end of a MiniGrid scene's name: the level and its seed."""

WORLD_HELP: Final = "Where actions happen, with a belief: the scene, minigrid (the level itself), a person."
ROBOT_HELP: Final = "The robot that acts, with a belief, such as http://localhost:7070; ws://localhost:9090 for ROS."
OBSERVER_HELP: Final = "What a look shows, with a belief: the truth, or noisy:SEED, with a simulated model's mistakes."


@dataclass(frozen=True, slots=True)
class WorldOptions:
    """The parsed options; `seed` is of the observer's mistakes, None for none; `robot` is its URL."""

    world: str = SCENE
    seed: int | None = None
    robot: str = ""

    @property
    def is_plain(self) -> bool:
        """Return True if actions happen in the scene itself and are observed without mistakes."""
        return self.world == SCENE and self.seed is None


def world_options(world: str, observer: str, robot: str | None = None) -> WorldOptions:
    """Parse the options. Raises InputError."""
    if robot is not None and world == SCENE:
        world = ROBOT
    elif robot is not None or world == ROBOT:
        raise InputError("a robot is a world of its own; give --robot and its URL in place of --world")
    elif world not in WORLDS:
        raise InputError(f"there is no world {world!r}{did_you_mean(world, WORLDS)}; give {', '.join(WORLDS)}")
    noisy = NOISY.fullmatch(observer)
    if observer != TRUTH and noisy is None:
        raise InputError(f"there is no observer {observer!r}; give truth, or noisy: and a seed such as noisy:7")
    if world in {"human", ROBOT} and noisy:
        raise InputError(f"what a {world} sees can't have simulated mistakes; leave out --observer")
    return WorldOptions(world, int(noisy[1]) if noisy else None, robot or "")


def world_behind(
    db: SceneDatabase, scene: SceneInfo, of: WorldOptions, *, actor: str, meter: UsageMeter, tells_earlier: bool = True
) -> Environment | None:
    """Return the world behind a scene, None for the scene itself; `meter` counts the tokens of its pictures.

    With `tells_earlier` the model that reads these is told what was or may be there. Raises InputError if the scene has
    no such world.
    """
    from scenecypher.planner.perception.truth import NoisyObserver
    from scenecypher.planner.worlds.environment import ObservedWorld, SceneEnvironment

    match of.world:
        case "minigrid":
            world: Environment = _minigrid(scene)
        case "human" | "robot":
            world = _looked_at(db, scene, of, meter, tells_earlier=tells_earlier)
        case _ if of.seed is None:
            return None
        case _:
            world = SceneEnvironment(db.store, scene, actor=actor)
    if of.seed is None:
        return world
    classes = [node.class_ for node in db.store.load(scene.name).graph.nodes.values() if node.kind == "Object"]
    return ObservedWorld(world, NoisyObserver(world, seed=of.seed, classes=classes))


def _minigrid(scene: SceneInfo) -> Environment:
    from scenecypher.planner.vocabularies.vocabulary import vocabulary_named
    from scenecypher.planner.worlds.minigrid_world import MiniGridEnvironment

    named = INSTANCE.fullmatch(scene.name)
    if not vocabulary_named(scene.vocabulary).looking.whole_rooms or named is None:
        msg = f"{scene.name!r} is no level of MiniGrid; give one such as babyai/trv1/7, or leave out --world"
        raise InputError(msg)
    return MiniGridEnvironment(named[1], int(named[2]))


def _looked_at(
    db: SceneDatabase, scene: SceneInfo, of: WorldOptions, meter: UsageMeter, *, tells_earlier: bool
) -> Environment:
    """Return the world of a person or a robot, whose pictures a model reads: a robot may send none, and need none."""
    from scenecypher.planner.perception.naming import known_node_reader
    from scenecypher.planner.sessions.budget import MeteredVisionModel
    from scenecypher.planner.sessions.setup import NoModel
    from scenecypher.planner.worlds.belief import find_or_create_belief
    from scenecypher.planner.worlds.human import HumanEnvironment
    from scenecypher.robots.doors import door_to
    from scenecypher.robots.environment import RobotEnvironment
    from scenecypher.robots.link import RobotLink

    reads = of.world == "human" or db.settings.live_model
    model = MeteredVisionModel(db.vision_model() if reads else NoModel(), meter)
    link = RobotLink(door_to(of.robot)) if of.world == ROBOT else None
    belief, accept = find_or_create_belief(db.store, scene), db.settings.accept_looks
    known = known_node_reader(
        lambda: db.store.now(belief).graph, vocabulary=belief.vocabulary, tells_earlier=tells_earlier
    )
    if link is None:
        return HumanEnvironment(_answer, model=model, known=known, accept=accept)
    return RobotEnvironment(link, model=model, known=known, accept=accept)


def _answer(question: str) -> str:
    if sys.stdin.isatty():
        return input(question)
    say(question)
    return next_line()


def next_line() -> str:
    """Return the next line of standard input. Raises EOFError after the last."""
    line = sys.stdin.readline()
    if not line:
        raise EOFError
    return line.rstrip("\n")


def person_there(name: str = "person", *, is_piped: bool = False, world: Environment | None = None) -> Answer | None:
    """Return what asks the person at the terminal, also where answers are piped, or the one at the world's robot."""
    return partial(_answered, name) if sys.stdin.isatty() or is_piped else getattr(world, "ask", None)


def approved(revert: Callable[..., Committed]) -> Committed:
    """Return what an undo or a redo commits; ask the person at the terminal if it breaks a rule. Raises RuleBroken."""
    try:
        return revert()
    except RuleBroken as broken:
        if not (sys.stdin.isatty() and _says_yes(str(broken))):
            raise
    return revert(approved_by="person")


def _answered(person: str, question: AskBack) -> str | None:
    """Return the choice of a number, "" for any, None to stop; a word where there are no choices; or who approves."""
    from scenecypher.planner.actions.ruled import APPROVED, LEFT, approval_by

    if question.choices == (APPROVED, LEFT):
        return approval_by(person) if _says_yes(question.question) else None
    lines = [question.question, *(f"  {number}  {words}" for number, words in enumerate(question.choices, 1))]
    warn("\n".join(lines))
    how = f"1 to {len(question.choices)}, Enter for any, q to stop: " if question.choices else "a word, or q to stop: "
    while True:
        try:
            said = input(how).strip()
        except EOFError:
            return None
        if said in {"q", ""} or not question.choices or any(said in nodes for nodes in question.nodes):
            return None if said == "q" else said
        if said.isdecimal() and 0 < int(said) <= len(question.choices):
            return question.choices[int(said) - 1]
        warn(f"{said!r} is none of these; answer {how.removesuffix(': ')}")


def _says_yes(question: str) -> bool:
    warn(question)
    try:
        return input("Do it? [y/N] ").strip().lower() in {"y", "yes"}
    except EOFError:
        return False
