"""What a model meant to say: its reply without thoughts, fences and the prose around JSON or Cypher."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

_TAG: Final = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_ANSWER_BEGINS: Final = re.compile(r"[{\[`]")
_FENCE: Final = re.compile(
    r"(```|~~~)[ \t]*(?:([\w+-]*)[ \t]*\r?\n|(cypher|json)\b)?(.*?)(?:\1[ \t\r]*$|\Z)",
    re.DOTALL | re.MULTILINE | re.IGNORECASE,
)
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
_LINE: Final = re.compile(r"^.*$", re.MULTILINE)
_BLANK_LINE: Final = re.compile(r"\n[ \t\r]*\n")
_SENTENCE: Final = re.compile(r"\s*(?:\*\*|#+ |[-*] |\d+\. )?([A-Z][a-z']*)[ ,:]+[A-Za-z`'\"*(]")


def clean(text: str) -> str:
    """The reply without its thoughts, and without a fence that encloses all of it."""
    bare = text
    while (shorter := _without_enclosing_fence(_without_thoughts(bare))) != bare:
        bare = shorter
    return bare


def clean_json(text: str) -> str:
    """The last JSON object in the reply (else the last array, else all of it), whatever stands around it."""
    values = json_values(text)
    return values[0] if values else clean(text)


def json_values(text: str) -> tuple[str, ...]:
    """Every outermost bracketed piece of the reply, objects before arrays, the last one first.

    A piece that is cut off by the reply's end is kept up to there. Nothing inside a piece is looked at, so that
    half an answer is never taken for a whole one. Time is linear in the reply's length.
    """
    pieces = reversed(tuple(_pieces(_without_thoughts(text))))
    return tuple(sorted(pieces, key=lambda piece: piece[0] != "{"))


def clean_cypher(text: str) -> str:
    """The Cypher in the reply: its first fence that says Cypher, else its first fence, else all but the prose.

    What might be Cypher is never dropped: a second statement, a write or a doubtful line stays, to be refused in words.
    """
    bare = _without_thoughts(text).strip()
    inline = _INLINE.fullmatch(bare)
    if inline:
        return inline[1].strip()
    blocks = list(_FENCE.finditer(bare))
    if not blocks:
        return _without_prose(bare)
    named = [block for block in blocks if "cypher" in {(block[2] or "").casefold(), (block[3] or "").casefold()}]
    return (named or blocks)[0][4].strip()


def _without_thoughts(text: str) -> str:
    """Drop what stands between thought tags, before a closing tag alone, and after an opening tag alone.

    An answer that has begun (with a bracket or a fence) is left as it is: a tag in there is one of its words.
    """
    shown, at, thinking = "", 0, False
    for tag in _TAG.finditer(text):
        if tag[1]:
            shown = shown if thinking else _before_stray_end(shown + text[at : tag.start()], tag[0])
        elif not thinking:
            shown += text[at : tag.start()]
            if _ANSWER_BEGINS.search(shown):
                return shown + text[tag.start() :]
        thinking, at = not tag[1], tag.end()
    return shown if thinking else shown + text[at:]


def _before_stray_end(shown: str, tag: str) -> str:
    """Some templates open the thought in the prompt, so that the reply begins within it: all of that goes."""
    return shown + tag if _ANSWER_BEGINS.match(shown.lstrip()) else ""


def _without_enclosing_fence(text: str) -> str:
    bare = text.strip()
    block = _FENCE.match(bare)
    return block[4].strip() if block and block.end() == len(bare) else bare


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
    start = next((line.start() for line in _LINE.finditer(text) if _begins_cypher(line[0])), None)
    if start is None:
        return text
    breaks = (gap for gap in _BLANK_LINE.finditer(text, start) if _begins_prose(text, gap.end()))
    end = next(breaks, None)
    return text[start : end.start() if end else len(text)].strip()


def _begins_cypher(line: str) -> bool:
    bare = line.strip()
    is_clause = bool(_CLAUSE.match(bare)) and not bare.endswith((":", ".", "!", "?"))
    return is_clause or bare.startswith(("//", "/*"))


def _begins_prose(text: str, start: int) -> bool:
    sentence = _SENTENCE.match(text, start)
    return sentence is not None and not _CLAUSE.match(sentence[1]) and not _CONTINUATION.match(sentence[1])
