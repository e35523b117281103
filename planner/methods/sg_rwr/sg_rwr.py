"""SG-RwR (Reason-while-Retrieve): the Reasoner, which queries, writes code over tools, and sums up (2.3, 2.5, Table 4).

Analysis is free text under [Explanation] and never reaches the Retriever; code runs in the sandbox, with the reasoning
tools but not the graph. Code that contains "assume" or "assuming" is rejected (2.5); an error of the code is fed back,
and the next reply corrects it (self-debugging). `sg-rwr-fs` adds task-level examples, and `sg-rwr-alg` a description of
the method as well ("Few-shot SG-RwR"). In `rwr-text` neither agent writes code, and a translator turns the plan into
actions (4.2). Ours: an [Answer] instead of [Actions] for questions; ``stepwise`` as in
`scenecypher.planner.methods.sg2.sg2`; a translator that is asked once, after the Reasoner has ended.
"""

from __future__ import annotations

import re
from typing import Final, Literal, TypeAlias

from scenecypher.chat.model import Message, Model, Usage
from scenecypher.errors import ReplyRejected
from scenecypher.planner.prompts.past import TurnForm, turn_messages, under
from scenecypher.planner.prompts.replies import (
    SOLUTION_FORM,
    ask_in_text,
    extract_program,
    format_sections,
    parse_sections,
    parse_solution,
    said_before,
    solution_text,
)
from scenecypher.planner.prompts.texts import environment_explanation, required_examples
from scenecypher.planner.sessions.method import Ask, CallTool, Decision, Memory, Solve
from scenecypher.planner.sessions.tools import PYTHON, tools_text

Shots: TypeAlias = Literal["", "fs", "alg"]

TERMINATE: Final = "TASK TERMINATE"
ASSUMPTION: Final = re.compile("assum(?:e|ing|ption)", re.IGNORECASE)
"""Words that indicate invented scene information (SG-RwR, 2.5)."""

SYSTEM: Final = """\
You plan and reason about an environment, together with a Retriever, which gets information from the graph of the \
environment for you. You know the schema of the graph, not the graph: find out by queries what you need, step by step, \
until the task is solved.

The environment:
{environment}

The schema of the scene graph:
{schema}

The actions of the agent:
{actions}

Guidance:
- Solve the task step by step: find out which next step brings you closer to the solution.
- If it needs information of the graph, raise a query in words; the Retriever's answer is sent to you.
{coding}
- A query is clear, stands for itself, can be answered by going through the graph, and uses the terms of the schema. \
{asking}
- When the task is solved, sum up and write TASK TERMINATE in a paragraph of its own; only when the solution is whole.
{forms}"""

STEP_BY_STEP: Final = "Ask one simple thing at a time."
AT_ONCE: Final = "Ask at once for all that you know you need, even if it is about several things."
CODING: Final = """\
- If you know enough for the next step, reason, or write Python code that settles it and prints the result, briefly \
explained; what it prints is sent to you. Write down only what was retrieved: no values of your own. Import nothing."""
USING: Final = "\n- The functions below are there for code. Use them wherever they fit."
THINKING: Final = "- If you know enough for the next step, reason in words."
QUERY_FORM: Final = """\
- A query has this form:
[Explanation]
Why you need it.
[Query]
The query to the Retriever."""
CODE_FORM: Final = """\
- Code has this form:
[Explanation]
What it does.
[Code]
```python
the program
```"""
SUMMARY_FORM: Final = f"""\
- The solution has this form:
[Summary]
How the task was solved.
[Actions]
[ACTION1, ACTION2, ...] (of a question: [Answer] in place of [Actions], and the answer alone)

{TERMINATE}"""
TEXT_FORM: Final = f"""\
- The solution has this form:
[Summary]
How the task was solved.
[Plan]
What the agent does, step by step, in words (of a question: [Answer] in place of [Plan], and the answer alone)

{TERMINATE}"""
TRANSLATOR: Final = """\
You write a plan in words as the actions that an agent can carry out.

The actions:
{actions}

{form}"""
TURNS: Final = (
    TurnForm(
        Ask,
        lambda it: format_sections(explanation=it.reason, query=it.question),
        under("The Retriever's answer:"),
    ),
    TurnForm(
        CallTool,
        lambda it: format_sections(explanation=it.reason, code=f"```python\n{it.arguments['code']}\n```"),
        under("The output of the code:"),
    ),
    TurnForm(
        Solve,
        lambda it: f"{format_sections(summary=it.reason, actions=solution_text(it))}\n\n{TERMINATE}",
        under("What came of it:"),
    ),
)


