"""Archives on a real server: what is restored is what was saved, under new keys, and half an archive is never seen."""

from __future__ import annotations

import gc
import gzip
import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenecypher.db.archive.backup import back_up
from scenecypher.db.archive.contents import read_contents
from scenecypher.db.archive.file import ArchiveWriter, read_lines
from scenecypher.db.archive.lines import Header as ArchiveHeader
from scenecypher.db.archive.lines import RecordLine, SceneLine
from scenecypher.db.archive.restore import Naming, check_archive, restore_archive
from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.schema import Declared
from scenecypher.db.store.catalog import SceneInfo, scene_of
from scenecypher.db.store.connection import Address
from scenecypher.db.store.publish import Header, publish
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.stored_form import FORM
from scenecypher.errors import ConflictError, DocumentError, InputError, NothingToRedo, NothingToUndo, SceneNotFound
from tests.db.store.test_store import fresh, odd, small
from tests.sampling import FULL
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
    (facts,) = store.database.read(lambda tx: [row["facts"] for row in tx.run(statement, name=name)])
    return {key: value for key, value in facts.items() if key not in {"name", "key", "world", "copied_from", "started"}}


def stored_events(store: SceneStore, info: SceneInfo) -> list[dict[str, Any]]:
    """Return all properties of the events of a scene, times as the server writes them."""
    statement = "MATCH (e:Event {scene: $key}) RETURN properties(e) AS e, toString(e.at) AS at ORDER BY e.version"
    rows = store.database.read(lambda tx: [({**row["e"]}, row["at"]) for row in tx.run(statement, key=info.key)])
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
    assert stored_facts(store, new) == stored_facts(store, name)
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
    restored(store, path, Naming(name=f"{name}-again"))
    assert store.load_replaced(f"{name}-again").graph == odd()
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
    return int(store.database.read(lambda tx: tx.run(statement).single(strict=True)["n"]))


def test_scenes_of_the_same_names_are_replaced_on_demand(store: SceneStore, tmp_path: Path) -> None:
    name = fresh("home")
    publish(store.database, small(), Header(name, "virtualhome"))
    changed(store, name, odd())
    path = saved(store, tmp_path / "a.archive", name)
    store.undo(store.find(name))
    assert restored(store, path, Naming(replaces=True)) == (name,)
    assert (store.load(name).graph, store.find(name).version) == (odd(), 1)
    assert store.load_replaced(name).info.version == 2


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
        (set_in("archive", 0, form=99), "line 1: written in form 99 by a newer SceneCypher"),
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
    lines: Lines = [json.loads(line) for line in gzip.decompress(whole.read_bytes()).splitlines()]
    damage(lines)
    path = tmp_path / "wrong.archive"
    path.write_bytes(gzip.compress(signed(lines)))
    with pytest.raises(DocumentError, match=says):
        read_contents(path)


def test_an_archive_of_an_older_form_is_brought_up_to_date(store: SceneStore, whole: Path, tmp_path: Path) -> None:
    lines: Lines = [json.loads(line) for line in gzip.decompress(whole.read_bytes()).splitlines()]
    first(lines, "archive")["form"] = 0
    for place in (0, 1):
        facts = first(lines, "scene", place)["facts"]
        for name in [name for name in facts if name.startswith("most_")]:
            del facts[name]
    path = tmp_path / "older.archive"
    path.write_bytes(gzip.compress(signed(lines)))
    today, older = (restored(store, it, Naming(prefix=f"{uuid4().hex}/")) for it in (whole, path))
    for name, other in zip(today, older, strict=True):
        bounds, others = store.find(name).bounds, store.find(other).bounds
        assert bounds is not None
        assert others is not None
        assert others.of("nodes") == bounds.of("nodes")


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
        data = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) + "\n").encode()
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
    assert [info.name for info in store.scenes() if info.name.startswith(prefix)] == []
    assert leftovers(store) > 0
    store.delete_leftovers(grace_s=0)
    assert leftovers(store) == 0
    assert len(restored(store, whole, Naming(prefix=prefix))) == 2
    assert [info.name for info in store.scenes() if info.name.startswith(prefix)] != []


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
