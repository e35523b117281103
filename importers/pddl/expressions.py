"""Expressions of unified-planning as conditions, and as PDDL text."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import scenecypher.db.condition as c
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.pddl.stored_as import ACTING, FactForm
from scenecypher.importers.pddl.syntax import OBJECT, PddlFile
from scenecypher.importers.pddl.types import DomainTypes

_BREAK: Final = re.compile(r"[^A-Za-z0-9_]")


CONNECTIVES: Final[Mapping[str, Callable[..., c.Condition]]] = {
    "AND": lambda *parts: c.And(parts),
    "OR": lambda *parts: c.Or(parts),
    "NOT": c.Not,
    "IMPLIES": lambda first, second: c.Or((c.Not(first), second)),
    "IFF": lambda first, second: c.Or((c.And((first, second)), c.And((c.Not(first), c.Not(second))))),
}
WORDS: Final = {"AND": "and", "OR": "or", "NOT": "not", "IMPLIES": "imply"}


class ExpressionReader:
    """Reads the expressions of one action or goal; `names` gives the variable of each parameter."""

    def __init__(
        self, source: PddlFile, types: DomainTypes, forms: Mapping[str, FactForm], *, line: int, place: str
    ) -> None:
        self._source, self._types, self._forms, self._line, self._place = source, types, forms, line, place
        self.names: dict[str, str] = {}

    def bind(self, name: str, var: str | None = None) -> str:
        """Return a new variable for a parameter or quantified variable; `var` if given."""
        self.names[name] = var or self._fresh(name)
        return self.names[name]

    def _fresh(self, name: str) -> str:
        name = identifier(name)
        used = {*self.names.values(), ACTING}
        return next(it for it in (name, *(f"{name}_{number}" for number in range(2, 1_000))) if it not in used)

    def _refused(self, cause: str) -> DocumentError:
        return DocumentError(self._source.file, f"line {self._line}", f"{self._place}: {cause}")

    def condition(self, node: Any) -> c.Condition:
        """Return an expression of unified-planning as a condition."""
        match node.node_type.name:
            case "BOOL_CONSTANT":
                return c.ALWAYS if node.is_true() else c.NEVER
            case kind if kind in CONNECTIVES:
                return CONNECTIVES[kind](*map(self.condition, node.args))
            case "EQUALS":
                return c.Same(*map(self.term, node.args))
            case "EXISTS" | "FORALL":
                return self._quantified(node)
            case "FLUENT_EXP":
                return self._forms[self._original(node.fluent())].condition(tuple(map(self.term, node.args)))
            case _:
                raise self._refused(f"{node} is not supported")

    def _original(self, named: Any) -> str:
        """Return the file's own name of what unified-planning has under a plain one."""
        return str(self._types.originals.get(named.name, named.name))

    def type_of(self, variable: Any) -> tuple[str, ...]:
        """Return the type of a quantified variable; empty for any object."""
        name = self._original(variable.type)
        return () if name == OBJECT else (name,)

    def _quantified(self, node: Any) -> c.Condition:
        outer = dict(self.names)
        bound = [(self.bind(variable.name), self.type_of(variable)) for variable in node.variables()]
        inner = self.condition(node.arg(0))
        for var, types in reversed(bound):
            of_type = self._types.is_of(var, types)
            inner = c.ForAll(var, of_type, inner) if node.is_forall() else c.Exists(var, c.And((of_type, inner)))
        self.names = outer
        return inner

    def term(self, node: Any) -> c.Term:
        """Return the variable of a parameter or quantified variable, or the id of a constant."""
        if node.is_object_exp():
            return c.Id(self._types.node_named(node.object().name))
        name: str = node.parameter().name if node.is_parameter_exp() else node.variable().name
        return self.names[name]

    def text(self, node: Any) -> str:
        """Return an expression as PDDL, with ``{x}`` for the node of a variable."""
        match node.node_type.name:
            case "FLUENT_EXP" | "EQUALS" as kind:
                head = "=" if kind == "EQUALS" else _escaped(self._original(node.fluent()))
                return f"({' '.join((head, *map(self._argument, node.args)))})"
            case kind if kind in WORDS:
                return f"({' '.join((WORDS[kind], *map(self.text, node.args)))})"
            case "EXISTS" | "FORALL" as kind:
                names = " ".join(_escaped(f"?{variable.name}") for variable in node.variables())
                return f"({kind.lower()} ({names}) {self.text(node.arg(0))})"
            case _:
                return _escaped(str(node))

    def _argument(self, node: Any) -> str:
        if node.is_object_exp():
            return _escaped(self._original(node.object()))
        name = node.parameter().name if node.is_parameter_exp() else node.variable().name
        return f"{{{self.names[name]}}}" if name in self.names else _escaped(f"?{name}")


def _escaped(text: str) -> str:
    """Return text for a message in which braces stand for variables."""
    return text.replace("{", "{{").replace("}", "}}")


def identifier(name: str) -> str:
    """Return a name of PDDL as an identifier: ``from_room``."""
    name = _BREAK.sub("_", name.removeprefix("?"))[:60]
    return name if name[:1].isalpha() else f"x{name}"


def conjuncts_of(node: Any) -> Iterator[Any]:
    """Yield the conjuncts of an expression of unified-planning, nested ones flattened."""
    if node.is_and():
        for part in node.args:
            yield from conjuncts_of(part)
    elif not node.is_true():
        yield node


def parse_with_unified_planning(source: PddlFile, domain: str, problem: str | None = None) -> Any:
    """Return unified-planning's problem. Raises DocumentError for what its reader refuses, InputError without it."""
    try:
        from unified_planning.environment import get_environment
        from unified_planning.io import PDDLReader
    except ImportError as error:
        raise InputError("PDDL is read with unified-planning; install it: pip install 'scenecypher[pddl]'") from error
    environment = get_environment()  # its reader makes some variables in this one, whatever it is given
    environment.credits_stream = None
    unique, environment.error_used_name = environment.error_used_name, False
    try:
        with warnings.catch_warnings(action="ignore"):  # its use of pyparsing is deprecated
            return PDDLReader(environment).parse_problem_string(domain, problem)
    except Exception as error:  # noqa: BLE001 - the reader raises errors of many sorts, assertions among them
        said = " ".join(str(error).split())[:300] or type(error).__name__
        line = re.search(r"line:\s*(\d+)", said)
        source.fail(int(line[1]) if line else 1, f"can't be read as PDDL ({said}); mend it")
    finally:
        environment.error_used_name = unique
