"""SG-RwR's SingleCoder (4.2): one program for the whole task, which may call the tools and ``query(cypher)``.

Its prompt has the information of Reasoner and Retriever, but no conversation. A failed program is rewritten given its
error (self-debugging). The output of the program is the solution. Ours: Cypher instead of NetworkX; a program whose
output is no solution counts as failed; after `MAX_PROGRAMS` programs the task is given up.
"""

from __future__ import annotations

from typing import Final

from scenecypher.chat.model import Message, Model, Usage
from scenecypher.errors import ReplyRejected
from scenecypher.planner.prompts.past import TurnForm, turn_messages
from scenecypher.planner.prompts.replies import (
    SOLUTION_FORM,
    ask_in_text,
    extract_program,
    parse_solution,
    solution_text,
)
from scenecypher.planner.prompts.texts import environment_explanation
from scenecypher.planner.sessions.method import CallTool, Decision, GiveUp, Memory, Solve, Turn
from scenecypher.planner.sessions.tools import PROGRAM, has_failed, tools_text

MAX_PROGRAMS: Final = 5

SYSTEM: Final = """\
You solve a task about an environment by one Python program, which finds out from the scene graph of the environment \
what it needs and prints the solution. You know the schema of the graph, not the graph.

The environment:
{environment}

The schema of the scene graph:
{schema}

The actions of the agent, for planning tasks:
{actions}

The functions that the program may call, with nothing to import:
{tools}

Print the solution as the last line and nothing after it. {form}

Reply with the program alone, in a ```python block. Take nothing for granted that the program could query."""
NO_SOLUTION: Final = "The last line that was printed is no solution. "


class SingleCoder:
    """Method that asks `model` for a program and parses its output."""

    def __init__(self, model: Model, vocabulary: str, *, stepwise: bool = False) -> None:
        self._model, self._vocabulary, self._final = model, vocabulary, not stepwise

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the program, then its output as the solution. Raises ReplyRejected after three unusable replies."""
        answer = self._solution(memory)
        if answer is not None:
            return answer, Usage()
        if sum(isinstance(turn.decision, CallTool) for turn in memory.turns) >= MAX_PROGRAMS:
            return GiveUp(f"{MAX_PROGRAMS} programs gave no solution"), Usage()
        return ask_in_text(self._model, self._prompt(memory), _read)

    def _solution(self, memory: Memory) -> Decision | None:
        last = memory.turns[-1] if memory.turns else None
        if last is None or not isinstance(last.decision, CallTool) or has_failed(last.feedback):
            return None
        try:
            line = last.feedback.strip().splitlines()[-1]
            return parse_solution(line, self._vocabulary, reason=last.decision.reason, final=self._final)
        except ReplyRejected:
            return None

    def _prompt(self, memory: Memory) -> tuple[Message, ...]:
        system = SYSTEM.format(
            environment=environment_explanation(self._vocabulary),
            schema=memory.schema,
            actions=memory.actions,
            tools=tools_text(self._vocabulary, query=True),
            form=SOLUTION_FORM,
        )
        said = turn_messages(memory.turns, TURNS)
        return Message("system", system), Message("user", f"Task: {memory.instruction}"), *said


def _read(text: str) -> Decision:
    code = extract_program(text)
    if not code:
        raise ReplyRejected("it holds no program; write one in a ```python block")
    return CallTool(PROGRAM, {"code": code})


def _asked_again(_: CallTool, turn: Turn) -> str:
    """Return what came of a program, and that it is to be written again."""
    problem = "" if has_failed(turn.feedback) else NO_SOLUTION
    return f"{turn.feedback}\n{problem}Write the program again, mending this."


TURNS: Final = (
    TurnForm(CallTool, lambda it: f"```python\n{it.arguments['code']}\n```", _asked_again),
    TurnForm(Solve, lambda _: "", lambda it, turn: f"The solution {solution_text(it)} did not work: {turn.feedback}"),
)
