"""A place in the tokens of a text, whose brackets match."""

from __future__ import annotations

from typing import Final, NoReturn

from scenecypher.db.gate.lexer import Token, integer_of
from scenecypher.db.gate.words import NEVER_NAMES, RESERVED
from scenecypher.errors import QueryRefused

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
            if near.word in RESERVED and hint == "rewrite this part":
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
