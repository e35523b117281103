"""Replies in the papers' own text forms: sections under headings, parsed by a function, with retries on rejection."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from scenecypher.chat.clean import clean_reply
from scenecypher.chat.model import SEED, Message, Model, Request, Usage
from scenecypher.errors import ReplyRejected

T = TypeVar("T")

ATTEMPTS: Final = 3
ECHO_CHARACTERS: Final = 6_000
_HEADING: Final = re.compile(
    r"^[ \t]*[*#]*[ \t]*\[(Explanation|Mode|Content|Query|Code|Summary|Actions|Answer|Plan)\][*]*:?[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
_FENCED: Final = re.compile(r"```(?:python|py)?[ \t]*\r?\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)


def ask_in_text(
    model: Model,
    messages: Sequence[Message],
    read: Callable[[str], T],
    *,
    attempts: int = ATTEMPTS,
    spent: Usage | None = None,
) -> tuple[T, Usage]:
    """Return the parsed reply and the tokens of all attempts; a rejection is sent back to the model as feedback.

    The tokens `spent` before, such as on an agent's earlier replies, are included. Raises ReplyRejected, with the last
    reply and the tokens spent, after `attempts` rejected replies.
    """
    asked, usage = tuple(messages), spent or Usage()
    for attempt in range(1, attempts + 1):
        reply = model.reply(Request(asked, seed=SEED))
        usage += reply.usage
        said = clean_reply(reply.text)
        try:
            return read(said), usage
        except ReplyRejected as rejected:
            if attempt == attempts:
                raise ReplyRejected(
                    str(rejected),
                    reply=reply.text,
                    prompt_tokens=usage.prompt_tokens,
                    completion_tokens=usage.completion_tokens,
                ) from rejected
            echo = Message("assistant", said[:ECHO_CHARACTERS] or "(no text)")
            asked = (*asked, echo, Message("user", f"That reply can't be used: {rejected}."))
    raise AssertionError


def parse_sections(text: str) -> Mapping[str, str]:
    """Return the text under each ``[Heading]``, by the heading in lower case; the first of equal headings counts.

    Later ones are the model's invention of the rest of the conversation.
    """
    found = [*_HEADING.finditer(text)]
    ends = [heading.start() for heading in found[1:]] + [len(text)] * bool(found)
    parts = [(heading[1].lower(), text[heading.end() : end].strip()) for heading, end in zip(found, ends, strict=True)]
    return dict(reversed(parts))


def said_before(text: str, name: str) -> str:
    """Return what a reply says before one heading, whatever headings that stands under; else its explanation."""
    heading = next((it for it in _HEADING.finditer(text) if it[1].lower() == name), None)
    said = _HEADING.sub("", text[: heading.start()]).strip() if heading else ""
    return said or parse_sections(text).get("explanation", "")


def required_section(text: str, name: str, form: str) -> str:
    """Return the text under one heading. Raises ReplyRejected, with the whole `form`, if there is none."""
    found = parse_sections(text).get(name.lower(), "")
    if not found:
        raise ReplyRejected(f"it has no [{name}]; reply in this form, and only once:\n{form}")
    return found


def format_sections(**parts: str) -> str:
    """Return sections as text, as the papers' agents write them."""
    return "\n\n".join(f"[{name.capitalize()}]\n{text}" for name, text in parts.items())


def extract_program(text: str) -> str:
    """Return the Python code of a reply: the content of its fences, else all of it."""
    blocks = _FENCED.findall(text)
    return "\n\n".join(block.strip() for block in blocks) if blocks else text.strip()
