"""Archives on a real server: what is restored is what was saved, under new keys, and half an archive is never seen."""

from __future__ import annotations

import gc
import gzip
import itertools
import json
import subprocess
import sys
import threading
import tracemalloc
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenecypher.db.archive.backup import back_up
from scenecypher.db.archive.contents import read_contents
from scenecypher.db.archive.file import ArchiveWriter, _raw_lines, read_lines
from scenecypher.db.archive.lines import Header as ArchiveHeader
from scenecypher.db.archive.lines import RecordLine, SceneLine, parse_line
from scenecypher.db.archive.restore import Naming, check_archive, restore_archive
from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.graph.value import InvalidValue
from scenecypher.db.schema import Declared
from scenecypher.db.store.bounds import bounds_of
from scenecypher.db.store.catalog import SceneInfo, scene_of
from scenecypher.db.store.connection import Address
from scenecypher.db.store.load import load_replaced
from scenecypher.db.store.publish import Header, publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.stored_form import FORM
from scenecypher.errors import ConflictError, DocumentError, InputError, NothingToRedo, NothingToUndo, SceneNotFound
from scenecypher.files import new_file
from tests.db.store.test_store import fresh, odd, small
from tests.sampling import FULL
from tests.scenes import NAMED
from tests.strategies import scene_graphs


def saved(store: SceneStore, path: Path, *names: str) -> Path:
    back_up(store.database, path, scenes=[store.find(name) for name in names])
    return path


def restored(store: SceneStore, path: Path, naming: Naming) -> tuple[str, ...]:
    contents = check_archive(store.database, path, naming)
    return restore_archive(store.database, path, contents, naming)


def stored_facts(store: SceneStore, name: str) -> dict[str, Any]:
    """Return all properties of a scene but its name, its key and what refers to keys."""
    statement = "MATCH (s:Scene {name: $name}) RETURN properties(s) AS facts"
    (facts,) = [row["facts"] for row in store.database.rows(statement, {"name": name})]
    return {key: value for key, value in facts.items() if key not in {"name", "key", "world", "copied_from", "started"}}


def read_facts(store: SceneStore, name: str) -> dict[str, Any]:
    """Return the stored facts of a scene that a restore reads, not those that it computes."""
    facts = stored_facts(store, name).items()
    return {key: value for key, value in facts if not key.startswith("most_") and key not in {"nodes", "relations"}}


def stored_events(store: SceneStore, info: SceneInfo) -> list[dict[str, Any]]:
    """Return all properties of the events of a scene, times as the server writes them."""
    statement = "MATCH (e:Event {scene: $key}) RETURN properties(e) AS e, toString(e.at) AS at ORDER BY e.version"
    rows = [({**row["e"]}, row["at"]) for row in store.database.rows(statement, {"key": info.key})]
    return [{**{key: value for key, value in e.items() if key != "scene"}, "at": at} for e, at in rows]


def changed(store: SceneStore, name: str, graph: SceneGraph) -> None:
    now = store.load(name)
    store.commit(now.info, diff(now.graph, graph), actor="person", action="change", expected_version=now.info.version)


# --- the law


@given(
    graphs=st.lists(scene_graphs(), min_size=1, max_size=4),
    steps=st.lists(st.sampled_from(["undo", "redo", "change"]), max_size=4),
)
@settings(max_examples=100 if FULL else 4)
def test_what_is_restored_is_what_was_saved(
    store: SceneStore, tmp_path_factory: pytest.TempPathFactory, graphs: list[SceneGraph], steps: list[str]
) -> None:
    name = fresh("law")
    declared = Declared(("NEXT_TO",), ("serial_number",))
    publish(store.database, graphs[0], Header(name, "virtualhome", declared=declared, source="a law"))
    for graph in graphs[1:]:
        changed(store, name, graph)
    for step in steps:
        played(store, name, step, graphs)
    path = saved(store, tmp_path_factory.mktemp("law") / "one.archive", name)

    (new,) = restored(store, path, Naming(prefix="again/"))

    before, after = store.load(name), store.load(new)
    assert after.graph == before.graph
    assert after.info.key != before.info.key
    assert read_facts(store, new) == read_facts(store, name)
    assert after.info.bounds == bounds_of(after.graph) or not after.graph.nodes
    assert stored_events(store, after.info) == stored_events(store, before.info)
    for version in range(before.info.version + 1):
        assert store.as_of(new, version) == store.as_of(name, version)
    for step in ("undo", "redo", "change"):
        assert played(store, new, step, graphs) == played(store, name, step, graphs)
    assert store.load(new).graph == store.load(name).graph


