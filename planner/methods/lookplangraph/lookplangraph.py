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
from dataclasses import dataclass
from typing import Final

from pydantic import BaseModel, ConfigDict

from scenecypher.chat.model import Message, Model, Usage
from scenecypher.chat.structured_reply import ask_for
from scenecypher.errors import ReplyRejected
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.prompts.past import feedback, previous_actions
from scenecypher.planner.prompts.terms import relation_terms, state_terms
from scenecypher.planner.prompts.texts import examples, functions
from scenecypher.planner.sessions.method import Act, Decision, Done, Memory
from scenecypher.planner.sessions.views import inspected_nodes
from scenecypher.planner.vocabularies.vocabulary import DONE, macros_of, operators_of, vocabulary_named
from scenecypher.planner.worlds.belief_simulator import LOOK_ACTIONS

SYSTEM: Final = """\
You are a robot at work in a building, and choose one action at a time until an instruction is carried out. What you \
know of the building is told you as a scene graph: places, assets (furniture and appliances, which stay where they \
are), and objects, which are on or in assets or other objects and can be moved. {seeing}

How to go about it:
{advice}

In the scene:
{terms}

The functions, with names of nodes as arguments:
{functions}{done}

Reply with one JSON object and nothing else:
{{"reason": why you do this next, in one or two sentences,
 "action": {{"function_name": one of the functions,
            "node": the node that it is done with, or null,
            "relation": the relation where the function takes one, else null,
            "destination": the second node where the function takes one, else null}}}}
{examples}"""

ASSETS: Final = "Being in a room, you know its assets."
REMEMBERING: Final = "What is on or in something only a look shows ({looks})."
UNCONFIRMED: Final = (
    "An object that is not confirmed is merely remembered where it is; it may have been moved meanwhile."
)
KNOWING: Final = "Your room is shown as it is now, with all that is in it."
SEEING: Final = "All that is in your room, and in the rooms behind its open doors, is shown as it is now."
ALL_ROOMS: Final = "The whole building is told."
WHOLE_NOW: Final = "The whole building is shown as it is now."
ELSEWHERE: Final = "Of other rooms you are told what you used{seen} there{named}."
NAMED: Final = ", and where things of the classes that the instruction names are{remembered}"
STRUCTURE: Final = "Walls and the like are left out where nothing is on them."

FIND: Final = "Find out which objects the instruction is about, and where they may be."
LOOK: Final = (
    "Go to rooms where they are remembered, or else where such things are usually kept.",
    "Make sure that an object is where you remember it before you use it: look there. Look only where it matters.",
    "If it is not there, look at assets near by, or where such a thing is usually kept.",
)
ONCE: Final = "Do not {looks} again what is marked inspected: that is refused."
REARRANGE: Final = "Once the objects are found, bring each to where it shall be by rearrange."
ONLY_TOLD: Final = "Use only names that stand in the scene. Never take for granted what is not told."
CORRECTED: Final = "What has to be done first is done by itself, where it is one of these: {repairs}."
UNCORRECTED: Final = "Nothing is done by itself: what has to be done first, you have to do yourself first."
WHEN_DONE: Final = "Call done only when the scene shows that all is as the instruction wants it."

SAY_DONE: Final = "\ndone(x): say that the instruction is carried out, as the scene now shows (x: any node)"


class Action(BaseModel):
    """The action of a reply."""

    model_config = ConfigDict(extra="forbid")

    function_name: str
    node: str | None
    relation: str | None
    destination: str | None


class LookPlanGraphReply(BaseModel):
    """What the model answers."""

    model_config = ConfigDict(extra="forbid", title="Reply")

    reason: str
    action: Action


@dataclass(frozen=True, slots=True)
class Telling:
    """What is true of a session: the robot acts on its `belief`; its actions are corrected (`fix`); all of the graph is
    shown (`whole`); it includes what is merely remembered (`priors`), also of what the instruction names (`named`); the
    prompt has `examples`.
    """

    belief: bool
    fix: bool
    whole: bool = False
    priors: bool = True
    named: bool = False
    examples: bool = True


IN_PAPER: Final = Telling(belief=True, fix=True)


class LookPlanGraph:
    """Method that asks `model` for one action a step."""

    def __init__(self, model: Model, vocabulary: str, telling: Telling = IN_PAPER) -> None:
        self._model, self._vocabulary = model, vocabulary
        self._system = Message("system", system_prompt(vocabulary, telling))

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


def system_prompt(vocabulary: str, telling: Telling = IN_PAPER) -> str:
    """Return the part of the prompt that is the same for all tasks of a vocabulary."""
    shown = [
        f"\nExample {number}\n{example['prompt']}\nReply: {json.dumps(example['reply'], ensure_ascii=False)}"
        for number, example in enumerate(examples("lookplangraph", vocabulary) if telling.examples else (), 1)
    ]
    return SYSTEM.format(
        seeing=" ".join(_seeing(vocabulary, telling)),
        advice="\n".join(f"- {line}" for line in _advice(vocabulary, telling)),
        terms="\n".join(filter(None, (relation_terms(vocabulary, types=False), state_terms(vocabulary)))),
        functions=functions(vocabulary, "stepwise"),
        done="" if DONE in operators_of(vocabulary) else SAY_DONE,
        examples="\n".join(shown),
    ).rstrip()


def _seeing(vocabulary: str, telling: Telling) -> Iterator[str]:
    """Yield what the robot sees, what it merely remembers, and what is left out."""
    looking = vocabulary_named(vocabulary).looking
    if telling.belief:
        yield ALL_ROOMS if telling.whole else ASSETS
        looks = sorted((LOOK_ACTIONS | looking.revealing) & {*operators_of(vocabulary)})
        yield REMEMBERING.format(looks=" or ".join(looks))
        if telling.priors:
            yield UNCONFIRMED
    elif telling.whole:
        yield WHOLE_NOW
    else:
        yield SEEING if looking.whole_rooms else KNOWING
    if not telling.whole:
        remembered = " remembered" if telling.belief else ""
        tells_named = telling.named and telling.priors and not looking.whole_rooms
        yield ELSEWHERE.format(
            seen=" or saw" if telling.belief else "", named=NAMED.format(remembered=remembered) if tells_named else ""
        )
        if vocabulary_named(vocabulary).conventions.structure:
            yield STRUCTURE


def _advice(vocabulary: str, telling: Telling) -> Iterator[str]:
    """Yield the advice on how to go about a task."""
    yield FIND
    if telling.belief:
        yield from LOOK
        yield ONCE.format(looks=" or ".join(sorted(LOOK_ACTIONS & {*operators_of(vocabulary)})))
    if "rearrange" in macros_of(vocabulary):
        yield REARRANGE
    yield ONLY_TOLD
    yield CORRECTED.format(repairs=", ".join(repairing_actions(vocabulary))) if telling.fix else UNCORRECTED
    yield WHEN_DONE


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
