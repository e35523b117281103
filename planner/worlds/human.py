"""A person as the environment: carries out printed actions and takes pictures.

LookPlanGraph, section VII-E: an operator carries out the actions one by one and gives egocentric pictures when asked.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Final

from scenecypher.chat.model import Image, Model
from scenecypher.errors import ActionRefused, InputError, UnknownReference
from scenecypher.planner.actions.text import ActionCall, ActionIds, parse_action
from scenecypher.planner.perception.naming import KnownNode
from scenecypher.planner.perception.observation import Observation
from scenecypher.planner.perception.picture import read_picture
from scenecypher.planner.perception.vision import VisionObserver
from scenecypher.planner.worlds.belief_simulator import LOOK_ACTIONS

ATTEMPTS: Final = 3
"""Attempts at asking for a picture's path."""

AskPerson = Callable[[str], str]
"""Function that prints a question and returns the line of the answer; raises EOFError at the end of input."""


class RealWorld(ABC):
    """The real world, in which somebody carries out actions, and tells in words what can't be done."""

    def __init__(self) -> None:
        self._done = ActionIds()

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> None:
        """Have one action carried out; a repeated id is a no-op.

        Raises ActionRefused in the words of who should do it, InputError if another action has this id.
        """
        del because  # a person sees the reason, a robot needs none
        call = parse_action(action)
        if call.name in LOOK_ACTIONS or self._done.has(action_id, call):
            return  # a look is asked for next
        if why := self._refusal(call, action_id):
            raise ActionRefused(action, [why])
        self._done.add(action_id, call)

    @abstractmethod
    def _refusal(self, call: ActionCall, action_id: str) -> str:
        """Have an action carried out; return why it can't be, empty once it is done."""

    def body(self, agent: str) -> None:
        """Return None: what an agent can't do is told in words."""
        del agent


class HumanEnvironment(RealWorld):
    """The real world through a person; `model` reads the pictures, given what is `known` of a node.

    With `accept`, a look that contradicts most of the belief is merged too.
    """

    def __init__(
        self, ask: AskPerson, *, model: Model, known: Callable[[str], KnownNode], accept: bool = False
    ) -> None:
        super().__init__()
        self._ask = ask
        self._observer = VisionObserver(model, HandheldCamera(ask), known, accept=accept)

    def _refusal(self, call: ActionCall, action_id: str) -> str:
        del action_id
        return ask_person(self._ask, f"please do {call}; Enter when it is done, or why it can't be: ")

    def observe(self, of: str, *, step: int) -> Observation:
        """Ask for a picture and read it. Raises UnknownReference, InputError, ReplyRejected, ModelUnavailable."""
        return self._observer.observe(of, step=step)

    def reset(self) -> None:
        """Ask the person to restore the start."""
        ask_person(self._ask, "please put everything back to where it was at the start; Enter when it is done: ")


class HandheldCamera:
    """A camera held by a person, who enters each picture's path."""

    def __init__(self, ask: AskPerson) -> None:
        self._ask = ask

    def picture(self, of: str) -> Image:
        """Ask for a picture until its file can be read.

        Raises InputError after the last attempt, UnknownReference if the person takes no picture.
        """
        question = f"please take a picture of {of} and give its path; Enter for none: "
        for _ in range(ATTEMPTS - 1):
            try:
                return read_picture(self._path(of, question))
            except InputError as error:
                question = f"{error}: "
        return read_picture(self._path(of, question))

    def _path(self, of: str, question: str) -> Path:
        answer = ask_person(self._ask, question).strip("'\"")
        if not answer:
            msg = f"no picture was taken of {of}; go on without, or look at something else"
            raise UnknownReference(msg)
        return Path(answer).expanduser()


def ask_person(ask: AskPerson, question: str) -> str:
    """Return the answer, stripped. Raises InputError at the end of input."""
    try:
        return ask(question).strip()
    except EOFError as error:
        raise InputError("nobody answers any more; start again with a person at the terminal") from error
