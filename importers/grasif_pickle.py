"""GraSIF's released form, a pickled NetworkX graph, as a scene, by Python's own reader, which here calls nothing.

The papers do not print its attributes, so it is read like the JSON form: node attributes have the names of its fields,
and an edge holds its `relation`.
"""

from __future__ import annotations

import pickle
import pickletools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from pydantic import AliasChoices, Field, ValidationError

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.problems import Problem, RelationDraft, problems_of
from scenecypher.db.graph.value import shown
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.assembly import NodeDraft, assemble
from scenecypher.importers.grasif import DECLARED, NAME_PREFIX, RELATIONS, ObjectForm, RelationWord, form_parts
from scenecypher.importers.grasif import read_scene as read_json_scene
from scenecypher.importers.json_file import ending_of, read_bytes

PICKLE_BYTES: Final = 64 * 2**20
OPERATIONS: Final = 1_000_000
"""The most operations, a copied item counting as one: a graph of 30,000 nodes. It bounds time and memory."""
NETWORKX: Final = "networkx.classes."
MODULES: Final = {"__builtin__": "builtins", "copy_reg": "copyreg"}
"""New names of modules that Python 2 called otherwise."""
OPERATORS: Final = frozenset(
    """PROTO FRAME STOP MARK POP POP_MARK DUP PUT BINPUT LONG_BINPUT MEMOIZE GET BINGET LONG_BINGET
    NONE NEWTRUE NEWFALSE INT BININT BININT1 BININT2 LONG LONG1 LONG4 FLOAT BINFLOAT
    STRING BINSTRING SHORT_BINSTRING UNICODE SHORT_BINUNICODE BINUNICODE BINUNICODE8
    EMPTY_LIST LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1 TUPLE2 TUPLE3
    EMPTY_DICT DICT SETITEM SETITEMS EMPTY_SET FROZENSET ADDITEMS
    GLOBAL STACK_GLOBAL REDUCE NEWOBJ BUILD""".split()  # noqa: SIM905 - in groups
)
"""The operations that make plain values and graphs; all others are refused."""
BOUNDED: Final = ("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "INT", "LONG", "LONG1", "LONG4")
"""Operations whose values, if large, take long or C's stack to be hashed."""
MAX_TUPLE: Final = 16
_SAFE: Final = "nothing was run. Take files from people you trust, and save graphs as node-link JSON instead"
_Base: Any = pickle._Unpickler  # noqa: SLF001 - the reader in Python, whose table is ours to cut
_CODES: Final = {operation.name: ord(operation.code) for operation in pickletools.opcodes}
SUFFIXES: Final = (".pkl", ".pickle", ".gpickle")
LEVELS: Final = ("Place", "Asset", "Object")
"""The hierarchy from the top; the edges that join two levels show the direction of all."""
KINDS: Final = {"room": "Place", "place": "Place", "asset": "Asset", "object": "Object", "agent": "Agent"}
"""Types of nodes, singular; the JSON form's lists have plurals. The node of the type `scene`, the root, is left out."""
TYPES: Final = ("type", "kind", "node_type")
EDGE_ATTRIBUTES: Final = ("relation", "type", "label")
WORDS: Final = {**RELATIONS, "inside": "INSIDE", "ontop": "ON", **dict.fromkeys(("holding", "holds"), "HOLDS")}
"""Words of edges; an edge without one is `inside_of`, as the edges of the hierarchy are."""
_CLASS: Final = re.compile(r"[a-z]+\.(?P<many>Multi)?(?P<directed>Di)?Graph")
_Edge: TypeAlias = tuple[Any, Any, dict[Any, Any]]


@dataclass(eq=False, slots=True)
class Instance:
    """An object of a NetworkX class, as the pickled state."""

    name: str
    state: Any = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Named:
    """A class or function named by a pickle: its full name, never the object itself."""

    name: str


class _Refused(InputError):
    """The pickle asks for what is not admitted, or is malformed."""


def read_pickle(path: Path) -> Any:
    """Return the value of a pickle: plain values, and an `Instance` for each NetworkX object.

    Nothing is imported, called or changed, whatever the pickle holds. Raises DocumentError if it asks for more.
    """
    file = BytesIO(read_bytes(path, max_bytes=PICKLE_BYTES))
    try:
        reader = _Reader(file)
        reader.check_operations(file.getvalue())
        return reader.load()
    except _Refused as error:
        raise DocumentError(str(path), f"byte {file.tell():,}", str(error)) from error
    except (ValueError, LookupError, ArithmeticError, TypeError, AttributeError, EOFError, pickle.PickleError) as error:
        said = f"{type(error).__name__}: {shown(str(error))}"
        cause = f"no whole pickle ({said}); is the file cut short or of another form?"
        raise DocumentError(str(path), f"byte {file.tell():,}", cause) from error


def _bounded(make: Callable[[Any], None]) -> Callable[[Any], None]:
    def carry_out(reader: Any) -> None:
        make(reader)
        parts = made if isinstance(made := reader.stack[-1], tuple) else (made,)
        if len(parts) > MAX_TUPLE or any(isinstance(it, tuple) or (type(it) is int and abs(it) >> 64) for it in parts):
            raise _Refused(f"{shown(made)} is too large for a key of a graph; write lists, and numbers of 64 bits")

    return carry_out


class _Reader(_Base):  # type: ignore[misc]
    """Python's reader with the operations of OPERATORS alone; what a pickle names stays a name."""

    spent = 0

    def check_operations(self, data: bytes) -> None:
        """Raise _Refused for an operation that is not admitted, or too many."""
        for operation, argument, _ in pickletools.genops(data):
            if operation.name not in OPERATORS:
                named = f" of {shown(str(argument).replace(' ', '.'))}" if operation.name == "INST" else ""
                raise _Refused(f"the operation {operation.name}{named} makes no graph or plain value; {_SAFE}")
            self.spend(1)

    def spend(self, operations: int) -> None:
        self.spent += operations
        if self.spent > OPERATIONS:
            raise _Refused(f"more than {OPERATIONS:,} operations, which no scene needs; split it")

    def find_class(self, module: str, name: str) -> Named:
        """Return the name alone: a call of any but a few is refused."""
        return Named(f"{MODULES.get(module, module)}.{name}")

    def reduce(self) -> None:
        """Push the plain value that stands for a call of a named class, without calling it."""
        arguments, called = self.stack.pop(), self.stack.pop()
        match called, arguments:
            case (Named(it), ()) | (Named("copyreg._reconstructor"), (Named(it), _, None)) if it.startswith(NETWORKX):
                self.stack.append(Instance(it))
            case Named("builtins.set" | "builtins.frozenset"), ([*items],):
                self.spend(len(items))
                self.stack.append(set(items))
            case (Named("collections.OrderedDict"), ()) | (Named("collections.defaultdict"), (Named(),)):
                self.stack.append({})
            case _:
                what = ascii(called.name[:100])[1:-1] if isinstance(called, Named) else f"a {type(called).__name__}"
                raise _Refused(f"it calls {what} with {shown(arguments)}; {_SAFE}")

    def build(self) -> None:
        state, instance = self.stack.pop(), self.stack[-1]
        parts = [it for it in (state if isinstance(state, tuple) else (state,)) if it is not None]
        if not isinstance(instance, Instance) or not all(isinstance(it, dict) for it in parts):
            raise _Refused(f"a {type(instance).__name__} stands where the pickle changes a NetworkX object; {_SAFE}")
        for part in parts:
            self.spend(len(part))
            instance.state.update(part)

    dispatch: Final = (
        {code: _Base.dispatch[code] for name, code in _CODES.items() if name in OPERATORS}
        | {_CODES[name]: _bounded(_Base.dispatch[_CODES[name]]) for name in BOUNDED}
        | {_CODES["REDUCE"]: reduce, _CODES["NEWOBJ"]: reduce, _CODES["BUILD"]: build}
    )


class NodeForm(ObjectForm):
    """The attributes of a node of any kind."""

    type: Literal["room", "rooms", "place", "places", "asset", "assets", "object", "objects", "agent"] = Field(
        validation_alias=AliasChoices(*TYPES)
    )
    relation: RelationWord | None = None
    related_to: str | None = None
    room: str | None = Field(None, validation_alias=AliasChoices("room", "location"))
    holding: str | None = None

    @property
    def kind(self) -> str:
        """The kind of node."""
        return KINDS[self.type.rstrip("s")]


def read_scene(path: Path, *, name: str | None = None) -> ImportedScene:
    """Return the scene of a pickled graph, or of a JSON file. Raises DocumentError with all problems."""
    if ending_of(path) not in SUFFIXES:
        return read_json_scene(path, name=name)
    directed, nodes, edges = _graph_of(read_pickle(path), path)
    problems: list[Problem] = []
    forms = dict(_forms(nodes, problems))
    links = [*_links(forms, [it for it in edges if forms.keys() >= {*it[:2]}], problems, directed=directed)]
    known = {link[1:] for link in links}
    named = (part for key, it in forms.items() for part in form_parts(f"node {shown(key)}", it.kind, it))
    parts: list[NodeDraft | RelationDraft] = [*links]
    parts += (it for it in named if isinstance(it, NodeDraft) or it[1:] not in known)
    graph = assemble(parts, file=str(path), declared=DECLARED, vocabulary="grasif", problems=problems)
    return ImportedScene(name or NAME_PREFIX + path.stem, graph, "grasif", declared=DECLARED, source=str(path))


def _graph_of(value: Any, path: Path) -> tuple[bool, Mapping[Any, dict[Any, Any]], list[_Edge]]:
    """Return the one graph in a value: if it is directed, its nodes' attributes by key, and its edges."""
    inner = [value] if isinstance(value, Instance) else value.values() if isinstance(value, dict) else value
    found = [item for item in inner if isinstance(item, Instance)] if isinstance(inner, Iterable) else []
    if len(found) != 1:
        raise DocumentError(str(path), "$", f"one NetworkX graph is needed, here are {len(found)}; pickle one a file")
    class_ = found[0].name.removeprefix(NETWORKX)
    nodes, neighbours = (found[0].state.get(f"_{key}", found[0].state.get(key)) for key in ("node", "adj"))
    if (kind := _CLASS.fullmatch(class_)) is None or not (_is_map_of_maps(nodes) and _is_map_of_maps(neighbours)):
        raise DocumentError(str(path), "$", f"{class_} is no graph with nodes and edges; pickle a networkx.DiGraph")
    edges: dict[Any, _Edge] = {}  # an undirected graph has each edge at both ends, with the same attributes
    for source, target, given in ((source, *end) for source, ends in neighbours.items() for end in ends.items()):
        for one in given.values() if kind["many"] and isinstance(given, dict) else (given,):
            key = (source, target) if kind["directed"] else frozenset((source, target))
            edges.setdefault((key, id(one)), (source, target, one if isinstance(one, dict) else {}))
    return bool(kind["directed"]), nodes, [*edges.values()]


def _is_map_of_maps(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(inner, dict) for inner in value.values())


def _forms(nodes: Mapping[Any, dict[Any, Any]], problems: list[Problem]) -> Iterator[tuple[Any, NodeForm]]:
    """Yield the form of each node but the root, by its key; add the problems of the others."""
    for key, attributes in nodes.items():
        given = {name: [*it] if isinstance(it, tuple | set) else it for name, it in attributes.items()}
        given = {"name": str(key) if type(key) is int else key, **{k: it for k, it in given.items() if it is not None}}
        try:
            if "scene" not in [given.get(name) for name in TYPES]:
                yield key, NodeForm.model_validate(given)
        except ValidationError as error:
            problems += problems_of(error, given, root=f"node {shown(key)}")


def _links(
    forms: Mapping[Any, NodeForm], edges: list[_Edge], problems: list[Problem], *, directed: bool
) -> Iterator[RelationDraft]:
    """Yield the relations of all edges, each from the lower of its two nodes; a directed graph's all lead one way."""
    words = [next((it[name] for name in EDGE_ATTRIBUTES if it.get(name) is not None), "inside_of") for *_, it in edges]
    types = [WORDS.get(str(word)) for word in words]
    levels = {key: LEVELS.index(form.kind) if form.kind in LEVELS else len(LEVELS) - 1 for key, form in forms.items()}
    steps = {levels[t] - levels[s] for (s, t, _), type_ in zip(edges, types, strict=True) if type_ != "HOLDS"}
    if directed and min(steps, default=0) < 0 < max(steps, default=0):
        problems.append(("the edges", "some lead from a room to what is in it, some back; let all lead one way"))
    for (source, target, _), word, type_ in zip(edges, words, types, strict=True):
        place, step = f"edge {shown(source)} to {shown(target)}", levels[target] - levels[source]
        if type_ is None:
            problems.append((place, f"relation should be one of {', '.join(WORDS)}, not {shown(word)}"))
            continue
        if not directed and type_ != "HOLDS" and step == 0:
            problems.append((place, "an undirected graph can't say which of the two is in the other"))
        is_down = forms[target].kind == "Agent" if type_ == "HOLDS" else (max(steps) if directed else step) > 0
        low, high = (target, source) if is_down else (source, target)
        yield RelationDraft(place, forms[low].name, type_, forms[high].name)
