"""Runner of programs in a separate process, by an interpreter without files, network or processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from importlib.util import find_spec
from typing import Any, Final, TypeAlias

from scenecypher.errors import InputError, RejectedError, SceneCypherError
from scenecypher.planner.sandbox.allowed import CodeRefused, check_program

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
    check_sandbox_installed()
    try:
        shadowed = check_program(code, tools)
    except CodeRefused as refused:
        return ProgramResult("", str(refused))
    return _interpret(code, tools, limits or ProgramLimits(), shadowed)


def check_sandbox_installed() -> None:
    """Check that the interpreter is installed. Raises InputError."""
    if find_spec("pydantic_monty") is None:
        raise InputError("the sandbox for Python is not installed: run `pip install 'scenecypher[papers]'`")


def shadowing_assignments(names: Iterable[str]) -> str:
    """Return assignments that define shadowed built-in names as globals.

    Monty 1.4 takes ``id`` in ``[id for id in ids]`` for the built-in one unless a global ``id`` exists.
    """
    return "\n".join(f"{name} = {name}" for name in names)


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
            session.feed_run(shadowing_assignments(shadowed))
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
