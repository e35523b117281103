"""LookPlanGraph, Algorithm 1 (sections IV-A to IV-D, appendix F-3): one action a step, on the text of a memory graph.

The prompt has the paper's parts in our words: role, functions, form of the reply, two examples; then instruction,
memory graph, previous reasons and actions, feedback. The session is the paper's simulator: it checks, corrects and
feeds back (`--fix`, `--reprompt`), and looks on ``discover_objects``. Choices of ours where the paper is silent:

- a node that was discovered before is refused (the paper's prompt forbids it; appendix A counts it as a mistake);
- in vocabularies other than GraSIF all actions are offered, with the descriptions of their operators;
- in BabyAI, which has no action for looking, the agent acts on the scene itself, and rooms behind open doors belong to
  the surroundings;
- ``done`` ends the session and is no action.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from pydantic import BaseModel

from scenecypher.chat.model import Message, Usage
from scenecypher.chat.structured_reply import ask_for
from scenecypher.errors import ReplyRejected
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.prompts.terms import relation_terms, state_terms
from scenecypher.planner.prompts.texts import examples, feedback, functions, previous_actions, prompts_beside
from scenecypher.planner.sessions.method import Ablation, Act, Decision, Done, Memory, MethodContext
from scenecypher.planner.sessions.views import inspected_nodes
from scenecypher.planner.vocabularies.vocabulary import DONE, macros_of, operators_of, vocabulary_named
from scenecypher.planner.worlds.belief_simulator import LOOK_ACTIONS

PROMPTS: Final = prompts_beside(__name__)
FULL_GRAPH: Final = Ablation("full-graph", "the whole graph instead of the memory graph (table V)", {"extent": "full"})
JSON_GRAPH: Final = Ablation("json-graph", "the memory graph as JSON (table V)", {"form": "json"})
NO_PRIORS: Final = Ablation("no-priors", "objects that were not seen are left out (table V)", {"priors": False})
NAMED_CLASSES: Final = Ablation(
    "named-classes",
    "ours: the memory graph has the things of the classes that the instruction names, in all rooms",
    {"named": True},
)
NO_CORRECTION: Final = Ablation(
    "no-correction",
    "no corrections are inserted, and infeasible actions are not fed back (table V)",
    {"fix": False, "reprompt": False},
)
ABLATIONS: Final = (JSON_GRAPH, FULL_GRAPH, NO_PRIORS, NAMED_CLASSES, NO_CORRECTION)


class Action(BaseModel, extra="forbid"):
    """The action of a reply."""

    function_name: str
    node: str | None
    relation: str | None
    destination: str | None


class LookPlanGraphReply(BaseModel, extra="forbid", title="Reply"):
    """What the model answers."""

    reason: str
    action: Action


class LookPlanGraph:
    """Method that asks for one action a step."""

    def __init__(self, context: MethodContext) -> None:
        self._model, self._vocabulary = context.model, context.vocabulary
        self._system = Message("system", _system(context))

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next action and its tokens. Raises ReplyRejected after three unusable replies."""
        user = Message("user", step_prompt(memory))
        reply, usage = ask_for(self._model, (self._system, user), LookPlanGraphReply)
        if reply.action.function_name.strip() == DONE:
            return Done(reply.reason), usage
        call = action_call(reply.action, self._vocabulary)
        if call.name in LOOK_ACTIONS and {*call.arguments} & inspected_nodes(memory):
            msg = f"{call} was refused: {call.arguments[0]} was inspected already; use what the scene tells of it"
            raise ReplyRejected(msg, prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens)
        return Act(str(call), reply.reason), usage


def _system(context: MethodContext) -> str:
    """Return the part of the prompt that is the same for all tasks of a vocabulary."""
    vocabulary = context.vocabulary
    shown = [
        f"\nExample {number}\n{example['prompt']}\nReply: {json.dumps(example['reply'], ensure_ascii=False)}"
        for number, example in enumerate(examples("lookplangraph", vocabulary) if context.examples else (), 1)
    ]
    system: str = PROMPTS["system"]
    return system.format(
        seeing=" ".join(_seeing(context)),
        advice="\n".join(f"- {line}" for line in _advice(context)),
        terms="\n".join(filter(None, (relation_terms(vocabulary, types=False), state_terms(vocabulary)))),
        functions=functions(vocabulary, "stepwise"),
        done="" if DONE in operators_of(vocabulary) else PROMPTS["say_done"],
        examples="\n".join(shown),
    ).rstrip()


def _seeing(context: MethodContext) -> Iterator[str]:
    """Yield what the robot sees, what it merely remembers, and what is left out."""
    vocabulary, is_whole = context.vocabulary, FULL_GRAPH in context.ablations
    has_priors = NO_PRIORS not in context.ablations
    looking = vocabulary_named(vocabulary).looking
    if context.belief:
        yield PROMPTS["all_rooms"] if is_whole else PROMPTS["assets"]
        looks = sorted((LOOK_ACTIONS | looking.revealing) & {*operators_of(vocabulary)})
        yield PROMPTS["remembering"].format(looks=" or ".join(looks))
        if has_priors:
            yield PROMPTS["unconfirmed"]
    elif is_whole:
        yield PROMPTS["whole_now"]
    else:
        yield PROMPTS["seeing"] if looking.whole_rooms else PROMPTS["knowing"]
    if not is_whole:
        remembered = " remembered" if context.belief else ""
        tells_named = NAMED_CLASSES in context.ablations and has_priors and not looking.whole_rooms
        yield PROMPTS["elsewhere"].format(
            seen=" or saw" if context.belief else "",
            named=PROMPTS["named"].format(remembered=remembered) if tells_named else "",
        )
        if vocabulary_named(vocabulary).conventions.structure:
            yield PROMPTS["structure"]


def _advice(context: MethodContext) -> Iterator[str]:
    """Yield the advice on how to go about a task."""
    vocabulary = context.vocabulary
    yield PROMPTS["find"]
    if context.belief:
        yield from PROMPTS["look"]
        yield PROMPTS["once"].format(looks=" or ".join(sorted(LOOK_ACTIONS & {*operators_of(vocabulary)})))
    if "rearrange" in macros_of(vocabulary):
        yield PROMPTS["rearrange"]
    yield PROMPTS["only_told"]
    yield (
        PROMPTS["corrected"].format(repairs=", ".join(repairing_actions(vocabulary)))
        if context.fix
        else PROMPTS["uncorrected"]
    )
    yield PROMPTS["when_done"]


def repairing_actions(vocabulary: str) -> list[str]:
    """Return the actions that corrections insert."""
    operators = operators_of(vocabulary)
    repairs = {part.repair.action for operator in operators.values() for part in operator.requires if part.repair}
    return [name for name in operators if name in repairs]


def step_prompt(memory: Memory) -> str:
    """Return a step's part of the prompt; equal memories give equal bytes."""
    parts = [
        f"Instruction: {memory.instruction}",
        f"Scene:\n{memory.view}",
        f"Previous actions:\n{previous_actions(memory)}",
    ]
    if text := feedback(memory):
        parts.append(f"Feedback: {text}")
    return "\n\n".join(parts)


def action_call(action: Action, vocabulary: str) -> ActionCall:
    """Return the action as a call, with only the arguments that the function takes."""
    name = action.function_name.strip()
    operator, macro = operators_of(vocabulary).get(name), macros_of(vocabulary).get(name)
    arguments = (action.node, action.relation, action.destination) if macro else (action.node, action.destination)
    words = tuple(word.strip() for word in arguments if word and word.strip())
    return ActionCall(name, words if operator is None else words[: max(1, len(operator.parameters))])
