"""A goal as a person types it: ``mug ON shelf; fridge is closed``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from scenecypher.db.condition import And, Condition, HasState, Id, Not, Related
from scenecypher.db.schema import RELATION_TYPES
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.reference import resolve_reference
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, UnknownReference

FORM: Final = "write parts such as `mug ON shelf` or `fridge is closed`, with semicolons between them"
WORDS: Final = {"IN": "INSIDE"}
"""Short words for relation types."""

_STATE: Final = re.compile(r"(.+?)\s+is\s+(not\s+)?(\w+)", re.IGNORECASE)


def read_goal(text: str, *, resolve: Callable[[str], str], types: tuple[str, ...] = ()) -> Condition:
    """Return the condition that a text states. Raises InputError; UnknownReference for a node that there is not.

    `resolve` returns the id of the node that a word means. `types` are relation types of
    the scene's own.
    """
    names = sorted({*RELATION_TYPES, *types, *WORDS}, key=len, reverse=True)
    related = re.compile(rf"(.+?)\s+(not\s+)?({'|'.join(names)})\s+(.+)", re.IGNORECASE)
    parts = tuple(_parts(text, related, resolve))
    if not parts:
        raise InputError(f"the goal is empty; {FORM}")
    return parts[0] if len(parts) == 1 else And(parts)


def read_goal_in(store: SceneStore, scene: SceneInfo, text: str) -> Condition:
    """Return the condition that a text states of a scene. Raises InputError, UnknownReference."""
    resolve = partial(resolve_reference, store.now(scene).graph)
    return read_goal(text, resolve=resolve, types=scene.declared.relation_types)


def _parts(text: str, related: re.Pattern[str], resolve: Callable[[str], str]) -> Iterator[Condition]:
    for part in filter(None, map(str.strip, text.split(";"))):
        try:
            yield _part(part, related, resolve)
        except UnknownReference as error:
            raise UnknownReference(f"the goal {part[:100]!r}: {error}", error.word, error.known) from error


def _part(part: str, related: re.Pattern[str], resolve: Callable[[str], str]) -> Condition:
    if found := _STATE.fullmatch(part):
        holds: Condition = HasState(Id(resolve(found[1])), found[3].lower())
    elif found := related.fullmatch(part):
        type_ = found[3].upper()
        holds = Related(Id(resolve(found[1])), WORDS.get(type_, type_), Id(resolve(found[4])))
    else:
        raise InputError(f"{part[:100]!r} is no goal; {FORM}")
    return Not(holds) if found[2] else holds
