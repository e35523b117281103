"""A strict lexer of query texts, which refuses all that it does not know, and a cursor over its tokens."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NoReturn, TypeAlias, cast

from scenecypher.db.gate.words import NEVER_NAMES, RESERVED
from scenecypher.errors import QueryRefused

TokenKind: TypeAlias = Literal["name", "quoted", "string", "integer", "float", "mark", "end"]

# One row per kind of token; the first match wins. ASCII only: letters, digits and blanks of other alphabets look like
# ASCII to people, and parsers treat them differently.
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

PARAMETER: Final = re.compile(r"\$([A-Za-z_]\w*)", re.ASCII)
NO_PARAMETERS: Final[Mapping[str, object]] = {}
ESCAPES: Final = {"\\": "\\", "'": "'", '"': '"', "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
"""Escapes in strings, by the character after the backslash. The server keeps a backslash before any other character."""
ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)

QUOTED_NAME: Final = re.compile(r"[^\W\d][\w #?!%'-]{0,63}")
"""Names allowed in backticks: letters of any alphabet, but no mark of the plan's syntax. Plans print names verbatim."""
MAX_INTEGER: Final = 2**63
"""The server's largest whole number is one less; after a minus it is the smallest."""
MAX_INTEGER_DIGITS: Final = 80  # zeros before a hexadecimal or octal number included
SURROGATE: Final = re.compile("[\ud800-\udfff]")
RESERVED_NAME: Final = re.compile(r"__|(?:anon_|unnamed)\d", re.IGNORECASE)
"""Prefixes of names that the gate inserts or the server generates."""

KNOWN_FAULTS: Final = {
    "$": ("parameter", "parameters can't be used", "write the value itself, such as 'kitchen'"),
    "\\": ("character", "a backslash stands outside of a string", "write the character itself"),
    "'": ("syntax", "a string is not closed", "close it with the quote it began with"),
    '"': ("syntax", "a string is not closed", "close it with the quote it began with"),
    "`": ("name", "a name in backticks is not closed or holds a backtick", "use a plain name"),
    "/*": ("syntax", "a comment is not closed", "close it with */ or leave it out"),
    "!=": ("syntax", "`!=` is no operator of Cypher", "write <>"),
    "==": ("syntax", "`==` is no operator of Cypher", "write ="),
}

PLAIN: Final = {
    **dict.fromkeys(("Pi", "Pf"), "write ' around strings"),
    **dict.fromkeys(("Pd", "Sm"), "write -, -> or <-"),
    **dict.fromkeys(("Lu", "Ll", "Lo"), "write plain letters; a name with others stands in backticks"),
}
"""What to write outside of strings, by the Unicode category of a character that is no ASCII."""


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text from `start` to `end`.

    `value` is a string's text or a name's letters, `word` an unquoted name in capitals or a mark (else empty), `spaced`
    is true after blanks or a comment.
    """

    kind: TokenKind
    text: str
    start: int
    end: int
    spaced: bool
    value: str = ""
    word: str = ""


def tokens_of(text: str, parameters: Mapping[str, object] = NO_PARAMETERS) -> tuple[Token, ...]:
    """Return all tokens but comments, and an "end" token; those of its value in place of a parameter.

    Raises QueryRefused for a character that is not allowed.
    """
    if SURROGATE.search(text):
        raise QueryRefused("character", "half a character stands in the text", hint="write whole characters only")
    found: list[Token] = []
    at, spaced = 0, False
    while at < len(text):
        match = TOKEN.match(text, at)
        if match is None and parameters and (match := PARAMETER.match(text, at)):
            found += _tokens_of_value(match, parameters)
            at, spaced = match.end(), False
            continue
        if match is None or (match.lastgroup != "comment" and text.startswith(("/*", "!=", "=="), at)):
            raise _refusal_at(text, at)
        at, is_blank = match.end(), match.lastgroup in {"space", "comment"}
        if not is_blank:
            found.append(_token(match, spaced=spaced))
        spaced = is_blank
    found.append(Token("end", "", len(text), len(text), spaced))
    return tuple(found)


def _tokens_of_value(match: re.Match[str], parameters: Mapping[str, object]) -> Iterator[Token]:
    """Yield the tokens of a parameter's value, as if it were written in the text."""
    if match[1] not in parameters:
        hint = f"parameters are {', '.join(f'${name}' for name in parameters)}"
        raise QueryRefused("parameter", f"no parameter `{match[0]}`", piece=match[0], hint=hint)
    for kind, text in _pieces(parameters[match[1]], match[0]):
        value = unicodedata.normalize("NFC", text) if kind == "string" else text if kind == "name" else ""
        word = text.upper() if kind in {"name", "mark"} else ""
        if kind in {"integer", "float"} and not _is_in_range(kind, text):
            raise _out_of_range(text)
        yield Token(kind, match[0] if kind == "string" else text, *match.span(), spaced=True, value=value, word=word)


