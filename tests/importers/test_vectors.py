"""Vectors of files: of a map's nodes, of an npz beside a document, of words; what is wrong is told, nothing dropped."""

from __future__ import annotations

import json
import tracemalloc
from array import array
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, Literal
from zipfile import ZipFile

import numpy as np
import pytest

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.graph.scene_document import scene_document
from scenecypher.db.graph.vectors import checked_vectors
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers import dsg, networkx_json
from scenecypher.importers.adjusting import Adjustment
from scenecypher.importers.detect import read_any
from scenecypher.importers.vectors_file import read_vectors_file, write_vectors_file
from tests.importers.test_dsg import document, node

GRAPH: Final = SceneGraph.of((Node(it, "Object", it, it) for it in ("mug", "cup", "rug")), ())
ROWS: Final = {"mug": [0.1, 0.2, 0.3], "cup": [1.0, -1.0, 0.5]}


def read(*objects: dict[str, Any], strict: bool = False) -> ImportedScene:
    return networkx_json.from_document([*objects], file="map.json", name="networkx/map", strict=strict)


def told(scene: ImportedScene) -> dict[str, dict[str, list[float]]]:
    return {it.space.name: {node_id: row.tolist() for node_id, row in it.rows.items()} for it in scene.vectors}


def single(numbers: list[float]) -> list[float]:
    return array("f", numbers).tolist()


def thing(node_id: str, **more: Any) -> dict[str, Any]:
    return {"id": node_id, "object_tag": node_id, "bbox_center": [0, 0, 0], **more}


def test_embeddings_of_a_map_are_vectors_of_its_nodes() -> None:
    scene = read(thing("mug", clip_ft=ROWS["mug"], text_ft=[[1, 2]]), thing("cup", clip_ft=ROWS["cup"]), thing("rug"))
    assert told(scene) == {"clip_ft": {it: single(row) for it, row in ROWS.items()}, "text_ft": {"mug": [1.0, 2.0]}}
    assert "clip_ft" not in repr(scene.graph)
    assert scene.notes == ()
    assert read(thing("mug", features=["red"])).notes == ("features of 1 nodes left out: no vectors",)
    odd: tuple[Any, ...] = ([], [[1, 2], [3, 4]], [10**400, 1], ["red", 1])
    mixed = read(thing("mug", clip_ft=[1, 2]), *(thing(f"t{place}", clip_ft=it) for place, it in enumerate(odd)))
    assert (told(mixed), mixed.notes) == (
        {"clip_ft": {"mug": [1.0, 2.0]}},
        ("clip_ft of 4 nodes left out: no vectors",),
    )
    beside = read(thing("mug", clip_ft=[1.0, float("nan")]), thing("cup", clip_ft=[1.0, 2.0]))
    assert (told(beside), beside.notes) == (
        {"clip_ft": {"cup": [1.0, 2.0]}},
        ("left out, as no finite numbers: clip_ft (1); --strict refuses such a file",),
    )


def test_a_vector_with_nan_in_a_file_is_told(tmp_path: Path) -> None:
    """Dropped without a word: a file's NaN, which is no number of JSON, made a list no vector."""
    file = tmp_path / "map.json"
    file.write_text(json.dumps([thing("mug", clip_ft=[1.0, float("nan")]), thing("cup", clip_ft=[1.0, 2.0])]))
    scene = read_any(file)
    assert "left out, as no finite numbers: clip_ft (1); --strict refuses such a file" in scene.notes
    assert told(scene) == {"clip_ft": {"cup": [1.0, 2.0]}}
    with pytest.raises(DocumentError, match="clip_ft of node 'mug' has NaN"):
        read_any(file, strict=True)


@pytest.mark.parametrize("feature", [[0.5, 1.5], [[0.5, 1.5]], [[0.5], [1.5]]])
def test_features_of_a_3d_scene_graph(feature: object) -> None:
    scene = dsg.from_document(document(node("O(3)", 2, semantic_feature=feature)), file="x.json", name="dsg/x")
    assert told(scene) == {"semantic_feature": {"O(3)": [0.5, 1.5]}}


