"""`scenecypher act` at the command line: done, refused, corrected, listed."""

from __future__ import annotations

import json

import pytest

from scenecypher.db.graph.delta import AddRelation, Delta, RemoveRelation
from scenecypher.db.graph.scene import Relation
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from scenecypher.planner.vocabularies.vocabulary import operators_of
from scenecypher.planner.worlds.belief import find_or_create_belief
from tests.planner.actions.grasif_worlds import home as kitchen
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME, ROBOT
from tests.scenecypher.cli.conftest import RunCommand

NEVER = "never cup INSIDE fridge"
AT_FIRST = Relation("cup-1", "ON", "table-1")
MOVED = AddRelation(Relation("cup-1", "ON", "desk-1"))


@pytest.fixture
def home(store: SceneStore) -> SceneInfo:
    return put(store, HOME)


def test_an_action_says_what_was_done(home: SceneInfo, store: SceneStore, command: RunCommand) -> None:
    ran = command("act", home.name, "grab(cup)")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "grab(cup_30): done, now at version 1",
        "  - cup_30 ON table_20",
        f"  + {ROBOT} HOLDS_RH cup_30",
        "  + cup_30 TAKEN_OFF table_20",
        "  and 4 of CLOSE",
    ]
    assert store.history(home)[0].action == "grab(cup_30)"


def test_the_history_says_whose_action_it_was(home: SceneInfo, store: SceneStore, command: RunCommand) -> None:
    """In a household of several, "who moved it?" needs an answer."""
    assert command("act", home.name, "grab(cup)", "--actor", "ann").code == 0
    belief = find_or_create_belief(store, home)
    assert command("act", home.name, "put_on(cup, table)").code == 0
    assert [event.actor for event in store.history(home)] == ["ann", "person"]
    ran = command("act", belief.name, "discover_objects(kitchen)", "--actor", " ")
    assert (ran.code, "names nobody; give 1 to 100 printable characters" in ran.err) == (2, True)


def test_a_refusal_is_said_in_words_with_exit_code_1(home: SceneInfo, store: SceneStore, command: RunCommand) -> None:
    said = command("act", home.name, "put_in(cup_30, fridge_21)")
    assert said.code == 1
    assert said.out == ""
    reasons = f"{ROBOT} does not hold cup_30: grab(cup_30) first; fridge_21 is closed: open(fridge_21) first"
    assert said.err == f"refused: put_in(cup_30, fridge_21): {reasons}\n"
    assert store.history(home) == []


def test_a_thing_by_another_word_is_refused_with_the_scene_s_own(home: SceneInfo, command: RunCommand) -> None:
    ran = command("act", home.name, "open(refrigerator)")
    assert (ran.code, "in this scene 'refrigerator' may be 'fridge'" in ran.err) == (1, True)


def test_fix_does_what_stands_in_the_way(home: SceneInfo, command: RunCommand) -> None:
    ran = command("act", home.name, "put_in(cup_30, fridge_21)", "--fix")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[0].endswith(f"now at version 1 (inserted: {ROBOT} does not hold cup_30)")
    assert [line.partition(":")[0] for line in lines if not line.startswith(" ")] == [
        "grab(cup_30)",
        "open(fridge_21)",
        "put_in(cup_30, fridge_21)",
    ]


def test_what_was_decided_on_an_older_version_is_refused(
    home: SceneInfo, store: SceneStore, command: RunCommand
) -> None:
    assert command("act", home.name, "open(fridge_21)", "--expect-version", "0").code == 0
    ran = command("act", home.name, "grab(cup_30)", "--expect-version", "0")
    assert (ran.code, "the scene is at version 1, not 0" in ran.err) == (1, True)
    assert [event.action for event in store.history(home)] == ["open(fridge_21)"]


def test_what_is_inserted_before_it_is_not_another_version(
    command: RunCommand, home: SceneInfo, store: SceneStore
) -> None:
    assert command("act", home.name, "put_in(cup_30, fridge_21)", "--fix", "--expect-version", "0").code == 0
    assert len(store.history(home)) == 3


def test_json_holds_the_delta(home: SceneInfo, store: SceneStore, command: RunCommand) -> None:
    ran = command("act", home.name, "open(fridge_21)", "--json")
    assert ran.code == 0
    (document,) = ran.json
    assert document == {
        "action": "open(fridge_21)",
        "version": 1,
        "inserted_because": None,
        "seen": [],
        "delta": [["states", "fridge_21", ["open"], ["closed"]]],
    }


