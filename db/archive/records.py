"""The nodes that belong to a scene and are no members: how each label is archived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, LiteralString


@dataclass(frozen=True, slots=True)
class RecordKind:
    """A label: the statements that read and write its nodes, and the properties that count them upwards in a scene.

    `read` returns `values` for the scene `$key`; `add` takes such maps as `$rows`, with the new scene's key.
    """

    order: tuple[str, ...]
    read: LiteralString
    add: LiteralString


EVENT, RUN, STEP = "Event", "Run", "Step"
RECORDS: Final[Mapping[str, RecordKind]] = {
    # Sorted as the index is, so that the server reads on without holding them all.
    EVENT: RecordKind(
        ("version",),
        """
MATCH (r:Event {scene: $key}) WHERE r.version > 0 RETURN properties(r) AS values ORDER BY r.scene, r.version
""",
        "UNWIND $rows AS row CREATE (r:Event) SET r = row RETURN count(*) AS written",
    ),
    # Until it is published, a run has another label, so that nobody finds it.
    RUN: RecordKind(
        ("number",),
        "MATCH (r:Run {scene: $key}) WITH r ORDER BY r.number RETURN properties(r) AS values",
        "UNWIND $rows AS row CREATE (r:Past:RestoredRun) SET r = row RETURN count(*) AS written",
    ),
    STEP: RecordKind(
        ("run", "number"),
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

NOT_ARCHIVED: Final = frozenset(
    {
        *("key", "name", "was", "status", "started", "world", "copied_from", "replaced_by"),
        *("leased", "leased_until", "free", "past"),
    }
)
"""Properties of a Scene node that have places of their own in an archive, or a meaning in one database only."""
