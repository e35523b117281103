"""The question set: questions about imported scenes, with their gold answers and reference queries."""

from __future__ import annotations

from typing import Any, Final, Literal, TypeAlias, get_args

from scenecypher.db.graph.imported import ImportedScene
from scenecypher.errors import InputError, did_you_mean
from scenecypher.evaluation.published import data_lines
from scenecypher.evaluation.result import Document
from scenecypher.importers.datasets import dataset

Kind: TypeAlias = Literal[
    "lookup", "count", "multi-hop", "state", "negation", "superlative", "path", "comparison", "yes/no", "unanswerable"
]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
MemoryKind: TypeAlias = Literal[
    "as of",
    "who",
    "when",
    "before",
    "between",
    "untouched",
    "how often",
    "how long",
    "order",
    "undone",
    "was it so",
    "last",
    "why",
    "refused",
]
MEMORY_KINDS: Final[tuple[MemoryKind, ...]] = get_args(MemoryKind)
DATA: Final = ("virtualhome", "babyai", "grasif")
ALL: Final = "all"
MEMORY: Final = "memory"
"""The set about what happened in histories (`scenecypher.evaluation.histories`), which ALL leaves out."""


class GoldQuestion(Document):
    """Line of a file of the set.

    `scene` is a data set's name and an id there, such as ``eai/963_2``. `rows` are the gold rows, in any order; there
    are none if the scene can't answer. `cypher` is a query that returns exactly these rows.
    """

    id: str
    data: str
    scene: str
    kind: Kind | MemoryKind
    question: str
    rows: list[list[Any]]
    cypher: str


def load_questions(data: str = ALL) -> tuple[GoldQuestion, ...]:
    """Return the questions of one of DATA, all of them, or those of MEMORY. Raises InputError."""
    if data == MEMORY:
        return data_lines(f"questions/{MEMORY}", GoldQuestion)
    if data != ALL and data not in DATA:
        hint = did_you_mean(data[:60], (ALL, *DATA)) or f"; there are {', '.join((ALL, *DATA))}"
        raise InputError(f"there are no questions about {data[:60]!r}{hint}")
    return tuple(
        question for name in DATA if data in {ALL, name} for question in data_lines(f"questions/{name}", GoldQuestion)
    )


def load_question_scene(scene: str) -> ImportedScene:
    """Return a scene as its importer makes it. Raises InputError, with installation help, if its source is missing."""
    name, _, within = scene.partition("/")
    return next(dataset(name).scenes(within or None))
