"""SG2 (Schema-Guided Scene-Graph Reasoning): the Task Planner, which never sees the graph ("Reasoner Module", Table 7).

Each reply has explanation, mode and content; only the content is passed on. A QUERY goes to the Retriever (the paper's
Code Writer and Verifier), a TOOL call to the Tool Caller, and a SOLUTION ends the session. Choices of ours where the
paper is silent or differs:

- the Code Writer writes Cypher instead of Python over NetworkX, and has the same schema text as the Task Planner;
- the conversation is a chat of the agent's replies and their results (AutoGen in the paper);
- in vocabularies without a reasoning tool the TOOL mode is left out (VirtualHome has none in the paper);
- a solution that contains actions is a plan, any other an answer;
- with ``stepwise`` a refused action is fed back, and another solution may follow (the paper executes without feedback).

SG2-limit (SG2, "SG2 v.s. ReAct") has a ReAct-limit agent, with its own context, as the Retriever. It answers each query
by ``get_neighbors`` and ``get_attrs`` only, and writes no code. Ours: its prompt has the query, the environment and the
schema (the paper's Retriever has the schema too), it ends by ``answer(text)``, or without an answer after `MAX_CALLS`
calls.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from scenecypher.chat.model import Message, Usage
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.errors import RejectedError, ReplyRejected
from scenecypher.planner.prompts import texts
from scenecypher.planner.sessions.method import Ask, CallTool, Decision, Memory, MethodContext, SceneAccess, Solve
from scenecypher.planner.sessions.tools import TOOL_CALLER, tools_of, tools_text
from scenecypher.retriever.graph_api import CALL_SETS, CALLS, GraphApi, run_call
from scenecypher.retriever.retrieval import Retrieval
from scenecypher.retriever.schema_text import schema_text

PROMPTS: Final = texts.prompts_beside(__name__)
MAX_CALLS: Final = 30
"""Limit of calls for one query."""
ANSWER: Final = "answer"
LIMITED: Final = CALL_SETS["react-limit"]

TURNS: Final = (
    texts.TurnForm(
        Ask,
        lambda it: texts.format_sections(explanation=it.reason, mode="QUERY", content=it.question),
        texts.under("The Retriever's answer:"),
    ),
    texts.TurnForm(
        CallTool,
        lambda it: texts.format_sections(explanation=it.reason, mode="TOOL", content=str(it.arguments["message"])),
        texts.under("The result of the tool:"),
    ),
    texts.TurnForm(
        Solve,
        lambda it: texts.format_sections(explanation=it.reason, mode="SOLUTION", content=texts.solution_text(it)),
        texts.under("What came of it:"),
    ),
)


@dataclass(frozen=True, slots=True)
class Sg2:
    """Method that asks the Task Planner; if not `final`, it is ``stepwise``."""

    context: MethodContext

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next decision and its tokens. Raises ReplyRejected after three unusable replies."""
        return texts.ask_in_text(self.context.model, texts.chat(self._system(memory), memory, TURNS), self._read)

    @property
    def _modes(self) -> tuple[str, ...]:
        return ("query", "tool", "solution") if tools_of(self.context.vocabulary) else ("query", "solution")

    def _system(self, memory: Memory) -> str:
        has_tools, modes = "tool" in self._modes, (PROMPTS[f"{mode}_mode"] for mode in self._modes)
        numbered = "\n".join(f"{number}. {mode}" for number, mode in enumerate(modes, 1))
        text = PROMPTS["system"].format(
            helper=", and a tool executor" if has_tools else "",
            environment=texts.environment_explanation(self.context.vocabulary),
            schema=memory.schema,
            actions=memory.actions,
            count=len(self._modes),
            modes=numbered + (PROMPTS["at_once"] if self.context.at_once else ""),
            form=self._form,
        )
        tools = f"The functions:\n{tools_text(self.context.vocabulary)}" if has_tools else ""
        return "\n\n".join(filter(None, (text, tools, texts.shown_examples("sg2", self.context, memory))))

    @property
    def _form(self) -> str:
        """The form of a reply, as text for the model."""
        contents = (PROMPTS[f"{mode}_content"].format(form=texts.SOLUTION_FORM) for mode in self._modes)
        *names, last = map(str.upper, self._modes)
        form: str = PROMPTS["form_of_reply"]
        return form.format(names=f"{', '.join(names)} and {last}", contents="\n".join(contents))

    def _read(self, text: str) -> Decision:
        """Parse a reply. Raises ReplyRejected if a part is missing or the mode is unknown."""
        said = texts.required_section(text, "mode", self._form).upper().strip(" *.`")
        mode = said.replace("TOOL-CALL", "TOOL").replace("TOOL CALL", "TOOL")
        if mode == "TOOL" and not tools_of(self.context.vocabulary):
            raise ReplyRejected("there are no tools in this environment; choose QUERY or SOLUTION")
        reason, content = (texts.required_section(text, name, self._form) for name in ("explanation", "content"))
        match mode:
            case "QUERY":
                return Ask(content, reason)
            case "TOOL":
                return CallTool(TOOL_CALLER, {"message": content}, reason)
            case "SOLUTION":
                return texts.parse_solution(content, self.context.vocabulary, reason=reason, final=self.context.final)
        raise ReplyRejected(f"its mode is {mode[:40]!r}; reply in this form:\n{self._form}")


@dataclass(frozen=True, slots=True)
class LimitedRetriever:
    """Retriever of a session, which answers questions by two graph calls."""

    access: SceneAccess

    def ask(self, question: str, scene: SceneInfo) -> Retrieval:
        """Return the answer, or a refusal. Raises RejectedError if the agent's replies are unusable."""
        api, usage = GraphApi(self.access.reader), Usage()
        messages: tuple[Message, ...] = (self._system(scene), Message("user", f"Query: {question}"))
        for _ in range(MAX_CALLS):
            step, usage = texts.ask_in_text(self.access.model, messages, _read_call, spent=usage)
            if step.name == ANSWER:
                return Retrieval(question, "answered", step.written.strip("\"'` "), (), usage)
            result = f"Observation: {_observation(api, step)}"
            messages = (*messages, Message("assistant", str(step)), Message("user", result))
        return Retrieval(question, "refused", f"no answer was found within {MAX_CALLS} calls; ask for less", (), usage)

    def _system(self, scene: SceneInfo) -> Message:
        occurring, vocabulary = self.access.reader.enumerator.of(scene), scene.vocabulary
        text = PROMPTS["limit_system"].format(
            environment=texts.environment_explanation(vocabulary),
            schema=self.access.schema or schema_text(occurring, vocabulary=vocabulary, names=False),
            calls="\n".join(f"{name}(node_id): {CALLS[name].description}" for name in LIMITED),
            form=texts.STEP_FORM.format(example="get_attrs(node_id)"),
        )
        return Message("system", text)


def _observation(api: GraphApi, step: texts.ReActStep) -> str:
    """Return the result of a call as JSON, or the reason of its rejection."""
    try:
        return json.dumps(run_call(api, step.name, texts.parse_arguments(step, ("node_id",))), ensure_ascii=False)
    except RejectedError as rejected:
        return str(rejected)


def _read_call(text: str) -> texts.ReActStep:
    step = texts.parse_step(text, "get_attrs(node_id)")
    texts.check_known_call(step.name, (*LIMITED, ANSWER))
    if step.name == ANSWER and not step.written:
        raise ReplyRejected("the answer is empty; give it between the brackets")
    return step