def played(store: SceneStore, name: str, step: str, graphs: list[SceneGraph]) -> object:
    """Carry out a step; return its version and change, or the sort of error."""
    try:
        match step:
            case "change":
                changed(store, name, graphs[0])
                return store.find(name).version
            case "undo":
                done = store.undo(store.find(name))
            case _:
                done = store.redo(store.find(name))
    except (NothingToUndo, NothingToRedo, ConflictError) as error:
        return type(error)
    return done.version, done.delta


# --- references between scenes, earlier generations


def test_a_belief_is_saved_before_its_world_and_finds_it_again(store: SceneStore, tmp_path: Path) -> None:
    name = fresh("home")
    publish(store.database, small(), Header(name, "virtualhome"))
    world = store.find(name)
    belief = Header(f"{name}@belief", "virtualhome", role="belief", world=world.key, world_version=0)
    publish(store.database, small(), belief)
    copy = store.copy(name, f"{name}-copy")
    path = saved(store, tmp_path / "a.archive", f"{name}@belief", name, copy.name)

    names = restored(store, path, Naming(prefix="moved/"))

    assert names == (f"moved/{name}@belief", f"moved/{name}", f"moved/{name}-copy")
    moved = store.find(f"moved/{name}")
    assert store.find(f"moved/{name}@belief").world == moved.key
    assert store.find(f"moved/{name}-copy").copied_from == f"{moved.key}@0"


def test_a_backup_beside_a_writer_has_each_scene_at_one_version(store: SceneStore, tmp_path: Path) -> None:
    name, graphs = fresh("busy"), (odd(), small())
    publish(store.database, small(), Header(name, "virtualhome"))
    publish(store.database, small(), Header(f"{name}@belief", "virtualhome", role="belief"))
    is_over = threading.Event()

    def write() -> None:
        for number in itertools.count():
            if is_over.is_set():
                return
            for scene in (name, f"{name}@belief"):
                changed(store, scene, graphs[number % 2])

    with ThreadPoolExecutor(1) as writer:
        written = writer.submit(write)
        try:
            paths = [saved(store, tmp_path / f"{number}.archive", f"{name}@belief", name) for number in range(3)]
        finally:
            is_over.set()
        written.result()
    for number, path in enumerate(paths):
        belief, world = restored(store, path, Naming(prefix=f"{number}/"))
        assert store.find(belief).version <= store.find(world).version
        for scene in (belief, world):
            info = store.find(scene)
            assert store.as_of(scene, 0) == small()
            assert store.load(scene).graph == graphs[(info.version + 1) % 2]


def test_a_scene_that_is_begun_again_leaves_nothing_in_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.archive"
    with file.open("w+b") as opened:
        writer = ArchiveWriter(opened, ArchiveHeader(FORM, "2026-11-23"))
        first = writer.begin_scene()
        first.write(RecordLine("Event", {"x": "y" * 10_000}))
        again = writer.begin_scene()
        del first
        gc.collect()
        writer.keep(again)
        writer.end()
    lines = [json.loads(line) for line in gzip.decompress(file.read_bytes()).splitlines()]
    assert len(lines) == 3, "the header, the end of the scene and the end of the file"


def test_a_reference_that_leads_out_of_the_archive_is_dropped(store: SceneStore, tmp_path: Path) -> None:
    name = fresh("home")
    publish(store.database, small(), Header(name, "virtualhome"))
    copy = store.copy(name, f"{name}-copy")
    (new,) = restored(store, saved(store, tmp_path / "a.archive", copy.name), Naming(name=f"{name}-again"))
    assert store.find(new).copied_from is None


