"""Actions of a user's own for a scene: read from a PDDL domain, stored with the scene, and taken away again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from scenecypher.db.condition import Condition
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.schema import Declared
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.vocabulary import base_name
from scenecypher.importers.pddl.document import declaration_of, domain_from_document
from scenecypher.importers.pddl.domain import Domain, DomainReader, read_domain
from scenecypher.importers.pddl.forms import DomainMapping, SceneWords, form_text, read_mapping
from scenecypher.importers.pddl.problem import read_problem
from scenecypher.importers.pddl.syntax import read_pddl_file

NAME_PREFIX = "pddl/"


@dataclass(frozen=True, slots=True)
class AddedActions:
    """The scene with its new actions, their domain, and the name of the domain that they replace."""

    scene: SceneInfo
    domain: Domain
    replaced: str | None

    @property
    def forms(self) -> Mapping[str, str]:
        """How each predicate is stored, as a mapping file says it."""
        return {name: form_text(form) for name, form in self.domain.predicates.items()}


def add_actions(store: SceneStore, name: str, domain: Path, *, mapping: Path | None = None) -> AddedActions:
    """Give a scene the actions of a PDDL domain instead of those of its vocabulary; its history stays.

    Raises DocumentError naming the line of what can't be mapped, SceneNotFound, SceneReplaced.
    """
    source = read_pddl_file(domain, "domain")
    snapshot = store.load(name)
    found = read_domain(source, _mapping(mapping), SceneWords.of(snapshot.graph))
    before = own_domain(snapshot.info.declared)
    declared = declaration_of(found, source, snapshot.info.declared)
    info = store.redeclare(snapshot.info, vocabulary=snapshot.info.vocabulary, declared=declared)
    return AddedActions(info, found, before.name if before else None)


def remove_actions(store: SceneStore, name: str) -> SceneInfo:
    """Take a scene's own actions away, so that it has those of its vocabulary. Raises SceneNotFound, SceneReplaced."""
    info = store.find(name)
    declared = replace(info.declared, actions="", domain="")
    return store.redeclare(info, vocabulary=base_name(info.vocabulary), declared=declared)


def read_pddl_scene(problem: Path, domain: Path, *, mapping: Path | None = None, name: str) -> ImportedScene:
    """Return the scene of a PDDL problem with the actions of its domain. Raises DocumentError naming the line."""
    source = read_pddl_file(domain, "domain")
    text = read_pddl_file(problem, "problem")
    scene = read_problem(text, DomainReader(source, _mapping(mapping) or DomainMapping(), SceneWords()))
    return ImportedScene(
        name,
        scene.graph,
        declared=declaration_of(scene.domain, source),
        source=f"PDDL problem {text.name} of the domain {source.name}",
    )


def own_domain(declared: Declared) -> Domain | None:
    """Return the domain of a scene's own actions; None if it has those of its vocabulary."""
    if not declared.actions:
        return None
    return domain_from_document(json.loads(declared.actions), file="the scene's own actions")


def own_goal(declared: Declared) -> Condition | None:
    """Return the goal of the PDDL problem that a scene was made of; None if it has none."""
    domain = own_domain(declared)
    return domain.goal if domain else None


def _mapping(file: Path | None) -> DomainMapping | None:
    return read_mapping(file) if file else None