def test_json_tells_what_was_done_before_a_refusal(store: SceneStore, command: RunCommand) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    said = command("act", world.name, "rearrange(cup-1, on, pen-1)", "--fix", "--json")
    assert said.code == 1
    refused = json.loads(said.out)
    assert [step["action"] for step in refused["done"]] == ["go_to(kitchen)", "pick_up(cup-1)"]
    assert all(step["inserted_because"] for step in refused["done"])
    assert (refused["ok"], refused["code"]) == (False, "refused")
    assert "pen-1 can not be something to put things on" in said.err


@pytest.mark.parametrize(
    ("arguments", "code", "exit_code"),
    [
        (["act", "SCENE", "put_in(cup_30, fridge_21)"], "refused", 1),
        (["act", "SCENE", "grab(cupp_30)"], "refused", 1),
        (["history", "SCENE", "cupp_30"], "refused", 1),
        (["undo", "SCENE"], "refused", 1),
        (["act", "no-such-scene", "grab(cup_30)"], "input", 2),
        (["history", "no-such-scene"], "input", 2),
    ],
)
def test_a_refusal_is_json_where_json_was_asked_for(
    home: SceneInfo, command: RunCommand, arguments: list[str], code: str, exit_code: int
) -> None:
    """What a program asked for as JSON is JSON whatever comes of it, and the branch of the error decides its code."""
    given = [home.name if it == "SCENE" else it for it in arguments]
    said = command(*given, "--json")
    assert said.code == exit_code
    document = json.loads(said.out)
    assert (document["ok"], document["code"]) == (False, code)
    assert document["message"] in said.err


def test_the_history_has_the_scene_s_own_time_beside_the_server_s(
    home: SceneInfo, store: SceneStore, command: RunCommand
) -> None:
    """One event has one time by each clock, and each is marked: `ask` told the one, `history` the other."""
    assert command("scenes", "set", home.name, "--clock", "2026-03-09T10:46:00+00:00").code == 0
    assert command("act", home.name, "grab(cup)").code == 0
    ran = command("history", home.name)
    heads, *_, row = ran.out.splitlines()
    assert "scene's time" in heads
    assert "server's time" in heads
    server = store.history(home)[0].at
    assert "2026-03-09 10:46:00" in row
    assert f"{server:%Y-%m-%d %H:%M:%S}" in row
    ran = command("history", home.name, "--json")
    (event,) = ran.json
    assert (event["at"], event["scene_time"]) == (server.isoformat(), "2026-03-09T10:46:00+00:00")


def test_an_action_in_a_belief_happens_in_its_world(store: SceneStore, command: RunCommand) -> None:
    world = put(store, kitchen(), vocabulary="grasif")
    belief = find_or_create_belief(store, world)
    store.commit(world, Delta.of([MOVED, RemoveRelation(AT_FIRST)]), actor="test", action="somebody moves it")
    said = command("act", belief.name, "pick_up(cup-1)", "--fix")
    assert said.code == 1
    assert said.out.startswith("go_to(kitchen): done, now at version 1")
    assert "the world is not as believed" in said.err
    assert "cup-1 is absent: believed on table-1, not seen there" in said.err
    ran = command("act", belief.name, "discover_objects(desk-1)", "--fix")
    assert (ran.code, "  cup-1 is moved: seen on desk-1, believed nowhere\n" in ran.out) == (0, True)
    assert [event.action.partition("  ")[0] for event in store.history(world)][1:] == [
        *("go_to(kitchen)", "go_to(office)", "discover_objects(desk-1)")
    ]
    with pytest.raises(InputError, match=f"give the world that it is about: {world.name}"):
        find_or_create_belief(store, belief)


def test_the_actions_are_listed(home: SceneInfo, command: RunCommand) -> None:
    ran = command("act", home.name, "--list")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert [line.partition("(")[0] for line in lines] == [*operators_of("virtualhome")]
    assert command("act", home.name, "--list", "--json").json == {"actions": lines, "rules": []}
    assert command("rules", "add", home.name, NEVER).code == 0
    assert command("act", home.name, "--list", "--json").json == {"actions": lines, "rules": [NEVER]}
    assert command("act", home.name, "--list").out.endswith(f"- {NEVER}\n")