def _pieces(value: object, name: str) -> Iterator[tuple[TokenKind, str]]:
    """Yield the kind and the text of each token of a value; of a string, its value."""
    match value:
        case None | bool():
            yield "name", "null" if value is None else str(value)
        case str() if not SURROGATE.search(value):
            yield "string", value
        case int() | float():
            before, after = ("(-", ")") if value < 0 else ("", "")
            yield from _marks(before)
            is_float = isinstance(value, float)  # by its own class's text: that of NumPy's numbers has their type
            yield ("float", float.__repr__(abs(value))) if is_float else ("integer", int.__repr__(abs(value)))
            yield from _marks(after)
        case list() | tuple():
            yield "mark", "["
            for at, item in enumerate(value):
                yield from _marks("," if at else "")
                yield from _pieces(item, name)
            yield "mark", "]"
        case _:
            hint = "give a text, a number, a truth value, null or a list of these"
            raise QueryRefused("parameter", f"the value of `{name}` can't be used", piece=name, hint=hint)


def _marks(marks: str) -> Iterator[tuple[TokenKind, str]]:
    for mark in marks:
        yield "mark", mark


def integer_of(text: str) -> int:
    """Return the value of an integer token: decimal, hexadecimal or octal."""
    return int(text, 0)


def _is_in_range(kind: TokenKind, text: str) -> bool:
    """Check that a number is one of the server's, so that no later step meets one that it can't take."""
    if kind == "float":
        return math.isfinite(float(text))
    return len(text) <= MAX_INTEGER_DIGITS and integer_of(text) <= MAX_INTEGER


def _token(match: re.Match[str], *, spaced: bool) -> Token:
    kind, text, value, word = cast("TokenKind", match.lastgroup), match.group(), "", ""
    if kind == "name":
        value, word = text, text.upper()
    elif kind == "quoted":
        value = text[1:-1]
        if not QUOTED_NAME.fullmatch(value):
            hint = "in backticks stand a letter, then letters, digits, blanks and # ? ! % ' - _"
            raise QueryRefused("name", f"the name {text} can't be used", piece=text, hint=hint)
    elif kind == "string":
        value = _string_value(text)
    elif kind == "mark":
        word = text
    elif not _is_in_range(kind, text):
        raise _out_of_range(text)
    if kind != "string" and RESERVED_NAME.match(value):
        message = f"the name `{value}` is kept for the gate's own use"
        raise QueryRefused("name", message, piece=value, hint="begin it with a letter")
    return Token(kind, text, match.start(), match.end(), spaced, value, word)


def _out_of_range(number: str) -> QueryRefused:
    hint = "whole numbers go up to 9223372036854775807, others up to about 1.7e308"
    return QueryRefused("number", f"the number {number[:20]}… is out of range", piece=number[:40], hint=hint)


def _string_value(text: str) -> str:
    body = text[1:-1]
    if "\\u" in body or "\\U" in body:
        hint = "write the character itself"
        raise QueryRefused("character", "unicode escapes can't be used", piece=text[:40], hint=hint)
    # Stored text is composed (NFC); the same text in another form would be equal to none of it.
    return unicodedata.normalize("NFC", ESCAPE.sub(lambda match: ESCAPES.get(match.group(1), match.group()), body))


