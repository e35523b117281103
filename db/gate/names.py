"""Reading names: of properties, labels and relation types, and of functions, wherever they may stand."""

from __future__ import annotations

from scenecypher.db.gate.lexer import Token
from scenecypher.db.gate.reading import Cursor, Use, UseKind
from scenecypher.db.gate.words import SCENE_KEY
from scenecypher.errors import QueryRefused


class Names(Cursor):
    """The part of the reader that notes which names of the registry the text uses."""

    def __init__(self, text: str, tokens: tuple[Token, ...], *, nesting: int, names: frozenset[str]) -> None:
        super().__init__(text, tokens, nesting=nesting)
        self.names = names

    def key(self) -> Token:
        """Move past the name of a property or of a map's entry, which may be a keyword but not the scene's key."""
        if self.here.kind not in {"name", "quoted"}:
            self.refuse("a property's name should stand here")
        if self.here.value == SCENE_KEY:
            raise scene_key()
        return self.take()

    def used_property(self) -> None:
        """Move past a property's name."""
        token = self.key()
        tested = self.here.word == "IS" and (
            self.peek().word == "NULL" or (self.peek().word == "NOT" and self.peek(2).word == "NULL")
        )
        self.reading.uses.append(Use("property", token, token.value, tested=tested))

    def labels(self, kind: UseKind, *, bars: bool = True) -> bool:
        """Read a label expression; whether labels are chained by colons in it."""
        chained = False
        self._label(kind, bars=bars)
        while True:
            if self.take_mark("&") or self._take_bar(bars=bars):
                self._label(kind, bars=bars)
            elif self.is_mark(":") and kind != "relation_type":
                self.take()
                chained = True
                self._label(kind, bars=bars)
            else:
                return chained

    def _take_bar(self, *, bars: bool) -> bool:
        """In expressions a bar may end the label: `[n IN list WHERE n:Door | n.name]`."""
        if not self.is_mark("|"):
            return False
        ahead = 1
        while self.peek(ahead).text in {"!", "(", ":"}:
            ahead += 1
        if not bars and (self.peek(ahead).value not in self.names or self.peek(ahead + 1).text in {".", "("}):
            return False
        self.take()
        self.take_mark(":")
        return True

    def _label(self, kind: UseKind, *, bars: bool) -> None:
        while self.take_mark("!"):
            pass
        if self.take_mark("%"):
            return
        if self.take_mark("("):
            self.labels(kind, bars=bars)
            self.expect(")")
            return
        if self.here.kind not in {"name", "quoted"}:
            self.refuse("a label or a relation type should stand here")
        token = self.take()
        self.reading.uses.append(Use(kind, token, token.value))

    def dotted(self) -> str:
        """The rest of a function's name after its first dot, taken; empty if no such call stands here."""
        offset = 0
        while self.peek(offset).text == "." and self.peek(offset + 1).kind == "name":
            offset += 2
        if offset == 0 or self.peek(offset).text != "(":
            return ""
        parts = [self.peek(part).value for part in range(1, offset, 2)]
        self.at += offset
        return ".".join(parts)


def scene_key() -> QueryRefused:
    """The refusal of a text that names the scene's key."""
    hint = "leave it out: a query sees one scene only"
    return QueryRefused("scene_key", f"a query can't name the property `{SCENE_KEY}`", piece=SCENE_KEY, hint=hint)
