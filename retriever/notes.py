"""Notes on datasets' conventions that matter to queries, for readers of the schema text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

NOTES: Final[Mapping[str, tuple[str, ...]]] = {
    "virtualhome": (
        "A thing in a container is INSIDE the container and INSIDE its room too; so is a thing that lies ON something.",
        "(x)-[:INSIDE]->(:Place) gives the room of anything in one step.",
        "Containment has cycles and a thing may be ON several others: bound variable-length paths and use DISTINCT.",
        "Ids and names are the class and a number ('cup_2004'), so look things up by class.",
        "What an agent holds is HOLDS_RH or HOLDS_LH, by hand; ask for both.",
    ),
    "grasif": (
        "Each thing is INSIDE, ON, UNDER or ATTACHED_TO one other thing or place, at most.",
        "The room of a thing ends its chain: (x)-[:INSIDE|ON|UNDER|ATTACHED_TO*1..5]->(:Place).",
    ),
    "babyai": (
        "Doors join rooms: (:Place)-[:CONNECTS]-(:Door)-[:CONNECTS]-(:Place).",
        "A locked door has the state 'locked' and opens with a key of its color.",
        "center is a grid cell: center.x and center.y.",
    ),
}
"""Notes by vocabulary, as `scenecypher.db.schema.VOCABULARIES` names them; others need none."""
