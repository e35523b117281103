"""What is known of a query after reading it: where to insert, which words it uses, what may cost much."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NoReturn, TypeAlias

from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.words import RESERVED
from scenecypher.errors import QueryRefused

UseKind: TypeAlias = Literal["label", "relation_type", "either", "property"]
Search: TypeAlias = Literal["", "function", "selector"]
Source: TypeAlias = Literal["literal", "range", "property", "call", "other"]

OPENING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True, slots=True)
class Use:
    """A name from the registry that the text uses; `tested`: a property whose absence is provided for."""

    kind: UseKind
    token: Token
    name: str
    tested: bool = False


@dataclass(frozen=True, slots=True)
class Hop:
    """One relation pattern: how far it reaches (`longest` None: as far as there is), and by how many named types.

    `types` is 0 where any type will do; `shortest`: the sort of shortest-path search that it is inside of, if any.
    """

    token: Token
    names: tuple[str, ...]
    types: int
    directed: bool
    longest: int | None
    shortest: Search


@dataclass(frozen=True, slots=True)
class Loop:
    """A list gone through: by UNWIND, or inside an expression, where `around` are the lists of the loops about it."""

    token: Token
    source: Source
    items: int
    around: tuple[tuple[Source, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Join:
    """A + that may join text: what stands on either side of it, a property's name, "" for a literal, None for more."""

    clause: int
    left: str | None
    right: str | None


@dataclass(frozen=True, slots=True)
class Call:
    """A function call: its arguments as tokens."""

    name: str
    token: Token
    arguments: tuple[tuple[Token, ...], ...]


@dataclass(slots=True)
class Reading:
    """Everything that the reader found; insertions are kept by the index of the token they stand at.

    `defined` are the names of maps' entries, `lists` those of variables that hold a list, `repeated` the variables
    that stand inside a loop as a whole, `numbers` where numbers stand that may be parameters, `levels` how deep
    sub-queries nest.
    """

    tokens: tuple[Token, ...] = ()
    before: dict[int, list[str]] = field(default_factory=dict)
    after: dict[int, list[str]] = field(default_factory=dict)
    uses: list[Use] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    unwinds: list[Loop] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    patterns: list[Token] = field(default_factory=list)
    selected: list[int] = field(default_factory=list)
    joins: list[Join] = field(default_factory=list)
    defined: set[str] = field(default_factory=set)
    lists: set[str] = field(default_factory=set)
    repeated: list[Token] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)
    columns: tuple[str, ...] | None = None
    version: int = 5
    first: int = 0
    levels: int = 0

    def insert_before(self, index: int, text: str) -> None:
        """Insert before token `index`; what is inserted first stands outermost."""
        self.before.setdefault(index, []).append(text)

    def insert_after(self, index: int, text: str) -> None:
        """Insert after token `index`; what is inserted first stands innermost."""
        self.after.setdefault(index, []).append(text)


class Cursor:
    """A place in the tokens, and the few ways to move on from it."""

    def __init__(self, text: str, tokens: tuple[Token, ...], *, nesting: int) -> None:
        self.text, self.tokens, self.at = text, tokens, 0
        self.closing = _brackets(tokens, nesting)
        self.reading = Reading(tokens=tokens)

    @property
    def here(self) -> Token:
        """The next token to be read."""
        return self.tokens[self.at]

    def peek(self, offset: int = 1) -> Token:
        """The token `offset` further on, or the last."""
        return self.tokens[min(self.at + offset, len(self.tokens) - 1)]

    def take(self) -> Token:
        """Move past the next token; that token."""
        token = self.here
        if token.kind != "end":
            self.at += 1
        return token

    def is_mark(self, *texts: str) -> bool:
        """Whether the next token is one of these marks."""
        return self.here.kind == "mark" and self.here.text in texts

    def take_mark(self, text: str) -> bool:
        """Move past this mark if it stands here."""
        if self.is_mark(text):
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> int:
        """Move past this mark, or refuse; its index."""
        if not self.take_mark(text):
            hint = f"`{self.here.text}` is a keyword: use another name" if self.here.word in RESERVED else ""
            self.refuse(f"`{text}` should stand here", hint=hint)
        return self.at - 1

    def take_word(self, *words: str) -> bool:
        """Move past these words if they all stand here."""
        if all(self.peek(offset).word == word for offset, word in enumerate(words)):
            self.at += len(words)
            return True
        return False

    def is_name(self, offset: int = 0) -> bool:
        """Whether a name stands there that is no keyword."""
        token = self.peek(offset)
        return token.kind == "quoted" or (token.kind == "name" and token.word not in RESERVED)

    def name(self, what: str) -> Token:
        """Move past a name, or refuse."""
        if not self.is_name():
            self.refuse(f"{what} should stand here", hint="keywords can't be names")
        return self.take()

    def refuse(self, message: str, *, hint: str = "", code: str = "syntax") -> NoReturn:
        """Refuse the text at this token."""
        token = self.here
        piece = token.text or "the end"
        rest = self.text[token.start : token.start + 30].split("\n")[0]
        raise QueryRefused(
            code, f"can't read the query at `{rest or piece}`: {message}", piece=piece, hint=hint or "rewrite this part"
        )


def _brackets(tokens: tuple[Token, ...], nesting: int) -> dict[int, int]:
    """For each opening bracket the index of the one that closes it."""
    closing: dict[int, int] = {}
    stack: list[int] = []
    for index, token in enumerate(tokens):
        if token.kind != "mark":
            continue
        if token.text in OPENING:
            stack.append(index)
            if len(stack) > nesting:
                raise QueryRefused("nesting", f"brackets nest more than {nesting} deep", hint="write a simpler query")
        elif token.text in OPENING.values():
            if not stack or OPENING[tokens[stack[-1]].text] != token.text:
                raise QueryRefused(
                    "syntax", f"no bracket opens this `{token.text}`", piece=token.text, hint="check the brackets"
                )
            closing[stack.pop()] = index
    if stack:
        piece = tokens[stack[-1]].text
        raise QueryRefused("syntax", f"nothing closes this `{piece}`", piece=piece, hint="check the brackets")
    return closing
