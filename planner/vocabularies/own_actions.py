"""Actions of a user's own for a scene: read from a PDDL domain, stored with the scene, and taken away again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from scenecypher.db.condition import Condition, explain
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.schema import Declared
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import base_name
from scenecypher.errors import InputError
from scenecypher.importers.pddl import domain_data as domains
from scenecypher.importers.pddl.domain import DomainReader, read_domain
from scenecypher.importers.pddl.problem import read_problem
from scenecypher.importers.pddl.syntax import read_pddl_file

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
