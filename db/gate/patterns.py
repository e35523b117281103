"""Reading patterns: every node gets an indexed label and the scene's key, whatever else it says."""

from __future__ import annotations

from scenecypher.db.gate.expressions import Expressions
from scenecypher.db.gate.reading import Hop, Search
from scenecypher.db.gate.words import PATH_FUNCTIONS, SCENE_KEY, SELECTORS

LABEL = "Entity"
SCOPE = f"{SCENE_KEY}: $__{SCENE_KEY}"


class Patterns(Expressions):
    """The part of the reader that reads nodes, relations and paths."""

    shortest: Search = ""

    def paths(self) -> None:
        """Read patterns separated by commas, as after MATCH."""
        self._path()
        while self.take_mark(","):
            self._path()

    def _path(self) -> None:
        if self.is_name() and self.peek().text == "=":
            self.at += 2
        selected = self._selector()
        if self.here.word in PATH_FUNCTIONS and self.peek().text == "(":
            self.at += 2
            self.search("function")
            self.expect(")")
        elif selected:
            self.search("selector")
        else:
            self.chain(free=True)

    def search(self, sort: Search) -> None:
        """Read the path that a shortest-path search looks for."""
        around, self.shortest = self.shortest, sort
        self.chain(free=True)
        self.shortest = around

    def _selector(self) -> bool:
        """Read ALL SHORTEST, SHORTEST 3 PATHS and the like; whether one stood here."""
        first = self.at
        while self.here.word in SELECTORS or (self.at > first and self.here.kind == "integer"):
            token = self.take()
            if token.kind == "integer":
                self.reading.selected.append(int(token.text))
        return any(token.word in {"SHORTEST", "ANY"} for token in self.tokens[first : self.at])

    def chain(self, *, free: bool) -> None:
        """Read nodes joined by relations. Where `free`, groups may stand among them."""
        self._stop(free=free)
        while True:
            if self.is_arrow(self.at):
                self._relation()
                self._stop(free=free)
            elif free and self.is_mark("("):
                self._stop(free=free)
            else:
                return

    def _stop(self, *, free: bool) -> None:
        if not self.is_mark("("):
            self.refuse("a node such as (n:Object) should stand here")
        if free and (self.peek().text == "(" or self.peek(2).text == "="):
            self._group()
        else:
            self._node()

    def _group(self) -> None:
        """Read `((a)-[:ON]->(b) WHERE …){1,3}`; what it holds may repeat."""
        first = len(self.reading.hops)
        self.expect("(")
        if self.is_name() and self.peek().text == "=":
            self.at += 2
        self.chain(free=True)
        if self.take_word("WHERE"):
            self.expression()
        self.expect(")")
        times = self._quantifier()
        self.reading.hops[first:] = [_repeated(hop, times) for hop in self.reading.hops[first:]]

    def _node(self) -> None:
        self.expect("(")
        if self.is_name() and self.here.word != "IS":
            self.take()
        self._node_label()
        self._node_map()
        if self.take_word("WHERE"):
            self.expression()
        self.expect(")")

    def _node_label(self) -> None:
        if not self.take_mark(":") and not self.take_word("IS"):
            self.reading.insert_after(self.at - 1, f":{LABEL}")
            return
        first = self.at
        if self.labels("label"):
            self.reading.insert_after(self.at - 1, f":{LABEL}")
        else:
            self.reading.insert_before(first, "(")
            self.reading.insert_after(self.at - 1, f")&{LABEL}")

    def _node_map(self) -> None:
        if not self.take_mark("{"):
            self.reading.insert_after(self.at - 1, f" {{{SCOPE}}}")
            return
        self.reading.insert_after(self.at - 1, SCOPE if self.is_mark("}") else f"{SCOPE}, ")
        self.entries(properties=True)

    def _relation(self) -> None:
        token = self.here
        backward = self.take_mark("<")
        self.expect("-")
        names: tuple[str, ...] | None = ()
        longest: int | None = 1
        if self.take_mark("["):
            names, longest = self._detail()
            self.expect("]")
        self.expect("-")
        directed = self.take_mark(">") != backward
        hop = Hop(token, names or (), len(names) if names is not None else 0, directed, longest, self.shortest)
        self.reading.hops.append(_repeated(hop, self._quantifier()))

    def _detail(self) -> tuple[tuple[str, ...] | None, int | None]:
        """Read what stands between `[` and `]`: the types named (None: others may match too), how far it reaches."""
        if self.is_name() and self.here.word != "IS":
            self.take()
        names: tuple[str, ...] | None = ()
        if self.take_mark(":") or self.take_word("IS"):
            first, used = self.at, len(self.reading.uses)
            self.labels("relation_type")
            names = tuple(use.name for use in self.reading.uses[used:])
            if any(mark.text in {"!", "%"} for mark in self.tokens[first : self.at]):
                names = None
        longest = self._reach() if self.take_mark("*") else 1
        if self.take_mark("{"):
            self.entries(properties=True)
        if self.take_word("WHERE"):
            self.expression()
        return names, longest

    def _reach(self) -> int | None:
        """Read `1..4` after `*`; the upper bound."""
        low = self._number()
        if not self.take_mark(".."):
            return low
        return self._number()

    def _quantifier(self) -> int | None:
        """Read `{1,3}`, `+` or `*` if it stands here; how often at most (None: without bound)."""
        if self.take_mark("+") or self.take_mark("*"):
            return None
        if not self.take_mark("{"):
            return 1
        high = self._number()
        if self.take_mark(","):
            high = self._number()
        self.expect("}")
        return high

    def _number(self) -> int | None:
        return int(self.take().text) if self.here.kind == "integer" else None


def _repeated(hop: Hop, times: int | None) -> Hop:
    longest = None if times is None or hop.longest is None else hop.longest * times
    return Hop(hop.token, hop.names, hop.types, hop.directed, longest, hop.shortest)
