"""The simulator: checks an action, corrects it by rule where asked to, and commits it, one transaction an action."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Final
from uuid import uuid4

from scenecypher.db.graph.delta import Delta
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Committed, Intent, LockedPart
from scenecypher.db.store.footprint import Footprint, ReadPlan
from scenecypher.db.store.look import read_part
from scenecypher.db.store.reference import resolve_reference
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import ActionRefused, UnknownReference
from scenecypher.planner.actions.execution import First, Infeasible, Unmet, by_id, call_of, chosen, simulate
from scenecypher.planner.actions.macro import Macro
from scenecypher.planner.actions.operator import AGENT, Operator, Repair
from scenecypher.planner.actions.pruning import few_reads, reads_of
from scenecypher.planner.actions.reading import Way, choices_needs
from scenecypher.planner.actions.repeating import reused
from scenecypher.planner.actions.text import Call, operator_of, parse
from scenecypher.planner.actions.vocabularies import macros_of, operators_of

INSERTED: Final = "  [inserted: "
"""What the history has between an action that a correction inserted and the reason."""
MOST_INSERTED: Final = 8
"""Corrections before one action; more mean that the rules chase their tail."""


@dataclass(frozen=True, slots=True)
class Step:
    """An action that was carried out; `because` says why a correction inserted it, `seen` what it showed."""

    action: str
    version: int
    delta: Delta
    because: str | None = None
    seen: tuple[str, ...] = ()


class Simulator:
    """Acts on one scene. `agent` is the acting node's id (None: the one that is first when it first acts).

    `fix` inserts what is missing. Where an operator chooses among nodes, `first` says which is taken.
    """

    def __init__(
        self,
        store: SceneStore,
        scene: SceneInfo,
        *,
        actor: str = "person",
        agent: str | None = None,
        fix: bool = False,
        first: First = by_id,
    ) -> None:
        self.scene, self.fix, self._first = scene, fix, first
        self.operators: Mapping[str, Operator] = operators_of(scene.vocabulary)
        self.macros: Mapping[str, Macro] = macros_of(scene.vocabulary)
        self._store, self._actor, self._agent = store, actor, agent

    def act(self, text: str, *, expected_version: int | None = None) -> Iterator[Step]:
        """Carry out an action such as ``grab(soap_1001)``: each step as it is committed, the asked one last.

        With `expected_version`, only where nobody has changed the scene since that version, steps before it apart.

        A macro is carried out as its steps, of which the last counts as the asked one; with `fix` each is corrected
        like any other action. Raises ActionRefused (Infeasible with the unmet requirements), UnknownReference or
        ConflictError (another version), with nothing of that action committed; what was inserted before it stays.
        """
        call, at = parse(text), _At(expected_version)
        if call.name in self.macros:
            yield from self._expanded(call, self.macros[call.name], at)
        else:
            yield from self._corrected(call, None, set(), at)

    def once(self, text: str, *, action_id: str, because: str | None = None) -> Step:
        """Carry out this one action, uncorrected; again with the same `action_id` it is not done again.

        `because` says why another's correction inserted it. Raises ActionRefused, UnknownReference, InputError where
        the id was another action's.
        """
        return self._perform(parse(text), because, action_id=action_id)

    def _expanded(self, call: Call, macro: Macro, at: _At) -> Iterator[Step]:
        """The steps of a macro; those before the last are left out where they are done already.

        A word that is no node is refused before the first of them is committed.
        """
        steps = macro.steps(call)
        words = dict.fromkeys(word for step in steps for word in step.arguments)
        ids = {word: self._resolved(word) for word in words}
        *first, last = (Call(step.name, tuple(ids[word] for word in step.arguments)) for step in steps)
        for step in first:
            try:
                yield from self._corrected(step, f"{call} asks for it", set(), at)
            except Infeasible as refusal:
                if any(part.requirement.fault != "already" for part in refusal.unmet):
                    raise
        yield from self._corrected(last, None, set(), at)

    def _corrected(self, call: Call, because: str | None, inserted: set[Call], at: _At) -> Iterator[Step]:
        while True:
            try:
                yield at.after(self._perform(call, because, expected=at.version))
            except Infeasible as refusal:
                remedy = self._remedy(refusal)
                if remedy is None or remedy in inserted or len(inserted) == MOST_INSERTED:
                    raise
                refused = refusal.unmet
            else:
                return
            inserted.add(remedy)
            try:
                yield from self._corrected(remedy, refused[0].fact, inserted, at)
            except Infeasible as deeper:
                raise Infeasible(str(call), (*refused, *deeper.unmet)) from deeper

    def _perform(
        self, call: Call, because: str | None, *, action_id: str | None = None, expected: int | None = None
    ) -> Step:
        operator = operator_of(call, self.operators, self.macros)
        intent = Intent(self._actor, noted(call, because), action_id or uuid4().hex, expected, new=action_id is None)
        try:
            return self._commit(operator, call, because, intent)
        except _Unseen as unseen:
            ids = tuple(self._resolved(word) if word in unseen.words else word for word in call.arguments)
        by_id = Call(call.name, ids)
        try:
            return self._commit(operator, by_id, because, replace(intent, action=noted(by_id, because)))
        except _Unseen as unseen:
            msg = f"{', '.join(unseen.words)} went away meanwhile; look at the scene again"
            raise UnknownReference(msg) from unseen

    def _commit(self, operator: Operator, call: Call, because: str | None, intent: Intent) -> Step:
        """One action, by one transaction. Raises _Unseen where `call` has words that are no ids, ActionRefused."""
        decide = partial(self._decided, operator, call)
        done: Committed = self._store.act(self.scene, self._footprint(operator, call), decide, intent=intent)
        if done.repeated:
            self._check_same(call, done, intent.action_id)
        self.scene = replace(self.scene, version=max(done.version, self.scene.version))
        return Step(str(call), done.version, done.delta, because)

    def _check_same(self, call: Call, done: Committed, action_id: str) -> None:
        """Raises InputError where what was committed under this id is another action."""
        event = self._store.history(self.scene, after=done.version - 1)[0]
        before = event.action.partition(INSERTED)[0]
        if before not in {str(call), str(Call(call.name, tuple(map(self._resolved, call.arguments))))}:
            raise reused(action_id, before)

    def _footprint(self, operator: Operator, call: Call) -> Footprint:
        return Footprint(_reads(self.scene.vocabulary, operator.name), call.arguments, self._agent)

    def _decided(self, operator: Operator, call: Call, locked: LockedPart) -> Delta:
        return simulate(operator, locked.part, self._bound(operator, call, locked), action=str(call), first=self._first)

    def _bound(self, operator: Operator, call: Call, locked: LockedPart) -> dict[str, str]:
        """Ids by variable. Raises _Unseen for arguments that are no ids, ActionRefused where nobody can act."""
        if locked.agent is None:
            named = f"there is no agent {self._agent!r} here: name one that it has"
            nobody = "this scene has no agent: choose one that has"
            raise ActionRefused(str(call), [nobody if self._agent is None else named])
        self._agent = locked.agent
        unseen = tuple(word for word in call.arguments if word not in locked.part)
        if unseen:
            raise _Unseen(unseen)
        names = (parameter.name for parameter in operator.parameters)
        return {AGENT: locked.agent, **dict(zip(names, call.arguments, strict=True))}

    def _resolved(self, word: str) -> str:
        return resolve_reference(self._store.database, self.scene, word)

    def _remedy(self, refusal: Infeasible) -> Call | None:
        """What to do first, by rule; None where nothing helps, or a part of the precondition has no rule."""
        if not self.fix or any(part.requirement.repair is None for part in refusal.unmet):
            return None
        first = refusal.unmet[0]
        repair = first.requirement.repair
        return first.remedy or (self._looked_up(repair, first) if repair else None)

    def _looked_up(self, repair: Repair, unmet: Unmet) -> Call | None:
        """The remedy after a look at the scene for what it is to be done with."""
        known = {argument: unmet.bindings[argument] for argument in repair.arguments if argument in unmet.bindings}
        ways = {name: (Way(name),) for name in (AGENT, *known)}
        reads = few_reads((AGENT, *known), tuple(dict.fromkeys(choices_needs(repair.choose, ways))))
        footprint = Footprint(reads, tuple(known.values()), unmet.bindings[AGENT])
        part = read_part(self._store.database, self.scene, footprint)
        return call_of(repair, chosen(repair.choose, part, unmet.bindings))


def noted(call: Call, because: str | None) -> str:
    """An action as the history has it."""
    return str(call) if because is None else f"{call}{INSERTED}{because}]"


@dataclass(slots=True)
class _At:
    """The version that the scene must still have; our own steps move it on. None: whatever it has."""

    version: int | None

    def after(self, step: Step) -> Step:
        if self.version is not None:
            self.version = step.version
        return step


class _Unseen(Exception):
    """Words that are no ids: nothing is committed, and it never leaves this module."""

    def __init__(self, words: tuple[str, ...]) -> None:
        super().__init__(words)
        self.words = words


@cache
def _reads(vocabulary: str, name: str) -> ReadPlan:
    return reads_of(operators_of(vocabulary)[name])