def test_a_whole_backup_has_earlier_generations_that_have_a_history(store: SceneStore, tmp_path: Path) -> None:
    name = fresh("replaced")
    publish(store.database, small(), Header(name, "virtualhome"))
    first = store.find(name)
    changed(store, name, odd())
    publish(store.database, small(), Header(name, "virtualhome"), replaces=first.key)
    with store.lease(name) as leased:
        back_up(store.database, tmp_path / "all.archive")
    # Lines alone: other tests on this server plant events that no archive may hold.
    scenes = [line for _, line in read_lines(tmp_path / "all.archive") if isinstance(line, SceneLine)]
    statuses = {it.status: it.key for it in scenes if it.name == name}
    assert statuses == {"retired": first.key, "ready": store.find(name).key}
    assert leased.key not in {it.key for it in scenes}
    roles = [it.facts.get("role", "world") for it in scenes]
    assert roles == sorted(roles)

    path = tmp_path / "one.archive"
    earlier = scene_of(store.database, first.key)
    assert earlier is not None
    back_up(store.database, path, scenes=[earlier, store.find(name)])
    path = forged(path, path, with_time_to_come)
    restored(store, path, Naming(name=f"{name}-again"))
    retired = "MATCH (s:Scene {status: 'retired', was: $name}) RETURN s.retired <= datetime() AS is_past"
    assert store.database.rows(retired, {"name": f"{name}-again"})[0]["is_past"]
    assert load_replaced(store.database, f"{name}-again").graph == odd()
    assert store.find(f"{name}-again").version == 0


# --- names


def test_names_that_are_taken_are_refused_before_anything_is_written(store: SceneStore, tmp_path: Path) -> None:
    name = fresh("home")
    publish(store.database, small(), Header(name, "virtualhome"))
    path = saved(store, tmp_path / "a.archive", name)
    before = leftovers(store)
    with pytest.raises(InputError, match=f"scenes of these names are there: {name}"):
        check_archive(store.database, path, Naming())
    contents = check_archive(store.database, path, Naming(prefix="x/"))
    with pytest.raises(InputError, match="scenes of these names are there"):
        restore_archive(store.database, path, contents, Naming())
    assert store.load(name).graph == small()
    assert leftovers(store) == before


def leftovers(store: SceneStore) -> int:
    statement = "MATCH (s:Scene {status: 'importing'}) RETURN count(*) AS n"
    return int(store.database.rows(statement)[0]["n"])


def test_scenes_of_the_same_names_are_replaced_on_demand(store: SceneStore, tmp_path: Path) -> None:
    name = fresh("home")
    publish(store.database, small(), Header(name, "virtualhome"))
    changed(store, name, odd())
    path = saved(store, tmp_path / "a.archive", name)
    store.undo(store.find(name))
    assert restored(store, path, Naming(replaces=True)) == (name,)
    assert (store.load(name).graph, store.find(name).version) == (odd(), 1)
    assert load_replaced(store.database, name).info.version == 2


def test_one_name_is_for_one_world(store: SceneStore, tmp_path: Path) -> None:
    one, two = fresh("one"), fresh("two")
    for name in (one, two):
        publish(store.database, small(), Header(name, "virtualhome"))
    path = saved(store, tmp_path / "a.archive", one, two)
    with pytest.raises(InputError, match="2 scenes; one name can't be that of all"):
        check_archive(store.database, path, Naming(name="new"))
    with pytest.raises(InputError, match="can't name a new scene"):
        check_archive(store.database, saved(store, path, one), Naming(name="new@7"))


# --- archives that are not whole


