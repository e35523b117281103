"""SG2 (Schema-Guided Scene-Graph Reasoning): the Task Planner, which never sees the graph ("Reasoner Module", Table 7).

Each reply has explanation, mode and content; only the content is passed on. A QUERY goes to the Retriever (the paper's
Code Writer and Verifier), a TOOL call to the Tool Caller, and a SOLUTION ends the session. Choices of ours where the
paper is silent or differs:

- the Code Writer writes Cypher instead of Python over NetworkX, and has the same schema text as the Task Planner;
- the conversation is a chat of the agent's replies and their results (AutoGen in the paper);
- in vocabularies without a reasoning tool the TOOL mode is left out (VirtualHome has none in the paper);
- a solution that contains actions is a plan, any other an answer;
- with ``stepwise`` a refused action is fed back, and another solution may follow (the paper executes without feedback).
"""

from __future__ import annotations

from typing import Final, Literal, cast

from pydantic import BaseModel, ConfigDict, ValidationError

from scenecypher.chat.model import Message, Model, Usage
from scenecypher.errors import ReplyRejected
from scenecypher.planner.prompts.past import TurnForm, turn_messages, under
from scenecypher.planner.prompts.replies import (
    SOLUTION_FORM,
    ask_in_text,
    format_sections,
    parse_solution,
    required_section,
    solution_text,
)
from scenecypher.planner.prompts.texts import environment_explanation, worked_examples
from scenecypher.planner.sessions.method import Ask, CallTool, Decision, Memory, Solve
from scenecypher.planner.sessions.tools import TOOL_CALLER, tools_of, tools_text

SYSTEM: Final = """\
You solve tasks about an environment that is described by a scene graph. You know the schema of the graph, not the \
graph: work together with a Retriever, which answers queries from the graph{helper}. Never guess what the graph holds; \
query for all that you need, before you use it.

The environment:
{environment}

The schema of the scene graph:
{schema}

The actions of the agent, for planning tasks:
{actions}

You reply in one of {count} modes:
{modes}

Give every reply this form:
{form}"""

QUERY_MODE: Final = "QUERY: think about which information the next step needs, and query the Retriever for it."
TOOL_MODE: Final = "TOOL: have one of the functions below called, to settle a part of the task."
AT_ONCE: Final = "\nAsk in one QUERY for all that you know you need, even if it is about several things."
SOLUTION_MODE: Final = "SOLUTION: give the solution. It ends the conversation: only give it when it is whole."
QUERY_CONTENT: Final = (
    "Of a QUERY: the query, in one sentence that stands for itself and says which attributes you need, "
    "in the words of the schema."
)
TOOL_CONTENT: Final = (
    "Of a TOOL: the function's name and the value of every argument; all values must come from the scene graph."
)
FORM_OF_REPLY: Final = """\
[Explanation]
Why you reply so, briefly.

[Mode]
One of {names}.

[Content]
{contents}"""
TURNS: Final = (
    TurnForm(
        Ask,
        lambda it: format_sections(explanation=it.reason, mode="QUERY", content=it.question),
        under("The Retriever's answer:"),
    ),
    TurnForm(
        CallTool,
        lambda it: format_sections(explanation=it.reason, mode="TOOL", content=str(it.arguments["message"])),
        under("The result of the tool:"),
    ),
    TurnForm(
        Solve,
        lambda it: format_sections(explanation=it.reason, mode="SOLUTION", content=solution_text(it)),
        under("What came of it:"),
    ),
)


class TaskPlannerReply(BaseModel):
    """Reply of the Task Planner (SG2, "Reasoner Module")."""

    model_config = ConfigDict(extra="forbid")

    explanation: str
    mode: Literal["QUERY", "TOOL", "SOLUTION"]
    content: str


class Sg2:
    """Method that asks the Task Planner's `model`; `stepwise` as in the module's docstring."""

    def __init__(
        self, model: Model, vocabulary: str, *, stepwise: bool = False, examples: bool = True, at_once: bool = False
    ) -> None:
        self._model, self._vocabulary, self._final = model, vocabulary, not stepwise
        self._examples, self._at_once = examples, at_once

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next decision and its tokens. Raises ReplyRejected after three unusable replies."""
        return ask_in_text(self._model, self._prompt(memory), self._read)

    def _prompt(self, memory: Memory) -> tuple[Message, ...]:
        system = Message(
            "system", system_text(memory, self._vocabulary, examples=self._examples, at_once=self._at_once)
        )
        return system, Message("user", f"Task: {memory.instruction}"), *turn_messages(memory.turns, TURNS)

    def _read(self, text: str) -> Decision:
        reply = parse_reply(text, self._vocabulary)
        match reply.mode:
            case "QUERY":
                return Ask(reply.content, reply.explanation)
            case "TOOL":
                return CallTool(TOOL_CALLER, {"message": reply.content}, reply.explanation)
            case "SOLUTION":
                return parse_solution(reply.content, self._vocabulary, reason=reply.explanation, final=self._final)


def system_text(memory: Memory, vocabulary: str, *, examples: bool = True, at_once: bool = False) -> str:
    """Return the Task Planner's system message: environment, schema, actions, modes, tools, form and examples."""
    has_tools = bool(tools_of(vocabulary))
    modes = [QUERY_MODE, TOOL_MODE, SOLUTION_MODE] if has_tools else [QUERY_MODE, SOLUTION_MODE]
    text = SYSTEM.format(
        helper=", and a tool executor" if has_tools else "",
        environment=environment_explanation(vocabulary),
        schema=memory.schema,
        actions=memory.actions,
        count=len(modes),
        modes="\n".join(f"{number}. {mode}" for number, mode in enumerate(modes, 1)) + (AT_ONCE if at_once else ""),
        form=reply_form(vocabulary),
    )
    tools = f"The functions:\n{tools_text(vocabulary)}" if has_tools else ""
    worked = worked_examples("sg2", vocabulary, memory.instruction, memory.examples) if examples else ""
    return "\n\n".join(filter(None, (text, tools, worked)))


def reply_form(vocabulary: str) -> str:
    """Return the form of a reply, as text for the model."""
    has_tools = bool(tools_of(vocabulary))
    contents = [QUERY_CONTENT, *([TOOL_CONTENT] if has_tools else []), f"Of a SOLUTION: the solution. {SOLUTION_FORM}"]
    names = "QUERY, TOOL and SOLUTION" if has_tools else "QUERY and SOLUTION"
    return FORM_OF_REPLY.format(names=names, contents="\n".join(contents))


def parse_reply(text: str, vocabulary: str) -> TaskPlannerReply:
    """Parse a reply. Raises ReplyRejected if a part is missing or the mode is unknown."""
    shape = reply_form(vocabulary)
    mode = (
        required_section(text, "mode", shape)
        .upper()
        .strip(" *.`")
        .replace("TOOL-CALL", "TOOL")
        .replace("TOOL CALL", "TOOL")
    )
    if mode == "TOOL" and not tools_of(vocabulary):
        raise ReplyRejected("there are no tools in this environment; choose QUERY or SOLUTION")
    try:
        return TaskPlannerReply(
            explanation=required_section(text, "explanation", shape),
            mode=cast("Literal['QUERY', 'TOOL', 'SOLUTION']", mode),
            content=required_section(text, "content", shape),
        )
    except ValidationError as error:
        raise ReplyRejected(f"its mode is {mode[:40]!r}; reply in this form:\n{shape}") from error
