"""S-expressions of PDDL files, with their lines and comments."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn, TypeAlias

from scenecypher.errors import DocumentError, did_you_mean
from scenecypher.importers.json_file import read_text

FILE_BYTES: Final = 2**20
MAX_DEPTH: Final = 60
OBJECT: Final = "object"
"""The type of all objects."""

_TOKEN: Final = re.compile(r";[^\n]*|[()]|-(?=[A-Za-z])|\??[^\s();?]+|\?")
BDDL: Final = re.compile(r"\b(omnigibson|igibson)\b|\b[a-z_-]+\.[nv]\.\d\d")
"""Words of BEHAVIOR's problems: the names of its simulators, and synsets such as `floor.n.01`."""
_OTHER: Final = {"domain": "problem", "problem": "domain"}
_SECTION: Final = {"domain": "predicates", "problem": "init"}


@dataclass(frozen=True, slots=True)
class Word:
    """A word in lower case, and its line."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Form:
    """A bracketed list, its first line, and the comment in the lines directly above it."""

    items: tuple[Word | Form, ...]
    line: int
    comment: str = ""

    @property
    def head(self) -> str:
        """The first word; empty if the list is empty or begins with a list."""
        return self.items[0].text if self.items and isinstance(self.items[0], Word) else ""

    @property
    def rest(self) -> tuple[Word | Form, ...]:
        """All but the first item."""
        return self.items[1:]


Expression: TypeAlias = Word | Form
TypedName: TypeAlias = tuple[Word, tuple[Word, ...]]
"""A name and its types: one, those of an ``(either …)``, or none for any object."""


@dataclass(frozen=True, slots=True)
class PddlFile:
    """One ``(define (domain NAME) …)`` or ``(define (problem NAME) …)``: the text, its name and its sections."""

    file: str
    text: str
    name: str
    sections: tuple[Form, ...]

    def all(self, head: str) -> Iterator[Form]:
        """Yield the sections that begin with `head`."""
        return (section for section in self.sections if section.head == head)

    def items(self, head: str) -> tuple[Expression, ...]:
        """Return the content of the sections that begin with `head`."""
        return tuple(item for section in self.all(head) for item in section.rest)

    def fail(self, line: int, cause: str) -> NoReturn:
        """Raise DocumentError for this line."""
        raise DocumentError(self.file, f"line {line}", cause)

    def check(self, name: str, known: Collection[str], line: int, cause: str, then: str = "") -> None:
        """Raise DocumentError for a name that is not `known`: the cause, a hint at the nearest, and what to do."""
        if name not in known:
            self.fail(line, f"{cause}{did_you_mean(name, tuple(known))}{then}")


def read_pddl_file(path: Path, what: str) -> PddlFile:
    """Return the sections of a file that defines a `what`, "domain" or "problem". Raises DocumentError."""
    text = read_text(path, max_bytes=FILE_BYTES)
    return parse_pddl(text, what, file=str(path))


def parse_pddl(text: str, what: str, *, file: str) -> PddlFile:
    """Return the sections of a text that defines a `what`, "domain" or "problem". Raises DocumentError."""
    if BDDL.search(text):
        where = "`scenecypher import grasif --subset behavior-1k` brings its scenes"
        raise DocumentError(file, "line 1", f"this is BDDL, a task of BEHAVIOR, which has no actions; {where}")
    forms, other = [*expressions(text, file)], _OTHER[what]
    wanted = [it for it in forms if isinstance(it, Form) and _title_of(it, what) is not None]
    others = [it for it in forms if _title_of(it, other) is not None]
    if others and not wanted:
        raise DocumentError(file, "line 1", f"this is a {other}, no {what}; exchange the two files")
    match wanted if len(wanted) == 1 == len(forms) - len(others) else forms:
        case [Form() as form]:
            name = _title_of(form, what)
        case [_, second, *_]:
            raise DocumentError(file, f"line {second.line}", "the file should end here: one definition a file")
        case _:
            raise DocumentError(file, "line 1", "a PDDL file begins with `(define`")
    if name is None:
        raise DocumentError(file, f"line {form.line}", f"a PDDL {what} begins with `(define ({what} NAME)`")
    for section in form.items[2:]:
        if not isinstance(section, Form) or not section.head.startswith(":"):
            raise DocumentError(
                file, f"line {section.line}", f"a section such as (:{_SECTION[what]} …) should stand here"
            )
    return PddlFile(file, text, name.text, tuple(it for it in form.items[2:] if isinstance(it, Form)))


def _title_of(form: Expression, what: str) -> Word | None:
    """Return the name of a ``(define (domain NAME) …)``, None for another form."""
    match form:
        case Form((Word("define"), Form((Word(kind), Word() as name)), *_)) if kind == what:
            return name
    return None


def typed_names(items: Sequence[Expression]) -> Iterator[TypedName]:
    """Yield each name of a typed list with its types."""
    waiting: list[Word] = []
    rest = iter(items)
    for item in rest:
        if isinstance(item, Word) and item.text == "-":
            given = next(rest, None)
            types = _types(given)
            yield from ((name, types) for name in waiting)
            waiting = []
        elif isinstance(item, Word):
            waiting.append(item)
    yield from ((name, ()) for name in waiting)


def _types(given: Expression | None) -> tuple[Word, ...]:
    if isinstance(given, Word):
        return () if given.text == OBJECT else (given,)
    return tuple(item for item in given.rest if isinstance(item, Word)) if given is not None else ()


def expression_text(expression: str | Sequence[Any]) -> str:
    """Return nested lists of words as text."""
    return expression if isinstance(expression, str) else f"({' '.join(map(expression_text, expression))})"


def nested_words(expression: Expression) -> Any:
    """Return an expression as a word, or a list of words and lists."""
    return expression.text if isinstance(expression, Word) else [nested_words(item) for item in expression.items]


def expressions(text: str, file: str) -> Iterator[Expression]:
    """Yield the expressions of a text one after another. Raises DocumentError where brackets do not match."""
    stack: list[list[Expression]] = [[]]
    opened: list[tuple[int, str]] = []
    for mark, line, comment in _tokens(text):
        if mark == "(":
            opened.append((line, comment))
            stack.append([])
        elif mark != ")":
            stack[-1].append(Word(mark.lower(), line))
        elif opened:
            items, (first, above) = stack.pop(), opened.pop()
            stack[-1].append(Form(tuple(items), first, above))
        else:
            raise DocumentError(file, f"line {line}", "a bracket closes that was never opened")
        if len(opened) > MAX_DEPTH:
            raise DocumentError(file, f"line {line}", f"brackets are nested over {MAX_DEPTH} deep; mend the file")
        if not opened:
            yield stack[0].pop()
    if opened:
        raise DocumentError(file, f"line {opened[-1][0]}", "the bracket that opens here never closes")


def _tokens(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield each bracket and word with its line, and with the comment in the lines directly above that line."""
    line, place, words, last = 1, 0, "", 0
    for found in _TOKEN.finditer(text):
        line += text.count("\n", place, found.start())
        place = found.start()
        if not found[0].startswith(";"):
            yield found[0], line, words if line == last + 1 else ""
        elif not text[text.rfind("\n", 0, place) + 1 : place].strip():
            added = found[0].strip("; \t\r")
            words, last = f"{words} {added}".strip() if line == last + 1 else added, line
