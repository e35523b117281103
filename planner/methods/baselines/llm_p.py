"""LLM+P as in LookPlanGraph (section VI-A, appendices D and F-2): the model writes a PDDL problem, an engine plans.

The prompt has the vocabulary's domain (`planner/prompts/domains`, which lists its corrections) and an example of this
domain; the paper's example is of another one. A reply that is no PDDL is asked again. Of a problem in PDDL the engine
takes what it can parse: initial facts outside the domain are dropped, and a goal or an object outside it ends the
session. All mistakes of the paper's three kinds are reported, and the plan is executed, which shows the actions that
are refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from scenecypher.chat.clean import clean_reply
from scenecypher.chat.model import SEED, Message, Model, Request, Usage
from scenecypher.errors import InputError, ReplyRejected
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.methods.baselines.pddl_problems import (
    PddlProblem,
    find_mistakes,
    is_parsed,
    parsed,
    read_domain,
    read_problem,
)
from scenecypher.planner.prompts.texts import domain_text, examples
from scenecypher.planner.sessions.method import Decision, GiveUp, Memory, Solve
from scenecypher.planner.symbolic.engine import LAMA, TimeLimit, solve
from scenecypher.planner.symbolic.plan import PLAN_TIMEOUT_S
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named

ATTEMPTS: Final = 3

SYSTEM: Final = """\
You write planning problems in PDDL. This is the domain:

{domain}

A problem names the objects with their types, the facts that hold now, and the goal. Use the domain's predicates only, \
and say that something is not so by (not ...). Reply with the problem and nothing else."""

PROBLEM: Final = "The instruction: {instruction}\nThe graph:\n{graph}"


class LlmPlusP:
    """Method that asks `model` for a problem, planned in `timeout_s()` seconds. Raises InputError without a domain."""

    def __init__(
        self,
        model: Model,
        vocabulary: str,
        *,
        timeout_s: Callable[[], float] = lambda: PLAN_TIMEOUT_S,
        examples: bool = True,
    ) -> None:
        self._model, self._vocabulary, self._timeout_s, self._examples = model, vocabulary, timeout_s, examples
        problems = vocabulary_named(vocabulary).problems
        if problems is None:
            raise InputError(f"llm+p has no domain for the vocabulary {vocabulary!r}; choose another method")
        self._problems = problems
        self._domain = read_domain(domain_text(vocabulary))

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the plan, or the problem's mistakes. Raises ReplyRejected after three replies that are no PDDL."""
        problem, usage = self._ask_problem(memory)
        mistakes = find_mistakes(problem, self._domain, view=memory.view, forms=self._problems)
        warnings = "; ".join(map(str, mistakes))
        if not is_parsed(problem, self._domain):
            return GiveUp(warnings), usage
        seconds = self._timeout_s()
        limit = TimeLimit(seconds, clock_s=seconds)
        planned = solve(self._domain.text, parsed(problem, self._domain).text(self._domain), limit, search=LAMA)
        if planned.status != "solved":
            return GiveUp("; ".join(filter(None, (planned.why, warnings)))), usage
        names = {node.lower(): node for node in node_names(memory.view)}
        places = self._problems.argument_places
        actions = [
            ActionCall(name, tuple(names.get(arguments[place], arguments[place]) for place in places[name]))
            for name, *arguments in planned.steps
        ]
        return Solve(tuple(map(str, actions)), warnings), usage

    def _ask_problem(self, memory: Memory) -> tuple[PddlProblem, Usage]:
        """Ask for the problem, again after each reply that is no PDDL problem."""
        request, usage = Request(prompt(memory, self._vocabulary, with_example=self._examples), seed=SEED), Usage()
        for _ in range(ATTEMPTS):
            reply = self._model.reply(request)
            usage += reply.usage
            try:
                return read_problem(clean_reply(reply.text)), usage
            except ReplyRejected as rejected:
                mistake = str(rejected)
            again = Message("assistant", reply.text or "(no text)"), Message("user", mistake)
            request = replace(request, messages=(*request.messages, *again))
        raise ReplyRejected(mistake, prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens)


def prompt(memory: Memory, vocabulary: str, *, with_example: bool) -> tuple[Message, Message]:
    """Return the two messages of the prompt; an example stands before the problem if the vocabulary has one."""
    example = examples("problems", vocabulary)
    parts = []
    if with_example and "pddl" in example:
        graph = json.dumps(example["graph"], ensure_ascii=False)
        problem = PROBLEM.format(instruction=example["instruction"], graph=graph)
        parts.append(f"An example. {problem}\nIts problem:\n{example['pddl']}")
    parts.append(f"Now the task. {PROBLEM.format(instruction=memory.instruction, graph=memory.view)}\nIts problem:")
    system = SYSTEM.format(domain=domain_text(vocabulary))
    return Message("system", system), Message("user", "\n\n".join(parts))


def node_names(view: str) -> list[str]:
    """Return the names of all nodes in the graph's document."""
    nodes = json.loads(view)["nodes"]
    return [node["name"] for key in ("rooms", "asset", "objects", "doors") for node in nodes.get(key, [])]
