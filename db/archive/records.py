"""The nodes of a scene that are no members: how each label is archived, and which values its properties may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, LiteralString, TypeAlias

from neo4j.time import DateTime
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError, create_model
from pydantic_core import PydanticCustomError

from scenecypher.db.graph.value import InvalidValue, Properties, shown
from scenecypher.db.store.vectors import ADD_VECTORS

YEARS: Final = range(2, 9999)
"""Years of times, any of which can be told in any zone."""


def _storable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise PydanticCustomError("surrogate", "half a surrogate pair, which is no character") from None
    return text


def _in_any_zone(time: object) -> object:
    if not isinstance(time, DateTime) or time.utcoffset() is None or time.year not in YEARS:
        raise ValueError("no time with an offset")
    return time


Text: TypeAlias = Annotated[str, Strict(), AfterValidator(_storable)]
Whole: TypeAlias = Annotated[int, Field(strict=True, ge=0, lt=2**53)]
"""A whole number of an archive: no counter reaches its end, and adding to it never leaves the database's range."""
RunNumber: TypeAlias = Annotated[int, Field(strict=True, ge=1, lt=2**31)]
Number: TypeAlias = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Time: TypeAlias = Annotated[Any, AfterValidator(_in_any_zone)]


class Facts(BaseModel):
    """The properties of a label, of exactly their types; a newer version may have more."""

    model_config = ConfigDict(strict=True, extra="allow")


def facts_of(required: Mapping[str, Any], optional: Mapping[str, Any]) -> type[Facts]:
    """Return the model of a label: the types of properties that it must have, and of those that it may have."""
    named: dict[str, Any] = {name: (type_, ...) for name, type_ in required.items()}
    named |= {name: (type_, None) for name, type_ in optional.items()}
    return create_model("Facts", __base__=Facts, **named)


def check_values(values: Mapping[str, Any], facts: type[Facts]) -> None:
    """Check all properties of a node. Raises InvalidValue."""
    try:
        found = facts.model_validate(values)
    except ValidationError as error:
        name = str(error.errors(include_url=False, include_input=False)[0]["loc"][0])
        raise of_another_form(name, values.get(name)) from error
    Properties(found.model_extra or {})


def of_another_form(name: str, value: object) -> InvalidValue:
    """Return the error about a value that no archive has."""
    return InvalidValue(f"not of the form that an archive has: `{name}` is {shown(value)}; make another backup")


@dataclass(frozen=True, slots=True)
class RecordKind:
    """A label: the statements that read and write its nodes, and the properties that count them upwards in a scene.

    `facts` are the values that its properties may have.

    `read` returns `values` for the scene `$key`; `add` takes such maps as `$rows`, with the new scene's key.
    """

    order: tuple[str, ...]
    facts: type[Facts]
    read: LiteralString
    add: LiteralString


EVENT, RUN, STEP, VECTOR = "Event", "Run", "Step", "Vector"
RECORDS: Final[Mapping[str, RecordKind]] = {
    # Sorted as the index is, so that the server reads on without holding them all.
    EVENT: RecordKind(
        ("version",),
        facts_of(
            {
                **dict.fromkeys(("actor", "action", "action_id", "delta", "hash"), Text),
                "version": Whole,
                "kind": Literal["act", "undo", "redo", "declare"],
                "undoes": list[Whole],
                "at": Time,
            },
            {"clock": Time, "approved_by": Text},
        ),
        """
MATCH (r:Event {scene: $key}) WHERE r.version > 0 RETURN properties(r) AS values ORDER BY r.scene, r.version
""",
        "UNWIND $rows AS row CREATE (r:Event) SET r = row RETURN count(*) AS written",
    ),
    # The vector as text (`vector_text`), since a document of its numbers takes four times as much.
    VECTOR: RecordKind(
        (),
        facts_of(dict.fromkeys(("set", "id", "vector"), Text), {}),
        """
MATCH (s:Scene {key: $key}) WHERE s.vectors IS NOT NULL
MATCH (v:VectorSet) WHERE v.key >= '' AND s.vectors CONTAINS v.key
MATCH (r:Vector) WHERE r.set = v.key AND r.id >= '' RETURN properties(r) AS values
""",
        ADD_VECTORS,
    ),
    # Until it is published, a run has another label, so that nobody finds it.
    RUN: RecordKind(
        ("number",),
        facts_of(
            {
                **dict.fromkeys(("scene_name", "command", "instruction", "method", "model", "actor", "line"), Text),
                "number": RunNumber,
                "version": Whole,
                "began": Time,
                "touched": Time,
                "host": Text,
                "pid": Whole,
            },
            {
                **dict.fromkeys(("outcome", "reason", "answer"), Text),
                **dict.fromkeys(("belief_version", "last_version", "steps", "tokens_in", "tokens_out"), Whole),
                "started": Number,
                "ended": Time,
            },
        ),
        "MATCH (r:Run {scene: $key}) WITH r ORDER BY r.number RETURN properties(r) AS values",
        "UNWIND $rows AS row CREATE (r:Past:RestoredRun) SET r = row RETURN count(*) AS written",
    ),
    STEP: RecordKind(
        ("run", "number"),
        facts_of(
            {"run": RunNumber, "number": Whole, "line": Text, "at": Time},
            {
                **dict.fromkeys(("kind", "action", "reason", "cause", "question", "cypher", "tool"), Text),
                **dict.fromkeys(("observation",), Text),
                **dict.fromkeys(("turn", "tokens", "version", "belief_version"), Whole),
                **dict.fromkeys(("reasons", "rows"), list[Text]),
            },
        ),
        """
MATCH (run:Run {scene: $key}) WITH run.number AS number ORDER BY number
CALL (number) { MATCH (r:Step {run: number}) WHERE r.number > 0 RETURN r ORDER BY r.run, r.number }
RETURN properties(r) AS values
""",
        """
UNWIND $rows AS row MATCH (run:RestoredRun {scene: row.scene, number: row.run})
CREATE (run)-[:HAS_STEP]->(r:Past:Step) SET r = row RETURN count(*) AS written
""",
    ),
}
"""The labels in the order in which they are archived: those that others hang on come first.

What is derived from events (PastEvent, PastFact, PastNode) is left out: it is built anew when somebody asks.
"""

SCENE_FACTS: Final = facts_of(
    {"version": Whole},
    {
        **dict.fromkeys(("base", "redeclared", "world_version"), Whole),
        **dict.fromkeys(("vocabulary", "source", "actions", "domain", "rules", "vectors"), Text),
        "role": Literal["world", "belief"],
        "up": Literal["z"],
        "declared_relations": list[Text],
        "declared_properties": list[Text],
        **dict.fromkeys(("published", "retired", "clock", "clock_start"), Time),
    },
)
"""All facts of a scene that are read from an archive; others are computed, and any more are refused."""
NOT_ARCHIVED: Final = frozenset(
    {
        *("key", "name", "was", "status", "started", "world", "copied_from", "replaced_by"),
        *("leased", "leased_until", "free", "past"),
    }
)
"""Properties of a Scene node that have places of their own in an archive, or a meaning in one database only."""
