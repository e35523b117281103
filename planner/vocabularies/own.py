"""The vocabulary of a scene with actions of its own, read from a PDDL domain and stored with the scene."""

from __future__ import annotations

import json
from dataclasses import replace

from scenecypher.errors import DocumentError, InputError
from scenecypher.importers.pddl.domain_data import domain_from_document
from scenecypher.planner.actions.from_domain import operators_of_domain
from scenecypher.planner.vocabularies.vocabulary import Planning, Vocabulary, Words


def vocabulary_of(name: str, base: Vocabulary, actions: str) -> Vocabulary:
    """Return `base` with the `actions` of a scene (JSON) instead of its own. Raises InputError if they are damaged."""
    try:
        domain = domain_from_document(json.loads(actions), file="the scene's own actions")
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
