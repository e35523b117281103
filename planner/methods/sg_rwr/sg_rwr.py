"""SG-RwR (Reason-while-Retrieve): Reasoner, Retriever and SingleCoder (2.2 to 2.5, 4.2, tables 4 and 5).

The Reasoner queries, writes code over tools, and sums up. Its analysis is free text under [Explanation] and never
reaches the Retriever; code runs in the sandbox, with the reasoning tools but not the graph. Code that contains "assume"
or "assuming" is rejected (2.5); an error of the code is fed back, and the next reply corrects it (self-debugging).
`sg-rwr-fs` adds task-level examples, and `sg-rwr-alg` a description of the method as well ("Few-shot SG-RwR"). In
`rwr-text` neither agent writes code, and a translator turns the plan into actions (4.2).

The Retriever writes queries, checks their results itself, and sums up (2.4, 2.5). There is no Verifier: a reply with
``INFO RETRIEVED`` ends it, any other is a query to run.

SingleCoder (4.2) is one program for the whole task, which may call the tools and ``query(cypher)``; its prompt has the
information of Reasoner and Retriever, but no conversation, and the output of the program is the solution. A failed
program is rewritten given its error.

Ours: Cypher instead of Python over NetworkX; an [Answer] instead of [Actions] for questions; ``stepwise`` as in
`scenecypher.planner.methods.sg2.sg2`; a translator that is asked once, after the Reasoner has ended; the Retriever has
`MAX_QUERIES` attempts, while the paper iterates until a program runs; a program whose output is no solution counts as
failed, and after `MAX_PROGRAMS` programs the task is given up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from scenecypher.chat.clean import clean_cypher
from scenecypher.chat.model import Message, Usage
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.errors import RejectedError, ReplyRejected
from scenecypher.planner.prompts import texts
from scenecypher.planner.sessions.method import (
    Ask,
    CallTool,
    Decision,
    GiveUp,
    Memory,
    MethodContext,
    SceneAccess,
    Solve,
    Turn,
)
from scenecypher.planner.sessions.tools import PROGRAM, PYTHON, has_failed, tools_text
from scenecypher.retriever.retrieval import ROWS_SHOWN, Retrieval, rows_text
from scenecypher.retriever.schema_text import schema_text

Shots: TypeAlias = Literal["", "fs", "alg"]

PROMPTS: Final = texts.prompts_beside(__name__)
TERMINATE: Final = "TASK TERMINATE"
ASSUMPTION: Final = re.compile("assum(?:e|ing|ption)", re.IGNORECASE)
"""Words that indicate invented scene information (SG-RwR, 2.5)."""
MAX_QUERIES: Final = 6
END_MARK: Final = "INFO RETRIEVED"
MAX_PROGRAMS: Final = 5


# --- the Reasoner

TURNS: Final = (
    texts.TurnForm(
        Ask,
        lambda it: texts.format_sections(explanation=it.reason, query=it.question),
        texts.under("The Retriever's answer:"),
    ),
    texts.TurnForm(
        CallTool,
        lambda it: texts.format_sections(explanation=it.reason, code=_fenced(it)),
        texts.under("The output of the code:"),
    ),
    texts.TurnForm(
        Solve,
        lambda it: f"{texts.format_sections(summary=it.reason, actions=texts.solution_text(it))}\n\n{TERMINATE}",
        texts.under("What came of it:"),
    ),
)


def _fenced(call: CallTool) -> str:
    return f"```python\n{call.arguments['code']}\n```"


@dataclass(frozen=True, slots=True)
class SgRwr:
    """Method that asks the Reasoner; without `code` it is RwR-Text. If not `final`, it is stepwise."""

    context: MethodContext
    shots: Shots = ""
    code: bool = True

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next decision and tokens. Raises ReplyRejected after three unusable replies, and InputError."""
        decision, usage = texts.ask_in_text(
            self.context.model, texts.chat(self._system(memory), memory, TURNS), self._read
        )
        if isinstance(decision, str):
            return self._translate(decision, memory, spent=usage)
        return decision, usage

    def _system(self, memory: Memory) -> str:
        forms = ("query_form", "code_form", "summary_form") if self.code else ("query_form", "text_form")
        tools = tools_text(self.context.vocabulary) if self.code else ""
        coding = PROMPTS["coding"] + (PROMPTS["using"] if tools else "") if self.code else PROMPTS["thinking"]
        text = PROMPTS["system"].format(
            environment=texts.environment_explanation(self.context.vocabulary),
            schema=memory.schema,
            actions=memory.actions,
            coding=coding,
            asking=PROMPTS["at_once" if self.context.at_once else "step_by_step"],
            forms="\n".join(PROMPTS[form] for form in forms),
        )
        of = self.context.vocabulary, memory.instruction, memory.examples
        examples = texts.required_examples("tasks", *of) if self.shots else ""
        method = texts.required_examples("algorithm", *of) if self.shots == "alg" else ""
        return "\n\n".join(filter(None, (text, tools and f"The functions:\n{tools}", method, examples)))

    def _read(self, text: str) -> Decision | str:
        """Return a decision, or for RwR-Text the plan in words. Raises ReplyRejected."""
        parts = texts.parse_sections(text)
        if TERMINATE in text:
            return self._solution({name: part.replace(TERMINATE, "").strip() for name, part in parts.items()})
        if "code" in parts and self.code:
            return _python_call(texts.extract_program(parts["code"]), texts.said_before(text, "code"))
        if parts.get("query"):
            return Ask(parts["query"], texts.said_before(text, "query"))
        kinds = "a [Query], [Code] or" if self.code else "a [Query] or"
        raise ReplyRejected(f"it holds neither {kinds} the solution with {TERMINATE}; reply in one of these forms")

    def _solution(self, parts: dict[str, str]) -> Decision | str:
        if parts.get("plan") and not self.code:
            return parts["plan"]
        text = parts.get("actions") or parts.get("answer")
        if not text:
            raise ReplyRejected(f"{TERMINATE} stands there without [Actions] or [Answer]; give the whole solution")
        return texts.parse_solution(
            text, self.context.vocabulary, reason=parts.get("summary", ""), final=self.context.final
        )

    def _translate(self, plan: str, memory: Memory, *, spent: Usage) -> tuple[Decision, Usage]:
        """Translate a plan in words into actions, like RwR-Text's action translator (4.2)."""
        system = PROMPTS["translator"].format(actions=memory.actions, form=texts.SOLUTION_FORM)
        return texts.ask_in_text(
            self.context.model,
            (Message("system", system), Message("user", f"The plan:\n{plan}")),
            lambda text: texts.parse_solution(text, self.context.vocabulary, reason=plan, final=self.context.final),
            spent=spent,
        )


