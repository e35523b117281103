"""The two realms that a query may read, the scene as it is and its past, which no relation joins."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from scenecypher.db.gate.lexer import NO_PARAMETERS, Token, tokens_of
from scenecypher.db.schema import PAST, PAST_HIDDEN, PAST_KINDS, PAST_PROPERTIES, PAST_RELATIONS, SCENE_KEY, Schema
from scenecypher.db.store.bounds import Bounds

PAST_LABELS: Final = frozenset({PAST, *PAST_KINDS})
NAMES_PAST: Final = re.compile(rf"\b(?:{'|'.join(sorted(PAST_LABELS))})\b")
HIDDEN: Final = frozenset({SCENE_KEY, *PAST_HIDDEN})
"""Keys that no query about the past reads from a node."""

PROPERTIES_OF: Final[Mapping[str, frozenset[str]]] = {
    **{kind: frozenset(names) for kind, names in PAST_PROPERTIES.items()},
    PAST: frozenset().union(*PAST_PROPERTIES.values()),
}
"""The properties that a query may read, by kind of the past; of any kind for `Past`."""

JOIN_ADVICE: Final = (
    "no relation leads from the past to the present: write two patterns and join them by id, "
    "such as MATCH (p:PastNode), (n:Object) WHERE n.id = p.id"
)
FACT_ADVICE: Final = (
    "what was so is a fact: (n:PastNode)<-[:ABOUT]-(f:PastFact {relation: 'INSIDE'})-[:TARGET]->(t:PastNode)"
)
LABEL_ADVICE: Final = "give its nodes labels of the past, such as (e:PastEvent)-[:BEGAN]->(f:PastFact)"


def reads_past(cypher: str, parameters: Mapping[str, object] = NO_PARAMETERS) -> bool:
    """Check whether a query names a label of the past. Raises QueryRefused for a text that the lexer refuses."""
    return NAMES_PAST.search(cypher) is not None and names_past(tokens_of(cypher, parameters))


def names_past(tokens: Iterable[Token]) -> bool:
    """Check for a label of the past among the names of a text; a variable of that name counts too."""
    return any(token.kind in {"name", "quoted"} and token.value in PAST_LABELS for token in tokens)


@cache
def with_past(schema: Schema) -> Schema:
    """Return the names that a query about the past and the present may use."""
    return replace(
        schema,
        labels=schema.labels | PAST_LABELS,
        relation_types=schema.relation_types | PAST_RELATIONS.keys(),
        properties=schema.properties | PROPERTIES_OF[PAST],
    )


def joined_bounds(present: Bounds, past: Bounds) -> Bounds:
    """Return the bounds of a scene and its past together: of properties of one name, the larger."""
    found: dict[tuple[str, str], int] = {}
    for measure, name, number in (*present.entries, *past.entries):
        found[measure, name] = max(number, found.get((measure, name), 0))
    return Bounds(frozenset((*key, number) for key, number in found.items()))