@pytest.fixture(scope="module")
def whole(store: SceneStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an archive of a scene with two events and a belief about it."""
    name = fresh("whole")
    publish(store.database, small(), Header(name, "virtualhome"))
    changed(store, name, odd())
    changed(store, name, small())
    world = store.find(name)
    belief = Header(f"{name}@belief", "virtualhome", role="belief", world=world.key, world_version=1)
    publish(store.database, small(), belief)
    return saved(store, tmp_path_factory.mktemp("whole") / "whole.archive", f"{name}@belief", name)


Lines = list[list[Any]]


def first(lines: Lines, tag: str, place: int = 0) -> Any:
    return [line for line in lines if line[0] == tag][place][-1]


def set_in(tag: str, place: int, **values: Any) -> Callable[[Lines], None]:
    return lambda lines: first(lines, tag, place).update(values)


def with_event(**values: Any) -> Callable[[Lines], None]:
    return set_in("record", 0, **values)


def with_same_name(lines: Lines) -> None:
    first(lines, "scene", 1)["name"] = first(lines, "scene")["name"]


def with_same_key(lines: Lines) -> None:
    first(lines, "scene", 1)["key"] = first(lines, "scene")["key"]


def with_newer_belief(lines: Lines) -> None:
    first(lines, "scene")["facts"]["world_version"] = 3


def with_unknown_actions(lines: Lines) -> None:
    first(lines, "scene")["facts"]["vocabulary"] = "juggling"


def without_version(lines: Lines) -> None:
    del first(lines, "scene")["facts"]["version"]


def with_key_as_fact(lines: Lines) -> None:
    first(lines, "scene")["facts"]["leased"] = "x"


def with_label(lines: Lines) -> None:
    next(line for line in lines if line[0] == "record")[1] = "Entity"


def with_bad_node(lines: Lines) -> None:
    next(line for line in lines if line[0] == "node")[1]["kind"] = "Ghost"


def with_bad_relation(lines: Lines) -> None:
    next(line for line in lines if line[0] == "node" and len(line) > 2)[2] = {"not a type": ["cup"]}


def with_relation_twice(lines: Lines) -> None:
    next(line for line in lines if line[0] == "node" and len(line) > 2)[2] = {"ON": ["cup", "cup"]}


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (set_in("archive", 0, form=99), "line 1: the archive has form 99, written by a newer SceneCypher"),
        (set_in("archive", 0, form=2), "line 1: the archive has form 2, written by SceneCypher before 0.2"),
        (set_in("archive", 0, format="zip"), "line 1: the format is 'zip'"),
        (with_same_name, "two scenes are named"),
        (with_same_key, "two scenes have the key"),
        (with_newer_belief, "is newer than its world"),
        (with_unknown_actions, "the actions 'juggling' of .* are not known here"),
        (without_version, "line 2: not of the form"),
        (with_key_as_fact, "the scene has no fact 'leased'"),
        (with_event(hash="0"), "the change of version 1 is not the one that was committed"),
        (with_event(delta="[]"), "the change of version 1 is not the one that was committed"),
        (with_event(version=7), "version 7 is none of the scene"),
        (with_event(version=2), "not of the form"),
        (with_event(at="yesterday"), "not of the form"),
        (with_event(undoes=[5]), "not of the form"),
        (with_label, "records 'Entity' are not known here"),
        (with_bad_node, "'Ghost'"),
        (with_bad_relation, "'not a type'"),
        (with_relation_twice, "is given twice"),
    ],
    ids=lambda it: it.__name__ if callable(it) else None,
)
def test_an_archive_that_was_made_wrong_is_refused_at_its_line(
    whole: Path, tmp_path: Path, damage: Callable[[Lines], None], says: str
) -> None:
    """Digests are right in these: somebody has written them anew."""
    with pytest.raises(DocumentError, match=says):
        read_contents(forged(whole, tmp_path / "wrong.archive", damage))


def with_fact(name: str, value: Any) -> Callable[[Lines], None]:
    """Return the damage that sets a fact of the world, which is the second scene."""
    return lambda lines: first(lines, "scene", 1)["facts"].update({name: value})


def with_run(**values: Any) -> Callable[[Lines], None]:
    """Return the damage that adds a run of one step, some values of which are wrong; those of the step begin with _."""
    time = {"time": "2026-11-23T18:03:43+00:00"}
    run = {
        **dict.fromkeys(("scene_name", "command", "instruction", "method", "model", "actor", "line", "host"), "x"),
        "pid": 1,
        "started": 1.5,
        "version": 0,
        "number": 1,
        "began": time,
        "touched": time,
        "steps": 1,
        "outcome": "done",
        "tokens_in": 1,
        "tokens_out": 1,
    }
    step = {"line": "{}", "at": time, "run": 1, "number": 1, "kind": "finished", "turn": 1}
    run |= {name: value for name, value in values.items() if name[0] != "_"}
    step |= {name[1:]: value for name, value in values.items() if name[0] == "_"}

    def damage(lines: Lines) -> None:
        *_, end = (place for place, line in enumerate(lines) if line[0] == "end of scene")
        lines[end:end] = [["record", "Run", run], ["record", "Step", step]]
        lines[end + 2][1]["counts"] |= {"Run": 1, "Step": 1}

    return damage


def with_time_to_come(lines: Lines) -> None:
    first(lines, "scene")["facts"]["retired"] = {"time": "2999-01-01T00:00:00+00:00"}


def forged(whole: Path, path: Path, damage: Callable[[Lines], None]) -> Path:
    """Return an archive that somebody changed and whose digests he made anew."""
    lines: Lines = [json.loads(line) for line in gzip.decompress(whole.read_bytes()).splitlines()]
    damage(lines)
    path.write_bytes(gzip.compress(signed(lines)))
    return path


FAR: Final = {"time": "9999-12-31T23:59:59+00:00"}
WRONG_FACTS: Final[dict[str, tuple[Callable[[Lines], None], str]]] = {
    "a negative version": (with_fact("version", -1), "`version` is -1"),
    "a version that no number of commits reaches": (with_fact("version", 2**63), "`version` is a whole number of 64"),
    "a text for the version": (with_fact("version", "2"), "`version` is '2'"),
    "a truth value for the version": (with_fact("version", value=True), "`version` is True"),
    "a base above the version": (with_fact("base", 3), "`base` is 3"),
    "a negative base": (with_fact("base", -1), "`base` is -1"),
    "a redeclaration to come": (with_fact("redeclared", 3), "`redeclared` is 3"),
    "a text for the redeclaration": (with_fact("redeclared", "1"), "`redeclared` is '1'"),
    "a negative version of the world": (with_fact("world_version", -1), "`world_version` is -1"),
    "a text for the clock": (with_fact("clock", "yesterday"), "`clock` is 'yesterday'"),
    "a clock without zone": (with_fact("clock_start", {"time": "2026-11-23T18:03:43"}), "`clock_start` is"),
    "a clock at the end of time": (with_fact("clock", FAR), "`clock` is"),
    "a number for the time of publishing": (with_fact("published", 5), "`published` is 5"),
    "numbers for declared names": (with_fact("declared_properties", [1]), r"`declared_properties` is \[1\]"),
    "a declared name that is none": (with_fact("declared_relations", ["a) DETACH DELETE (n"]), "relation type"),
    "actions that can't be read": (with_fact("actions", "{"), "actions"),
    "actions that are a number": (with_fact("actions", 7), "`actions` is 7"),
    "a role that is none": (with_fact("role", "king"), "`role` is 'king'"),
    "half a surrogate pair": (with_fact("source", "\ud800"), "`source` is"),
    "a fact that no scene has": (with_fact("cached", value=True), "no fact 'cached'"),
    "another author than a text": (with_event(actor=1), "`actor` is 1"),
    "a kind of event that is none": (with_event(kind="rob"), "`kind` is 'rob'"),
    "an event at the end of time": (with_event(at=FAR), "`at` is"),
    "a text for the event's clock": (with_event(clock="x"), "`clock` is 'x'"),
    "texts for the versions undone": (with_event(undoes=["1"]), r"`undoes` is \['1'\]"),
    "a negative process": (with_run(pid=-1), "`pid` is -1"),
    "a text for a run's steps": (with_run(steps="many"), "`steps` is 'many'"),
    "negative tokens": (with_run(tokens_in=-5), "`tokens_in` is -5"),
    "a number without end": (with_run(started=float("1e999")), "line 15: "),
    "a run's number that no counter reaches": (with_run(number=2**60, _run=2**60), "`number` is"),
    "a number for a run's end": (with_run(ended=5), "`ended` is 5"),
    "a text for a run's last version": (with_run(last_version="2"), "`last_version` is '2'"),
    "a text for a step's turn": (with_run(_turn="x"), "`turn` is 'x'"),
    "a number for a step's question": (with_run(_question=3), "`question` is 3"),
    "numbers for a step's reasons": (with_run(_reasons=[1]), r"`reasons` is \[1\]"),
    "a step's version that is none": (with_run(_version=-1), "`version` is -1"),
    "a value that no property holds": (with_run(_more=[1, "x"]), "more"),
    "a property's name that is none": (with_run(**{"_x y": 1}), "'x y'"),
}


@pytest.mark.parametrize("wrong", WRONG_FACTS)
def test_every_fact_of_an_archive_is_checked_for_type_and_range(whole: Path, tmp_path: Path, wrong: str) -> None:
    """Forged data: who writes an archive can make its digests anew, so that each fact in it may be any value."""
    damage, says = WRONG_FACTS[wrong]
    with pytest.raises(DocumentError, match=says):
        read_contents(forged(whole, tmp_path / "forged.archive", damage))


def test_a_run_without_a_fault_is_taken(whole: Path, tmp_path: Path) -> None:
    assert read_contents(forged(whole, tmp_path / "forged.archive", with_run())).last_run == 1


def test_what_can_be_computed_is_computed_at_restore(store: SceneStore, whole: Path, tmp_path: Path) -> None:
    """Forged derived data: bounds of 1 let a query through that stops the server, times to come are never collected."""
    soon = {"time": "2999-01-01T00:00:00+00:00"}

    def damage(lines: Lines) -> None:
        with_run(touched=soon)(lines)
        for place in (0, 1):
            facts = first(lines, "scene", place)["facts"]
            facts |= {name: 1 for name in facts if name.startswith("most_")} | {"most_nodes_Ghost": "x"}
            facts |= {"nodes": 1, "relations": "many", "published": soon}

    prefix = f"{uuid4().hex}/"
    names = restored(store, forged(whole, tmp_path / "forged.archive", damage), Naming(prefix=prefix))
    for name in names:
        after = store.load(name)
        assert after.info.bounds == bounds_of(after.graph)
        assert (after.info.nodes, after.info.relations) == (len(after.graph.nodes), len(after.graph.relations))
        assert stored_facts(store, name)["published"].to_native() <= datetime.now(UTC)
    touched = "MATCH (r:Run {scene_name: $name}) RETURN r.touched <= datetime() AS is_past"
    assert store.database.rows(touched, {"name": names[1]})[0]["is_past"]


def signed(lines: Lines) -> bytes:
    """Return lines as bytes, with the digests that they have now."""
    from hashlib import sha256

    out, scene, whole = b"", sha256(), sha256()
    for line in lines:
        if line[0] == "scene":
            scene = sha256()
        if line[0] == "end of scene":
            line[1]["sha256"] = scene.hexdigest()
        if line[0] == "end":
            line[1]["sha256"] = whole.hexdigest()
        data = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "backslashreplace")
        scene.update(data)
        if line[0] in {"archive", "end of scene"}:
            whole.update(data)
        out += data
    return out


def test_signing_changes_nothing(whole: Path, tmp_path: Path) -> None:
    text = gzip.decompress(whole.read_bytes())
    assert signed([json.loads(line) for line in text.splitlines()]) == text


def test_every_archive_that_is_cut_off_is_refused(whole: Path, tmp_path: Path) -> None:
    data, path = whole.read_bytes(), tmp_path / "cut.archive"
    for end in range(1, len(data), max(1, len(data) // 60)):
        path.write_bytes(data[:end])
        with pytest.raises(DocumentError, match=r"cut off|no archive|not as they were"):
            read_contents(path)
    lines = gzip.decompress(data).splitlines(keepends=True)
    for number in range(len(lines)):
        path.write_bytes(gzip.compress(b"".join(lines[:number])))
        with pytest.raises(DocumentError, match="cut off"):
            read_contents(path)


def test_every_changed_byte_is_noticed(whole: Path, tmp_path: Path) -> None:
    text, path = gzip.decompress(whole.read_bytes()), tmp_path / "changed.archive"
    for place in range(0, len(text), max(1, len(text) // 60)):
        path.write_bytes(gzip.compress(text[:place] + bytes([text[place] ^ 1]) + text[place + 1 :], compresslevel=1))
        with pytest.raises(DocumentError):
            read_contents(path)


def test_lines_in_another_order_are_noticed(whole: Path, tmp_path: Path) -> None:
    lines, path = gzip.decompress(whole.read_bytes()).splitlines(keepends=True), tmp_path / "moved.archive"
    for place in range(len(lines) - 1):
        path.write_bytes(
            gzip.compress(b"".join([*lines[:place], *lines[place : place + 2][::-1], *lines[place + 2 :]]))
        )
        with pytest.raises(DocumentError):
            read_contents(path)


HEADER: Final = b'["archive",{"format":"scenecypher/archive","form":3,"made":"2026-11-25"}]\n'


@pytest.mark.parametrize(
    ("line", "level", "says"),
    [
        (b"[" + b"[]," * 13_000_000 + b"[]]\n", 9, "line 2: .*of over 2,000,000 values"),
        (b'["node","' + b"[{" * 1_100_000 + b'"]\n', 0, "line 2: of over 2,000,000 values"),
        (b'["' + b"x" * 65 * 2**20, 0, "line 2: over 64 MB"),
        ((b'"' + b"x" * 2**20 + b'"\n') * 100, 9, "more than a file of this size may hold"),
    ],
    ids=["brackets", "brackets in a text", "a long line", "many lines in a small file"],
)
def test_a_small_file_takes_no_more_memory_than_a_line_may(tmp_path: Path, line: bytes, level: int, says: str) -> None:
    """Growth of memory with what a file says: a few kilobytes of gzip hold a gigabyte of lists."""
    path = tmp_path / "bomb.archive"
    path.write_bytes(gzip.compress(HEADER + line, compresslevel=level))
    tracemalloc.start()
    try:
        with pytest.raises(DocumentError, match=says):
            deque(_raw_lines(path, None), maxlen=0)
        assert tracemalloc.get_traced_memory()[1] < 300 * 2**20
    finally:
        tracemalloc.stop()


def test_a_line_that_could_not_be_read_again_is_not_written(tmp_path: Path) -> None:
    with (tmp_path / "a.archive").open("w+b") as opened:
        scene = ArchiveWriter(opened, ArchiveHeader(FORM, "2026-11-25")).begin_scene()
        with pytest.raises(InputError, match="of over 2,000,000 values"):
            scene.write(RecordLine("Event", {"delta": "[" * 2_100_000}))


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'["archive",{"format":"scenecypher/archive","form":-1,"made":"x"}]', "$.form should be at least 0, not -1"),
        (b'["archive",{"format":"scenecypher/archive","form":1}]', "$.made is missing; add it"),
        (b'["end",7]', "$ should be a map, not 7"),
        (b'["end",{"scenes":"1","sha256":"x"}]', "$.scenes should be a whole number, not '1'"),
        (b'["end",{"scenes":1,"sha256":"\\ud800"}]', "$.sha256 half a surrogate pair"),
        (b'["end",{"scenes":1,"sha256":"x"},3]', "is no line of an archive"),
        (b'["record",1,{}]', "$[0] should be text, not 1"),
        (b'["node",{"id":"a"},{"ON":[1]}]', "$[1].ON[0] should be text, not 1"),
    ],
)
def test_a_line_of_another_form_is_refused_at_its_field(line: bytes, says: str) -> None:
    """Unhelpful refusal: an error's class, in place of the field and what it should be."""
    with pytest.raises(InvalidValue) as refused:
        parse_line(line)
    assert says in str(refused.value)


@pytest.mark.parametrize("content", [b"", b"{}", b'{"format":"scenecypher/scene"}\n', gzip.compress(b"[]\n", mtime=0)])
def test_what_is_no_archive_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "no.archive"
    path.write_bytes(content)
    with pytest.raises(DocumentError):
        read_contents(path)


def test_a_file_that_is_not_there_or_can_not_be_written(store: SceneStore, tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="can't be read"):
        read_contents(tmp_path / "none.archive")
    with pytest.raises(InputError, match="can't be written"):
        back_up(store.database, tmp_path / "none" / "a.archive", scenes=[])


def test_a_backup_that_fails_leaves_the_file_that_was_there(store: SceneStore, tmp_path: Path) -> None:
    path = tmp_path / "a.archive"
    path.write_text("before")

    def fail(done: int, total: int) -> None:
        raise InputError("enough")

    name = fresh("home")
    publish(store.database, small(), Header(name, "virtualhome"))
    with pytest.raises(InputError, match="enough"):
        back_up(store.database, path, scenes=[store.find(name)], progress=fail)
    assert path.read_text() == "before"
    assert [*tmp_path.iterdir()] == [path]


WRITER: Final = """
import sys
from pathlib import Path
from scenecypher.files import new_file
with new_file(Path(sys.argv[1])) as file:
    file.write(b"a whole home")
    file.flush()
    print("written", flush=True)
    sys.stdin.read()
"""


def test_what_a_killed_backup_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    """Left behind: a process that is killed can't remove its half file, which has a home in it. Others' stay."""
    path, other = tmp_path / "a.archive", tmp_path / "b.archive.x.part"
    other.write_text("of another archive")
    with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdin=-1, stdout=-1, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        with new_file(path):
            assert len([*tmp_path.glob("a.archive.*.part")]) == 2, "who still writes keeps his file"
        process.kill()
        process.wait()
        assert len([*tmp_path.glob("a.archive.*.part")]) == 1
        with new_file(path) as file:
            file.write(b"whole")
    assert {*tmp_path.iterdir()} == {path, other}


# --- a restore that is killed

RESTORER: Final = """
import json, sys
from pathlib import Path
from scenecypher.db.archive.restore import Naming, check_archive, restore_archive
from scenecypher.db.store.connection import Address, Database
address, path, prefix = json.loads(sys.stdin.readline())
def progress(done, total):
    print(done, flush=True)
    sys.stdin.readline()
with Database(Address(**address)) as database:
    naming = Naming(prefix=prefix)
    contents = check_archive(database, Path(path), naming)
    restore_archive(database, Path(path), contents, naming, progress=progress)
print("done", flush=True)
"""


@pytest.mark.parametrize("batches", [0, 1, 3])
def test_a_restore_that_is_killed_leaves_nothing_that_is_visible(
    store: SceneStore, address: Address, whole: Path, batches: int
) -> None:
    prefix = f"killed/{uuid4().hex}/"
    with subprocess.Popen([sys.executable, "-c", RESTORER], stdin=-1, stdout=-1, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([asdict(address), str(whole), prefix]) + "\n" * (1 + batches))
        process.stdin.flush()
        for _ in range(batches + 1):
            assert process.stdout.readline().strip().isdigit()
        process.kill()
    assert store.database.rows(NAMED, {"part": prefix}) == []
    assert leftovers(store) > 0
    store.delete_leftovers(grace_s=0)
    assert leftovers(store) == 0
    assert len(restored(store, whole, Naming(prefix=prefix))) == 2
    assert len(store.database.rows(NAMED, {"part": prefix})) == 2


def test_a_restore_of_which_a_part_was_collected_is_not_published(store: SceneStore, whole: Path) -> None:
    prefix = f"collected/{uuid4().hex}/"
    naming = Naming(prefix=prefix)

    def collect(done: int, total: int) -> None:
        if done == total:
            store.delete_leftovers(grace_s=0)

    contents = check_archive(store.database, whole, naming)
    with pytest.raises(Exception, match="nothing is visible of it"):
        restore_archive(store.database, whole, contents, naming, progress=collect)
    with pytest.raises(SceneNotFound):
        store.find(contents.scenes[0].line.name.join((prefix, "")))
