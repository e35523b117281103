"""What prompts and replies are made of: texts of methods, vocabularies and turns; sections, calls, solutions.

The papers' agents reply in text forms of their own: sections under headings, ReAct's calls, and solutions.
"""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from types import MappingProxyType
from typing import Any, Final, Generic, Literal, TypeVar

from scenecypher.chat.model import SEED, Message, Model, Request, Usage, ask_until, bounded_text
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import InputError, ReplyRejected, did_you_mean
from scenecypher.planner.actions.ruled import listed
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.sessions.method import Act, Decision, Done, Memory, MethodContext, Solve, Turn
from scenecypher.planner.vocabularies.vocabulary import DONE, action_list, macros_of, operators_of, vocabulary_named

T = TypeVar("T")
D = TypeVar("D", bound=Decision)
NONE: Final[Mapping[str, str]] = MappingProxyType({})


def prompts_beside(module: str) -> Mapping[str, Any]:
    """Return the texts of a method's prompts by name: those of the file ``prompts.toml`` beside its module."""
    return tomllib.loads((files(module.rpartition(".")[0]) / "prompts.toml").read_text(encoding="utf-8"))


def _text(vocabulary: str, name: str) -> str:
    """Return the text of a file beside a vocabulary; empty without one."""
    file = files(conventions_of(vocabulary).texts) / name
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def domain_text(vocabulary: str) -> str:
    """Return the PDDL domain of a vocabulary; empty if there is none."""
    return _text(vocabulary, "domain.pddl")


def examples(method: str, vocabulary: str) -> Any:
    """Return the examples of a method in a vocabulary as its file has them; an empty list without a file."""
    return json.loads(_text(vocabulary, f"examples/{method}.json") or "[]")


def worked_examples(method: str, vocabulary: str, instruction: str, own: Mapping[str, str] = NONE) -> str:
    """Return the examples that a prompt of `method` ends with; empty if its paper has none for such a task.

    Those of the task's `own` set come first. In BabyAI: those of traversal, which are of Trv-1 alone (SG2, "2D Grid
    World Traversal Planning"), or those of questions.
    """
    if method in own:
        return own[method]
    kind = "-questions" if is_question_task(instruction, vocabulary) else ""
    return _text(vocabulary, f"examples/{method}{kind}.txt").strip()


def shown_examples(method: str, context: MethodContext, memory: Memory) -> str:
    """Return the examples that a prompt of `method` ends with; empty if it is to have none."""
    own = context.vocabulary, memory.instruction, memory.examples
    return worked_examples(method, *own) if context.examples else ""


def required_examples(method: str, vocabulary: str, instruction: str, own: Mapping[str, str] = NONE) -> str:
    """Return the examples for a method that requires them. Raises InputError if there are none."""
    text = worked_examples(method, vocabulary, instruction, own)
    if not text:
        what = "no words" if method == "algorithm" else "no worked examples"
        msg = f"this method has {what} for such tasks ({vocabulary}); choose another: docs/methods.md tells which"
        raise InputError(msg)
    return text


def functions(vocabulary: str, among: Literal["stepwise", "whole"]) -> str:
    """Return the functions as text, one a line: those for acting step by step, or for writing a whole plan."""
    chosen = vocabulary_named(vocabulary)
    operators, macros = chosen.operators, chosen.macros
    offered = chosen.words.stepwise if among == "stepwise" else chosen.words.whole
    names = (*operators, *macros) if offered is None else offered
    shown = {name: operators[name] for name in names if name in operators}
    return action_list(shown, {name: macros[name] for name in names if name in macros})


def environment_explanation(vocabulary: str) -> str:
    """Return the prompt's description of the world that scene graphs of this vocabulary represent."""
    return vocabulary_named(vocabulary).words.environment


UNREADABLE: Final = "Your last reply could not be used: {}"


@dataclass(frozen=True, slots=True)
class TurnForm(Generic[D]):
    """How a method tells turns with one `kind` of decision: the `reply` as the model wrote it, and the `result`."""

    kind: type[D]
    reply: Callable[[D], str]
    result: Callable[[D, Turn], str] = lambda _, turn: turn.feedback


