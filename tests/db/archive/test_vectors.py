"""Vectors in archives: they come back as they were, under a set of their own, and wrong ones are refused."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from pathlib import Path
from uuid import uuid4

import pytest

from scenecypher.db.archive.backup import back_up
from scenecypher.db.archive.contents import read_contents
from scenecypher.db.archive.restore import Naming, check_archive, restore_archive
from scenecypher.db.graph.vectors import single
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.vectors import nearest, read_vectors
from scenecypher.errors import DocumentError
from tests.db.archive.test_archive import Lines, forged
from tests.db.store.test_vectors import VECTORS, imported, index_names, indexing, wait_for_indexes


def vector_text(numbers: Sequence[float]) -> str:
    return b64encode(single(numbers).tobytes()).decode()


@pytest.fixture
def archive(store: SceneStore, tmp_path: Path) -> tuple[str, Path]:
    name = store.put(imported(f"looks/{uuid4().hex}")).name
    back_up(store.database, tmp_path / "home.archive", scenes=[store.find(name)])
    return name, tmp_path / "home.archive"


def test_vectors_are_saved_and_restored(store: SceneStore, archive: tuple[str, Path]) -> None:
    name, path = archive
    naming = Naming(prefix="again/")
    restore_archive(store.database, path, check_archive(store.database, path, naming), naming)
    (before,), (after,) = (store.find(it).declared.vectors for it in (name, f"again/{name}"))
    assert (after.name, after.model, after.digest) == (before.name, before.model, before.digest)
    assert after.set != before.set
    found = {node_id: row.tolist() for node_id, row in read_vectors(store.database, after, VECTORS).rows.items()}
    assert found == {node_id: single(row).tolist() for node_id, row in VECTORS.items()}
    assert store.put(imported(f"again/{name}")).outcome == "unchanged"


def test_restored_vectors_have_an_index_again(store: SceneStore, tmp_path: Path) -> None:
    name, path = f"looks/{uuid4().hex}", tmp_path / "home.archive"
    with indexing():
        store.put(imported(name))
    back_up(store.database, path, scenes=[store.find(name)])
    naming = Naming(prefix="again/")
    restore_archive(store.database, path, check_archive(store.database, path, naming), naming)
    (space,) = store.find(f"again/{name}").declared.vectors
    wait_for_indexes(store.database)
    assert space.indexed
    assert len(index_names(store.database, space)) == 1
    assert nearest(store.database, space, [1.0, 0.0, 0.0], timeout_s=10).keys() == VECTORS.keys()


@pytest.mark.parametrize(
    "changed",
    [{"set": "another"}, {"vector": "AAAA"}, {"vector": "no base64"}, {"vector": vector_text([0.0] * 3)},
     {"vector": vector_text([float("nan")] * 3)}, {"vector": vector_text([1.0] * 4)}, {"vector": 7}],
)  # fmt: skip
def test_a_vector_that_is_none_of_the_scene_is_refused(
    archive: tuple[str, Path], tmp_path: Path, changed: dict[str, object]
) -> None:
    def damage(lines: Lines) -> None:
        next(line for line in lines if line[:2] == ["record", "Vector"])[2].update(changed)

    with pytest.raises(DocumentError, match=r"line \d+: (the vector of|not of the form)"):
        read_contents(forged(archive[1], tmp_path / "wrong.archive", damage))
