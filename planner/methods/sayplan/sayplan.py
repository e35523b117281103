"""SayPlan, and SayPlan Lite as LookPlanGraph revised it (section VI-A, appendices D and F-4).

Both search the collapsed graph by expanding and contracting rooms, then plan on the visible graph and verify each plan
on the simulator, which explains its faults; a feasible plan is executed. In BabyAI SayPlan has no simulator: its plan
is executed as it stands (SG-RwR, G.2), and its prompt has worked tasks (SG2, "Baselines").

- SayPlan has both stages in one prompt with the whole conversation, and ``access`` and ``release`` in its plans.
- Lite has a prompt for each stage, with only that stage's functions, an example of a reply (appendix F-4) and the last
  search command; it puts objects on or into others directly.

Choices of ours where the papers are silent: at most `MAX_PLANS` plans are verified; ``release`` after ``access(x)``
puts the held object into x if x affords that, else on x, and ``access`` itself has no effect; in vocabularies other
than GraSIF both methods offer all actions.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final, Literal, Self

from pydantic import BaseModel, model_validator

from scenecypher.chat.model import Message, Usage
from scenecypher.chat.structured_reply import ask_for
from scenecypher.errors import ActionRefused
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.prompts.terms import relation_terms, state_terms
from scenecypher.planner.prompts.texts import TurnForm, exchanges, functions, prompts_beside, shown_examples
from scenecypher.planner.sessions.method import CallTool, Decision, Done, GiveUp, Memory, MethodContext, Solve, Turn
from scenecypher.planner.sessions.tools import REHEARSED
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named

PROMPTS: Final = prompts_beside(__name__)
VERIFY: Final = "verify_plan"
"""The call of both stages in the paper: it ends the search, and tries a plan."""
CONFIRM: Final = "verify_graph"
"""The tool behind the call that ends the search."""
MAX_PLANS: Final = 5
"""Plans that are verified at most: SayPlan has such a limit, but no paper gives its number."""


class Command(BaseModel, extra="forbid"):
    """A search command."""

    command_name: str
    node_name: str | None


class SayPlanReply(BaseModel, extra="forbid", title="Reply"):
    """What the model answers in SayPlan."""

    chain_of_thought: list[str]
    reasoning: str
    mode: Literal["exploring", "planning"]
    command: Command | None
    plan: list[str] | None

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.command if self.mode == "exploring" else self.plan) is None:
            wanted = "command" if self.mode == "exploring" else "plan"
            msg = f"the mode is {self.mode!r}: give the {wanted} too"
            raise ValueError(msg)
        return self


class SearchReply(BaseModel, extra="forbid", title="Searched"):
    """What the model answers in Lite's search."""

    chain_of_thought: list[str]
    reasoning: str
    command: Command


class LitePlanReply(BaseModel, extra="forbid", title="PlanReply"):
    """What the model answers in Lite's planning."""

    chain_of_thought: list[str]
    plan: list[str]