def _refusal_at(text: str, at: int) -> QueryRefused:
    for length in (2, 1):
        piece = text[at : at + length]
        if piece in KNOWN_FAULTS:
            code, message, hint = KNOWN_FAULTS[piece]
            return QueryRefused(code, message, piece=text[at : at + 20], hint=hint)
    if text[at].isdigit():
        return QueryRefused("syntax", "this number can't be read", piece=text[at : at + 20], hint="write 7 or 0.5")
    plain = "outside of strings use plain letters, digits and Cypher's marks, and plain blanks"
    hint = PLAIN.get(unicodedata.category(text[at]), plain)
    return QueryRefused("character", f"the character {text[at]!r} can stand in strings only", piece=text[at], hint=hint)


OPENING: Final = {"(": ")", "[": "]", "{": "}"}


class Cursor:
    """A place in the tokens of a text, whose brackets match. Raises QueryRefused for what is not expected there."""

    def __init__(self, text: str, tokens: tuple[Token, ...], *, nesting: int) -> None:
        self.text, self.tokens, self.at = text, tokens, 0
        self.closing = _brackets(tokens, nesting)

    @property
    def next_token(self) -> Token:
        """The next token."""
        return self.tokens[self.at]

    @property
    def last_token(self) -> Token:
        """The token that was taken last."""
        return self.tokens[self.at - 1]

    def peek(self, offset: int = 1) -> Token:
        """Return the token `offset` further on, or the last."""
        return self.tokens[min(self.at + offset, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Move past the next token and return it."""
        token = self.next_token
        self.at += token.kind != "end"
        return token

    def is_next(self, *words: str, offset: int = 0) -> bool:
        """Check for one of these keywords or marks."""
        return self.peek(offset).word in words

    def skip(self, *words: str) -> bool:
        """Move past one of these keywords or marks, if it is next."""
        found = self.next_token.word in words
        self.at += found
        return found

    def expect(self, word: str) -> None:
        """Move past this keyword or mark, or refuse."""
        if not self.skip(word):
            self.refuse(f"`{word}` should stand here")

    def is_name(self) -> bool:
        """Check for a variable's name, which most keywords may be."""
        return self.next_token.kind in {"name", "quoted"} and self.next_token.word not in NEVER_NAMES

    def take_name(self) -> str:
        """Move past a variable's name; refuse anything else."""
        if not self.is_name():
            self.refuse("a name should stand here", hint="keywords can't be names")
        return self.take().value

    def take_integer(self) -> int | None:
        """Move past a whole number, if it is next, and return it."""
        return integer_of(self.take().text) if self.next_token.kind == "integer" else None

    def is_arrow(self, index: int) -> bool:
        """Check for a relation at `index`: `-[`, `--(`, `-->`, `--+(`, `<-[`, `<--`."""
        marks = [token.text if token.kind == "mark" else "" for token in self.tokens[index : index + 4]] + [""]
        if marks[0] == "<":
            marks = marks[1:]
        return marks[:2] == ["-", "["] or (marks[:2] == ["-", "-"] and marks[2:3] != [""])

    def refuse(self, message: str, *, hint: str = "rewrite this part", code: str = "syntax") -> NoReturn:
        """Refuse the text at the next token; a keyword that may be meant as a name gets a hint."""
        token = self.next_token
        piece = token.text or "the end"
        rest = self.text[token.start : token.start + 30].split("\n")[0]
        for near in (token, self.last_token):
            if near.kind == "name" and near.word in RESERVED and hint == "rewrite this part":
                hint = f"`{near.text}` is a keyword: use another name"
        raise QueryRefused(code, f"can't read the query at `{rest or piece}`: {message}", piece=piece, hint=hint)


def _brackets(tokens: tuple[Token, ...], nesting: int) -> dict[int, int]:
    """Return for each opening bracket the index of the one that closes it."""
    closing: dict[int, int] = {}
    stack: list[int] = []
    for index, token in enumerate(tokens):
        if token.word in OPENING:
            stack.append(index)
            if len(stack) > nesting:
                raise QueryRefused("nesting", f"brackets nest more than {nesting} deep", hint="write a simpler query")
        elif token.word in OPENING.values() or (token.kind == "end" and stack):
            last = tokens[stack[-1]] if stack else token
            if OPENING.get(last.word) != token.word:
                fault, piece = (
                    ("nothing closes", last.text) if token.kind == "end" else ("no bracket opens", token.text)
                )
                raise QueryRefused("syntax", f"{fault} this `{piece}`", piece=piece, hint="check the brackets")
            closing[stack.pop()] = index
    return closing
