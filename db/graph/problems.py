"""Problems of a document, a place and a cause each: pydantic's errors, our own checks, and those of a whole scene."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from scenecypher.db.graph.value import shown
from scenecypher.db.schema import (
    PROPERTY_NAME,
    RELATION_NAME,
    RESERVED_PROPERTIES,
    Declared,
    Schema,
    vocabulary_of,
)
from scenecypher.errors import PROBLEMS_SHOWN, DocumentError, did_you_mean

FormT = TypeVar("FormT", bound=BaseModel)
Problem: TypeAlias = tuple[str, str]
"""A place (JSON path) and a cause."""

PROBLEMS_LIMIT: Final = 1_000
NAMES_COMPARED: Final = 10_000
"""The most names that a misspelt one is compared with."""
_PLAIN_KEY: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


@dataclass(slots=True)
class NearestNames:
    """Hints at the nearest of the `known` names, for as many problems as a message shows: each takes a comparison."""

    known: Sequence[str]
    _left: int = field(default=PROBLEMS_SHOWN, init=False)

    @classmethod
    def of(cls, known: Iterable[str]) -> NearestNames:
        """Return hints at names of any collection."""
        return cls(tuple(known))

    def hint(self, name: str) -> str:
        """Return ``(did you mean 'a'?)``, empty if no name is near; no number, as VirtualHome's ids are, is near."""
        self._left -= 1
        is_told = self._left >= 0 and len(self.known) <= NAMES_COMPARED and isinstance(name, str)
        return did_you_mean(name, self.known) if is_told else ""


def json_path(keys: Sequence[str | int], *, root: str = "$") -> str:
    """Return the JSON path ``$.nodes[3].id`` of (nodes, 3, id); odd keys are quoted, long ones cut."""
    return root + "".join(_path_step(key) for key in keys)


def problems_of(error: ValidationError, document: object, *, root: str = "$") -> list[Problem]:
    """Return pydantic's errors in plain words, at JSON paths of `document`."""
    details = error.errors(include_url=False, include_context=True)
    return [(json_path(_place(detail, document), root=root), _cause(detail)) for detail in details[:PROBLEMS_LIMIT]]


def document_error(file: str, problems: Sequence[Problem]) -> DocumentError:
    """Return the error that lists all `problems` of a file, at least one."""
    (place, cause), *more = problems[:PROBLEMS_LIMIT]
    return DocumentError(file, place, cause, more=more)


def validated(form: type[FormT], document: object, file: str) -> FormT:
    """Return a document of a file as a form. Raises DocumentError with all its problems."""
    try:
        return form.model_validate(document)
    except ValidationError as error:
        raise document_error(file, problems_of(error, document)) from error


def _path_step(key: str | int) -> str:
    if isinstance(key, int):
        return f"[{key}]"
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{shown(key)}]"


def _place(detail: ErrorDetails, document: object) -> list[str | int]:
    """Return pydantic's location without the names of its models, which are in no document."""
    steps: list[str | int] = []
    here: Any = document
    for key in detail["loc"]:
        inner = here.get(key) if isinstance(here, dict) else None
        if isinstance(here, list) and isinstance(key, int) and key < len(here):
            inner = here[key]
        elif not (isinstance(here, dict) and key in here):
            continue
        steps.append(key)
        here = inner
    if detail["type"] == "missing":
        steps.append(detail["loc"][-1])
    return steps


def _cause(detail: ErrorDetails) -> str:
    words = _CAUSES.get(detail["type"])
    return words(detail) if words else f"{detail['msg'][:1].lower()}{detail['msg'][1:]}"


def _unknown_field(value: object) -> str:
    if isinstance(value, list | dict) and value:
        count = f"{len(value):,} entr{'y' if len(value) == 1 else 'ies'}"
        return f"is no field that is known here, and holds {count}: is this the right format, and the name right?"
    return "is no field that is known here; mend its name, or remove it"


def _expected(what: str) -> Callable[[ErrorDetails], str]:
    return lambda detail: f"should be {what}, not {shown(detail['input'])}"


