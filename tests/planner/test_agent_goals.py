"""Goals of imported PDDL problems about the agent and of no argument: planned, carried out, judged and negated."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenecypher.db.gate import Gate
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.sessions.events import Finished
from scenecypher.planner.sessions.goal_check import judge
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.planner.vocabularies.own_actions import own_goal, read_pddl_scene
from tests.db.store.test_store import fresh
from tests.scenecypher.cli.conftest import CommandResult, RunCommand, command

__all__ = ["CommandResult", "RunCommand", "command"]

pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")

FETCH = """\
(define (domain fetch) (:requirements :adl)
  (:types room cup robot - object)
  (:predicates (robot-in ?r - room) (in ?c - cup ?r - room) (holding ?c - cup) (hand-empty) (alarm))
  (:action go :parameters (?w - robot ?a ?b - room) :precondition (robot-in ?a)
    :effect (and (not (robot-in ?a)) (robot-in ?b)))
  (:action take :parameters (?w - robot ?c - cup ?r - room)
    :precondition (and (robot-in ?r) (in ?c ?r) (hand-empty))
    :effect (and (holding ?c) (not (hand-empty)) (not (in ?c ?r))))
  (:action ring :parameters (?w - robot) :precondition (hand-empty) :effect (alarm)))
"""
NAMED = """\
(define (domain fetch) (:requirements :adl)
  (:types room cup robot - object)
  (:predicates (robot-in ?w - robot ?r - room) (in ?c - cup ?r - room) (holding ?w - robot ?c - cup)
    (hand-empty ?w - robot) (alarm ?w - robot))
  (:action go :parameters (?w - robot ?a ?b - room) :precondition (robot-in ?w ?a)
    :effect (and (not (robot-in ?w ?a)) (robot-in ?w ?b)))
  (:action take :parameters (?w - robot ?c - cup ?r - room)
    :precondition (and (robot-in ?w ?r) (in ?c ?r) (hand-empty ?w))
    :effect (and (holding ?w ?c) (not (hand-empty ?w)) (not (in ?c ?r))))
  (:action ring :parameters (?w - robot) :precondition (hand-empty ?w) :effect (alarm ?w)))
"""
GOALS = [
    ("(robot-in kitchen)", 1),
    ("(holding mug)", 2),
    ("(alarm)", 1),
    ("(not (robot-in hall))", 1),
    ("(not (hand-empty))", 2),
    ("(and (alarm) (holding mug))", 3),
    ("(exists (?c - cup) (holding ?c))", 2),
    ("(forall (?r - room) (or (robot-in ?r) (= ?r hall)))", 1),
    ("(hand-empty)", 0),
    ("(not (alarm))", 0),
    ("(not (holding mug))", 0),
]
NAMED_GOALS = [
    ("(robot-in robby kitchen)", 1),
    ("(holding robby mug)", 2),
    ("(alarm robby)", 1),
    ("(not (robot-in robby hall))", 1),
    ("(not (hand-empty robby))", 2),
    ("(not (alarm robby))", 0),
]


def files_of(folder: Path, domain: str, goal: str, *, robots: str = "robby - robot") -> tuple[Path, Path]:
    """Return the files of a problem and its domain."""
    named = "robby " if domain == NAMED else ""
    hand = f"(hand-empty {named.strip()})" if named else "(hand-empty)"
    problem = f"""
(define (problem fetching) (:domain fetch) (:objects hall kitchen - room mug - cup {robots})
  (:init (robot-in {named}hall) (in mug kitchen) {hand}) (:goal {goal}))"""
    files = folder / "problem.pddl", folder / "domain.pddl"
    for file, text in zip(files, (problem, domain), strict=True):
        file.write_text(text, encoding="utf-8")
    return files


@pytest.mark.parametrize("robots", ["robby - robot", ""], ids=["with a robot", "with none"])
@pytest.mark.parametrize(("goal", "actions"), GOALS)
def test_a_goal_of_the_agent_is_planned_and_judged(
    store: SceneStore, tmp_path: Path, *, goal: str, actions: int, robots: str
) -> None:
    """Kind: a fact judged otherwise than it was committed: the agent of such a goal was nobody."""
    check(store, files_of(tmp_path, FETCH, goal, robots=robots), actions)


@pytest.mark.parametrize(("goal", "actions"), NAMED_GOALS)
def test_a_goal_that_names_the_agent_is_planned_and_judged(
    store: SceneStore, tmp_path: Path, goal: str, actions: int
) -> None:
    """Kind: a fact judged otherwise than it was committed, where the predicates have the agent as an argument."""
    check(store, files_of(tmp_path, NAMED, goal), actions)


def check(store: SceneStore, files: tuple[Path, Path], actions: int) -> None:
    scene = read_pddl_scene(*files, name=fresh("fetch"))
    store.put(scene)
    info = store.find(scene.name)
    goal = own_goal(info.declared)
    assert goal is not None
    assert judge(store, info, goal).met is (actions == 0)
    setting = SessionSetting(store, Gate(store.database), info, "", "symbolic", goal=goal)
    *_, end = prepare_session(setting, recipe_named("symbolic")).run()
    assert isinstance(end, Finished)
    assert (end.outcome, end.goal, end.actions) == ("done", "met", actions), end.reason


def test_what_no_agent_is_named_for_is_of_the_robot_that_is_added_to_several(store: SceneStore, tmp_path: Path) -> None:
    """Kind: one part believes what another said: a fact without an agent is of the one that acts."""
    check(store, files_of(tmp_path, FETCH, "(alarm)", robots="robby robin - robot"), 1)


@pytest.mark.parametrize(
    ("goal", "actions"),
    [
        ("(robot-in kitchen)", ["go(hall, kitchen)"]),
        ("(holding mug)", ["go(hall, kitchen)", "take(mug, kitchen)"]),
        ("(alarm)", ["ring()"]),
        ("(not (robot-in hall))", ["go(hall, kitchen)"]),
        ("(not (holding mug))", []),
        ("(and (holding mug) (hand-empty))", None),
    ],
)
def test_a_problem_is_imported_and_its_goal_planned_at_the_command_line(
    command: RunCommand, tmp_path: Path, goal: str, actions: list[str] | None
) -> None:
    """Kind: an end told otherwise than the scene has it: "nothing can be done" where an action would do."""
    problem, domain = files_of(tmp_path, FETCH, goal)
    name = fresh("fetch")
    assert command("import", "pddl", str(problem), "--domain", str(domain), "--name", name).code == 0
    for todo in (actions, [] if actions else actions):
        done = command("plan", name, "--method", "symbolic", "--json")
        *events, end = map(json.loads, done.out.splitlines())
        assert done.code == (1 if actions is None else 0), done.out
        assert [it["action"] for it in events if it["event"] == "acted"] == (todo or [])
        assert (end["outcome"] == "done", end["goal"]) == ((False, "not met") if actions is None else (True, "met"))
    told = command("plan", name, "--method", "symbolic").out
    assert ("done: the goal holds (" in told) is (actions is not None)
    assert [it["action"] for it in command("history", name, "--json").json] == (actions or [])
