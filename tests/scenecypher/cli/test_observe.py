"""`scenecypher observe` and `scenes perturb`: a belief that is stale, and a picture that mends it."""

from __future__ import annotations

from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest

from scenecypher.db.graph.delta import Delta, RemoveRelation
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.store.catalog import SceneInfo, lookup_scene
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.worlds.belief import find_or_create_belief
from tests.pictures import table
from tests.planner.actions.grasif_worlds import home
from tests.planner.actions.test_operators import put
from tests.scenecypher.cli.conftest import RunCommand, Serve
from tests.scripted_model import ScriptedModel, Step
from tests.scripted_vision import GridReader

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")

BALLS = ("red ball-1", "red ball-2")


@pytest.fixture
def scene(store: SceneStore) -> SceneInfo:
    """The home with two red balls on its table."""
    nodes = [Node(name, "Object", name, "red ball", affordances=("pick_up",)) for name in BALLS]
    on = [Relation(name, "ON", "table-1") for name in BALLS]
    graph = SceneGraph.of([*home().nodes.values(), *nodes], [*home().relations, *on])
    return put(store, graph, vocabulary="grasif")


def test_a_picture_is_merged_as_one_commit_and_undone(
    scene: SceneInfo, store: SceneStore, command: RunCommand, model: Serve, tmp_path: Path
) -> None:
    file = tmp_path / "table.png"
    file.write_bytes(table(["red ball"] * 3).data)
    model(GridReader(at="table-1"))
    seen = command("observe", scene.name, str(file), "--at", "table-1", "--explain")
    assert seen.code == 0, seen.err
    lines = seen.out.splitlines()
    assert lines[0] == "There are 3 red balls on top of table-1."
    assert [line.split()[0] for line in lines[1:5]] == ["confirmed", "confirmed", "new", "absent"]
    assert lines[4] == "absent    cup-1  believed on table-1, not seen there"
    assert "  - cup-1 ON table-1" in lines
    belief = store.find(f"{scene.name}@belief")
    assert (belief.version, belief.world, belief.world_version) == (1, scene.key, 0)
    after = store.load(belief.name).graph
    assert len(after.sources("table-1", "ON")) == 3
    assert command("undo", belief.name).code == 0
    assert store.load(belief.name).graph == store.as_of(belief.name, 0)
    assert store.find(scene.name).version == 0, "the world is as it was"


def test_a_model_of_its_own_reads_pictures(
    scene: SceneInfo, command: RunCommand, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Kind of fault: one name for the model that plans and the one that sees."""
    file = tmp_path / "table.png"
    file.write_bytes(table(["red ball"] * 3).data)
    with ScriptedModel(GridReader(at="table-1"), models=("eyes",)) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("SCENECYPHER_MODEL", "planner")
        monkeypatch.setenv("SCENECYPHER_VISION_MODEL", "eyes")
        assert command("observe", scene.name, str(file), "--at", "table-1", "--dry-run").code == 0
    assert {request["model"] for request in server.requests} == {"eyes"}


def test_a_belief_that_another_process_changes_meanwhile_is_merged_as_it_is_then(
    scene: SceneInfo, store: SceneStore, command: RunCommand, model: Serve, tmp_path: Path
) -> None:
    file = tmp_path / "table.png"
    file.write_bytes(table([]).data)
    belief, reader = find_or_create_belief(store, scene), GridReader(at="table-1")
    gone = Delta.of([RemoveRelation(Relation("cup-1", "ON", "table-1"))])

    def interrupted(request: dict[str, Any]) -> Step:
        if store.find(belief.name).version == 0:
            store.commit(belief, gone, actor="another", action="see")
        return reader(request)

    model(interrupted)
    seen = command("observe", belief.name, str(file), "--at", "table-1", "--json", "--accept").json
    assert seen["version"] == 2
    assert {(it["kind"], it["node"]) for it in seen["findings"]} == {("absent", it) for it in BALLS}
    assert not store.load(belief.name).graph.sources("table-1", "ON")


def test_json_has_the_findings(
    scene: SceneInfo, store: SceneStore, command: RunCommand, model: Serve, tmp_path: Path
) -> None:
    file = tmp_path / "table.png"
    file.write_bytes(table([]).data)
    belief = find_or_create_belief(store, scene)
    model(GridReader(at="table-1"))
    seen = command("observe", belief.name, str(file), "--at", "table-1", "--json", "--accept").json
    assert (seen["belief"], seen["version"], seen["of"]) == (belief.name, 1, "table-1")
    assert {(it["kind"], it["node"]) for it in seen["findings"]} == {("absent", it) for it in (*BALLS, "cup-1")}
    assert seen["tokens"] == 72, "the model was asked again, since all was gone"


def test_most_things_gone_are_merged_only_if_that_is_accepted(
    scene: SceneInfo,
    store: SceneStore,
    command: RunCommand,
    model: Serve,
    *,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    file = tmp_path / "table.png"
    file.write_bytes(table([]).data)
    belief = find_or_create_belief(store, scene)
    before = store.load(belief.name).graph
    model(GridReader(at="table-1"))
    seen = command("observe", belief.name, str(file), "--at", "table-1")
    first, last = seen.out.splitlines()
    assert (seen.code, last) == (1, f"{belief.name}: nothing changed, version 0")
    assert first.startswith("unseen    table-1  most of what is believed there is gone (3 of 3 were not seen: cup-1,")
    assert store.load(belief.name).graph == before
    monkeypatch.setenv("SCENECYPHER_ACCEPT_LOOKS", "true")
    assert command("observe", belief.name, str(file), "--at", "table-1").code == 0
    assert not store.load(belief.name).graph.sources("table-1", "ON")


@pytest.mark.parametrize(
    ("at", "content", "said"),
    [
        ("tabel-1", table([]).data, (1, "did you mean 'table-1'")),
        ("table-1", b"no picture", (2, "give a PNG")),
        ("table-1", table([]).data, (2, "no model is set up")),
    ],
)
def test_what_can_not_be_observed_is_said(
    at: str, content: bytes, said: tuple[int, str], scene: SceneInfo, *, store: SceneStore, command: RunCommand
) -> None:
    with NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        seen = command("observe", scene.name, file.name, "--at", at)
    assert (seen.code, said[1] in seen.err) == (said[0], True), seen.err
    assert lookup_scene(store.database, f"{scene.name}@belief") is None, "no belief is left behind"


def test_perturb_is_one_commit_and_leaves_the_belief(scene: SceneInfo, store: SceneStore, command: RunCommand) -> None:
    belief = find_or_create_belief(store, scene)
    before = store.load(scene.name).graph
    ran = command("scenes", "perturb", scene.name, "--seed", "7", "--objects", "2")
    assert ran.code == 0, ran.err
    assert ran.out.splitlines()[-1] == f"{scene.name}: 2 things moved, version 1"
    assert store.load(belief.name).info.version == 0
    assert command("scenes", "perturb", scene.name, "--seed", "7", "--objects", "99").code == 2
    assert command("undo", scene.name).code == 0
    assert store.load(scene.name).graph == before