def _python_call(code: str, explanation: str) -> CallTool:
    """Return the program as a call. Raises ReplyRejected if it is empty or contains an assumption."""
    if not code:
        raise ReplyRejected("the code is empty; write a program in a ```python block")
    if ASSUMPTION.search(code):
        raise ReplyRejected("the code assumes something; remove all assumptions: query what you do not know first")
    return CallTool(PYTHON, {"code": code}, explanation)


# --- the Retriever


@dataclass(frozen=True, slots=True)
class SummarizingRetriever:
    """Retriever of a session, which answers questions by queries that its model writes and checks."""

    access: SceneAccess

    def ask(self, question: str, scene: SceneInfo) -> Retrieval:
        """Return the summary, with the last query that ran. Raises RejectedError if replies are unusable."""
        messages, usage = self._opening(question, scene), Usage()
        cypher: str | None = None
        for _ in range(MAX_QUERIES + 1):
            (reply, is_summary), usage = texts.ask_in_text(self.access.model, messages, _read_retrieval, spent=usage)
            if is_summary:
                return Retrieval(question, "answered", reply, (), usage, cypher=cypher)
            result, has_run = self._run(reply)
            cypher = reply if has_run else cypher
            messages = (*messages, Message("assistant", f"```cypher\n{reply}\n```"), Message("user", result))
        return Retrieval(question, "refused", f"nothing was found in {MAX_QUERIES} queries; ask for less", (), usage)

    def _opening(self, question: str, scene: SceneInfo) -> tuple[Message, ...]:
        occurring, vocabulary = self.access.reader.enumerator.of(scene), scene.vocabulary
        system = PROMPTS["retriever"].format(
            environment=texts.environment_explanation(vocabulary),
            schema=self.access.schema or schema_text(occurring, question, vocabulary=vocabulary, names=False),
            rows=ROWS_SHOWN,
        )
        return Message("system", system), Message("user", texts.format_sections(query=question))

    def _run(self, cypher: str) -> tuple[str, bool]:
        try:
            return f"The result of the query:\n{rows_text(self.access.reader.run(cypher))}", True
        except RejectedError as rejected:
            return f"The query failed: {rejected}\nWrite it again, mending this.", False


