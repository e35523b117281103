"""ReAct as LookPlanGraph compares it (its baselines' appendix): it acts step by step, and hears back as from ALFWorld.

Each reply is a thought and an action; what became of it is one line of text. Going to an asset observes it: going to
anything but a room is done by the action that shows what is there, which is not offered by its own name
(``discover_objects`` in GraSIF, ``find`` in VirtualHome). The paper is silent on what it sees at first. Ours: the
places, what is in the room, nothing that was not seen (``priors`` off), no example, and ``done()`` as the action that
ends it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from chat.model import Message, Model, Usage
from db.schema import family
from planner.actions.vocabularies import DONE, macros_of, operators_of
from planner.method import Act, Ask, Decision, Done, GiveUp, Memory, Solve, Think, Turn
from planner.method import Call as ToolCall
from planner.prompts.calls import FORM, Step, known_call, step_in
from planner.prompts.functions import WHOLE, functions
from planner.prompts.surroundings import explanation
from planner.prompts.talking import ask_in_text


@dataclass(frozen=True, slots=True)
class Going:
    """How one goes to a thing and sees what is there: by which action, instead of which others, and its annotation."""

    look: str
    go: tuple[str, ...]
    words: str


GOING: Final[Mapping[str, Going]] = {
    "grasif": Going(
        "discover_objects",
        ("go_to",),
        "go_to(x): go to an asset or object in the room, too; you see what is on and in it",
    ),
    "virtualhome": Going(
        "find",
        ("walk", "run"),
        "walk(x): go up to an asset or object, too; you see what is on it, and in it if it is open",
    ),
}
"""By vocabulary; in BabyAI all in a room is in view."""

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
        self._going = GOING.get(family(vocabulary))
        left_out = {DONE, *([self._going.look] if self._going else [])}
        known = (*operators_of(vocabulary), *macros_of(vocabulary))
        self._names = (*(name for name in known if name not in left_out), DONE)

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """The next action and its tokens. Raises ReplyRejected after three replies that mean nothing."""
        return ask_in_text(self._model, self._prompt(memory), self._read)

    def _prompt(self, memory: Memory) -> tuple[Message, ...]:
        text = SYSTEM.format(
            environment=explanation(self._vocabulary),
            actions=self._annotations(),
            form=FORM.format(example=self._example),
        )
        # What was seen at first: the rest is in the history.
        opening = f"You look around.\n{memory.opening}\n\nYour task is to: {memory.instruction}"
        said = [message for turn in memory.turns for message in self._said(turn)]
        return Message("system", text), Message("user", opening), *said

    @property
    def _example(self) -> str:
        return f"{self._names[0]}(node_id)"

    def _read(self, text: str) -> Decision:
        step = step_in(text, self._example)
        known_call(step.name, self._names)
        if step.name == DONE:
            return Done(step.thought)
        going = self._going
        if going and step.name in going.go and step.written.strip("\"'") not in self._places():
            return Act(f"{going.look}({step.written})", step.thought)
        return Act(f"{step.name}({step.written})", step.thought)

    def _annotations(self) -> str:
        """The actions, without the one that goes by another's name."""
        told = functions(self._vocabulary, WHOLE)
        if self._going is None:
            return told
        lines = [line for line in told.splitlines() if not line.startswith(f"{self._going.look}(")]
        return "\n".join([*lines, self._going.words])

    def _said(self, turn: Turn) -> tuple[Message, ...]:
        """A turn as it was said: a look was a walk."""
        match turn.decision:
            case Act(action, reason):
                heard = Message("user", f"Observation: {_heard(turn)}")
                name, _, written = action.partition("(")
                went = self._going.go[0] if self._going and name == self._going.look else name
                return Message("assistant", str(Step(reason, went, written.removesuffix(")")))), heard
            case None:
                return (Message("user", f"Your last reply could not be used: {turn.feedback}"),)
            case Ask() | ToolCall() | Think() | Solve() | Done() | GiveUp():
                raise AssertionError


def _heard(turn: Turn) -> str:
    """What an action brought, in ALFWorld's manner: nothing happens where it can't be."""
    return f"Nothing happens: {turn.feedback}." if turn.refused else f"{turn.feedback}."
