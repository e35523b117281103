"""A robot as the environment of a session: LookPlanGraph's real world, with a robot in place of the person."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from typing import Final

from scenecypher.chat.model import Image, Model
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import InputError, UnknownReference
from scenecypher.planner.actions.ruled import AskBack, approval_by
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.perception.naming import KnownNode, with_names
from scenecypher.planner.perception.observation import WHOLE, Extent, Observation, Sighting
from scenecypher.planner.perception.picture import picture_of
from scenecypher.planner.perception.vision import read_image
from scenecypher.planner.perception.wording import one_line
from scenecypher.planner.worlds.belief_simulator import LONGEST_ACTOR
from scenecypher.planner.worlds.human import RealWorld
from scenecypher.robots.link import RobotLink, State, View

REASON: Final = 500  # characters that a model reads of a robot's reason


class RobotEnvironment(RealWorld):
    """The real world through a robot; `model` reads its pictures, if it sends such, given what is `known` of a node.

    With `accept`, a look that contradicts most of the belief is merged too.
    """

    def __init__(
        self, link: RobotLink, *, model: Model, known: Callable[[str], KnownNode], accept: bool = False
    ) -> None:
        super().__init__()
        self._link, self._model, self._known, self._accept = link, model, known, accept

    def _refusal(self, call: ActionCall, action_id: str) -> str:
        """Have the robot do an action; return why not, also if it was restarted meanwhile. Raises RobotGone."""
        state = self._link.ask("act", call.name, call.arguments, action_id=action_id)
        return "" if state.state == "done" else _reason(state)

    def observe(self, of: str, *, step: int) -> Observation:
        """Have the robot look at a node. Raises UnknownReference with its words if it can't, RobotGone.

        A picture is read by the model: raises ReplyRejected, ModelUnavailable, InputError for what is no picture.
        """
        known = self._known(of)
        state = self._link.ask("look", of)
        if state.state != "done":
            raise UnknownReference(f"{of} was not seen: {_reason(state)}")
        if state.view is not None:
            return _observation(state.view, known, step)
        return read_image(self._model, _image(state), known, step=step, accept=self._accept).observation

    def ask(self, question: AskBack) -> str | None:
        """Have a person at the robot asked before an action; return their approval, None if nobody is named."""
        call = parse_action(question.about)
        state = self._link.ask("approve", call.name, call.arguments, words=question.question)
        name = one_line(state.by)[:LONGEST_ACTOR] if state.state == "done" else ""
        return approval_by(name) if name else None

    def reset(self) -> None:
        """Refuse: nobody has told the robot how. Raises InputError."""
        raise InputError("a robot can't put everything back; do so by hand and start again")


def _reason(state: State) -> str:
    if state.state == "forgotten":
        return "the robot was restarted meanwhile: it is done or not"
    return one_line(state.reason[: 2 * REASON])[:REASON] or "the robot gave no reason"


def _observation(view: View, known: KnownNode, step: int) -> Observation:
    types = conventions_of(known.vocabulary).containment
    for used in (*view.covers, *(it.relation for it in view.things if it.relation is not None)):
        if used not in types:
            msg = f"the robot's view has the relation {used!r}; mend its program: {' or '.join(types)} are known"
            raise InputError(msg)
    extent = WHOLE if view.whole else Extent("part")
    things = []
    for it in view.things:
        support = None if it.relation is it.target is None else (it.relation, it.target)
        name, class_ = one_line(it.name), one_line(it.of_class)
        things.append(Sighting(name, class_, support, it.states, id=it.id, confidence=it.confidence))
    return with_names(Observation(known.id, tuple(things), step, view.covers, view.states, extent=extent), known)


def _image(state: State) -> Image:
    try:
        return picture_of(b64decode(state.picture, validate=True), "the robot's picture")
    except ValueError as error:
        raise InputError("the robot's picture is not in base64; mend the robot's program") from error
