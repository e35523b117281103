"""Explanation of a missing reply: the request that a cassette lacks, the nearest one, and their first difference."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Final

from scenecypher.chat.canonical import canonical_hash
from scenecypher.chat.tape import Tape

_BEGINNING: Final = 120
_COMPARED: Final = 2_000
_AROUND: Final = 30
_ABSENT: Final = object()
_REMEDY: Final = "record it anew with a live model (set OPENAI_API_KEY or OPENAI_BASE_URL)"


def explain_missing(tape: Tape, asked: Mapping[str, Any], *, session: str, occurrence: int) -> str:
    """Return the words of an error: the request and its session, the nearest recorded request, the remedy."""
    where = f"request {occurrence} of its like in session {session!r}, which begins {_beginning(asked)}"
    return f"{where}; {_nearest(tape, asked, session)}; {_REMEDY}"


def _nearest(tape: Tape, asked: Mapping[str, Any], session: str) -> str:
    asked_hash = canonical_hash(asked)
    where = [name for name, request_hash, _ in tape.exchanges if request_hash == asked_hash]
    if where:
        return f"it was recorded {_times(where.count(session))} there" if session in where else _elsewhere(where)
    if not tape.exchanges:
        return "the cassette holds no exchange"
    here = [exchange for exchange in tape.exchanges.values() if exchange.session == session]
    near = max(here or tape.exchanges.values(), key=lambda exchange: _similarity(exchange.request, asked))
    return (
        f"the nearest is request {near.occurrence} of its like in session {near.session!r}, "
        f"which differs at {first_difference(near.request, asked)}"
    )


def _elsewhere(sessions: Sequence[str]) -> str:
    return f"it was recorded only in session {sessions[0]!r}"


def first_difference(recorded: object, asked: object, place: str = "$") -> str:
    """Return the first place where two JSON values differ and both pieces, the recorded one first."""
    match recorded, asked:
        case dict(), dict():
            return _first_in(
                recorded, asked, place=place, keys=[*recorded, *(key for key in asked if key not in recorded)]
            )
        case list(), list():
            old, new = dict(enumerate(recorded)), dict(enumerate(asked))
            return _first_in(old, new, place=place, keys=range(max(len(old), len(new))))
        case str(), str():
            at = _common_prefix_length(recorded, asked)
            return f"{place}, character {at}: {_piece(recorded, at)} was recorded, {_piece(asked, at)} is asked"
        case _:
            return f"{place}: {_shown(recorded)} was recorded, {_shown(asked)} is asked"


def _first_in(recorded: Mapping[Any, object], asked: Mapping[Any, object], *, place: str, keys: Sequence[Any]) -> str:
    key = next(key for key in keys if recorded.get(key, _ABSENT) != asked.get(key, _ABSENT))
    step = f"[{key}]" if isinstance(key, int) else f".{key}"
    return first_difference(recorded.get(key, _ABSENT), asked.get(key, _ABSENT), place + step)


def _similarity(recorded: Mapping[str, Any], asked: Mapping[str, Any]) -> float:
    old, new = _last_text(recorded)[-_COMPARED:], _last_text(asked)[-_COMPARED:]
    return SequenceMatcher(None, old, new, autojunk=False).quick_ratio()


def _last_text(request: Mapping[str, Any]) -> str:
    match request:
        case {"messages": [*_, {"text": str(text)}]}:
            return text
        case _:
            return ""


def _beginning(asked: Mapping[str, Any]) -> str:
    text = _last_text(asked)
    return repr(text[:_BEGINNING] + ("…" if len(text) > _BEGINNING else ""))


def _common_prefix_length(one: str, other: str) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (left, right) in pairs if left != right), min(len(one), len(other)))


def _piece(text: str, at: int) -> str:
    return repr(text[max(0, at - _AROUND) : at + _AROUND])


def _shown(value: object) -> str:
    if value is _ABSENT:
        return "nothing"
    text = repr(value)
    return text[:_BEGINNING] + ("…" if len(text) > _BEGINNING else "")


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"