def test_vectors_of_other_lengths_are_refused_at_their_node() -> None:
    with pytest.raises(DocumentError, match=r"map.json: .*clip_ft of node 'cup' has 2 numbers, others 3: two models"):
        read(thing("mug", clip_ft=[1, 2, 3]), thing("cup", clip_ft=[1, 2]))
    with pytest.raises(DocumentError, match=r"clip_ft of node 'mug' has NaN, infinity, or a number beyond"):
        read(thing("mug", clip_ft=[1e300, 2.0]))


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return a document with vectors beside it."""
    write_vectors_file(tmp_path / "home.npz", [checked_vectors("clip", "ViT-B-32", ROWS.items(), ROWS)])
    path = tmp_path / "home.json"
    path.write_text(json.dumps(scene_document(ImportedScene("home", GRAPH)) | {"vectors": "home.npz"}), "utf-8")
    return path


def test_a_document_has_its_vectors_in_an_npz_beside_it(saved: Path) -> None:
    scene = read_any(saved)
    assert told(scene) == {"clip": {it: single(row) for it, row in ROWS.items()}}
    assert scene.vectors[0].space.model == "ViT-B-32"
    loaded = np.load(saved.with_suffix(".npz"))
    assert (loaded["clip"].dtype, loaded["clip"].shape, [*loaded["clip.ids"]]) == (np.float32, (2, 3), [*ROWS])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["f2", "f4", "f8", ">f4"])
def test_floats_of_any_width_are_read(tmp_path: Path, kind: str, order: Literal["C", "F"]) -> None:
    values: Any = np.array([[0.5, 1.5], [2.0, -1.0]], dtype=kind, order=order)
    np.savez_compressed(tmp_path / "x.npz", **{"clip": values, "clip.ids": np.array(["mug", "cup"])})
    (found,) = read_vectors_file(tmp_path / "x.npz", GRAPH.nodes)
    assert [row.tolist() for row in found.rows.values()] == [[0.5, 1.5], [2.0, -1.0]]
    assert found.space.model == ""


IDS: Final = np.array(["mug", "cup"])
GOOD: Final = np.ones((2, 3), "f4")


@pytest.mark.parametrize(
    ("parts", "cause"),
    [
        ({"clip": GOOD}, r"clip: has no clip.ids"),
        ({"clip": np.ones((3, 3), "f4"), "clip.ids": IDS}, r"has 3 rows, clip.ids 2"),
        ({"clip": np.ones(2, "f4"), "clip.ids": IDS}, r"should be a matrix of floats"),
        ({"clip": np.ones((2, 3), "i4"), "clip.ids": IDS}, r"should be a matrix of floats"),
        (
            {"clip": np.ones((2, 5_000), "f4"), "clip.ids": IDS},
            r"clip of 5000 numbers can't be stored: give 1 to 4,096",
        ),
        ({"clip": GOOD * np.nan, "clip.ids": IDS}, r"clip of node 'mug' has NaN"),
        ({"clip": GOOD * 0, "clip.ids": IDS}, r"is all zeros"),
        ({"clip": GOOD, "clip.ids": np.array(["mug", "mug"])}, r"'mug' is given twice"),
        ({"clip": GOOD, "clip.ids": np.array(["mug", "jug"])}, r"'jug' is no node of the scene"),
        ({"clip": GOOD, "clip.ids": np.array([1, 2])}, r"holds no text"),
        ({"Clip one": GOOD, "Clip one.ids": IDS}, r"vectors 'Clip one' can't be declared"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, parts: dict[str, Any], cause: str) -> None:
    path = tmp_path / "x.npz"
    with ZipFile(path, "w") as archive:
        for name, values in parts.items():
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, values)
    with pytest.raises(DocumentError, match=cause):
        read_vectors_file(path, GRAPH.nodes)


def test_what_is_no_such_file_is_told(tmp_path: Path, saved: Path) -> None:
    whole = saved.with_suffix(".npz").read_bytes()
    for content in (b"", b"no zip", whole[: len(whole) // 2]):
        saved.with_suffix(".npz").write_bytes(content)
        with pytest.raises(DocumentError, match="no npz file of vectors"):
            read_any(saved)
    saved.with_suffix(".npz").unlink()
    with pytest.raises(DocumentError, match=r"home.npz.*no npz file of vectors .*No such file"):
        read_any(saved)
    for name in ("../home.npz", "/etc/passwd", ".."):
        saved.write_text(json.dumps(scene_document(ImportedScene("home", GRAPH)) | {"vectors": name}), "utf-8")
        with pytest.raises(DocumentError, match=r"\$.vectors.*is no file's name"):
            read_any(saved)


def test_a_spoilt_packed_file_is_told(tmp_path: Path) -> None:
    """Some spoilt bytes ended in an error of the unpacking library."""
    path, random = tmp_path / "x.npz", np.random.default_rng(0)
    parts: dict[str, Any] = {"clip": random.standard_normal((200, 30)), "clip.ids": np.array([*map(str, range(200))])}
    np.savez_compressed(path, **parts)
    whole = path.read_bytes()
    for _ in range(100):
        at = random.integers(len(whole))
        path.write_bytes(whole[:at] + random.bytes(8) + whole[at + 8 :])
        with suppress(DocumentError):
            read_vectors_file(path, {*map(str, range(200))})


def test_a_large_file_takes_memory_for_its_numbers_once_and_has_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids, path = [f"thing_{number}" for number in range(5_000)], tmp_path / "x.npz"
    parts: dict[str, Any] = {"clip": np.ones((5_000, 1_024), "f4"), "clip.ids": np.array(ids)}
    np.savez(path, **parts)
    tracemalloc.start()
    (found,) = read_vectors_file(path, {*ids})
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(found.rows) == 5_000
    assert most < 1.2 * path.stat().st_size
    monkeypatch.setattr("scenecypher.importers.vectors_file.FILE_BYTES", 2**24)
    with pytest.raises(DocumentError, match=r"has over .* of vectors; split the scene"):
        read_vectors_file(path, {*ids})


def test_the_model_of_a_files_vectors_is_named_once() -> None:
    scene = read(thing("mug", clip_ft=[1, 2]))
    assert str(scene.vectors[0]) == "clip_ft: 1 vectors of 2 numbers, by no named model (--vectors MODEL names it)"
    named = Adjustment(vectors="ViT-B-32")(scene)
    assert str(named.vectors[0]) == "clip_ft: 1 vectors of 2 numbers, by ViT-B-32"
    assert Adjustment(vectors="ViT-B-32")(named).vectors == named.vectors
    with pytest.raises(InputError, match="clip_ft of the file is by ViT-B-32, not another"):
        Adjustment(vectors="another")(named)
    with pytest.raises(InputError, match=r"comes without vectors.*--vectors wordllama"):
        Adjustment(vectors="another")(read(thing("mug")))


def test_a_map_without_vectors_has_those_of_its_words() -> None:
    scene = Adjustment(vectors="wordllama")(read(thing("mug_1", caption="a cup for tea"), thing("rug_1")))
    (words,) = scene.vectors
    assert (words.space.name, words.space.model, len(words.rows)) == ("words", "wordllama", 2)
    assert "wordllama" not in repr(scene.graph)
