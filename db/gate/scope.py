"""Scope by insertion: the model's own text, each node in it bound to one scene, each string in it a parameter."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from db.gate.hints import Known, check_names
from db.gate.lexer import Token, tokens_of
from db.gate.limits import Limits, check_costs
from db.gate.queries import Queries
from db.gate.reading import Reading
from db.schema import Vocabulary
from scenecypher.errors import QueryRefused

SCENE_PARAMETER: Final = "__scene"


@dataclass(frozen=True, slots=True)
class Scoped:
    """A text that reads one scene only, once `$__scene` is its key.

    `text` is its shape: queries that differ in strings alone share it. `columns` are the last columns as the model
    wrote them; `origin` tells which of its tokens stands where in `text`.
    """

    text: str
    strings: Mapping[str, str]
    columns: tuple[str, ...]
    origin: tuple[tuple[int, str], ...] = field(repr=False)

    def piece_at(self, offset: int) -> str:
        """The model's word at or before a place in `text`."""
        at = bisect_right(self.origin, offset, key=lambda pair: pair[0]) - 1
        return self.origin[at][1] if at >= 0 else ""


def scope(cypher: str, vocabulary: Vocabulary, limits: Limits, *, known: Known | None = None) -> Scoped:
    """Read, check and bind a query. Raises QueryRefused for whatever is not understood, unknown or too costly."""
    if len(cypher) > limits.text_length:
        raise QueryRefused(
            "length", f"the query is longer than {limits.text_length} characters", hint="write a shorter query"
        )
    tokens = tokens_of(cypher)
    names = vocabulary.labels | vocabulary.relation_types
    reading = Queries(cypher, tokens, nesting=limits.nesting, names=names).read()
    check_names(reading, vocabulary, known or {})
    check_costs(reading)
    return render(tokens, reading)


def render(tokens: tuple[Token, ...], reading: Reading) -> Scoped:
    """The tokens with the insertions; blanks and comments become one blank, strings parameters."""
    parts = [f"CYPHER {reading.version}"]
    length = len(parts[0])
    parameters: dict[str, str] = {}
    origin: list[tuple[int, str]] = []
    for index in range(reading.first, len(tokens) - 1):
        token = tokens[index]
        text = token.text
        if token.kind == "string":
            text = "$" + parameters.setdefault(token.value, f"__p{len(parameters)}")
        inserted = "".join(reading.before.get(index, ()))
        blank = " " if token.spaced or index == reading.first else ""
        origin.append((length + len(blank) + len(inserted), token.text))
        part = f"{blank}{inserted}{text}{''.join(reading.after.get(index, ()))}"
        parts.append(part)
        length += len(part)
    strings = {name: value for value, name in parameters.items()}
    return Scoped("".join(parts), strings, reading.columns or (), tuple(origin))
