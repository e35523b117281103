"""Actions of a user's own for a scene: read from a PDDL domain, stored as its vocabulary, and taken away again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.condition import Condition, explain
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.schema import Declared
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import base_name
from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.pddl import domain_data as domains
from scenecypher.importers.pddl.domain import DomainReader, read_domain
from scenecypher.importers.pddl.problem import read_problem
from scenecypher.importers.pddl.syntax import read_pddl_file
from scenecypher.planner.actions import operator as op
from scenecypher.planner.vocabularies.vocabulary import Planning, Vocabulary, Words

IN_HAND: Final = op.Choose(
    "in_hand", (c.And((c.HeldBy("in_hand", op.AGENT), c.Not(c.PropertyEquals("in_hand", "name", "")))),)
)
"""What the agent holds; no name is empty, and asking for it makes the name known to the message."""


def operators_of_domain(domain: domains.Domain) -> dict[str, op.Operator]:
    """Return the operators of a domain, and of those that the scene has besides, by name."""
    return {action.name: _operator(action, domain) for action in domain.all_actions}


def _operator(action: domains.DomainAction, domain: domains.Domain) -> op.Operator:
    constants = {node: f"the_{number}" for number, node in enumerate(_constants(action))}
    choose = tuple(op.Choose(var, (c.Same(var, node),)) for node, var in constants.items())
    empty = any(op.asks_empty_hand(it.condition) for it in action.requires)
    return op.Operator(
        action.name,
        tuple(op.Parameter(it.name, " or ".join(it.types) or "any node") for it in action.parameters),
        tuple(_requirement(it, domain) for it in action.requires),
        tuple(_effect(it, constants) for it in action.effects),
        action.words,
        (*choose, IN_HAND) if empty else choose,
    )


def _constants(action: domains.DomainAction) -> Iterator[c.Id]:
    """Yield each constant that an effect changes, once."""
    yield from dict.fromkeys(node for it in action.effects for node in it.nodes if isinstance(node, c.Id))


def _requirement(required: domains.ActionRequirement, domain: domains.Domain) -> op.Requirement:
    if required.of_type:
        return op.Requirement(required.condition, required.words, "affordance")
    message = f"{required.words} does not hold"
    if op.asks_empty_hand(required.condition):
        message += f": {{{op.AGENT}}} HOLDS {{{IN_HAND.var}}}"
    return op.Requirement(required.condition, message, repair=_repair(required.condition, domain))


def _effect(effect: domains.ActionEffect, constants: Mapping[c.Id, str]) -> op.Effect:
    x, *others = (constants[node] if isinstance(node, c.Id) else node for node in effect.nodes)
    form, made = effect.form, _state_change(effect, x)
    if form.how == "relation":
        relate = op.Relate(x, form.word, others[0])
        made = relate if effect.holds else op.Unrelate(x, (form.word,), others[0], directed=True)
    *outer, last = effect.each or (None,)
    if last is None:
        return made if effect.when == c.ALWAYS else op.When(effect.when, (made,))
    made = op.ForEach(last[0], c.And((last[1], effect.when)), (made,))
    for var, where in reversed([it for it in outer if it is not None]):
        made = op.ForEach(var, where, (made,))
    return made


def _state_change(effect: domains.ActionEffect, x: str) -> op.Effect:
    form = effect.form
    if effect.holds:
        return op.Become(x, form.word, instead_of=form.otherwise)
    return op.Cease(x, form.word) if form.otherwise is None else op.Become(x, form.otherwise, instead_of=form.word)


# --- corrections: an action whose effect is another's missing precondition


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A fact that must hold, or must not: the stored word, its nodes."""

    word: str
    nodes: tuple[c.Term, ...]
    holds: bool


def _repair(condition: c.Condition, domain: domains.Domain) -> op.Repair | None:
    """Return the first action of the domain with the effect that `condition` asks for; None for no single fact."""
    found = _achiever(condition, domain)
    return _repair_by(*found, domain) if found else None


