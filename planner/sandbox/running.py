"""Programs that models write: checked against an allow-list, and run by an interpreter without files or network."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from scenecypher.errors import InputError, RejectedError, SceneCypherError, did_you_mean

MAX_CHARACTERS: Final = 20_000
"""Length limit of a program."""

BUILTINS: Final = frozenset(
    (
        *("abs", "all", "any", "bool", "dict", "divmod", "enumerate", "filter", "float", "frozenset", "int"),
        *("isinstance", "iter", "len", "list", "map", "max", "min", "next", "ord", "pow", "print", "range", "repr"),
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

HINTS: Final[Mapping[type[ast.AST], str]] = {
    **dict.fromkeys((ast.Import, ast.ImportFrom), "imports are not allowed: the tools are there without one"),
    ast.ClassDef: "classes are not allowed: use functions, lists and dicts",
    **dict.fromkeys((ast.With, ast.withitem), "`with` is not allowed: there are no files"),
    **dict.fromkeys((ast.Yield, ast.YieldFrom), "generators are not allowed: build a list"),
    **dict.fromkeys((ast.Match, ast.match_case), "`match` is not allowed: use if"),
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


ToolFunction: TypeAlias = Callable[..., Any]
"""Function on plain values (text, numbers, lists, dicts); raises RejectedError, which the program may catch."""

KILL_GRACE_S: Final = 2.0
"""Grace period after the time limit before the process is killed."""


@dataclass(frozen=True, slots=True)
class ProgramLimits:
    """Limits of a program: seconds of computing, bytes of memory and output, tool calls, and recursion depth."""

    seconds: float = 5.0
    memory_bytes: int = 64 * 2**20
    output_bytes: int = 16_000
    calls: int = 200
    depth: int = 200


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """Output of a program, and its error worded for its author (None: it finished)."""

    output: str
    error: str | None = None


def run_program(code: str, tools: Mapping[str, ToolFunction], *, limits: ProgramLimits | None = None) -> ProgramResult:
    """Run `code` with access to `tools` only; the output is deterministic, given the tools' answers.

    Raises ServiceError if a tool does, and InputError if the interpreter is not installed.
    """
    if find_spec("pydantic_monty") is None:
        raise InputError("the sandbox for Python is not installed: run `pip install 'scenecypher[papers]'`")
    try:
        shadowed = check_program(code, tools)
    except CodeRefused as refused:
        return ProgramResult("", str(refused))
    return _interpret(code, tools, limits or ProgramLimits(), shadowed)


def _interpret(
    code: str, tools: Mapping[str, ToolFunction], limits: ProgramLimits, shadowed: Iterable[str]
) -> ProgramResult:
    import pydantic_monty as monty

    failed: list[SceneCypherError] = []
    printed = monty.CollectString(max_bytes=limits.output_bytes)
    allowed: monty.ResourceLimits = {
        "max_feed_duration_secs": limits.seconds,
        "max_memory": limits.memory_bytes,
        "max_recursion_depth": limits.depth,
        "max_suspensions": limits.calls,
    }
    error = None
    try:
        with monty.Monty(feed_duration_limit_grace=KILL_GRACE_S) as pool, pool.checkout(limits=allowed) as session:
            lookup = {name: _program_function(tool, failed) for name, tool in tools.items()}
            # Monty 1.4 takes ``id`` in ``[id for id in ids]`` for the built-in one unless a global ``id`` exists.
            session.feed_run("\n".join(f"{name} = {name}" for name in shadowed))
            session.feed_run(code, external_lookup=lookup, print_callback=printed)
    except monty.MontyCrashedError:
        error = "the program broke its interpreter; write it more simply"
    except (monty.MontyRuntimeError, monty.MontySyntaxError) as raised:
        error = _error_text(raised.display("type-msg"), [frame.line for frame in raised.traceback()], limits)
    if failed:
        raise failed[0]
    return ProgramResult(printed.output, error)


def _program_function(tool: ToolFunction, failed: list[SceneCypherError]) -> ToolFunction:
    """Wrap a tool for a program: a refusal becomes a ValueError; other errors are recorded and end the program."""

    @wraps(tool)
    def call(*arguments: Any, **named: Any) -> Any:
        if failed:
            raise KeyboardInterrupt
        try:
            return tool(*arguments, **named)
        except RejectedError as refused:
            raise ValueError(str(refused)) from refused
        except SceneCypherError as error:
            failed.append(error)
            raise KeyboardInterrupt from error

    return call


LIMIT_MESSAGES: Final[tuple[tuple[str, str], ...]] = (
    ("TimeoutError", "it took longer than {seconds:g} s; do less, or bound your loops"),
    ("> {output_bytes} bytes", "it printed more than {output_bytes:,} bytes; print only what was asked for"),
    ("MemoryError", "it took more than {memory_bytes:,} bytes of memory; build smaller values"),
    ("RecursionError", "it called itself more than {depth} deep; use a loop"),
    ("suspension limit", "it called tools more than {calls} times; ask for more at once"),
)


def _error_text(message: str, lines: list[int], limits: ProgramLimits) -> str:
    """Return the error with its line; for a limit, the limit's own message."""
    figures = {name: getattr(limits, name) for name in ProgramLimits.__slots__}
    words = next((words for sign, words in LIMIT_MESSAGES if sign.format(**figures) in message), "")
    text = words.format(**figures) if words else message
    return f"line {lines[-1]}: {text}" if lines else text
