"""ReAct as LookPlanGraph compares it (its baselines' appendix): it acts step by step, and hears back as from ALFWorld.

Each reply is a thought and an action; what became of it is one line of text. Going to an asset observes it: the look
follows by itself, without a reply of the model, where looking is an action of its own (GraSIF). The paper is silent on
what it sees at first. Ours: the places, what is in the room, nothing that was not seen (``priors`` off), no example,
and ``done()`` as the action that ends it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from chat.model import Message, Model, Usage
from planner.actions.text import Call, parse
from planner.actions.vocabularies import DONE, macros_of, operators_of
from planner.method import Act, Ask, Decision, Done, GiveUp, Memory, Solve, Think, Turn
from planner.method import Call as ToolCall
from planner.prompts.calls import FORM, Step, known_call, step_in
from planner.prompts.surroundings import explanation
from planner.prompts.talking import ask_in_text

LOOK: Final = "discover_objects"
GO: Final = "go_to"

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
        """The next action and its tokens: none for the look that follows a walk. Raises ReplyRejected."""
        look = self._look(memory)
        if look is not None:
            return look, Usage()
        return ask_in_text(self._model, self._prompt(memory), self._read)

    def _look(self, memory: Memory) -> Act | None:
        """The look at the asset that was just gone to."""
        last = memory.turns[-1] if memory.turns else None
        if last is None or not isinstance(last.decision, Act) or last.refused or LOOK not in self._names:
            return None
        went = parse(last.decision.action)
        if went.name != GO or went.arguments[0] in self._places():
            return None
        return Act(str(Call(LOOK, went.arguments)))

    def _prompt(self, memory: Memory) -> tuple[Message, ...]:
        text = SYSTEM.format(
            environment=explanation(self._vocabulary), actions=memory.actions, form=FORM.format(example=self._example)
        )
        opening = f"You look around.\n{memory.view}\n\nYour task is to: {memory.instruction}"
        said = [message for turn in memory.turns for message in _said(turn)]
        return Message("system", text), Message("user", opening), *said

    @property
    def _example(self) -> str:
        return f"{self._names[0]}(node_id)"

    def _read(self, text: str) -> Decision:
        step = step_in(text, self._example)
        known_call(step.name, self._names)
        return Done(step.thought) if step.name == DONE else Act(f"{step.name}({step.written})", step.thought)


def _said(turn: Turn) -> tuple[Message, ...]:
    """A turn as it was said; of a look that followed by itself only what was seen."""
    match turn.decision:
        case Act(action, reason):
            heard = Message("user", f"Observation: {_heard(turn)}")
            call = parse(action) if not turn.refused else None
            if call is not None and call.name == LOOK and not reason:
                return (heard,)
            name, _, written = action.partition("(")
            return Message("assistant", str(Step(reason, name, written.removesuffix(")")))), heard
        case None:
            return (Message("user", f"Your last reply could not be used: {turn.feedback}"),)
        case Ask() | ToolCall() | Think() | Solve() | Done() | GiveUp():
            raise AssertionError


def _heard(turn: Turn) -> str:
    """What an action brought, in ALFWorld's manner: nothing happens where it can't be."""
    return f"Nothing happens: {turn.feedback}." if turn.refused else f"{turn.feedback}."
