"""Query text to tokens, strictly: what is not known here is refused, and nothing is ever guessed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from scenecypher.errors import QueryRefused

Kind: TypeAlias = Literal["name", "quoted", "string", "integer", "float", "mark", "end"]

# One row a token; the first that fits wins. ASCII throughout: letters, digits and blanks of other alphabets look
# alike to people and differ between parsers.
PATTERNS: Final = (
    ("space", r"[ \t\n\r\f]+"),
    ("comment", r"//[^\r\n]*|/\*.*?\*/"),
    ("string", r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""),
    ("quoted", r"`[^`]*`(?!`)"),
    ("float", r"(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|(?<!\.)\.\d+)(?![A-Za-z_0-9])"),
    ("integer", r"(?:0x[\da-fA-F]+|0o[0-7]+|0|[1-9]\d*(?:_\d+)*)(?![A-Za-z_0-9])"),
    ("name", r"[A-Za-z_][A-Za-z0-9_]*"),
    ("mark", r"\.\.|=~|<>|<=|>=|\|\||::|[-()\[\]{},;:.|&!%+*/^=<>]"),
)
TOKEN: Final = re.compile("|".join(f"(?P<{kind}>{pattern})" for kind, pattern in PATTERNS), re.ASCII | re.DOTALL)

ESCAPES: Final = {"\\": "\\", "'": "'", '"': '"', "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
"""What follows a backslash in a string; before any other character the server keeps the backslash, and so do we."""
ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)

QUOTED_NAME: Final = re.compile(r"[^\W\d][\w #?!%'-]{0,63}")
"""Names in backticks stand verbatim in the server's plan: letters of any alphabet, no mark that a plan is made of."""
SURROGATE: Final = re.compile("[\ud800-\udfff]")
OURS: Final = re.compile(r"__|(?:anon_|unnamed)\d", re.IGNORECASE)
"""How names begin that the gate inserts or the server makes up."""

STRANGE: Final = {
    "$": ("parameter", "parameters can't be used", "write the value itself, such as 'kitchen'"),
    "\\": ("character", "a backslash stands outside of a string", "write the character itself"),
    "'": ("syntax", "a string is not closed", "close it with the quote it began with"),
    '"': ("syntax", "a string is not closed", "close it with the quote it began with"),
    "`": ("name", "a name in backticks is not closed or holds a backtick", "use a plain name"),
    "/*": ("syntax", "a comment is not closed", "close it with */ or leave it out"),
    "!=": ("syntax", "`!=` is no operator of Cypher", "write <>"),
    "==": ("syntax", "`==` is no operator of Cypher", "write ="),
}


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text from `start` to `end`.

    `value` is a string's text or a name's letters, `word` an unquoted name in capitals (else empty), `spaced`
    whether blanks or a comment stood before it.
    """

    kind: Kind
    text: str
    start: int
    end: int
    spaced: bool
    value: str = ""
    word: str = ""


def tokens_of(text: str) -> tuple[Token, ...]:
    """All tokens, comments dropped, an "end" last. Raises QueryRefused where a character is not understood."""
    if SURROGATE.search(text):
        raise QueryRefused("character", "half a character stands in the text", hint="write whole characters only")
    found: list[Token] = []
    at, spaced = 0, False
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None or (match.lastgroup != "comment" and text.startswith(("/*", "!=", "=="), at)):
            raise _strange(text, at)
        at = match.end()
        if match.lastgroup in {"space", "comment"}:
            spaced = True
            continue
        found.append(_token(match, spaced=spaced))
        spaced = False
    found.append(Token("end", "", len(text), len(text), spaced))
    return tuple(found)


def integer_of(text: str) -> int:
    """Return the value of an integer token: decimal, hexadecimal or octal."""
    return int(text, 0)


def _token(match: re.Match[str], *, spaced: bool) -> Token:
    text, start, end = match.group(), match.start(), match.end()
    match match.lastgroup:
        case "name":
            return Token("name", text, start, end, spaced, value=_unreserved(text), word=text.upper())
        case "quoted":
            return Token("quoted", text, start, end, spaced, value=_unreserved(_quoted(text)))
        case "string":
            return Token("string", text, start, end, spaced, value=_string(text))
        case "integer":
            return Token("integer", text, start, end, spaced)
        case "float":
            return Token("float", text, start, end, spaced)
        case _:
            return Token("mark", text, start, end, spaced)


def _quoted(text: str) -> str:
    name = text[1:-1]
    if not QUOTED_NAME.fullmatch(name):
        raise QueryRefused(
            "name",
            f"the name {text} can't be used",
            piece=text,
            hint="in backticks stand a letter, then letters, digits, blanks and # ? ! % ' - _",
        )
    return name


def _unreserved(name: str) -> str:
    if OURS.match(name):
        raise QueryRefused(
            "name", f"the name `{name}` is kept for the gate's own use", piece=name, hint="begin it with a letter"
        )
    return name


def _string(text: str) -> str:
    body = text[1:-1]
    if "\\u" in body or "\\U" in body:
        raise QueryRefused(
            "character", "unicode escapes can't be used", piece=text[:40], hint="write the character itself"
        )
    return ESCAPE.sub(lambda match: ESCAPES.get(match.group(1), match.group()), body)


def _strange(text: str, at: int) -> QueryRefused:
    for length in (2, 1):
        piece = text[at : at + length]
        if piece in STRANGE:
            code, message, hint = STRANGE[piece]
            return QueryRefused(code, message, piece=text[at : at + 20], hint=hint)
    if text[at].isdigit():
        return QueryRefused("syntax", "this number can't be read", piece=text[at : at + 20], hint="write 7 or 0.5")
    return QueryRefused(
        "character",
        f"the character {text[at]!r} can stand in strings only",
        piece=text[at],
        hint="outside of strings use plain letters, digits and Cypher's marks, and plain blanks",
    )