def _achiever(condition: c.Condition, domain: domains.Domain) -> tuple[domains.DomainAction, dict[str, str]] | None:
    """Return the first action that makes a fact hold, and the condition's variables by the action's."""
    wanted = _wanted(condition)
    for action in domain.all_actions if wanted else ():
        for effect in action.effects:
            bound = _unified(effect, wanted) if wanted else None
            if bound is not None:
                return action, bound
    return None


def _wanted(condition: c.Condition) -> _Wanted | None:
    match condition:
        case c.HasState(x, state):
            return _Wanted(state, (x,), holds=True)
        case c.Related(source, type_, target):
            return _Wanted(type_, (source, target), holds=True)
        case _ if op.asks_empty_hand(condition):
            return _Wanted("HOLDS", (op.AGENT, IN_HAND.var), holds=False)
        case c.Not(part):
            inner = _wanted(part)
            return replace(inner, holds=not inner.holds) if inner else None
    return None


def _unified(effect: domains.ActionEffect, wanted: _Wanted) -> dict[str, str] | None:
    """Return the requirement's variable for each of the action's, if the effect makes the wanted fact."""
    if effect.form.word != wanted.word or effect.holds != wanted.holds or effect.when != c.ALWAYS or effect.each:
        return None
    bound: dict[str, str] = {}
    for mine, theirs in zip(effect.nodes, wanted.nodes, strict=True):
        if isinstance(mine, c.Id) or isinstance(theirs, c.Id) or op.AGENT in {mine, theirs}:
            if mine != theirs:
                return None
        elif bound.setdefault(mine, theirs) != theirs:
            return None
    return bound


def _repair_by(action: domains.DomainAction, bound: Mapping[str, str], domain: domains.Domain) -> op.Repair:
    """Return the repair by an action; each of its other parameters is chosen so that its own precondition holds.

    If no node meets all of it, one will do that meets what no action could make true.
    """
    names = {**bound, op.AGENT: op.AGENT}
    chosen = []
    parts = [part for it in action.requires for part in c.conjuncts(it.condition)]
    for parameter in action.parameters:
        if parameter.name in names:
            continue
        var = f"fit_{parameter.name}"[:64]
        names[parameter.name] = var
        known = {it.name for it in action.parameters if it.name in names} | {op.AGENT}
        fitting = [part for part in parts if parameter.name in c.free_variables(part) <= known]
        needed = [part for part in fitting if _achiever(part, domain) is None]
        among = (c.And(tuple(c.renamed(part, names, prefix="fit_") for part in wanted)) for wanted in (fitting, needed))
        chosen.append(op.Choose(var, tuple(dict.fromkeys(among))))
    return op.Repair(action.name, tuple(names[it.name] for it in action.parameters), tuple(chosen), tells_choices=True)


def vocabulary_of(name: str, base: Vocabulary, actions: str) -> Vocabulary:
    """Return `base` with the `actions` of a scene (JSON) instead of its own. Raises InputError if they are damaged."""
    try:
        domain = domains.domain_from_document(json.loads(actions), file="the scene's own actions")
    except (DocumentError, ValueError, RecursionError) as error:
        raise InputError(f"{error}; give the scene its actions again: `scenecypher domain add`") from error
    return replace(
        base,
        name=name,
        about=f"Actions of the PDDL domain {' and '.join(it.name for it in domain.all_domains)}.",
        base=None,
        operators=operators_of_domain(domain),
        macros={},
        words=Words(environment=base.words.environment, questions=base.words.questions),
        looking=replace(base.looking, revealing=frozenset()),
        planning=Planning(keeps_one_parent=False),
        problems=None,
    )


NAME_PREFIX = "pddl/"
NEXT_DOMAIN: Final = "\n; --- the next domain ---\n"
"""Stands between the texts of several domains."""


@dataclass(frozen=True, slots=True)
class AddedActions:
    """The scene with its new actions, their domain, and the names of the domains that it has besides.

    `replaced` tells that the domain replaces an earlier one of its name.
    """

    scene: SceneInfo
    domain: domains.Domain
    besides: tuple[str, ...]
    replaced: bool

    @property
    def forms(self) -> Mapping[str, str]:
        """How each predicate is stored, as a mapping file says it."""
        return {name: domains.form_text(form) for name, form in self.domain.predicates.items()}