def under(heading: str) -> Callable[[Decision, Turn], str]:
    """Return the `result` that is a turn's feedback under a heading."""
    return lambda _, turn: f"{heading}\n{turn.feedback}"


def exchanges(
    turns: Iterable[Turn], forms: Iterable[TurnForm[Any]], *, unreadable: str = UNREADABLE
) -> Iterator[tuple[str, str]]:
    """Yield reply and result of each turn; of a reply that could not be read, no text and what is `unreadable`.

    Decisions without a form are left out: no turn follows them.
    """
    by_kind = {form.kind: form for form in forms}
    for turn in turns:
        form = by_kind.get(type(turn.decision))
        if form is not None:
            yield form.reply(turn.decision), form.result(turn.decision, turn)
        elif turn.decision is None:
            yield "", unreadable.format(turn.feedback)


def turn_messages(turns: Iterable[Turn], forms: Iterable[TurnForm[Any]]) -> Iterator[Message]:
    """Yield the turns as messages: each reply, and its result."""
    for reply, result in exchanges(turns, forms):
        if reply:
            yield Message("assistant", reply)
        yield Message("user", result)


def chat(system: str, memory: Memory, forms: Iterable[TurnForm[Any]]) -> tuple[Message, ...]:
    """Return a conversation about a task: the system message, the task, and the turns so far."""
    task = Message("user", f"Task: {memory.instruction}")
    return Message("system", system), task, *turn_messages(memory.turns, forms)


def previous_actions(memory: Memory) -> str:
    """Return the reasons and actions so far, without those refused with feedback (LookPlanGraph, section IV-A)."""
    lines = [line for turn in memory.turns for line in _lines(turn)]
    return "\n".join(lines) or "none"


def feedback(memory: Memory) -> str:
    """Return why the last proposal was refused; empty if it was not."""
    return memory.turns[-1].feedback if memory.turns and memory.turns[-1].refused else ""


def _lines(turn: Turn) -> Iterator[str]:
    match turn.decision:
        case Act(action, reason) if not (turn.refused and turn.feedback):
            if reason:
                yield reason
            yield f"action: {action}"
        case _:
            return


MEANWHILE: Final = "Since your last decision others have acted here; what was known before may no longer be so:"


def with_lines(message: Message, heading: str, lines: Sequence[str]) -> Message:
    """Return the message with lines under a heading at its end; the message itself without lines."""
    return replace(message, text=f"{message.text}\n\n{listed(heading, lines)}") if lines else message


# --- replies

_HEADING: Final = re.compile(
    r"^[ \t]*[*#]*[ \t]*\[(Explanation|Mode|Content|Query|Code|Summary|Actions|Answer|Plan)\][*]*:?[ \t]*",
    re.MULTILINE | re.IGNORECASE,
)
_FENCED: Final = re.compile(r"```(?:python|py)?[ \t]*\r?\n(.*?)(?:```|\Z)", re.DOTALL | re.IGNORECASE)


def ask_in_text(
    model: Model, messages: Sequence[Message], read: Callable[[str], T], *, spent: Usage | None = None
) -> tuple[T, Usage]:
    """Return the parsed reply and the tokens of all attempts, as `ask_until` does, which are three."""
    return ask_until(model, Request(tuple(messages), seed=SEED), lambda it: read(bounded_text(it)), spent=spent)


def parse_sections(text: str) -> Mapping[str, str]:
    """Return the text under each ``[Heading]``, by the heading in lower case; the first of equal headings counts.

    Later ones are the model's invention of the rest of the conversation.
    """
    found = [*_HEADING.finditer(text)]
    ends = [heading.start() for heading in found[1:]] + [len(text)] * bool(found)
    parts = [(heading[1].lower(), text[heading.end() : end].strip()) for heading, end in zip(found, ends, strict=True)]
    return dict(reversed(parts))


def said_before(text: str, name: str) -> str:
    """Return what a reply says before one heading, whatever headings that stands under; else its explanation."""
    heading = next((it for it in _HEADING.finditer(text) if it[1].lower() == name), None)
    said = _HEADING.sub("", text[: heading.start()]).strip() if heading else ""
    return said or parse_sections(text).get("explanation", "")