_CAUSES: Final[Mapping[str, Callable[[ErrorDetails], str]]] = {
    "missing": lambda _: "is missing; add it",
    **dict.fromkeys(("extra_forbidden", "unexpected_keyword_argument"), lambda detail: _unknown_field(detail["input"])),
    "string_type": _expected("text"),
    "int_type": _expected("a whole number"),
    "list_type": _expected("a list"),
    "tuple_type": _expected("a list"),
    "dict_type": _expected("a map"),
    "model_type": _expected("a map"),
    "dataclass_type": _expected("a map"),
    "model_attributes_type": _expected("a map"),
    "literal_error": lambda detail: f"should be {detail['ctx']['expected']}, not {shown(detail['input'])}",
    "float_type": _expected("a number"),
    "finite_number": _expected("a finite number"),
    "bool_type": _expected("true or false"),
    "greater_than_equal": lambda detail: f"should be at least {detail['ctx']['ge']}, not {shown(detail['input'])}",
    "less_than_equal": lambda detail: f"should be at most {detail['ctx']['le']:,}, not {shown(detail['input'])}",
    "less_than": lambda detail: f"should be below {detail['ctx']['lt']}, not {shown(detail['input'])}",
    "union_tag_not_found": lambda detail: f"has no {detail['ctx']['discriminator']}; add it",
    "union_tag_invalid": lambda detail: (
        f"{detail['ctx']['discriminator']} is {shown(detail['ctx']['tag'])}, none of {detail['ctx']['expected_tags']}"
    ),
    "too_long": lambda detail: f"has {detail['ctx']['actual_length']} items; {detail['ctx']['max_length']} are needed",
    "too_short": lambda detail: f"has {detail['ctx']['actual_length']} items; {detail['ctx']['min_length']} are needed",
}


class NodeFacts(NamedTuple):
    """What is checked of a node: its place in the file, its id unless it has no valid one, and its properties."""

    place: Any
    id: str | None
    properties: Collection[str]


