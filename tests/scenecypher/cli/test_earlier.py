"""Earlier states at the command line: read by every command that reads, changed by none."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

import scenecypher as sc
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers.homes import small_home
from scenecypher.planner.worlds.belief import find_or_create_belief
from scenecypher.planner.worlds.belief_simulator import simulator_of
from tests.scenecypher.cli.conftest import RunCommand, Serve
from tests.scenecypher.test_home import db
from tests.scenes import delete_scenes

__all__ = ["db"]

CUP, WHERE = "cup_2004", "MATCH (:Agent)-[:INSIDE]->(room:Place) RETURN room.name"


@pytest.fixture(scope="module")
def walked(store: SceneStore) -> Iterator[str]:
    """The name of a home in which the agent walked into the bathroom, and took the cup."""
    name = f"test/walked-{uuid4().hex[:10]}"
    store.put(replace(small_home(), name=name))
    simulator = simulator_of(store, store.find(name))
    for action in (f"walk({CUP})", f"grab({CUP})"):
        assert [*simulator.act(action)]
    assert store.find(name).version == 2
    yield name
    delete_scenes(store, name)


def test_a_version_is_queried_asked_shown_and_exported(
    command: RunCommand, walked: str, store: SceneStore, model: Serve, tmp_path: Path
) -> None:
    then, now = command("query", f"{walked}@0", WHERE, "--json").json, command("query", walked, WHERE, "--json").json
    assert (then["version"], now["version"]) == (0, 2)
    assert then["rows"] != now["rows"]
    server = model([WHERE])
    asked = command("ask", f"{walked}@0", "Where is the agent?", "--rows", "--json")
    assert asked.json["rows"] == then["rows"], asked.err
    assert "@0" not in json.dumps(server.requests), "a model is told no version"
    runs = command("runs", "list", walked, "--json").json
    assert (walked, 0) in [(run["scene"], run["version"]) for run in runs], "a question is a run of the home itself"
    assert command("scenes", "show", f"{walked}@1", "--json").json["version"] == 1
    assert "held" not in command("scenes", "tree", f"{walked}@1").out
    assert command("scenes", "tree", f"{walked}@2", "character_65").out.splitlines()[1:] == ["  held: cup_2004 [clean]"]
    assert command("scenes", "schema", f"{walked}@0").out == command("scenes", "schema", f"{walked}@0").out
    file = tmp_path / "then.json"
    assert command("scenes", "export", f"{walked}@0", "--out", str(file)).code == 0
    document = json.loads(file.read_text())
    assert document["name"] == walked
    assert len(document["relations"]) == len(store.as_of(walked, 0).relations)


def test_a_time_is_as_good_as_a_version(command: RunCommand, walked: str, store: SceneStore) -> None:
    at = [event.at for event in store.history(store.find(walked))]
    assert command("scenes", "show", f"{walked}@{at[0].isoformat()}", "--json").json["version"] == 1
    assert command("scenes", "diff", f"{walked}@1", f"{walked}@{at[0].isoformat()}").out == "no difference\n"
    early = command("query", f"{walked}@2001-01-01T10:15", WHERE)
    assert (early.code, "begins at" in early.err) == (2, True)


def test_a_fork_is_acted_in(command: RunCommand, walked: str, store: SceneStore) -> None:
    fork = f"{walked}/fork"
    assert command("scenes", "copy", f"{walked}@1", fork).code == 0
    assert command("scenes", "diff", fork, f"{walked}@1").out == "no difference\n"
    assert command("act", fork, f"grab({CUP})").code == 0
    assert store.find(fork).version == 1
    assert command("scenes", "copy", f"{walked}@1", f"{walked}@5").code == 2


def test_a_belief_has_versions_too(command: RunCommand, walked: str, store: SceneStore) -> None:
    belief = find_or_create_belief(store, store.find(walked)).name
    assert belief == f"{walked}@belief"
    shown = command("scenes", "show", f"{belief}@0", "--json").json
    assert (shown["name"], shown["role"]) == (belief, "belief")
    assert command("query", f"{belief}@0", "MATCH (n) RETURN count(n)", "--json").json["version"] == 0


@pytest.mark.parametrize(
    "line",
    [
        ("act", "{}", "walk(cup_2004)"),
        ("undo", "{}"),
        ("redo", "{}"),
        ("plan", "{}", "take the cup", "--method", "symbolic"),
        ("session", "{}"),
        ("history", "{}"),
        ("scenes", "set", "{}", "--vocabulary", "virtualhome"),
        ("scenes", "perturb", "{}", "--seed", "1"),
        ("scenes", "delete", "{}", "--yes"),
    ],
    ids=lambda line: line[-1] if isinstance(line, str) else "-".join(line[:2]),
)
def test_what_would_change_it_is_refused_and_names_the_way(
    command: RunCommand, home: str, line: tuple[str, ...]
) -> None:
    ran = command(*(part.format(f"{home}@0") for part in line))
    assert ran.code == 2
    assert f"'{home}@0' is an earlier state" in ran.err
    assert f"`scenecypher scenes copy {home}@0 NEW`" in ran.err


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("@7", "has versions 0 to 0, not 7"),
        ("@10:15", "neither a version nor a time; write NAME@7"),
        ("x@0", "no scene named"),
    ],
)
def test_what_there_is_not_is_told(command: RunCommand, home: str, end: str, words: str) -> None:
    for line in (("query", f"{home}{end}", WHERE), ("scenes", "show", f"{home}{end}"), ("scenes", "diff", home + end)):
        ran = command(*line)
        assert (ran.code, words in ran.err) == (2, True), ran.err


def test_an_earlier_state_has_no_past_of_its_own(command: RunCommand, walked: str) -> None:
    ran = command("query", f"{walked}@1", "MATCH (e:PastEvent) RETURN e.version")
    assert (ran.code, f"ask about events up to version 1 of '{walked}' itself" in ran.err) == (1, True), ran.err
    assert command("query", walked, "MATCH (e:PastEvent) RETURN e.version", "--json").json["rows"] == [[1], [2]]


def test_cached_copies_are_collected(command: RunCommand, walked: str) -> None:
    assert command("query", f"{walked}@1", WHERE).code == 0
    assert command("db", "clean", "--grace", "0", "--json").json["cleaned"] >= 1
    assert command("query", f"{walked}@1", WHERE).code == 0


def test_the_same_from_python(db: sc.SceneDatabase, walked: str) -> None:
    home = db.home(walked)
    then = home.at(0)
    assert (then.name, then.version, then.info.version) == (walked, 0, 0)
    assert repr(then) == f"<PastHome '{walked}' at version 0>"
    assert then.query(WHERE).version == 0
    assert then.query(WHERE).rows != home.query(WHERE).rows
    assert [list(row) for row in then.query(WHERE)] == db.reader(f"{walked}@0").run(WHERE).rows
    assert then.tree() != home.tree()
    assert "Agent" in then.schema
    script = sc.Scripted([sc.ScriptedReply(("Where is",), WHERE)])
    options = sc.AskOptions(verifier="off")
    assert then.ask("Where is the agent?", model=script, options=options).rows == then.query(WHERE).rows
    second = home.history()[1].at
    assert home.at(second).version == home.at("2").version == home.at(second.isoformat()).version == 2
    with pytest.raises(sc.InputError, match="not 3"):
        home.at("3")
    fork = then.copy(f"{walked}/other")
    assert fork.act(f"walk({CUP})")[0].version == 1
    assert then.diff(fork)
    with pytest.raises(sc.InputError, match="scenes copy"):
        db.home(f"{walked}@0")
