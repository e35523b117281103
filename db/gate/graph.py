"""What a query is about: one scene, or another graph or a part of it, with the names and sizes that it has."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final, LiteralString, Self

from scenecypher.db.schema import SCENES, Schema, vocabulary_of
from scenecypher.db.store.bounds import Bounds
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.errors import InputError

BYTES_PER_CHARACTER: Final = 4  # the most that UTF-8 takes
WHERE: Final[LiteralString] = "WHERE $scope IS NULL OR n[$scope] = $key "
LABELS: Final[LiteralString] = (
    "MATCH (n) " + WHERE + "UNWIND CASE labels(n) WHEN [] THEN [''] ELSE labels(n) END AS label "
    "RETURN label AS name, count(*) AS nodes"
)
RELATIONS: Final[LiteralString] = (
    "MATCH (n) " + WHERE + "CALL (n) { MATCH (n)-[r]->(m) RETURN type(r) AS type, count(*) AS degree, "
    "sum(CASE WHEN $scope IS NULL OR m[$scope] = $key THEN 0 ELSE 1 END) AS leaving } "
    "RETURN type AS name, sum(degree) AS relations, max(degree) AS out, sum(leaving) AS leaving"
)
IN: Final[LiteralString] = (
    "MATCH (n) " + WHERE + "CALL (n) { MATCH (n)<-[r]-(m) RETURN type(r) AS type, count(*) AS degree, "
    "sum(CASE WHEN $scope IS NULL OR m[$scope] = $key THEN 0 ELSE 1 END) AS leaving } "
    "RETURN type AS name, max(degree) AS `in`, sum(leaving) AS leaving"
)
LENGTHS: Final[LiteralString] = """
UNWIND keys(n) AS name
WITH name, n[name] AS value
WITH name, value, value IS :: STRING AS is_text, value IS :: LIST<ANY> AS is_list
RETURN name,
    max(CASE WHEN is_text THEN size(value) WHEN is_list
        THEN reduce(most = 0, one IN value |
            CASE WHEN one IS :: STRING AND size(one) > most THEN size(one) ELSE most END)
        ELSE 0 END) AS text,
    max(CASE WHEN is_list THEN size(value) ELSE 0 END) AS items
"""
OF_NODES: Final[LiteralString] = "MATCH (n) " + WHERE + LENGTHS
OF_RELATIONS: Final[LiteralString] = "MATCH (m)-[n]->() WHERE $scope IS NULL OR m[$scope] = $key " + LENGTHS


STATEMENTS: Final = (LABELS, RELATIONS, IN, OF_NODES, OF_RELATIONS)
"""Each gives rows of a name and of measures of what has that name."""


@dataclass(frozen=True, slots=True)
class Graph:
    """A graph of this schema, or its part in which the property `schema.scope` has the value `key`.

    `bounds` are its sizes; None: they are measured when they are first needed. `name` is for messages.
    """

    key: str | int = field(default="", repr=False)
    name: str = "the graph"
    schema: Schema = field(repr=False, kw_only=True)
    bounds: Bounds | None = field(default=None, repr=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class SceneRef(Graph):
    """A scene by its key, which queries never see, and its name, for messages."""

    key: str = field(repr=False)
    schema: Schema = field(default=SCENES, repr=False, kw_only=True)

    @classmethod
    def of(cls, scene: SceneInfo) -> Self:
        """Return the reference to a generation of a scene."""
        return cls(scene.key, scene.name, schema=vocabulary_of(scene.declared))


def read_graph(database: Database, scope: tuple[str, str | int] | None, member: str) -> tuple[Graph, Bounds]:
    """Return the graph of a database, or a part of it, as `Gate.graph` does, and its sizes now."""
    part, key = scope or ("", "")
    schema = Schema(frozenset(), frozenset(), frozenset(), scope=part, member=member)
    bounds = measured_bounds(database, Graph(key, schema=schema))
    names = {measure: bounds.of(measure).keys() for measure in ("nodes", "relations", "text")}
    schema = replace(
        schema,
        labels=names["nodes"] - {""},
        relation_types=names["relations"],
        properties=names["text"] - {part},
    )
    return Graph(key, schema=schema), bounds


def measured_bounds(database: Database, graph: Graph) -> Bounds:
    """Measure the sizes of a graph that is no scene. Raises InputError, ServiceError as `Gate.graph` does."""
    scope, found = graph.schema.scope, dict[tuple[str, str], int]()
    parameters = {"scope": scope or None, "key": graph.key}
    for text in STATEMENTS:
        for record in database.rows(text, parameters, timeout_s=2 * database.read_timeout_s):
            name, *numbers = record.values()
            for measure, number in zip(record.keys()[1:], numbers, strict=True):
                found[measure, name] = max(number, found.get((measure, name), 0))
    leaving = [name for (measure, name), number in found.items() if measure == "leaving" and number]
    if leaving:
        msg = f"`{leaving[0]}` joins nodes of {scope} {graph.key!r} with others, so that no query can be kept within it"
        raise InputError(f"{msg}; remove these relations, or choose another property")
    if scope and not found:
        raise InputError(f"no node has the {scope} {graph.key!r}; write it as the nodes have it")
    return Bounds(
        frozenset(
            (measure, name, number * (BYTES_PER_CHARACTER if measure == "text" else 1))
            for (measure, name), number in found.items()
            if measure != "leaving"
        )
    )
