"""LLM-as-P as in LookPlanGraph (section VI-A, appendix F-1): the whole graph and one example in, a whole plan out.

One request, no feedback: the plan is executed as it stands, and refused actions are skipped. The graph is the JSON
document of appendix C. The example is ours; its plan is feasible, unlike that of the paper's example.
"""

from __future__ import annotations

import json
from typing import Final

from pydantic import BaseModel, ConfigDict

from scenecypher.chat.model import Message, Model, Usage
from scenecypher.chat.structured_reply import ask_for
from scenecypher.planner.prompts.texts import examples, functions
from scenecypher.planner.sessions.method import Decision, Memory, Solve

SYSTEM: Final = """\
You plan the work of a robot from a graph of its building. Write the whole plan, step by step, that carries out the \
instruction.

Use these functions only, with names of nodes as arguments:
{functions}

Reply with one JSON object and nothing else: {{"plan": [the function calls in their order]}}"""

PROBLEM: Final = "The instruction: {instruction}\nThe graph:\n{graph}"


class PlanReply(BaseModel):
    """What the model answers."""

    model_config = ConfigDict(extra="forbid", title="Reply")

    plan: list[str]


class LlmAsP:
    """Method that asks `model` once for a plan."""

    def __init__(self, model: Model, vocabulary: str, *, examples: bool = True) -> None:
        self._model, self._vocabulary, self._examples = model, vocabulary, examples

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the whole plan. Raises ReplyRejected after three unusable replies."""
        reply, usage = ask_for(self._model, prompt(memory, self._vocabulary, with_example=self._examples), PlanReply)
        return Solve(tuple(reply.plan)), usage


def prompt(memory: Memory, vocabulary: str, *, with_example: bool) -> tuple[Message, Message]:
    """Return the two messages of the prompt; the example stands before the problem."""
    parts = []
    if with_example:
        example = examples("problems", vocabulary)
        graph = json.dumps(example["graph"], ensure_ascii=False)
        problem = PROBLEM.format(instruction=example["instruction"], graph=graph)
        parts.append(f"An example. {problem}\nIts plan:\n{json.dumps({'plan': example['plan']}, ensure_ascii=False)}")
    parts.append(f"Now the task. {PROBLEM.format(instruction=memory.instruction, graph=memory.view)}\nIts plan:")
    system = SYSTEM.format(functions=functions(vocabulary, "whole"))
    return Message("system", system), Message("user", "\n\n".join(parts))
