"""Allow-list of Python syntax and names for model-written programs; all else is refused with an explanation."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable, Iterator
from typing import Final

from scenecypher.errors import RejectedError, did_you_mean

MAX_CHARACTERS: Final = 20_000
"""Length limit of a program."""

BUILTINS: Final = frozenset(
    (
        *(
            "abs",
            "all",
            "any",
            "bool",
            "dict",
            "divmod",
            "enumerate",
            "filter",
            "float",
            "frozenset",
            "int",
            "isinstance",
        ),
        *("iter", "len", "list", "map", "max", "min", "next", "ord", "pow", "print", "range", "repr"),
        *("reversed", "round", "set", "sorted", "str", "sum", "tuple", "zip", "True", "False", "None"),
        *("Exception", "ValueError", "KeyError", "IndexError"),
        *("TypeError", "ZeroDivisionError", "AttributeError", "StopIteration"),
    )
)
"""Allowed built-in names; they only compute."""

SYNTAX: Final[tuple[type[ast.AST], ...]] = (
    *(ast.Module, ast.Expr, ast.Expression, ast.Load, ast.Store, ast.Del, ast.Constant, ast.Name, ast.Attribute),
    *(ast.Assign, ast.AugAssign, ast.AnnAssign, ast.NamedExpr, ast.Delete, ast.Starred, ast.Subscript, ast.Slice),
    *(ast.If, ast.IfExp, ast.For, ast.While, ast.Break, ast.Continue, ast.Pass, ast.Assert, ast.Raise),
    *(ast.Try, ast.ExceptHandler, ast.FunctionDef, ast.Lambda, ast.Return, ast.Nonlocal, ast.Global),
    *(ast.arguments, ast.arg, ast.keyword, ast.Call, ast.comprehension),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.List, ast.Tuple, ast.Set, ast.Dict),
    *(ast.JoinedStr, ast.FormattedValue, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare),
    *(ast.boolop, ast.operator, ast.unaryop, ast.cmpop),
)
"""Allowed syntax, without imports, classes, `with`, `yield`, `async` and `match`."""

HINTS: Final = {
    ast.Import: "imports are not allowed: the tools are there without one",
    ast.ImportFrom: "imports are not allowed: the tools are there without one",
    ast.ClassDef: "classes are not allowed: use functions, lists and dicts",
    ast.withitem: "`with` is not allowed: there are no files",
    ast.match_case: "`match` is not allowed: use if",
    ast.With: "`with` is not allowed: there are no files",
    ast.Yield: "generators are not allowed: build a list",
    ast.YieldFrom: "generators are not allowed: build a list",
    ast.Match: "`match` is not allowed: use if",
}


class CodeRefused(RejectedError):
    """Refusal of a program; the message is worded for its author."""


def check_program(code: str, tools: Iterable[str]) -> tuple[str, ...]:
    """Check a program and return the built-in names that it shadows.

    Raises CodeRefused if `code` is no Python, or uses other syntax or names than SYNTAX, BUILTINS, `tools` and its own
    names. The check keeps a model to the documented tools and suggests alternatives; isolation is the interpreter's
    task.
    """
    tree = _parse(code)
    problem = next(_problems(tree, frozenset(tools)), None)
    if problem is not None:
        raise CodeRefused(problem)
    return tuple(sorted({name for node in ast.walk(tree) for name in _bound_names(node) if hasattr(builtins, name)}))


def _parse(code: str) -> ast.Module:
    if len(code) > MAX_CHARACTERS:
        raise CodeRefused(f"the program has {len(code):,} characters; write one of at most {MAX_CHARACTERS:,}")
    try:
        return ast.parse(code)
    except SyntaxError as error:
        raise CodeRefused(f"line {error.lineno}: no Python ({error.msg}); mend the syntax") from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise CodeRefused(f"no Python ({type(error).__name__}: {error}); write it more simply") from None


def _problems(tree: ast.Module, tools: frozenset[str]) -> Iterator[str]:
    """Yield what is not allowed, with its line, in the order of the text."""
    nodes = sorted(ast.walk(tree), key=lambda node: (getattr(node, "lineno", 0), getattr(node, "col_offset", 0)))
    known = BUILTINS | tools | {name for node in nodes for name in _bound_names(node)}
    for node in nodes:
        problem = _problem(node, known)
        if problem:
            yield f"line {getattr(node, 'lineno', 1)}: {problem}"


def _problem(node: ast.AST, known: frozenset[str]) -> str:
    if not isinstance(node, SYNTAX):
        name = type(node).__name__
        return HINTS.get(type(node), f"`{name}` is not allowed: use plain statements")
    hidden = next((name for name in _names_in(node) if name.startswith("_") and name != "_"), None)
    if hidden is not None:
        return f"{hidden[:60]!r}: names that begin with _ are not allowed; use others"
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known:
        return f"there is no {node.id[:60]!r}{did_you_mean(node.id[:60], sorted(known))}; use what you were told of"
    return ""


def _names_in(node: ast.AST) -> Iterator[str]:
    """Yield the names in a node itself."""
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) | ast.arg(arg=name):
            yield name
        case ast.keyword(arg=str(name)):
            yield name
        case _:
            yield from _bound_names(node)


def _bound_names(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node binds."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name) | ast.FunctionDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)):
            yield name
        case ast.Nonlocal(names=names) | ast.Global(names=names):
            yield from names
