"""A robot as the environment of a session: LookPlanGraph's real world, with a robot in place of the person."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Callable
from typing import Final

from scenecypher.chat.model import Image, Model
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import ActionRefused, InputError, UnknownReference
from scenecypher.planner.actions.ruled import AskBack, approval_by
from scenecypher.planner.actions.text import ActionIds, parse_action
from scenecypher.planner.perception.naming import KnownNode, with_names
from scenecypher.planner.perception.observation import WHOLE, Extent, Observation, Sighting
from scenecypher.planner.perception.picture import picture_of
from scenecypher.planner.perception.vision import read_image
from scenecypher.planner.perception.wording import one_line
from scenecypher.planner.worlds.belief_simulator import LONGEST_ACTOR, LOOK_ACTIONS
from scenecypher.robots.link import RobotLink
from scenecypher.robots.messages import State, Thing, View

REASON: Final = 500  # characters that a model reads of a robot's reason


class RobotEnvironment:
    """The real world through a robot; `model` reads its pictures, if it sends such, given what is `known` of a node.

    With `accept`, a look that contradicts most of the belief is merged too.
    """

    def __init__(
        self, link: RobotLink, *, model: Model, known: Callable[[str], KnownNode], accept: bool = False
    ) -> None:
        self._link, self._model, self._known, self._accept = link, model, known, accept
        self._done = ActionIds()

    def execute(self, action: str, *, action_id: str, because: str | None = None) -> None:
        """Have the robot do one action; a repeated id is a no-op.

        Raises ActionRefused with the robot's words if it can't be done, or if the robot was restarted meanwhile;
        RobotGone if nothing is heard of it; InputError if another action has this id.
        """
        del because
        call = parse_action(action)
        if call.name in LOOK_ACTIONS or self._done.has(action_id, call):
            return  # a look is asked for next
        state = self._link.ask("act", call.name, call.arguments, action_id=action_id)
        if state.state != "done":
            raise ActionRefused(action, [_reason(state)])
        self._done.add(action_id, call)

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

    def body(self, agent: str) -> None:
        """Return None: the robot tells in words what can't be done."""
        del agent

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
    things = tuple(map(_sighting, view.things))
    return with_names(Observation(known.id, things, step, view.covers, view.states, extent=extent), known)


def _sighting(thing: Thing) -> Sighting:
    support = None if thing.relation is None and thing.target is None else (thing.relation, thing.target)
    name, class_ = one_line(thing.name), one_line(thing.of_class)
    return Sighting(name, class_, support, thing.states, id=thing.id, confidence=thing.confidence)


def _image(state: State) -> Image:
    try:
        return picture_of(b64decode(state.picture, validate=True), "the robot's picture")
    except ValueError as error:
        raise InputError("the robot's picture is not in base64; mend the robot's program") from error
