"""Cleaning of replies: the text without thoughts, fences and the prose around JSON or Cypher."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

_TAG: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_ANSWER_BEGINS: Final = re.compile(r"[{\[`]")
_ANSWER_STARTS: Final = re.compile(r"\s*+[{\[`]")
_FENCE: Final = re.compile(r"`{3,}+|~{3,}+")
_LANGUAGE: Final = re.compile(r"[ \t]*+(?:([\w+-]*+)[ \t]*+\r?\n|(cypher|json)\b)?", re.IGNORECASE)
_LINE_END: Final = re.compile(r"[ \t\r]*+(?:\n|\Z)")
_INLINE: Final = re.compile(r"`([^`\n]+)`")
_BRACKET: Final = re.compile(r"[{\[]")
_BRACKET_OR_STRING: Final = re.compile(r'[{\[}\]]|"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
_DEPTH: Final = {"{": 1, "[": 1, "}": -1, "]": -1}

_CLAUSE: Final = re.compile(
    r"(call|create|cypher|delete|detach|explain|filter|finish|for|foreach|insert|let|limit|load|match|merge|next|nodetach"
    r"|offset|optional|order|profile|remove|return|set|show|skip|terminate|unwind|use|using|when|where|with)\b",
    re.IGNORECASE,
)
_CONTINUATION: Final = re.compile(
    r"(and|or|xor|not|in|as|is|on|by|asc|desc|union|else|then|end|case|distinct|exists|count|collect|null|true|false)\b",
    re.IGNORECASE,
)
_LABEL: Final = re.compile(
    r"[*#>\- ]{0,4}(?:(?:(?:final )?answer|query|cypher (?:query|statement))(?=[* ]{0,3}:)|cypher\b)"
    r"[* ]{0,3}:?[* ]{0,3}\s*+",
    re.IGNORECASE,
)
_MARK: Final = re.compile(r"<\|\w{1,40}\|>(?:assistant\b)?|</?s>")
_ENTITY: Final = re.compile(
    r"'[^'\\]*(?:\\.[^'\\]*)*'|\"[^\"\\]*(?:\\.[^\"\\]*)*\"|`[^`]*`|(&(?:gt|lt|amp|quot|apos|#39);)", re.DOTALL
)
_QUERY_KEYS: Final = ("cypher", "query")
_LINE: Final = re.compile(r"^.*$", re.MULTILINE)
_REST: Final = re.compile(r".*")
_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*\n")
_SENTENCE: Final = re.compile(r"\s*(?:\*\*|#+ |[-*] |\d+\. )?([A-Z][a-z']*)[ ,:]+[A-Za-z`'\"*(]")


@dataclass(frozen=True, slots=True)
class _Block:
    start: int
    end: int
    language: str
    content: str


def clean_reply(text: str) -> str:
    """Return the reply without its thoughts, marks of turns, and a fence that encloses all of it."""
    bare = text
    while (shorter := _without_enclosing_fence(_without_marks(_without_thoughts(bare)))) != bare:
        bare = shorter
    return bare


def clean_json(text: str) -> str:
    """Return the last JSON object in the reply, else its last array, else the whole cleaned reply."""
    values = json_values(text)
    return values[0] if values else clean_reply(text)


def json_values(text: str) -> tuple[str, ...]:
    """Return every outermost bracketed piece of the reply, objects before arrays, the last one first.

    A piece that the reply's end cuts off is kept up to there. Pieces are not searched for inner values, so that half an
    answer is never taken for a whole one. Time is linear in the reply's length.
    """
    pieces = reversed(tuple(_pieces(_without_thoughts(text))))
    return tuple(sorted(pieces, key=lambda piece: piece[0] != "{"))


def clean_cypher(text: str) -> str:
    """Return the Cypher in the reply: its first Cypher fence, else its first fence, else all but the prose.

    Labels such as ``Answer:``, an enclosing JSON object with the query under `cypher` or `query`, and escapes of HTML
    outside quotes are undone. Possible Cypher is never dropped: a second statement, a write or a doubtful line stays,
    and the gate refuses it.
    """
    bare = _without_marks(_without_thoughts(text))
    inline = _INLINE.fullmatch(bare)
    blocks = tuple(_blocks(bare)) if inline is None and not bare.startswith("{") else ()
    if inline is not None:
        bare = inline[1].strip()
    elif blocks:
        bare = _without_marks(next((block for block in blocks if block.language == "cypher"), blocks[0]).content)
    query = _in_json(bare)
    if query is not None:
        return clean_cypher(query)
    at = _cypher_at(bare, 0) or 0
    return _ENTITY.sub(_unescaped, bare[at:] if blocks or inline else _without_prose(bare))


def _in_json(text: str) -> str | None:
    """Return the query in a text that is a JSON object, None if it is none or holds no query."""
    try:
        document = json.loads(text) if text.startswith("{") else None
    except (ValueError, RecursionError):
        return None
    queries = [document.get(key) for key in _QUERY_KEYS] if isinstance(document, dict) else []
    return next((query for query in queries if isinstance(query, str)), None)


def _unescaped(found: re.Match[str]) -> str:
    return html.unescape(found[1]) if found[1] else found[0]


def _without_marks(text: str) -> str:
    """Drop blanks and the marks with which templates begin and end a turn, such as ``<|im_end|>``, at both ends."""
    marks = tuple(_MARK.finditer(text))
    start, end = 0, len(text)
    for mark in marks:
        if text[start : mark.start()].strip():
            break
        start = mark.end()
    for mark in reversed(marks):
        if mark.start() < start or text[mark.end() : end].strip():
            break
        end = mark.start()
    return text[start:end].strip()


def _without_thoughts(text: str) -> str:
    """Drop the text between thought tags, before a lone closing tag, and after a lone opening tag.

    Once an answer has begun (with a bracket or a fence), it is kept as it is: a tag within it belongs to the answer.
    """
    shown: list[str] = []
    at, thinking = 0, False
    for tag in _TAG.finditer(text):
        if not thinking:
            shown.append(text[at : tag.start()])
            begun = _ANSWER_STARTS.match("".join(shown)) if tag[1] else _ANSWER_BEGINS.search(shown[-1])
            if begun:
                return "".join(shown) + text[tag.start() :]
        if tag[1] and not thinking:  # some templates open the thought in the prompt
            shown.clear()
        thinking, at = not tag[1], tag.end()
    return "".join(shown if thinking else [*shown, text[at:]])


def _without_enclosing_fence(text: str) -> str:
    bare = text.strip()
    block = next(_blocks(bare), None)
    return block.content if block and (block.start, block.end) == (0, len(bare)) else bare


def _blocks(text: str) -> Iterator[_Block]:
    """Yield the fenced blocks; the reply's end may cut off the last one."""
    opening = None
    for fence in _FENCE.finditer(text):
        if opening is None:
            opening = fence
        elif fence[0] == opening[0] and _LINE_END.match(text, fence.end()):
            yield _block(text, opening, inner_end=fence.start(), end=fence.end())
            opening = None
    if opening is not None:
        yield _block(text, opening, inner_end=len(text), end=len(text))


