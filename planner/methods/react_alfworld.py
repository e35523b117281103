"""ReAct as LookPlanGraph compares it (its baselines' appendix): it acts step by step, and hears back as from ALFWorld.

Each reply is a thought and an action; what became of it is one line of text. Going to an asset observes it: where
looking is an action of its own (GraSIF), that is what ``go_to`` of anything but a room does. The paper is silent on
what it sees at first. Ours: the places, what is in the room, nothing that was not seen (``priors`` off), no example,
and ``done()`` as the action that ends it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from chat.model import Message, Model, Usage
from planner.actions.vocabularies import DONE, macros_of, operators_of
from planner.method import Act, Ask, Decision, Done, GiveUp, Memory, Solve, Think, Turn
from planner.method import Call as ToolCall
from planner.prompts.calls import FORM, Step, known_call, step_in
from planner.prompts.functions import WHOLE, functions
from planner.prompts.surroundings import explanation
from planner.prompts.talking import ask_in_text

LOOK: Final = "discover_objects"
GO: Final = "go_to"
GOING: Final = "go_to(x): go to an asset or object in the room, too; you see what is on and in it"

SYSTEM: Final = """\
You are an agent in an environment, and carry out a task by actions, one a reply. After each you are told what you see.

The environment:
{environment}

The actions:
{actions}
done(): says that the task is carried out.

Give every reply this form:
{form}"""


class ReactAlfworld:
    """Decides by asking `model` for a thought and an action; `places` gives the names of the rooms."""

    def __init__(self, model: Model, vocabulary: str, places: Callable[[], tuple[str, ...]]) -> None:
        self._model, self._vocabulary, self._places = model, vocabulary, places
        self._names = (*(name for name in (*operators_of(vocabulary), *macros_of(vocabulary)) if name != DONE), DONE)

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """The next action and its tokens. Raises ReplyRejected after three replies that mean nothing."""
        return ask_in_text(self._model, self._prompt(memory), self._read)

    def _prompt(self, memory: Memory) -> tuple[Message, ...]:
        text = SYSTEM.format(
            environment=explanation(self._vocabulary),
            actions="\n".join([functions(self._vocabulary, WHOLE), *([GOING] if LOOK in self._names else [])]),
            form=FORM.format(example=self._example),
        )
        # What was seen at first: the rest is in the history.
        opening = f"You look around.\n{memory.opening}\n\nYour task is to: {memory.instruction}"
        said = [message for turn in memory.turns for message in _said(turn)]
        return Message("system", text), Message("user", opening), *said

    @property
    def _example(self) -> str:
        return f"{self._names[0]}(node_id)"

    def _read(self, text: str) -> Decision:
        step = step_in(text, self._example)
        known_call(step.name, self._names)
        if step.name == DONE:
            return Done(step.thought)
        is_look = step.name == GO and LOOK in self._names and step.written.strip("\"'") not in self._places()
        return Act(f"{LOOK if is_look else step.name}({step.written})", step.thought)


def _said(turn: Turn) -> tuple[Message, ...]:
    """A turn as it was said: a look was a walk."""
    match turn.decision:
        case Act(action, reason):
            heard = Message("user", f"Observation: {_heard(turn)}")
            name, _, written = action.partition("(")
            step = Step(reason, GO if name == LOOK else name, written.removesuffix(")"))
            return Message("assistant", str(step)), heard
        case None:
            return (Message("user", f"Your last reply could not be used: {turn.feedback}"),)
        case Ask() | ToolCall() | Think() | Solve() | Done() | GiveUp():
            raise AssertionError


def _heard(turn: Turn) -> str:
    """What an action brought, in ALFWorld's manner: nothing happens where it can't be."""
    return f"Nothing happens: {turn.feedback}." if turn.refused else f"{turn.feedback}."