class SgRwr:
    """Method that asks the Reasoner's `model`; without `code` it is RwR-Text."""

    def __init__(
        self,
        model: Model,
        vocabulary: str,
        *,
        shots: Shots = "",
        code: bool = True,
        stepwise: bool = False,
        at_once: bool = False,
    ) -> None:
        self._model, self._vocabulary, self._at_once = model, vocabulary, at_once
        self._shots, self._code, self._final = shots, code, not stepwise

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next decision and tokens. Raises ReplyRejected after three unusable replies, and InputError."""
        decision, usage = ask_in_text(self._model, self._prompt(memory), self._read)
        if isinstance(decision, str):
            return self._translate(decision, memory, spent=usage)
        return decision, usage

    def _prompt(self, memory: Memory) -> tuple[Message, ...]:
        said = turn_messages(memory.turns, TURNS)
        return Message("system", self._system(memory)), Message("user", f"Task: {memory.instruction}"), *said

    def _system(self, memory: Memory) -> str:
        forms = (QUERY_FORM, CODE_FORM, SUMMARY_FORM) if self._code else (QUERY_FORM, TEXT_FORM)
        tools = tools_text(self._vocabulary) if self._code else ""
        coding = CODING + (USING if tools else "") if self._code else THINKING
        text = SYSTEM.format(
            environment=environment_explanation(self._vocabulary),
            schema=memory.schema,
            actions=memory.actions,
            coding=coding,
            asking=AT_ONCE if self._at_once else STEP_BY_STEP,
            forms="\n".join(forms),
        )
        of = self._vocabulary, memory.instruction, memory.examples
        examples = required_examples("tasks", *of) if self._shots else ""
        method = required_examples("algorithm", *of) if self._shots == "alg" else ""
        parts = (text, tools and f"The functions:\n{tools}", method, examples)
        return "\n\n".join(filter(None, parts))

    def _read(self, text: str) -> Decision | str:
        """Return a decision, or for RwR-Text the plan in words. Raises ReplyRejected."""
        parts = parse_sections(text)
        if TERMINATE in text:
            return self._solution({name: part.replace(TERMINATE, "").strip() for name, part in parts.items()})
        if "code" in parts and self._code:
            return _python_call(extract_program(parts["code"]), said_before(text, "code"))
        if parts.get("query"):
            return Ask(parts["query"], said_before(text, "query"))
        kinds = "a [Query], [Code] or" if self._code else "a [Query] or"
        raise ReplyRejected(f"it holds neither {kinds} the solution with {TERMINATE}; reply in one of these forms")

    def _solution(self, parts: dict[str, str]) -> Decision | str:
        reason = parts.get("summary", "")
        if parts.get("plan") and not self._code:
            return parts["plan"]
        text = parts.get("actions") or parts.get("answer")
        if not text:
            raise ReplyRejected(f"{TERMINATE} stands there without [Actions] or [Answer]; give the whole solution")
        return parse_solution(text, self._vocabulary, reason=reason, final=self._final)

    def _translate(self, plan: str, memory: Memory, *, spent: Usage) -> tuple[Decision, Usage]:
        """Translate a plan in words into actions, like RwR-Text's action translator (4.2)."""
        system = Message("system", TRANSLATOR.format(actions=memory.actions, form=SOLUTION_FORM))
        return ask_in_text(
            self._model,
            (system, Message("user", f"The plan:\n{plan}")),
            lambda text: parse_solution(text, self._vocabulary, reason=plan, final=self._final),
            spent=spent,
        )


def _python_call(code: str, explanation_: str) -> CallTool:
    """Return the program as a call. Raises ReplyRejected if it is empty or contains an assumption."""
    if not code:
        raise ReplyRejected("the code is empty; write a program in a ```python block")
    if ASSUMPTION.search(code):
        raise ReplyRejected("the code assumes something; remove all assumptions: query what you do not know first")
    return CallTool(PYTHON, {"code": code}, explanation_)
