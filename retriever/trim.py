"""Trimming of a scene's enumerations to a budget: names in the question first, then the frequent ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

from scenecypher.db.store.enumerations import AgentUse, ClassUse, Enumerations, Pattern, PropertyUse, ValueUse
from scenecypher.retriever.library import Mention, Mentions

Occurrence: TypeAlias = ClassUse | ValueUse | Pattern | PropertyUse | AgentUse | str

TIERS: Final[Mapping[str, int]] = {
    "patterns": 1,
    "properties": 1,
    "agents": 2,
    "states": 2,
    "affordances": 2,
    "places": 3,
    "classes": 4,
}
"""The fields of Enumerations that a text lists, by priority; names that the question mentions are tier 0."""


@dataclass(frozen=True, slots=True)
class _Entry:
    field: str
    use: Occurrence
    rank: tuple[int, int, str, str]


def fitted_text(
    whole: Enumerations, mentions: Mentions, *, render: Callable[[Enumerations], str], max_characters: int
) -> str:
    """Return the text of the longest part of `whole` within `max_characters`, or that of nothing if none fits.

    Deterministic: it depends on the four arguments alone.
    """
    text = render(whole)
    if len(text) <= max_characters:
        return text
    entries = _ranked(whole, mentions)
    low, high, text = 0, len(entries), render(_with(whole, ()))
    while low < high - 1:
        middle = (low + high) // 2
        longer = render(_with(whole, entries[:middle]))
        low, high, text = (middle, high, longer) if len(longer) <= max_characters else (low, middle, text)
    return text


def listed_names(whole: Enumerations) -> Iterator[str]:
    """Iterate over the names that a text lists, any of which a question may mention."""
    return (_name_and_count(use)[0] for field in TIERS for use in getattr(whole, field))


def _ranked(whole: Enumerations, mentions: Mentions) -> list[_Entry]:
    entries = [
        _Entry(field, use, _rank(field, use, mentions, number))
        for field in TIERS
        for number, use in enumerate(getattr(whole, field))
    ]
    return sorted(entries, key=lambda entry: entry.rank)


def _rank(field: str, use: Occurrence, mentions: Mentions, number: int) -> tuple[int, int, str, str]:
    name, count = _name_and_count(use)
    match mentions.mention(name):
        case Mention.WHOLE:
            tier = 0
        case Mention.PART:
            tier = max(1, TIERS[field] - 1)
        case Mention.NONE:
            tier = TIERS[field]
    return tier, -count, name, f"{field}{number:09}"


def _name_and_count(use: Occurrence) -> tuple[str, int]:
    match use:
        case ClassUse() | PropertyUse():
            return use.name, use.count
        case ValueUse():
            return use.value, use.count
        case Pattern():
            return use.type, use.count
        case AgentUse():
            return f"{use.name} {use.class_}", 1
        case str():
            return use, 1


def _with(whole: Enumerations, entries: Sequence[_Entry]) -> Enumerations:
    kept: defaultdict[str, set[Occurrence]] = defaultdict(set)
    for entry in entries:
        kept[entry.field].add(entry.use)
    fields: dict[str, Any] = {
        field: tuple(use for use in getattr(whole, field) if use in kept[field]) for field in TIERS
    }
    return replace(whole, **fields)