def _block(text: str, opening: re.Match[str], *, inner_end: int, end: int) -> _Block:
    head = _LANGUAGE.match(text, opening.end(), inner_end)
    language = (head[1] or head[2] or "") if head else ""
    content = text[head.end() if head else opening.end() : inner_end]
    return _Block(opening.start(), end, language.casefold(), content.strip())


def _pieces(text: str) -> Iterator[str]:
    found = _BRACKET.search(text)
    while found:
        end = _end_of_piece(text, found.start())
        yield text[found.start() : end]
        found = _BRACKET.search(text, end)


def _end_of_piece(text: str, start: int) -> int:
    depth = 0
    for token in _BRACKET_OR_STRING.finditer(text, start):
        depth += _DEPTH.get(token[0], 0)
        if depth == 0:
            return token.end()
    return len(text)


def _without_prose(text: str) -> str:
    starts = (_cypher_at(text, line.start()) for line in _LINE.finditer(text))
    start = next((at for at in starts if at is not None), None)
    if start is None:
        return text
    breaks = (gap for gap in _BLANK_LINE.finditer(text, start) if _begins_prose(text, gap.end()))
    end = next(breaks, None)
    return text[start : end.start() if end else len(text)].strip()


def _cypher_at(text: str, at: int) -> int | None:
    """Return where Cypher begins in the line at `at`, after a label such as ``Answer:``; None if it does not."""
    label = _LABEL.match(text, at)
    for start in (label.end(), at) if label else (at,):
        line = _REST.match(text, start)
        if line and _begins_cypher(line[0]):
            return start
    return None


def _begins_cypher(line: str) -> bool:
    bare = line.strip()
    is_clause = bool(_CLAUSE.match(bare)) and not bare.endswith((":", ".", "!", "?"))
    return is_clause or bare.startswith(("//", "/*"))


def _begins_prose(text: str, start: int) -> bool:
    sentence = _SENTENCE.match(text, start)
    return sentence is not None and not _CLAUSE.match(sentence[1]) and not _CONTINUATION.match(sentence[1])