class RelationDraft(NamedTuple):
    """A relation to be made, in our vocabulary: its place in the file, and the ids of its two nodes."""

    place: Any
    source: str
    type: str
    target: str


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of a format; `node` and `relation` return the place of one, or of a part of it, as text."""

    node: Callable[..., str] = lambda place, *_: str(place)
    relation: Callable[..., str] = lambda place, *_: str(place)
    repeated: str = "is the id of {} already; give each node its own"
    missing: str = "no node is called"
    add: str = "; add it, or leave the relation out"
    declare: str = "declare it ({flags})"


IN_FILES: Final = Wording()
IN_DOCUMENTS: Final = Wording(
    lambda *keys: json_path(("nodes", *keys)),
    lambda *keys: json_path(("relations", *keys)),
    "is the id at {} already; give it once",
    "no node has the id",
    "; add the node, or leave the relation out",
    "add it to declared.{}",
)


def find_faults(
    nodes: Sequence[NodeFacts],
    relations: Sequence[RelationDraft],
    known: Schema | None,
    *,
    broken: Collection[str],
    words: Wording = IN_FILES,
) -> Iterator[Problem]:
    """Yield every fault between the parts of a scene.

    `broken` are ids of nodes that can't be made, whose relations are no further problem. Without `known`, as where a
    file's declarations can't be read, any names are accepted.
    """
    first: dict[str, Any] = {}
    for place, node_id, _ in nodes:
        if node_id in first:
            there = words.node(first[node_id], "id")
            yield words.node(place, "id"), f"{shown(node_id)} {words.repeated.format(there)}"
        elif node_id is not None:
            first[node_id] = place
    if known is not None:
        yield from _undeclared(nodes, relations, known, words)
    yield from _bad_relations({*first, *broken}, relations, words)


def _undeclared(
    nodes: Sequence[NodeFacts], relations: Sequence[RelationDraft], known: Schema, words: Wording
) -> Iterator[Problem]:
    """Yield a problem for each unknown name, at its first place, and what declares them all."""
    properties: dict[str, list[tuple[str, str]]] = {}
    for index, node_id, keys in nodes:
        for key in keys:
            if key not in known.properties and _may_be_property(key):
                place = words.node(index, "properties", key)
                properties.setdefault(key, []).append((place, node_id or place))
    types: dict[str, list[tuple[str, str]]] = {}
    for index, source, type_, _ in relations:
        if type_ not in known.relation_types and RELATION_NAME.fullmatch(type_):
            types.setdefault(type_, []).append((words.relation(index, 1), source))
    flags = " ".join(f"--declare {name}" for name in (*types, *properties))
    for what, key, found, names in (
        ("property", "properties", properties, known.properties),
        ("relation type", "relation_types", types, known.relation_types),
    ):
        near, declare = NearestNames.of(names), words.declare.format(key, flags=flags)
        for name, uses in found.items():
            count = f" ({len(uses):,} times: of {_shown_ids(uses)})" if len(uses) > 1 else ""
            yield uses[0][0], f"{name} is no known {what}{near.hint(name)}{count}; {declare}, or leave it out"


def _shown_ids(uses: Sequence[tuple[str, str]]) -> str:
    ids = [*dict.fromkeys(node_id for _, node_id in uses)]
    return ", ".join(map(shown, ids[:3])) + (", …" if len(ids) > 3 else "")


def _bad_relations(ids: set[str], relations: Sequence[RelationDraft], words: Wording) -> Iterator[Problem]:
    near = NearestNames.of(ids)
    first: dict[tuple[str, str, str], Any] = {}
    for index, source, type_, target in relations:
        for part, end in ((0, source), (2, target)):
            if end not in ids:
                yield words.relation(index, part), f"{words.missing} {shown(end)}{near.hint(end) or words.add}"
        if (source, type_, target) in first:
            there = words.relation(first[source, type_, target])
            yield words.relation(index), f"is the same relation as {there}; give it once"
        first.setdefault((source, type_, target), index)


def document_faults(document: object) -> Iterator[Problem]:
    """Yield every fault between the parts of a scene document; malformed parts are skipped."""
    if not isinstance(document, dict):
        return
    nodes = _list(document.get("nodes"))
    yield from find_faults(
        [_facts(index, node) for index, node in enumerate(nodes) if isinstance(node, dict)],
        [draft for index, it in enumerate(_list(document.get("relations"))) if (draft := _relation(index, it))],
        vocabulary_of(_declared(document.get("declared"))),
        broken=[name for node in nodes if (name := _broken_name(node))],
        words=IN_DOCUMENTS,
    )


def _facts(index: int, node: dict[str, Any]) -> NodeFacts:
    node_id, properties = node.get("id"), node.get("properties")
    given = properties if isinstance(properties, dict) else ()
    return NodeFacts(index, _nfc(node_id) if isinstance(node_id, str) else None, given)


def _relation(index: int, value: object) -> RelationDraft | None:
    match value:
        case [str(source), str(type_), str(target)]:
            return RelationDraft(index, _nfc(source), type_, _nfc(target))
        case _:
            return None


def _broken_name(node: object) -> str | None:
    """Return what a node without a valid id is probably called in relations."""
    name = node
    if isinstance(node, dict):
        name = None if isinstance(node.get("id"), str) else node.get("name")
    return _nfc(name) if isinstance(name, str) else None


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _declared(value: object) -> Declared:
    """Return the valid declared names; invalid ones are reported with the fields."""
    given = value if isinstance(value, dict) else {}
    types = [name for name in _list(given.get("relation_types")) if isinstance(name, str)]
    keys = [name for name in _list(given.get("properties")) if isinstance(name, str)]
    return Declared(
        tuple(name for name in types if RELATION_NAME.fullmatch(name)),
        tuple(name for name in keys if _may_be_property(name)),
    )


def _may_be_property(name: str) -> bool:
    return bool(PROPERTY_NAME.fullmatch(name)) and name not in RESERVED_PROPERTIES