def _read_retrieval(text: str) -> tuple[str, bool]:
    """Return the final summary and True, or a query and False. Raises ReplyRejected."""
    if END_MARK in text:
        said = text.replace(END_MARK, "").strip()
        summary = texts.parse_sections(said).get("summary", said)
        if not summary:
            raise ReplyRejected(f"the summary is empty; give it before {END_MARK}")
        return summary, True
    cypher = clean_cypher(text)
    if not cypher:
        raise ReplyRejected(f"it holds neither a query in a ```cypher block nor {END_MARK}; give one of them")
    return cypher, False


# --- SingleCoder


@dataclass(frozen=True, slots=True)
class SingleCoder:
    """Method that asks for a program and parses its output."""

    context: MethodContext

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the program, then its output as the solution. Raises ReplyRejected after three unusable replies."""
        answer = self._solution(memory)
        if answer is not None:
            return answer, Usage()
        if sum(isinstance(turn.decision, CallTool) for turn in memory.turns) >= MAX_PROGRAMS:
            return GiveUp(f"{MAX_PROGRAMS} programs gave no solution"), Usage()
        system = PROMPTS["single_coder"].format(
            environment=texts.environment_explanation(self.context.vocabulary),
            schema=memory.schema,
            actions=memory.actions,
            tools=tools_text(self.context.vocabulary, query=True),
            form=texts.SOLUTION_FORM,
        )
        return texts.ask_in_text(self.context.model, texts.chat(system, memory, PROGRAM_TURNS), _read_program)

    def _solution(self, memory: Memory) -> Decision | None:
        last = memory.turns[-1] if memory.turns else None
        if last is None or not isinstance(last.decision, CallTool) or has_failed(last.feedback):
            return None
        try:
            line = last.feedback.strip().splitlines()[-1]
            return texts.parse_solution(
                line, self.context.vocabulary, reason=last.decision.reason, final=self.context.final
            )
        except ReplyRejected:
            return None


def _read_program(text: str) -> Decision:
    code = texts.extract_program(text)
    if not code:
        raise ReplyRejected("it holds no program; write one in a ```python block")
    return CallTool(PROGRAM, {"code": code})


def _asked_again(_: CallTool, turn: Turn) -> str:
    """Return what came of a program, and that it is to be written again."""
    problem = "" if has_failed(turn.feedback) else PROMPTS["no_solution"]
    return f"{turn.feedback}\n{problem}Write the program again, mending this."


PROGRAM_TURNS: Final = (
    texts.TurnForm(CallTool, _fenced, _asked_again),
    texts.TurnForm(
        Solve, lambda _: "", lambda it, turn: f"The solution {texts.solution_text(it)} did not work: {turn.feedback}"
    ),
)
