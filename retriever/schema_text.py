"""The schema text: a scene's description for a model, in one of three forms and within a token budget."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final, Literal, TypeAlias

from scenecypher.db.store.enumerations import ByIdentity, Enumerations, literal
from scenecypher.db.vocabulary import DEFAULT
from scenecypher.errors import InputError
from scenecypher.retriever.library import Mentions, words_of
from scenecypher.retriever.outline import Outline, WordCounts, outline
from scenecypher.retriever.trim import fitted_text, listed_names

SchemaForm: TypeAlias = Literal["compact", "json", "prose"]

CHARACTERS_A_TOKEN: Final = 3
"""A low estimate for Cypher-like text in the tokenisers of today's models."""
MIN_TOKENS: Final = 800
"""The most tokens of the fixed part, without any listing."""
_BARE: Final = re.compile(r"[\w-]+")


def schema_text(
    enumerations: Enumerations,
    question: str = "",
    *,
    vocabulary: str = DEFAULT,
    form: SchemaForm = "compact",
    budget_tokens: int = 2_000,
    names: bool = True,
) -> str:
    """Return the description of a scene, trimmed so that names mentioned in `question` are kept max_characters.

    Equal scenes give equal text. Nodes are listed as a few example names and the agents only, and without `names` not
    at all. Raises InputError for a budget below `MIN_TOKENS` or an unknown form.
    """
    if budget_tokens < MIN_TOKENS:
        raise InputError(f"a schema text needs at least {MIN_TOKENS} tokens, not {budget_tokens}; raise its budget")
    if form not in FORMS:
        raise InputError(f"no schema text has the form {form!r}; choose one of {', '.join(FORMS)}")
    max_characters = budget_tokens * CHARACTERS_A_TOKEN
    same = ByIdentity(enumerations)
    whole = _whole(same, vocabulary, form, names=names)
    if len(whole) <= max_characters:
        return whole
    mentions = Mentions.of(question).restricted_to(_words(same))
    return _trimmed(same, mentions, vocabulary, form, names=names, max_characters=max_characters)


@lru_cache(maxsize=32)
def _whole(same: ByIdentity, vocabulary: str, form: SchemaForm, *, names: bool) -> str:
    """Return the untrimmed text, which depends on no question; an Enumerator gives the same object for a version."""
    return _text(same.of, same.of, vocabulary=vocabulary, form=form, names=names)


@lru_cache(maxsize=32)
def _words(same: ByIdentity) -> frozenset[str]:
    """Return the words by which a question may mention the names that a text lists."""
    return words_of(listed_names(same.of))


@lru_cache(maxsize=256)
def _trimmed(
    same: ByIdentity, mentions: Mentions, vocabulary: str, form: SchemaForm, *, names: bool, max_characters: int
) -> str:
    """Return the trimmed text, which depends on a question only through the names that it mentions."""

    def text(shown: Enumerations) -> str:
        return _text(shown, same.of, vocabulary=vocabulary, form=form, names=names)

    return fitted_text(same.of, mentions, render=text, max_characters=max_characters)


def _text(shown: Enumerations, whole: Enumerations, *, vocabulary: str, form: SchemaForm, names: bool) -> str:
    content = outline(shown, whole, vocabulary=vocabulary)
    return FORMS[form](content if names else replace(content, examples=(), agents=()))


def compact(of: Outline) -> str:
    """Return Cypher-like lines under headings: the fewest tokens for the most content."""
    sections = (
        (
            "NODE LABELS (every node is also an :Entity)",
            (f"(:{label}) {n:,}: {words}" for label, n, words in of.labels),
        ),
        ("PROPERTIES", (f"{name}: {words}" for name, words in of.properties)),
        ("RELATIONS that occur, and how many", (f"{pattern} {n:,}" for pattern, n in of.patterns)),
        ("MEANING of relation types", (f"{name}: {words}" for name, words in of.meanings)),
        ("TYPES that do not occur here now", _listed_words(of.unused)),
        ("VALUES of class, and how many nodes", (f"{kind}: {_counts(values)}" for kind, values in of.classes)),
        ("VALUES in states", _listed(of.states)),
        ("VALUES in affordances", _listed(of.affordances)),
        ("NAMES, some examples", _listed(of.examples)),
        ("AGENTS", of.agents),
        ("NOTES", of.notes),
        ("LEFT OFF for brevity", _listed(of.left_off)),
    )
    return "\n".join(line for title, lines in sections for line in _section(title, lines))


def as_json(of: Outline) -> str:
    """Return one JSON object on one line."""
    return json.dumps(json_document(of), ensure_ascii=False, separators=(",", ":"))


def json_document(of: Outline) -> dict[str, Any]:
    """Return the outline as plain values."""
    document = {
        "labels": {label: {"meaning": meaning, "nodes": count} for label, count, meaning in of.labels},
        "properties": dict(of.properties),
        "relations": dict(of.patterns),
        "relation_types": dict(of.meanings),
        "unused_relation_types": list(of.unused),
        "classes": {kind: dict(values) for kind, values in of.classes},
        "states": dict(of.states),
        "affordances": dict(of.affordances),
        "examples": [{"name": name, "label": kind} for name, kind in of.examples],
        "agents": list(of.agents),
        "notes": list(of.notes),
        "left_off": dict(of.left_off),
    }
    return {name: value for name, value in document.items() if value}


def prose(of: Outline) -> str:
    """Return sentences and bullets, in the manner of the papers' prompts."""
    parts = (
        "The scene graph is directed. Every node has the label Entity and one of these:",
        _bullets(f"{label}: {meaning}. There are {count:,}." for label, count, meaning in of.labels),
        "Nodes have these attributes:",
        _bullets(f'"{name}": {meaning}.' for name, meaning in of.properties),
        "Relations lead from one node to another. Their types:",
        _bullets(f"{name}: {meaning}." for name, meaning in of.meanings),
        "These combinations occur, with their number:",
        _bullets(f"{pattern}: {count:,}" for pattern, count in of.patterns),
        *(f"These types do not occur here now: {', '.join(of.unused)}." for _ in of.unused[:1]),
        *(f"The classes of {kind} nodes, with their number: {_counts(values)}." for kind, values in of.classes),
        *(f"The {what} that occur: {_counts(values)}." for what, values in _lists(of) if values),
        *(f"Some names: {_pairs(of.examples)}." for _ in of.examples[:1]),
        *(f"The agent {agent}." for agent in of.agents),
        *of.notes,
        *(f"Left off for brevity: {_counts(of.left_off)}." for _ in of.left_off[:1]),
    )
    return "\n".join(part for part in parts if part)


FORMS: Final[Mapping[str, Callable[[Outline], str]]] = {"compact": compact, "json": as_json, "prose": prose}


def _section(title: str, lines: Iterable[str]) -> list[str]:
    content = list(lines)
    return [title, *content] if content else []


def _lists(of: Outline) -> tuple[tuple[str, WordCounts], ...]:
    return ("states", of.states), ("affordances", of.affordances)


def _listed(pairs: tuple[tuple[str, int], ...] | tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return (_pairs(pairs),) if pairs else ()


def _listed_words(words: tuple[str, ...]) -> tuple[str, ...]:
    return (", ".join(words),) if words else ()


def _counts(pairs: WordCounts) -> str:
    return _pairs(pairs)


def _pairs(pairs: Iterable[tuple[str, int | str]]) -> str:
    return ", ".join(
        f"{_word(word)} {more:,}" if isinstance(more, int) else f"{_word(word)} ({more})" for word, more in pairs
    )


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _word(word: str) -> str:
    return word if _BARE.fullmatch(word) else literal(word)
