"""Questions by description: 60 over two homes with made vectors beside words alone, and the time of a comparison."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

from benchmarks.comparison import Measurement, median_ms
from benchmarks.home import make_home
from scenecypher.chat.embeddings import WORDS_MODEL, encoder_of, local_words
from scenecypher.db.gate import Gate, Limits, SceneRef
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.vectors import checked_vectors, single
from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.importers import homes
from scenecypher.importers.adjusting import Adjustment
from scenecypher.settings import Settings
from scenecypher.words import stems

DATA: Final = Path(__file__).parents[1] / "tests" / "data" / "looks" / "looks.json"
"""What a picture of each class shows, whose vector stands for its own, and 60 descriptions with the classes meant."""
SIZES: Final = tuple(map(int, os.environ.get("SCENECYPHER_LOOKS_SIZES", "300,20000").split(",")))
NUMBERS: Final = int(os.environ.get("SCENECYPHER_LOOKS_NUMBERS", "1024"))
MOST_S: Final = 10.0
"""The time limit of a query."""
RANKED: Final = """
MATCH (n:Object|Asset) WITH n.class AS class, max(similarity(n, $text)) AS near
RETURN class ORDER BY near DESC, class LIMIT 5
"""
NEAREST: Final = "MATCH (n:Object) RETURN n.name ORDER BY similarity(n, 'something') DESC LIMIT 5"

Ranking = Callable[[str], Sequence[str]]


def looks(database: Database) -> Iterator[Measurement]:
    """Misses of 60 questions by vectors, the reference by words alone; then the time of comparing all nodes of a scene.

    Words alone are the stems that a description and a class share. The reference of a time is the limit of a query.
    """
    store = SceneStore(database)
    misses: dict[str, tuple[int, int]] = dict.fromkeys(("words", "class vectors", "made vectors"), (0, 0))
    data = json.loads(DATA.read_text(encoding="utf-8"))
    for home in homes.scenes():
        for way, rank in rankings(store, home, data["shown"]).items():
            for text, meant in data["questions"][home.name]:
                found = [class_ in meant for class_ in rank(text)]
                at_1, at_5 = misses[way]
                misses[way] = at_1 + (not any(found[:1])), at_5 + (not any(found[:5]))
    for place, hit in enumerate(("hit at 1", "hit at 5")):
        for way in ("class vectors", "made vectors"):
            ours, words = float(misses[way][place]), float(misses["words"][place])
            yield Measurement(f"looks: {hit}, 60 questions, {way} (words)", ours, words, 1.0, unit="misses")
    for size in SIZES:
        yield from _timed(database, store, size)


def rankings(store: SceneStore, home: ImportedScene, shown: dict[str, str]) -> dict[str, Ranking]:
    """Return the ways to rank a home's classes by a description."""
    classes = sorted({it.class_ for it in home.graph.nodes.values() if it.kind in {"Object", "Asset"}})
    embed = local_words()
    assert embed is not None
    rows = ((it.id, embed([shown[it.class_]])[0]) for it in home.graph.nodes.values() if it.class_ in shown)
    made = checked_vectors("made", WORDS_MODEL, rows, home.graph.nodes)
    of_classes = Adjustment(vectors=WORDS_MODEL)(home).vectors
    gate = Gate(store.database, encoders=partial(encoder_of, Settings()))

    def by_gate(vectors: tuple[Any, ...]) -> Ranking:
        name = f"bench/looks-{uuid4().hex}"
        store.put(ImportedScene(name, home.graph, home.vocabulary, vectors=vectors))
        scene = SceneRef.of(store.find(name))
        return lambda text: [str(row[0]) for row in gate.run(RANKED, scene, parameters={"text": text}).rows]

    def by_words(text: str) -> Sequence[str]:
        said = {word for word in stems(text) if len(word) > 3}
        near = {class_: sum(it in class_ for it in said) for class_ in classes}
        return [it for it in sorted(classes, key=lambda class_: -near[class_]) if near[it]]

    return {"words": by_words, "class vectors": by_gate(of_classes), "made vectors": by_gate((made,))}


def _timed(database: Database, store: SceneStore, size: int) -> Iterator[Measurement]:
    graph, random = make_home(size, relations=2 * size), Random(0)  # noqa: S311  no secret
    pool = [single([random.gauss(0, 1) for _ in range(NUMBERS)]) for _ in range(100)]
    rows = ((node_id, pool[place % len(pool)]) for place, node_id in enumerate(graph.nodes))
    begun, name = perf_counter(), f"bench/looks-{uuid4().hex}"
    store.put(ImportedScene(name, graph, vectors=(checked_vectors("clip", "random", rows, graph.nodes),)))
    took, what = 1_000 * (perf_counter() - begun), f"{size:,} nodes and vectors of {NUMBERS:,} (20 ms each)"
    yield Measurement(f"looks: import of {what}", took, 20.0 * size, 1.0)
    if store.find(name).declared.vectors[0].indexed:
        database.rows("CALL db.awaitIndexes(7200)", timeout_s=7_200)
        took = 1_000 * (perf_counter() - begun)
        yield Measurement(f"looks: import and index of {what}", took, 20.0 * size, 1.0)
    limits, scene = Limits(seconds=MOST_S), SceneRef.of(store.find(name))
    gate = Gate(database, limits=limits, encoders=lambda _: lambda texts: [pool[0].tolist() for _ in texts])
    took = median_ms(lambda: gate.run(NEAREST, scene), rounds=5, warm_up=3)
    yield Measurement(f"looks: the 5 nearest of {size:,} nodes (10 s)", took, 1_000 * MOST_S, 1.0)
    store.delete(name)
