"""ReAct as LookPlanGraph compares it (appendices D and F-5): it acts step by step, and hears back as from ALFWorld.

Each reply is one action, of which one is to think; what became of it is a line or two of text, and the whole history is
in the prompt. Going to a room tells what furniture stands there. Going to anything else observes it: it is done by the
action that shows what is there, which is not offered by its own name (``discover_objects`` in GraSIF, ``find`` in
VirtualHome). Nothing is told that was not seen. The paper's prompt has one worked task, GraSIF's has one of ours.

Ours: actions are written as everywhere here, ``pick_up(cup-1)`` for the paper's ``pick up cup-1``; a refusal says why
nothing happens; and in BabyAI, where all in a room is in view, that is told after each action.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from scenecypher.chat.model import Message, Model, Usage
from scenecypher.db.schema import family
from scenecypher.errors import ReplyRejected
from scenecypher.planner.actions.vocabularies import DONE, macros_of, operators_of
from scenecypher.planner.method import Act, Ask, Decision, Done, GiveUp, Memory, Solve, Think, Turn
from scenecypher.planner.method import CallTool as ToolCall
from scenecypher.planner.prompts.calls import known_call
from scenecypher.planner.prompts.functions import WHOLE, functions
from scenecypher.planner.prompts.surroundings import explanation
from scenecypher.planner.prompts.talking import ask_in_text
from scenecypher.planner.prompts.worked import worked

NAME: Final = "react-alfworld"


@dataclass(frozen=True, slots=True)
class Approach:
    """How one goes to a thing and sees what is there: by which action, instead of which others, and its annotation."""

    look: str
    go: tuple[str, ...]
    words: str


APPROACHES: Final[Mapping[str, Approach]] = {
    "grasif": Approach(
        "discover_objects",
        ("go_to",),
        "go_to(x): go to an asset or object in the room, too; you see what is on and in it",
    ),
    "virtualhome": Approach(
        "find",
        ("walk", "run"),
        "walk(x): go up to an asset or object, too; you see what is on it, and in it if it is open",
    ),
}
"""By vocabulary; in BabyAI all in a room is in view."""

SYSTEM: Final = """\
You are a robot that carries out a task by actions, one a reply. After each you are told what comes of it and what you \
see.

The environment:
{environment}

The actions:
think: say what you know and what you do next; nothing happens
{actions}
done(): says that the task is carried out

Reply with one action and nothing else:
{form}"""
FORM: Final = "> think: your thought\nor\n> {example}"

_THINKS: Final = re.compile(r"think\s*(?::(.*)|\((.*)\))", re.DOTALL | re.IGNORECASE)
_CALL: Final = re.compile(r"([A-Za-z_]\w*)\s*\((.*)\)\.?")


class ReactAlfworld:
    """Decides by asking `model` for a thought and an action; `places` gives the names of the rooms."""

    def __init__(self, model: Model, vocabulary: str, places: Callable[[], tuple[str, ...]]) -> None:
        self._model, self._vocabulary, self._places = model, vocabulary, places
        self._going = APPROACHES.get(family(vocabulary))
        left_out = {DONE, *([self._going.look] if self._going else [])}
        known = (*operators_of(vocabulary), *macros_of(vocabulary))
        self._names = (*(name for name in known if name not in left_out), DONE)

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """The next action and its tokens. Raises ReplyRejected after three replies that mean nothing."""
        reason = _last_thought(memory)
        return ask_in_text(self._model, self._prompt(memory), lambda text: self._read(text, reason))

    def _prompt(self, memory: Memory) -> tuple[Message, ...]:
        text = SYSTEM.format(
            environment=explanation(self._vocabulary),
            actions=self._annotations(),
            form=FORM.format(example=self._example),
        )
        example = worked(NAME, self._vocabulary, memory.instruction)
        # What was seen at first: the rest is in the history.
        opening = f"{memory.opening}\nYour task is to: {memory.instruction}"
        said = [message for turn in memory.turns for message in self._said(turn)]
        system = "\n\n".join(filter(None, (text, example)))
        return Message("system", system), Message("user", opening), *said

    @property
    def _example(self) -> str:
        return f"{self._names[0]}(node_id)"

    def _read(self, text: str, reason: str) -> Decision:
        """The first action of a reply; what a model makes up after it is left out."""
        first = _first_action(text)
        thinks, called = _THINKS.fullmatch(first), _CALL.fullmatch(first.partition("\n")[0].strip())
        thought = (thinks[1] or thinks[2] or "").strip() if thinks else ""
        if thought:
            return Think(thought)
        if called is None:
            raise ReplyRejected(f"it is no action; reply in this form:\n{FORM.format(example=self._example)}")
        known_call(called[1], self._names)
        return self._action(called[1], called[2].strip(), reason)

    def _action(self, name: str, written: str, reason: str) -> Decision:
        if name == DONE:
            return Done(reason)
        going = self._going
        if going and name in going.go and written.strip("\"'") not in self._places():
            return Act(f"{going.look}({written})", reason)
        return Act(f"{name}({written})", reason)

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
            case Act(action):
                name, _, written = action.partition("(")
                went = self._going.go[0] if self._going and name == self._going.look else name
                return Message("assistant", f"> {went}({written}"), Message("user", self._heard(turn))
            case Think(thought):
                return Message("assistant", f"> think: {thought}"), Message("user", turn.feedback)
            case None:
                return (Message("user", f"Your last reply could not be used: {turn.feedback}"),)
            case Ask() | ToolCall() | Solve() | Done() | GiveUp():
                raise AssertionError

    def _heard(self, turn: Turn) -> str:
        """What an action brought, in ALFWorld's manner: nothing happens where it can't be; a look was a walk."""
        if not turn.refused:
            return turn.feedback
        why = turn.feedback.replace(f"{self._going.look}(", f"{self._going.go[0]}(") if self._going else turn.feedback
        return f"Nothing happens: {why}."


def _last_thought(memory: Memory) -> str:
    """What was thought just before."""
    last = memory.turns[-1].decision if memory.turns else None
    return last.thought if isinstance(last, Think) else ""


def _first_action(text: str) -> str:
    """The first action of a reply, without the sign before it."""
    before, *parts = re.split(r"^[ \t]*>", text, flags=re.MULTILINE)
    return (parts or [before])[0].strip()
