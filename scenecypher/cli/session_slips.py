"""Lines of a session that look like a mistyped command or action: they are refused before a model is asked."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from scenecypher.errors import InputError, did_you_mean

OPENERS: Final = frozenset(
    (
        *("who", "whose", "what", "which", "where", "when", "why", "how", "is", "are", "was", "were", "do", "does"),
        *("did", "has", "have", "had", "can", "could", "will", "would", "shall", "should", "may", "might", "must"),
        *("count", "give", "list", "name", "show", "tell", "the", "there"),
    )
)
"""First words of questions; some are near to a command (who and why, has and ask)."""
CYPHER_WORD: Final = "match"
FIRST_WORD: Final = re.compile(r"[^\W\d][\w-]*")
CALL: Final = re.compile(r"[\w-]+[(\[{]")
NEAR: Final = 0.74
"""Similarity from which the first of several words is taken for a misspelt one; a word alone needs less."""


def check_question(line: str, *, commands: Sequence[str], actions: Mapping[str, str]) -> None:
    """Check that `line` may be a question for a model; `actions` are signatures by name.

    Raises InputError for a misspelt command, a command with words that it does not take, and an action that is not
    written as one. A line that ends in a question mark always is a question.
    """
    found = FIRST_WORD.match(line)
    if line.endswith("?") or found is None or found[0].casefold() in OPENERS:
        return
    word, rest = found[0], line[found.end() :].strip()
    action = _meant_action(word, actions, has_bracket=CALL.match(line) is not None or rest[:1] in {"(", "["})
    if action is not None:
        raise InputError(f"an action is written {action}, its brackets closed; {_how_to_ask(line)}")
    if word.casefold() in commands:
        raise InputError(f"`{word}` takes nothing; give it alone, or {_how_to_ask(line)}")
    if CALL.match(line):
        raise InputError(f"{line!r} is no action; `actions` lists all")
    hint = _nearest(word, (*commands, *actions, CYPHER_WORD), is_alone=not rest, is_call=rest.endswith(")"))
    if hint:
        raise InputError(f"no command {word!r}{hint}; `help` lists all, or {_how_to_ask(line)}")


def _meant_action(word: str, actions: Mapping[str, str], *, has_bracket: bool) -> str | None:
    """Return the signature of the action that `word` names, or nearly names before a bracket."""
    name = word.casefold().replace("-", "_")
    if name in actions:
        return actions[name]
    near = get_close_matches(name, list(actions), n=1, cutoff=NEAR) if has_bracket else []
    return actions[near[0]] if near else None


def _nearest(word: str, known: Sequence[str], *, is_alone: bool, is_call: bool) -> str:
    """Return a hint at the nearest of `known`; empty if none is near enough."""
    if is_alone or is_call or get_close_matches(word.casefold(), known, n=1, cutoff=NEAR):
        return did_you_mean(word, known)
    return ""


def _how_to_ask(line: str) -> str:
    return f"write `ask {line}` for a question"
