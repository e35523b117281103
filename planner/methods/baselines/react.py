"""ReAct over the graph calls of SG2 and SG-RwR (SG2, "Baselines", "SG2 v.s. ReAct"; SG-RwR, G.1).

`react-sg2` has ``expand``, `react-limit` ``get_neighbors`` and ``get_attrs``; both have SG2's reasoning tools, as the
second differs in the graph calls only. `react-rwr` has the four calls of SG-RwR's appendix and no tools. The agent sees
neither graph nor schema (it is "conditioned on API annotations"), but its whole history at every step.

Ours: the wording of the annotations, ``finish(...)`` as the call with the solution, and ``stepwise`` as in `sg2`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenecypher.chat.model import Message, Model, Usage
from scenecypher.planner.prompts.past import TurnForm, turn_messages
from scenecypher.planner.prompts.replies import (
    SOLUTION_FORM,
    STEP_FORM,
    ReActStep,
    ask_in_text,
    check_known_call,
    parse_arguments,
    parse_solution,
    parse_step,
    solution_text,
    written_argument,
)
from scenecypher.planner.prompts.texts import environment_explanation, worked_examples
from scenecypher.planner.sessions.method import CallTool, Decision, Memory, Solve, Turn
from scenecypher.planner.sessions.tools import tools_of
from scenecypher.retriever.graph_api import CALLS

FINISH: Final = "finish"

SYSTEM: Final = """\
You solve tasks about an environment that is described by a scene graph, of which nodes are things, places and the \
agent, and links say where they are and what they join. You look at the graph by calls, one a reply, and get what each \
gives as an observation. Never guess what the graph holds.

The environment:
{environment}

The actions of the agent, for planning tasks:
{actions}

The calls:
{calls}
finish(solution): gives the solution and ends. {solution}

Give every reply this form:
{form}"""


class React:
    """Method that asks `model` for a thought and a call; `calls` are the names of its graph calls."""

    def __init__(
        self,
        model: Model,
        vocabulary: str,
        calls: Sequence[str],
        *,
        tools: bool,
        final: bool = True,
        examples: bool = True,
    ) -> None:
        self._model, self._vocabulary, self._final, self._examples = model, vocabulary, final, examples
        self._graph_calls = tuple(calls)
        self._tools = dict(tools_of(vocabulary)) if tools else {}

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next decision and its tokens. Raises ReplyRejected after three unusable replies."""
        prompt = (*self._opening(memory), *turn_messages(memory.turns, TURNS))
        return ask_in_text(self._model, prompt, self._read)

    def _opening(self, memory: Memory) -> tuple[Message, Message]:
        text = SYSTEM.format(
            environment=environment_explanation(self._vocabulary),
            actions=memory.actions,
            calls=self._annotations(),
            solution=SOLUTION_FORM,
            form=STEP_FORM.format(example=self._example),
        )
        examples = worked_examples(self._name, self._vocabulary, memory.instruction) if self._examples else ""
        return Message("system", "\n\n".join(filter(None, (text, examples)))), Message(
            "user", f"Task: {memory.instruction}"
        )

    @property
    def _name(self) -> str:
        """Name of the method whose worked examples have these calls and tools."""
        if self._graph_calls == ("expand",):
            return "react-sg2"
        return "react-limit" if self._tools else "react-rwr"

    @property
    def _example(self) -> str:
        name = self._graph_calls[0]
        return f"{name}(node_id)" if CALLS[name].takes_node else f"{name}()"

    def _annotations(self) -> str:
        graph_calls = [
            f"{name}({'node_id' if CALLS[name].takes_node else ''}): {CALLS[name].description}"
            for name in self._graph_calls
        ]
        return "\n".join([*graph_calls, *(tool.annotation for tool in self._tools.values())])

    def _read(self, text: str) -> Decision:
        step = parse_step(text, self._example)
        if step.name == FINISH:
            return parse_solution(step.written, self._vocabulary, reason=step.thought, final=self._final)
        check_known_call(step.name, (*self._graph_calls, *self._tools, FINISH))
        if step.name in self._tools:
            return CallTool(step.name, parse_arguments(step, self._tools[step.name].arguments), step.thought)
        names = ("node_id",) if CALLS[step.name].takes_node else ()
        return CallTool(step.name, parse_arguments(step, names), step.thought)


def _observation(_: Decision, turn: Turn) -> str:
    return f"Observation: {turn.feedback}"


def _call_text(call: CallTool) -> str:
    written = ", ".join(map(written_argument, call.arguments.values()))
    return str(ReActStep(call.reason, call.tool, written))


TURNS: Final = (
    TurnForm(CallTool, _call_text, _observation),
    TurnForm(Solve, lambda it: str(ReActStep(it.reason, FINISH, solution_text(it))), _observation),
)
