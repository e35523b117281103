"""A domain as JSON, stored with its scene, so that acting needs neither the PDDL text nor its reader."""

from __future__ import annotations

from dataclasses import replace
from string import Formatter
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, PlainValidator

import scenecypher.db.condition as c
from scenecypher.db.condition.condition_json import TermForm
from scenecypher.db.graph.field_types import Form, Label, as_validator
from scenecypher.db.graph.graph_json import canonical_json
from scenecypher.db.graph.problems import validated
from scenecypher.db.graph.value import InvalidValue
from scenecypher.db.schema import Declared
from scenecypher.importers.pddl.domain import ActionEffect, ActionParameter, ActionRequirement, Domain, DomainAction
from scenecypher.importers.pddl.stored_as import FactForm, form_text, parse_form
from scenecypher.importers.pddl.syntax import PddlFile

VERSION: Final = 1


def domain_document(domain: Domain) -> dict[str, Any]:
    """Return a domain as JSON; `domain_from_document` gives the same domain back."""
    return {
        "version": VERSION,
        "name": domain.name,
        "predicates": {name: form_text(form) for name, form in domain.predicates.items()},
        "types": {name: [form_text(form) for form in forms] for name, forms in domain.types.items()},
        "constants": dict(domain.constants),
        "agent_types": sorted(domain.agent_types),
        "actions": [_action_document(action) for action in domain.actions],
        **({} if domain.goal is None else {"goal": c.condition_document(domain.goal)}),
        **({"others": [domain_document(other) for other in domain.others]} if domain.others else {}),
    }


def domain_from_document(document: object, *, file: str) -> Domain:
    """Parse a JSON document. Raises DocumentError with every problem and its JSON path; `file` names it."""
    return validated(_DomainForm, document, file).domain()


def declaration_of(domain: Domain, source: PddlFile, also: Declared | None = None) -> Declared:
    """Return what a scene with the actions of a domain declares: its relations and actions, and `also`."""
    types = (form.word for form in domain.predicates.values() if form.how == "relation")
    known = also or Declared()
    actions = canonical_json(domain_document(domain))
    return replace(known, relation_types=(*known.relation_types, *types), actions=actions, domain=source.text)


def _action_document(action: DomainAction) -> dict[str, Any]:
    return {
        "name": action.name,
        "words": action.words,
        "parameters": [{"name": it.name, "types": [*it.types]} for it in action.parameters],
        "requires": [
            {"condition": c.condition_document(it.condition), "words": it.words, "of_type": it.of_type}
            for it in action.requires
        ],
        "effects": [_effect_document(effect) for effect in action.effects],
    }


def _effect_document(effect: ActionEffect) -> dict[str, Any]:
    return {
        "form": form_text(effect.form),
        "nodes": [{"id": node.id} if isinstance(node, c.Id) else node for node in effect.nodes],
        "holds": effect.holds,
        "when": c.condition_document(effect.when),
        "each": [{"var": var, "where": c.condition_document(where)} for var, where in effect.each],
    }


def _condition(document: object) -> c.Condition:
    return c.condition_from_document(document, file="a condition")


def _message(words: str) -> str:
    """Return the words of a requirement if what stands in their braces are variables."""
    try:
        places = [(name, form, mark) for _, name, form, mark in Formatter().parse(words) if name is not None]
    except ValueError as error:
        raise InvalidValue(f"{words[:60]!r} has a brace that is no variable's ({error}); double it") from error
    for name, form, mark in places:
        if not c.VARIABLE.fullmatch(name) or form or mark:
            raise InvalidValue(f"{{{name[:60]}}} in {words[:60]!r} is no variable; write {{x}}")
    return words


_Message: TypeAlias = Annotated[str, Field(max_length=4_000), AfterValidator(as_validator(_message))]
_Condition: TypeAlias = Annotated[c.Condition, PlainValidator(as_validator(_condition))]
_FactForm: TypeAlias = Annotated[FactForm, PlainValidator(as_validator(parse_form))]
_Variable: TypeAlias = Annotated[str, Field(pattern=f"^{c.VARIABLE.pattern}$")]
_Words: TypeAlias = Annotated[str, Field(max_length=4_000)]


class _ParameterForm(Form):
    name: _Variable
    types: tuple[Label, ...] = Field(strict=False)


class _RequirementForm(Form):
    condition: _Condition
    words: _Message
    of_type: bool

    def requirement(self) -> ActionRequirement:
        return ActionRequirement(self.condition, self.words, self.of_type)


class _EachForm(Form):
    var: _Variable
    where: _Condition


class _EffectForm(Form):
    form: _FactForm
    nodes: tuple[TermForm, ...] = Field(strict=False)
    holds: bool
    when: _Condition
    each: tuple[_EachForm, ...] = Field(strict=False)

    def effect(self) -> ActionEffect:
        each = tuple((it.var, it.where) for it in self.each)
        return ActionEffect(self.form, self.nodes, self.holds, self.when, each)


class _ActionForm(Form):
    name: _Variable
    words: _Words
    parameters: tuple[_ParameterForm, ...] = Field(strict=False)
    requires: tuple[_RequirementForm, ...] = Field(strict=False)
    effects: tuple[_EffectForm, ...] = Field(strict=False)

    def action(self) -> DomainAction:
        return DomainAction(
            self.name,
            self.words,
            tuple(ActionParameter(it.name, it.types) for it in self.parameters),
            tuple(it.requirement() for it in self.requires),
            tuple(it.effect() for it in self.effects),
        )


class _DomainForm(Form):
    version: Literal[1]
    name: Label
    predicates: dict[Label, _FactForm]
    types: dict[Label, Annotated[tuple[_FactForm, ...], Field(strict=False)]]
    constants: dict[Label, Label]
    agent_types: Annotated[frozenset[Label], Field(strict=False)]
    actions: tuple[_ActionForm, ...] = Field(strict=False, min_length=1)
    goal: _Condition | None = None
    others: tuple[_DomainForm, ...] = Field((), strict=False)

    def domain(self) -> Domain:
        return Domain(
            self.name,
            self.predicates,
            self.types,
            self.constants,
            tuple(it.action() for it in self.actions),
            self.agent_types,
            goal=self.goal,
            others=tuple(it.domain() for it in self.others),
        )