class SayPlan:
    """Method that asks once a step, with the whole conversation."""

    def __init__(self, context: MethodContext) -> None:
        self._context = context
        self._verifies = vocabulary_named(context.vocabulary).planning.rehearsed

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next command or plan. Raises ReplyRejected after three unusable replies."""
        ended = decide_after_plan(memory)
        if ended is not None:
            return ended, Usage()
        system = self._system(memory)
        parts = [f"Instruction: {memory.instruction}", f"The graph:\n{memory.view}"]
        parts += [f"Before:\n{past}" for past in ["\n".join(_turn_lines(memory.turns))] if past]
        reply, usage = ask_for(self._context.model, _messages(system, parts), SayPlanReply)
        if reply.command is not None and reply.mode == "exploring":
            return _search_call(reply.command, reply.reasoning), usage
        plan = reply.plan or []
        if not self._verifies:
            return _parse_answer(plan) or Solve(tuple(plan), reply.reasoning), usage
        plan = [*expand_access(plan, memory.view)]
        return _parse_answer(plan) or CallTool(VERIFY, {"plan": plan}, reply.reasoning), usage

    def _system(self, memory: Memory) -> str:
        own = vocabulary_named(self._context.vocabulary).words.sayplan_actions
        plan = PROMPTS["plan"].format(
            functions=memory.actions if own is None else own, tried=PROMPTS["tried"] if self._verifies else ""
        )
        examples = shown_examples("sayplan", self._context, memory)
        return "\n".join(
            (PROMPTS["role"], PROMPTS["search"], plan, PROMPTS["whole_form"], *([f"\n{examples}"] if examples else []))
        )


class SayPlanLite:
    """Method that asks once a step, with a prompt for each stage."""

    def __init__(self, context: MethodContext) -> None:
        self._context = context

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next command or plan. Raises ReplyRejected after three unusable replies."""
        ended = decide_after_plan(memory)
        if ended is not None:
            return ended, Usage()
        if any(_is_call(turn, CONFIRM) and not turn.refused for turn in memory.turns):
            return self._plan(memory)
        return self._search(memory)

    def _search(self, memory: Memory) -> tuple[Decision, Usage]:
        parts = [f"Instruction: {memory.instruction}", f"The graph:\n{memory.view}"]
        parts += [f"The last command:\n{line}" for line in [*_turn_lines(memory.turns[-1:])]]
        told = ("searcher", "search", "search_form", *(["searched"] if self._context.examples else []))
        system = "\n".join(PROMPTS[it] for it in told).rstrip()
        reply, usage = ask_for(self._context.model, _messages(system, parts), SearchReply)
        if reply.command.command_name in {VERIFY, CONFIRM}:
            return CallTool(CONFIRM, {}, reply.reasoning), usage
        return _search_call(reply.command, reply.reasoning), usage

    def _plan(self, memory: Memory) -> tuple[Decision, Usage]:
        parts = [f"Instruction: {memory.instruction}", f"The graph:\n{memory.view}"]
        tried = [turn for turn in memory.turns[-1:] if _is_call(turn, VERIFY) or turn.decision is None]
        parts += [f"The last plan:\n{line}" for line in [*_turn_lines(tried)]]
        actions = PROMPTS["plan"].format(functions=functions(self._context.vocabulary, "whole"), tried=PROMPTS["tried"])
        example = vocabulary_named(self._context.vocabulary).words.sayplan_example if self._context.examples else None
        terms = graph_terms(self._context.vocabulary)
        system = "\n".join((PROMPTS["planner"], terms, actions, PROMPTS["plan_form"], *([example] if example else [])))
        reply, usage = ask_for(self._context.model, _messages(system, parts), LitePlanReply)
        return _parse_answer(reply.plan) or CallTool(VERIFY, {"plan": reply.plan}), usage


def graph_terms(vocabulary: str) -> str:
    """Return the links and states of the graph in words (appendix F-4)."""
    relations, states = relation_terms(vocabulary, types=True), state_terms(vocabulary)
    terms: str = PROMPTS["terms"]
    return terms.format(relations=relations or "that x is joined with y as the type says", states=states)


def decide_after_plan(memory: Memory) -> Decision | None:
    """Return the last plan if it was verified, GiveUp at the limit of plans, else None."""
    tried = [turn for turn in memory.turns if _is_call(turn, VERIFY)]
    if tried and tried[-1] is memory.turns[-1] and tried[-1].feedback == REHEARSED:
        decision = tried[-1].decision
        return Solve(tuple(decision.arguments["plan"])) if isinstance(decision, CallTool) else None
    if len(tried) >= MAX_PLANS:
        return GiveUp(f"none of {MAX_PLANS} plans can be carried out")
    return None


def expand_access(plan: Sequence[str], view: str) -> Iterator[str]:
    """Replace SayPlan's ``access`` and ``release`` by actions; unparsable steps stay, for the simulator to refuse."""
    accessed = ""
    for action in plan:
        try:
            call = parse_action(action)
        except ActionRefused:
            yield action
            continue
        if call.name == "access" and call.arguments:
            accessed = call.arguments[0]
        elif call.name == "release" and accessed:
            yield f"{'put_inside' if _contains(accessed, view) else 'put_on'}({accessed})"
        else:
            yield action


def _contains(node_id: str, view: str) -> bool:
    groups = (group for groups in json.loads(view)["nodes"].values() for group in groups)
    return any(node_id in group["ids"] and "put_inside" in group.get("affordances", ()) for group in groups)


def _parse_answer(plan: Sequence[str]) -> Done | None:
    """Return Done if the plan is the answer to a question, else None."""
    found = re.fullmatch(r"answer\((.*)\)", plan[0].strip()) if len(plan) == 1 else None
    return Done("the question is answered", found[1].strip("\"' ")) if found else None


def _search_call(command: Command, reason: str) -> CallTool:
    return CallTool(command.command_name, {"node_name": command.node_name or ""}, reason)


def _is_call(turn: Turn, tool: str) -> bool:
    return isinstance(turn.decision, CallTool) and turn.decision.tool == tool


def _turn_lines(turns: Sequence[Turn]) -> Iterator[str]:
    for reply, result in exchanges(turns, TURNS, unreadable="a reply could not be used: {}"):
        yield f"{reply}: {result}" if reply else result


def _call_text(call: CallTool) -> str:
    return f"{call.tool}({', '.join(map(str, call.arguments.values()))})"


TURNS: Final = (TurnForm(CallTool, _call_text),)


def _messages(system: str, parts: Sequence[str]) -> tuple[Message, Message]:
    return Message("system", system), Message("user", "\n\n".join(parts))
