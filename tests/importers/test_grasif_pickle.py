"""GraSIF's pickled graphs: read as the JSON form, with edges in either direction; hostile pickles have no effect."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import struct
import time
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

import networkx as nx
import pytest

from scenecypher.errors import DocumentError
from scenecypher.importers import grasif_pickle
from scenecypher.importers.grasif import from_document
from scenecypher.importers.grasif_pickle import read_pickle, read_scene

JSON_FORM: Final[dict[str, Any]] = {
    "nodes": {
        "rooms": [{"name": "kitchen-1"}],
        "asset": [{"name": "table-1", "room": "kitchen-1", "affordances": ["put_on"], "properties": ["round"]}],
        "objects": [
            {"name": "tray-1", "relation": "ontop_of", "related_to": "table-1"},
            {"name": "mug-1", "relation": "inside_of", "related_to": "tray-1", "states": ["dirty"]},
            {"name": "lamp-1", "relation": None, "related_to": None},
        ],
        "agent": {"name": "agent-1", "location": "kitchen-1", "holding": "lamp-1"},
    }
}
EDGES: Final = (
    ("table-1", "kitchen-1", None),
    ("tray-1", "table-1", "ontop_of"),
    ("mug-1", "tray-1", "inside_of"),
    ("agent-1", "kitchen-1", "inside_of"),
)


def home(kind: type[Any] = nx.DiGraph, *, downwards: bool = False) -> Any:
    """Return the same scene as a graph of the hierarchy."""
    graph = kind(name="home")
    graph.add_node("scene", type="scene")
    graph.add_node("kitchen-1", type="room")
    graph.add_node("table-1", type="asset", affordances=["put_on"], properties=["round"])
    graph.add_node("tray-1", type="object", states=[])
    graph.add_node("mug-1", type="object", states={"dirty"})
    graph.add_node("lamp-1", type="object")
    graph.add_node("agent-1", type="agent", holding="lamp-1")
    for source, target, word in (*EDGES, ("kitchen-1", "scene", None)):
        ends = (target, source) if downwards else (source, target)
        graph.add_edge(*ends, **({"relation": word} if word else {}))
    return graph


def write(folder: Path, value: Any, protocol: int = 4) -> Path:
    file = folder / "home.pkl"
    file.write_bytes(value if isinstance(value, bytes) else pickle.dumps(value, protocol))
    return file


EXPECTED: Final = from_document(JSON_FORM, file="x", name="grasif/home")[0]


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("kind", [nx.DiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("downwards", [True, False])
def test_a_graph_is_the_scene_of_the_json_form(
    tmp_path: Path,
    protocol: int,
    kind: type[Any],
    downwards: bool,  # noqa: FBT001
) -> None:
    graph = home(kind, downwards=downwards)
    _ = graph.nodes, graph.edges, graph.adj, graph.degree, graph.in_edges, "views that are cached are pickled too"
    scene = read_scene(write(tmp_path, graph, protocol))
    assert (scene.name, scene.vocabulary) == ("grasif/home", "grasif")
    assert scene.graph == EXPECTED.graph
    assert scene.declared == EXPECTED.declared


def test_records_of_the_json_form_may_be_the_attributes(tmp_path: Path) -> None:
    graph = nx.DiGraph()
    nodes = JSON_FORM["nodes"]
    for kind in ("rooms", "asset", "objects"):
        for record in nodes[kind]:
            graph.add_node(record["name"], type=kind, **record)
    graph.add_node(1, type="agent", **nodes["agent"])
    graph.add_edge("mug-1", "tray-1", relation="inside_of")
    assert read_scene(write(tmp_path, graph)).graph == EXPECTED.graph


def test_an_undirected_graph_is_read_by_its_levels(tmp_path: Path) -> None:
    graph = home(nx.Graph)
    graph.remove_edge("mug-1", "tray-1")
    graph.nodes["mug-1"].update(relation="inside_of", related_to="tray-1")
    assert read_scene(write(tmp_path, graph)).graph == EXPECTED.graph
    with pytest.raises(DocumentError, match="edge 'tray-1' to 'mug-1': an undirected graph can't say which"):
        read_scene(write(tmp_path, home(nx.Graph)))


def test_a_graph_may_stand_in_a_map_or_a_list(tmp_path: Path) -> None:
    one: tuple[Any, ...] = (
        {"graph": home(), "id": 7},
        [home()],
        OrderedDict(graph=home()),
        defaultdict(dict, graph=home()),
    )
    for value in one:
        assert read_scene(write(tmp_path, value)).graph == EXPECTED.graph
    none_or_two: tuple[Any, ...] = ({"a": home(), "b": home()}, {}, 7, None, "text")
    for value in none_or_two:
        with pytest.raises(DocumentError, match=r"\$: one NetworkX graph is needed, here are [02]; pickle one a file"):
            read_scene(write(tmp_path, value))


def holding(graph: Any) -> None:
    graph.nodes["agent-1"].pop("holding")
    graph.add_edge("lamp-1", "agent-1", relation="holding")


def test_holding_may_be_an_edge_either_way(tmp_path: Path) -> None:
    graph = home()
    holding(graph)
    assert read_scene(write(tmp_path, graph)).graph == EXPECTED.graph
    assert read_scene(write(tmp_path, graph.reverse())).graph == EXPECTED.graph


Change = Callable[[Any], object]


@pytest.mark.parametrize(
    ("change", "place", "cause"),
    [
        (lambda g: g.add_node("x"), "node 'x'.type", "is missing"),
        (lambda g: g.add_node("x", type="cloud"), "node 'x'.type", "should be 'room', 'rooms'"),
        (lambda g: g.add_node("x", type="object", weight=3), "node 'x'.weight", "is no field that is known here"),
        (lambda g: g.add_node("x", type="object", states="on"), "node 'x'.states", "should be a list, not 'on'"),
        (lambda g: g.add_node("x", type="object", states=[3]), "node 'x'.states[0]", "should be text, not 3"),
        (lambda g: g.add_node((1, 2), type="object"), "node (1, 2).name", "should be text, not (1, 2)"),
        (lambda g: g.add_node("x", type="asset", room="attic"), "node 'x'.room", "no node is called 'attic'"),
        (lambda g: g.add_node("x", type="object", relation=["by"]), "node 'x'.relation", "not ['by']"),
        (lambda g: g.add_node("x", type="asset", room=["attic"]), "node 'x'.room", "not ['attic']"),
        (lambda g: g.add_node("x", type="object", relation="by"), "node 'x'.relation", "should be 'ontop_of'"),
        (lambda g: g.add_edge("mug-1", "table-1", relation="by"), "edge 'mug-1' to 'table-1'", "not 'by'"),
        (lambda g: g.add_edge("kitchen-1", "lamp-1"), "the edges", "let all lead one way"),
    ],
)
def test_invalid_files_are_refused(tmp_path: Path, change: Change, place: str, cause: str) -> None:
    graph = home()
    change(graph)
    with pytest.raises(DocumentError) as refused:
        read_scene(write(tmp_path, graph))
    assert place in [where for where, _ in refused.value.problems]
    assert cause in dict(refused.value.problems)[place]


class Calls:
    """A pickle that calls a function on arguments."""

    def __init__(self, called: Any, *arguments: Any, state: Any = None) -> None:
        self.parts = (called, arguments) if state is None else (called, arguments, state)

    def __reduce__(self) -> Any:
        return self.parts


def system(file: Path) -> bytes:
    """Return the classic attack in protocol 0, by hand."""
    return f"cposix\nsystem\n(S'touch {file}'\ntR.".encode()


HOSTILE: Final[dict[str, tuple[Callable[[Path], Any], str]]] = {
    "os.system": (lambda file: Calls(os.system, f"touch {file}"), "posix.system"),
    "os.system in protocol 0": (system, "posix.system"),
    "builtins.eval": (lambda file: Calls(eval, f"open({str(file)!r}, 'w')"), "builtins.eval"),
    "builtins.exec": (lambda file: Calls(exec, f"open({str(file)!r}, 'w')"), "builtins.exec"),
    "builtins.open": (lambda file: Calls(open, str(file), "w"), "io.open"),
    "builtins.getattr": (lambda _: Calls(getattr, nx.DiGraph, "add_node"), "builtins.getattr"),
    "a call within a call": (
        lambda _: Calls(getattr, Calls(__import__, "os"), "system"),
        "builtins.__import__",
    ),
    "a call in a node's states": (lambda file: in_a_node(Calls(os.system, f"touch {file}")), "posix.system"),
    "a networkx class with arguments": (
        lambda _: b"cnetworkx.classes.graph\nGraph\n(S'x'\ntR.",
        "it calls networkx.classes.graph.Graph",
    ),
    "a dotted name": (lambda _: b"\x80\x04\x8c\x11networkx.classes.\x8c\x0b..os.system\x93.", "one NetworkX graph"),
    "the builtins by way of object": (
        lambda _: b"cbuiltins\nobject.__subclasses__\n(tR.",
        "object.__subclasses__",
    ),
    "state for a class": (
        lambda _: b"cnetworkx.classes.graph\nGraph\n}S'a'\nS'b'\nsb.",
        "stands where the pickle changes",
    ),
    "a reconstructor of something else": (
        lambda _: b"ccopy_reg\n_reconstructor\n(cbuiltins\nlist\ncbuiltins\nobject\nNtR.",
        "it calls builtins.list|it calls copyreg|one NetworkX graph",
    ),
    "an old instance": (lambda file: f"(S'touch {file}'\nios\nsystem\n.".encode(), "INST of 'os.system'"),
    "a persistent id": (lambda _: b"Pmine\n.", "PERSID"),
    "an extension": (lambda _: b"\x82\x01.", "EXT1"),
    "a decimal": (lambda _: Decimal(1), "decimal.Decimal"),
    "bytes": (lambda _: b"\x80\x05C\x03abc.", "SHORT_BINBYTES"),
}


def in_a_node(value: Any) -> Any:
    graph = home()
    graph.nodes["mug-1"]["states"] = value
    return graph


@pytest.mark.parametrize("name", HOSTILE)
def test_a_pickle_that_asks_for_more_is_refused_and_nothing_is_run(tmp_path: Path, name: str) -> None:
    made, cause = HOSTILE[name]
    trace = tmp_path / "trace"
    file = write(tmp_path, made(trace))
    with pytest.raises(DocumentError, match=cause) as refused:
        read_scene(file)
    assert str(refused.value).startswith(f"{file}: ")
    assert not trace.exists()


def test_the_hostile_pickles_are_hostile(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    pickle.loads(write(tmp_path, system(trace)).read_bytes())  # noqa: S301
    assert trace.exists()


def nested(levels: int) -> bytes:
    """Return nested tuples as a key, whose hash Python computes without a limit on depth."""
    return b"\x80\x04})" + b"\x85" * levels + b"Ns."


BOMBS: Final[dict[str, tuple[bytes, str]]] = {
    "a memo of 64 GB": (b"\x80\x04Nr\xff\xff\xff\x7f.", "one NetworkX graph is needed"),
    "a bytearray of 1 TB": (b"\x80\x05\x96" + struct.pack("<Q", 2**40) + b".", "no whole pickle"),
    "a text of 1 TB": (b"\x80\x04\x8d" + struct.pack("<Q", 2**40) + b".", "no whole pickle"),
    "a million maps": (b"\x80\x04" + b"}" * grasif_pickle.OPERATIONS + b".", "more than 1,000,000 operations"),
    "copies of a list": (
        b"\x80\x04(" + b"K\x01" * 2_000 + b"lq\x00" + b"cbuiltins\nset\nh\x00\x85R" * 1_000 + b".",
        "more than 1,000,000 operations",
    ),
    "doubled forty times": (b"\x80\x04]" + b"q\x00h\x00h\x00\x86" * 40 + b".", "too large for a key"),
    "deep keys": (nested(300_000), "too large for a key"),
    "deep lists": (b"\x80\x04" + b"]" * 300_000 + b"a" * 299_999 + b".", "one NetworkX graph is needed"),
    "a huge number as a key": (b"\x80\x04}\x8b\x00\x00\x10\x00" + b"\x7f" * 2**20 + b"Ns.", "too large for a key"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_pickle_bombs_are_cheap(tmp_path: Path, name: str) -> None:
    data, cause = BOMBS[name]
    started = time.process_time()
    with pytest.raises(DocumentError, match=cause):
        read_scene(write(tmp_path, data))
    assert time.process_time() - started < 10


def test_a_file_too_big_is_not_interpreted(tmp_path: Path) -> None:
    file = tmp_path / "huge.pkl"
    with file.open("wb") as opened:
        opened.truncate(grasif_pickle.PICKLE_BYTES + 1)
    with pytest.raises(DocumentError, match="over 64 MB"):
        read_scene(file)
    with pytest.raises(DocumentError, match="No such file"):
        read_scene(tmp_path / "none.pkl")


def test_a_pickle_cut_short_anywhere_is_refused(tmp_path: Path) -> None:
    whole = pickle.dumps(home(), 4)
    for length in range(0, len(whole), 23):
        with pytest.raises(DocumentError, match=r"no whole pickle|one NetworkX graph|no graph with nodes"):
            read_scene(write(tmp_path, whole[:length]))


@pytest.mark.parametrize("seed", range(60))
def test_a_pickle_with_a_changed_byte_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    data = bytearray(pickle.dumps(home(), seed % 6))
    data[seed * 7919 % len(data)] = seed * 31 % 256
    with contextlib.suppress(DocumentError):
        assert len(read_scene(write(tmp_path, bytes(data))).graph.nodes) < 10


@pytest.mark.parametrize(
    "data", [b"", b".", b"\xff\xfe", json.dumps(JSON_FORM).encode(), b"(lp0\n.", b"0.", b"t.", b"h\x07."]
)
def test_files_that_are_no_pickles_are_refused(tmp_path: Path, data: bytes) -> None:
    with pytest.raises(DocumentError):
        read_scene(write(tmp_path, data))


def test_plain_values_round_trip(tmp_path: Path) -> None:
    value = {"a": [1, -2, 2**63, 1.5, True, None, "é", ("x", 1), {"m"}, frozenset({2})], ("k", 1): {}, 3: ()}
    for protocol in range(6):
        assert read_pickle(write(tmp_path, value, protocol)) == value
