"""ReAct's replies: thought, action, observation, and calls with arguments as people write them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from scenecypher.errors import ReplyRejected, did_you_mean

FORM: Final = "Thought: what you know and what you do next\nAction: one call, such as {example}"
_THOUGHT: Final = re.compile(r"Thought(?:\s*\d+)?:\s*(.*?)(?=^\s*Action(?:\s*\d+)?:|\Z)", re.DOTALL | re.MULTILINE)
_ACTION: Final = re.compile(
    r"^\s*Action(?:\s*\d+)?:\s*(.*?)(?=^\s*(?:Observation|Thought)(?:\s*\d+)?:|\Z)", re.DOTALL | re.MULTILINE
)
_CALL: Final = re.compile(r"`*\s*([A-Za-z_]\w*)\s*[(\[](.*)[)\]]\s*`*\.?\s*", re.DOTALL)

_WORD: Final = re.compile(r"[\w-]+")


@dataclass(frozen=True, slots=True)
class ReActStep:
    """A thought, the name of the call, and the text between its brackets as written."""

    thought: str
    name: str
    written: str

    def __str__(self) -> str:
        return f"Thought: {self.thought}\nAction: {self.name}({self.written})"


def parse_step(text: str, example: str) -> ReActStep:
    """Return the first thought and action of a reply; text that a model invents after them is dropped.

    Raises ReplyRejected, with the form, if there is no action.
    """
    action, thought = _ACTION.search(text), _THOUGHT.search(text)
    called = _CALL.fullmatch(action[1].strip()) if action else None
    if called is None:
        raise ReplyRejected(f"it has no action; reply in this form:\n{FORM.format(example=example)}")
    return ReActStep(thought[1].strip() if thought else "", called[1], called[2].strip())


def parse_arguments(step: ReActStep, names: Sequence[str]) -> Mapping[str, Any]:
    """Return a call's arguments by name: Python literals, bare words as text. Raises ReplyRejected."""
    source = f"f({step.written})"
    try:
        call = ast.parse(source, mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        call = None
    if not isinstance(call, ast.Call):
        call = ast.Call(ast.Name("f"), [ast.Constant(step.written)], [])
    values = dict(zip(names, (_value(part, source) for part in call.args), strict=False))
    values |= {keyword.arg: _value(keyword.value, source) for keyword in call.keywords if keyword.arg}
    if set(values) != set(names) or len(call.args) > len(names):
        takes = f"takes {', '.join(names)}" if names else "takes no arguments"
        raise ReplyRejected(f"{step.name} {takes}; call it so")
    return values


def written_argument(value: object) -> str:
    """Return an argument as the worked examples have it: a word bare, anything else as JSON."""
    return value if isinstance(value, str) and _WORD.fullmatch(value) else json.dumps(value, ensure_ascii=False)


def check_known_call(name: str, known: Sequence[str]) -> None:
    """Raise ReplyRejected if `name` is not among the known calls."""
    if name not in known:
        raise ReplyRejected(f"there is no call {name[:60]!r}{did_you_mean(name, known)}; use {', '.join(known)}")


def _value(node: ast.expr, source: str) -> Any:
    """Return a literal's value if JSON can hold it; anything else, such as ``table-1``, as written."""
    match node:
        case ast.Constant(value=value) if _is_json(value):
            return value
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return [_value(part, source) for part in parts]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {str(_value(key, source)): _value(value, source) for key, value in pairs if key}
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)) if _is_json(number):
            return -number
    return ast.get_source_segment(source, node) or ""


def _is_json(value: object) -> bool:
    """Return whether a log can hold it: no bytes, ellipsis, infinity, lone surrogate or oversized number."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError):
        return False
    return True
