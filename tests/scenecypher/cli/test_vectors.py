"""Vectors on the command line: imported, told, asked, exported beside the document, and imported again."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import uuid4

from scenecypher.db.graph.delta import diff
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.graph.scene_document import scene_document
from scenecypher.db.graph.vectors import checked_vectors
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.vectors import read_vectors
from scenecypher.importers.vectors_file import write_vectors_file
from tests.scenecypher.cli.conftest import RunCommand

MUG = {"id": 1, "object_tag": "mug", "bbox_center": [0, 0, 0], "clip_ft": [0.125, -0.5, 0.25]}


def test_vectors_go_out_and_come_back(command: RunCommand, store: SceneStore, tmp_path: Path) -> None:
    stem = f"map-{uuid4().hex[:10]}"
    name, file, out = f"networkx/{stem}", tmp_path / f"{stem}.json", tmp_path / "out.json"
    file.write_text(json.dumps([MUG, {**MUG, "id": 2, "clip_ft": [1, 0, 0]}]), encoding="utf-8")
    done = command("import", str(file), "--vectors", "ViT-B-32")
    assert (done.code, "clip_ft: 2 vectors of 3 numbers, by ViT-B-32" in done.err) == (0, True), done.err
    (space,) = store.find(name).declared.vectors
    before = [(it, row.tolist()) for it, row in read_vectors(store.database, space, "12").rows.items()]
    assert before == [("1", [0.125, -0.5, 0.25]), ("2", [1.0, 0.0, 0.0])]

    assert command("scenes", "export", name, "--out", str(out)).code == 0
    document = json.loads(out.read_text(encoding="utf-8"))
    assert (document["vectors"], "clip_ft" in json.dumps(document)) == ("out.npz", False)
    command("scenes", "delete", name)
    assert command("import", str(out)).code == 0
    (again,) = store.find(name).declared.vectors
    assert [(it, row.tolist()) for it, row in read_vectors(store.database, again, "12").rows.items()] == before
    assert (again.model, again.digest) == ("ViT-B-32", space.digest)

    to_screen = command("scenes", "export", name)
    assert "its vectors are left out: --out FILE.json" in to_screen.err
    assert "vectors" not in json.loads(to_screen.out)


def test_an_export_has_no_vectors_of_nodes_that_are_gone(
    command: RunCommand, store: SceneStore, tmp_path: Path
) -> None:
    """A set none of whose nodes is left was exported empty, and the export not taken back."""
    name, out = f"map-{uuid4().hex[:10]}", tmp_path / "out.json"
    lamp, rug = (Node(it, "Object", it, it) for it in ("lamp", "rug"))
    graph = SceneGraph.of([lamp, rug], ())
    vectors = (
        checked_vectors(key, "toy", [(it, [1.0])], graph.nodes) for key, it in (("clip", "lamp"), ("other", "rug"))
    )
    store.put(ImportedScene(name, graph, vectors=tuple(vectors)))
    store.commit(store.find(name), diff(graph, SceneGraph.of([rug], ())), actor="person", action="take the lamp away")
    assert command("scenes", "export", name, "--out", str(out)).code == 0
    store.delete(name)
    done = command("import", str(out))
    assert (done.code, "other: 1 vectors" in done.err, "clip" in done.err) == (0, True, False), done.err


def test_the_size_of_many_numbers_is_told_before_they_are_written(command: RunCommand, tmp_path: Path) -> None:
    stem, ids = f"map-{uuid4().hex[:10]}", [str(it) for it in range(400)]
    graph = SceneGraph.of([Node(it, "Object", it, "mug") for it in ids], ())
    document = {**scene_document(ImportedScene(stem, graph)), "vectors": f"{stem}.npz"}
    (tmp_path / f"{stem}.json").write_text(json.dumps(document), encoding="utf-8")
    vectors = checked_vectors("clip", "toy", ((it, [1.0] * 4_000) for it in ids), ids)
    write_vectors_file(tmp_path / f"{stem}.npz", [vectors])
    done = command("import", str(tmp_path / f"{stem}.json"))
    told = f"{stem}: writing 6 MB of clip: 400 vectors of 4,000 numbers, by toy…"
    assert (done.code, told in done.err.splitlines()) == (0, True), done.err


def test_bad_vectors_end_with_two_and_leave_nothing(command: RunCommand, store: SceneStore, tmp_path: Path) -> None:
    stem = f"map-{uuid4().hex[:10]}"
    file = tmp_path / f"{stem}.json"
    file.write_text(json.dumps([MUG, {**MUG, "id": 2, "clip_ft": [1, 0]}]), encoding="utf-8")
    done = command("import", str(file))
    assert (done.code, "clip_ft of node '2' has 2 numbers, others 3" in done.err) == (2, True)
    assert not [it for it in store.scenes() if stem in it.name]
