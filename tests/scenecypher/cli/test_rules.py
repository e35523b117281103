"""`scenecypher rules`: added, listed, checked and removed, and a person at the terminal who is asked."""

from __future__ import annotations

import io

import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.store.scene_store import SceneStore
from tests.db.store.test_store import fresh
from tests.planner.rules.homes import HOME, NO_METAL, moved, with_states
from tests.scenecypher.cli.conftest import RunCommand

BROKEN = moved(with_states(HOME, microwave_1="open on"), "fork-1", "INSIDE", "microwave-1")


@pytest.fixture
def house(store: SceneStore) -> str:
    name = fresh("house")
    store.put(ImportedScene(name, BROKEN, "household"))
    return name


class Terminal(io.StringIO):
    """Standard input of a person who is there."""

    def isatty(self) -> bool:
        return True


def test_rules_are_added_listed_checked_and_removed(house: str, command: RunCommand) -> None:
    added = command("rules", "add", house, NO_METAL, "--name", "metal", "--actor", "ann")
    assert (added.code, added.out.splitlines()) == (
        0,
        [
            f"{house} has the rule metal: {NO_METAL}",
            f"broken now by fork-1 and microwave-1: the rule metal: {NO_METAL}",
        ],
    )
    assert f"metal: {NO_METAL}  [ann, " in command("rules", "list", house).out
    (listed,) = command("rules", "list", house, "--json").json
    assert (listed["name"], listed["kind"], listed["author"], listed["since"]) == ("metal", "never", "ann", 1)
    checked = command("rules", "check", house, "--json")
    assert (checked.code, checked.json) == (
        1,
        [{"rule": "metal", "words": NO_METAL, "things": "fork-1 and microwave-1"}],
    )
    assert command("act", house, "switch_off(microwave-1)").code == 0
    assert command("rules", "check", house).out == f"{house} breaks no rule\n"
    refused = command("undo", house)
    assert (refused.code, "the rule metal forbids it" in refused.err) == (1, True)
    assert command("rules", "remove", house, "metal").code == 0
    assert command("undo", house).code == 0
    assert command("rules", "list", house).out == f"{house} has no rules\n"
    assert f"metal: {NO_METAL}" in command("rules", "list", f"{house}@1").out


def test_an_undo_that_breaks_a_rule_asks(
    house: str, command: RunCommand, store: SceneStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silent: an undo led back to what a rule forbids, and nobody was asked."""
    command("act", house, "switch_off(microwave-1)")
    command("rules", "add", house, NO_METAL)
    for answer, code in (("n\n", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        result = command("undo", house)
        assert (result.code, "rule-1 forbids it" in result.err) == (code, True)
    assert store.history(store.find(house))[-1].approved_by == "person"


def test_a_set_is_taken_as_far_as_the_scene_has_what_it_names(
    house: str, command: RunCommand, store: SceneStore
) -> None:
    taken = command("rules", "add", house, "--set", "household-safety", "--json").json
    names = {it["name"] for it in taken["rules"]}
    assert {"fork-in-microwave", "knife-in-nursery", "stove-by-people"} <= names
    assert "detergent-in-fridge" in taken["left_out"]
    assert not names & {*taken["left_out"]}
    assert {it["rule"] for it in taken["broken"]} == {"fork-in-microwave", "microwave-runs-closed"}
    assert store.find(house).version == 1
    again = command("rules", "add", house, "--set", "household-safety")
    assert (again.code, "is new to" in again.err) == (2, True)
    assert store.find(house).version == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("never unicorn ON table",), "unicorn"),
        (("be careful",), "write `never CONDITION`"),
        ((), "give a rule such as"),
        (("never fork ON table", "--set", "household-safety"), "give a rule such as"),
        (("--set", "household-savety"), "did you mean 'household-safety'"),
    ],
)
def test_bad_input_is_told_and_writes_nothing(
    house: str, command: RunCommand, store: SceneStore, arguments: tuple[str, ...], said: str
) -> None:
    result = command("rules", "add", house, *arguments)
    assert (result.code, said in result.err) == (2, True)
    assert store.find(house).version == 0


def test_a_person_at_the_terminal_is_asked(house: str, command: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unasked: a rule reserves the stove to people, and only who is there can approve."""
    command("rules", "add", house, "ask before switch_on(stove)", "--name", "stove")
    alone = command("act", house, "switch_on(stove-1)")
    assert (alone.code, "nobody is here to ask" in alone.err) == (1, True)
    for answer, code in (("n\n", 1), ("", 1), ("y\n", 0)):
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        result = command("act", house, "switch_on(stove-1)", "--actor", "ann")
        assert result.code == code, result
        assert "the rule stove has a person asked" in result.err
    (event,) = command("history", house, "--json").json[1:]
    assert event["approved_by"] == "ann"
    assert "approved by ann" in command("history", house).out
