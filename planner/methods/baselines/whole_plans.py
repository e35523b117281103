"""LLM-as-P and LLM+P as in LookPlanGraph (section VI-A, appendices D, F-1, F-2): the whole graph in, a whole plan out.

The graph is the JSON document of appendix C. In LLM-as-P the model writes the plan: one request, no feedback; it is
executed as it stands, and refused actions are skipped. The example is ours; its plan is feasible, unlike that of the
paper's example.

In LLM+P the model writes a PDDL problem, and an engine plans. The prompt has the vocabulary's domain (`domain.pddl`,
which lists its corrections) and an example of this domain; the paper's example is of another one. A reply that is no
PDDL is asked again. Of a problem in PDDL the engine takes what it can parse: initial facts outside the domain are
dropped, and a goal or an object outside it ends the session. All mistakes of the paper's three kinds are reported, and
the plan is executed, which shows the actions that are refused.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from scenecypher.chat.clean import clean_reply
from scenecypher.chat.model import SEED, Message, Request, Usage, ask_until
from scenecypher.chat.structured_reply import ask_for
from scenecypher.errors import InputError
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.methods.baselines import pddl_problems as pddl
from scenecypher.planner.prompts.texts import domain_text, examples, functions, prompts_beside
from scenecypher.planner.sessions.method import Decision, GiveUp, Memory, MethodContext, Solve
from scenecypher.planner.symbolic.engine import LAMA, TimeLimit, solve
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named

PROMPTS: Final = prompts_beside(__name__)


class PlanReply(BaseModel, extra="forbid", title="Reply"):
    """What the model answers."""

    plan: list[str]


@dataclass(frozen=True, slots=True)
class LlmAsP:
    """Method that asks once for a plan."""

    context: MethodContext

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the whole plan. Raises ReplyRejected after three unusable replies."""
        system = PROMPTS["llm_as_p"].format(functions=functions(self.context.vocabulary, "whole"))
        example = _example(self.context)
        shown = json.dumps({"plan": example["plan"]}, ensure_ascii=False) if example else ""
        reply, usage = ask_for(self.context.model, _prompt(system, memory, "plan", example, shown), PlanReply)
        return Solve(tuple(reply.plan)), usage


class LlmPlusP:
    """Method that asks for a problem, which an engine plans for. Raises InputError without a domain."""

    def __init__(self, context: MethodContext) -> None:
        problems = vocabulary_named(context.vocabulary).problems
        if problems is None:
            raise InputError(f"llm+p has no domain for the vocabulary {context.vocabulary!r}; choose another method")
        self._context, self._problems = context, problems
        self._domain = pddl.read_domain(domain_text(context.vocabulary))

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the plan, or the problem's mistakes. Raises ReplyRejected after three replies that are no PDDL."""
        problem, usage = self._ask_problem(memory)
        mistakes = pddl.find_mistakes(problem, self._domain, view=memory.view, forms=self._problems)
        warnings = "; ".join(map(str, mistakes))
        if not pddl.is_parsed(problem, self._domain):
            return GiveUp(warnings), usage
        seconds = self._context.timeout_s()
        limit = TimeLimit(seconds, clock_s=seconds)
        planned = solve(self._domain.text, pddl.parsed(problem, self._domain).text(self._domain), limit, search=LAMA)
        if planned.status != "solved":
            return GiveUp("; ".join(filter(None, (planned.why, warnings)))), usage
        names = {name.lower(): name for name in pddl.node_names(memory.view)}
        places = self._problems.argument_places
        actions = [
            ActionCall(name, tuple(names.get(arguments[place], arguments[place]) for place in places[name]))
            for name, *arguments in planned.steps
        ]
        return Solve(tuple(map(str, actions)), warnings), usage

    def _ask_problem(self, memory: Memory) -> tuple[pddl.PddlProblem, Usage]:
        """Ask for the problem, again after each reply that is no PDDL problem."""
        example = _example(self._context)
        system, shown = PROMPTS["llm_p"].format(domain=self._domain.text), example.get("pddl", "")
        request = Request(_prompt(system, memory, "problem", example, shown), seed=SEED)
        return ask_until(
            self._context.model, request, lambda it: pddl.read_problem(clean_reply(it.text)), complaint="{}"
        )


def _example(context: MethodContext) -> dict[str, Any]:
    """Return the worked example of a vocabulary; empty without one."""
    return (examples("problems", context.vocabulary) if context.examples else {}) or {}


def _prompt(system: str, memory: Memory, what: str, example: dict[str, Any], shown: str) -> tuple[Message, Message]:
    """Return the two messages that ask for a plan or a problem; an example with what is `shown` of it comes first."""
    problem, parts = PROMPTS["problem"], list[str]()
    if shown:
        graph = json.dumps(example["graph"], ensure_ascii=False)
        told = problem.format(instruction=example["instruction"], graph=graph)
        parts.append(f"An example. {told}\nIts {what}:\n{shown}")
    parts.append(f"Now the task. {problem.format(instruction=memory.instruction, graph=memory.view)}\nIts {what}:")
    return Message("system", system), Message("user", "\n\n".join(parts))