def required_section(text: str, name: str, form: str) -> str:
    """Return the text under one heading. Raises ReplyRejected, with the whole `form`, if there is none."""
    found = parse_sections(text).get(name.lower(), "")
    if not found:
        raise ReplyRejected(f"it has no [{name}]; reply in this form, and only once:\n{form}")
    return found


def format_sections(**parts: str) -> str:
    """Return sections as text, as the papers' agents write them."""
    return "\n\n".join(f"[{name.capitalize()}]\n{text}" for name, text in parts.items())


def extract_program(text: str) -> str:
    """Return the Python code of a reply: the content of its fences, else all of it."""
    blocks = _FENCED.findall(text)
    return "\n\n".join(block.strip() for block in blocks) if blocks else text.strip()


STEP_FORM: Final = "Thought: what you know and what you do next\nAction: one call, such as {example}"
_THOUGHT: Final = re.compile(r"Thought(?:\s*\d+)?:\s*(.*?)(?=^\s*Action(?:\s*\d+)?:|\Z)", re.DOTALL | re.MULTILINE)
_ACTION: Final = re.compile(
    r"^\s*Action(?:\s*\d+)?:\s*(.*?)(?=^\s*(?:Observation|Thought)(?:\s*\d+)?:|\Z)", re.DOTALL | re.MULTILINE
)
_STEP_CALL: Final = re.compile(r"`*\s*([A-Za-z_]\w*)\s*[(\[](.*)[)\]]\s*`*\.?\s*", re.DOTALL)

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
    called = _STEP_CALL.fullmatch(action[1].strip()) if action else None
    if called is None:
        raise ReplyRejected(f"it has no action; reply in this form:\n{STEP_FORM.format(example=example)}")
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


SOLUTION_FORM: Final = "\
Of a planning task the solution is the list of actions, such as [first(a), second(b, c)], with ids of nodes, and \
nothing else. Of a question it is the answer alone."

_CALL: Final = re.compile(r"""\b([A-Za-z_]\w*)([ \t]?)\(((?:"[^",\n]*"|\b[A-Za-z]\(\d+\)|[^()\n])*+)\)""")
"""An action; its arguments may have brackets in quotes, or be symbols of a map, such as O(33)."""
_EMPTY: Final = re.compile(r"\s*\[\s*\]\s*")
ANSWER_CHARACTERS: Final = 200


def parse_solution(text: str, vocabulary: str, *, reason: str = "", final: bool = True) -> Solve | Done:
    """Return the actions that `text` lists, else `text` as an answer. Raises ReplyRejected if it is neither.

    SG2 and SG-RwR give both under one name; reading a text with actions as a plan and any other as an answer is ours.
    """
    actions = tuple(_actions(text, vocabulary))
    if actions or _EMPTY.fullmatch(text):
        return Solve(actions, reason, final=final)
    answer = text.strip().strip("[]\"'`. \n")
    if not answer or len(answer) > ANSWER_CHARACTERS:
        raise ReplyRejected(f"it holds no solution. {SOLUTION_FORM}")
    return Done(reason, answer)


def _actions(text: str, vocabulary: str) -> Iterator[str]:
    """Yield every call in a text except ``done``; with a blank before the brackets, only known actions count."""
    known = {*operators_of(vocabulary), *macros_of(vocabulary)}
    for found in _CALL.finditer(text):
        name = found[1].lower()
        if (name in known or not found[2]) and name != DONE:
            yield str(ActionCall(name, tuple(_arguments(found[3]))))


def _arguments(text: str) -> Iterator[str]:
    return (argument for part in text.split(",") if (argument := part.strip().strip("\"'<>` ")))


def is_question_task(instruction: str, vocabulary: str) -> bool:
    """Return whether a task asks a question, as BabyAI's numerical questions do.

    Detecting questions by their opening words is ours.
    """
    return instruction.lower().startswith(vocabulary_named(vocabulary).words.questions)


def solution_text(decision: Solve) -> str:
    """Return a solution as a model writes it."""
    return f"[{', '.join(decision.actions)}]"