def add_actions(store: SceneStore, name: str, domain: Path, *, mapping: Path | None = None) -> AddedActions:
    """Give a scene the actions of a PDDL domain instead of those of its vocabulary; its history stays.

    They are added to those of other domains that it was given, and replace those of a domain of the same name. Raises
    DocumentError naming the line of what can't be mapped, InputError for an action that it has already, SceneNotFound,
    SceneReplaced.
    """
    source = read_pddl_file(domain, "domain")
    snapshot = store.load(name)
    found = read_domain(source, _mapping(mapping), domains.SceneWords.of(snapshot.graph))
    before = own_domain(snapshot.info.declared)
    earlier = before.all_domains if before else ()
    texts = snapshot.info.declared.domain.split(NEXT_DOMAIN)
    kept = [pair for pair in zip(earlier, texts, strict=False) if pair[0].name != found.name]
    others = tuple(replace(other, others=()) for other, _ in kept)
    _check_names(found, others, source.file, name)
    declared = domains.declaration_of(replace(found, others=others), source, snapshot.info.declared)
    declared = replace(declared, domain=NEXT_DOMAIN.join((*(text for _, text in kept), source.text)))
    info = store.redeclare(snapshot.info, vocabulary=snapshot.info.vocabulary, declared=declared)
    return AddedActions(info, found, tuple(it.name for it in others), len(others) < len(earlier))


def _check_names(found: domains.Domain, others: tuple[domains.Domain, ...], file: str, scene: str) -> None:
    """Raise InputError for an action that another domain of the scene has too."""
    for other in others:
        for action in sorted({it.name for it in found.actions} & {it.name for it in other.actions}):
            msg = (
                f"{file}: the action {action} is in the domain {other.name} too, which {scene} has already; rename one "
                f"of them, or take its own actions away first: `scenecypher domain remove {scene}`"
            )
            raise InputError(msg)


def remove_actions(store: SceneStore, name: str) -> SceneInfo:
    """Take a scene's own actions away, so that it has those of its vocabulary. Raises SceneNotFound, SceneReplaced."""
    info = store.find(name)
    declared = replace(info.declared, actions="", domain="")
    return store.redeclare(info, vocabulary=base_name(info.vocabulary), declared=declared)


def read_pddl_scene(problem: Path, domain: Path, *, mapping: Path | None = None, name: str) -> ImportedScene:
    """Return the scene of a PDDL problem with the actions of its domain. Raises DocumentError naming the line."""
    source = read_pddl_file(domain, "domain")
    text = read_pddl_file(problem, "problem")
    scene = read_problem(text, DomainReader(source, _mapping(mapping) or domains.DomainMapping(), domains.SceneWords()))
    return ImportedScene(
        name,
        scene.graph,
        declared=domains.declaration_of(scene.domain, source),
        notes=scene.domain.notes,
        source=f"PDDL problem {text.name} of the domain {source.name}",
    )


def own_domain(declared: Declared) -> domains.Domain | None:
    """Return the domain of a scene's own actions; None if it has those of its vocabulary."""
    if not declared.actions:
        return None
    return domains.domain_from_document(json.loads(declared.actions), file="the scene's own actions")


def own_goal(declared: Declared) -> Condition | None:
    """Return the goal of the PDDL problem that a scene was made of; None if it has none."""
    domain = own_domain(declared)
    goals = (it.goal for it in domain.all_domains) if domain else ()
    return next((goal for goal in goals if goal is not None), None)


def own_goal_in_words(store: SceneStore, scene: SceneInfo) -> tuple[Condition, str] | None:
    """Return the goal of the PDDL problem that a scene was made of, also in words; None if it has none."""
    goal = own_goal(scene.declared)
    if goal is None:
        return None
    return goal, f"Reach the goal: {explain(goal, store.load(scene.name).graph, {})}"


def _mapping(file: Path | None) -> domains.DomainMapping | None:
    return domains.read_mapping(file) if file else None
