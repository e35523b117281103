"""A domain as data, and as the JSON that is stored with its scene, so that acting needs no reader of PDDL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from string import Formatter
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias

from pydantic import AfterValidator, ConfigDict, Field, PlainSerializer, PlainValidator, RootModel

import scenecypher.db.condition as c
from scenecypher.db.condition.condition_json import TermForm
from scenecypher.db.graph.field_types import Label, as_validator
from scenecypher.db.graph.graph_json import canonical_json
from scenecypher.db.graph.problems import validated
from scenecypher.db.graph.value import InvalidValue
from scenecypher.db.schema import Declared
from scenecypher.importers.pddl.stored_as import FactForm, form_text, parse_form
from scenecypher.importers.pddl.syntax import PddlFile


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


_Words: TypeAlias = Annotated[str, Field(max_length=4_000)]
_Message: TypeAlias = Annotated[_Words, AfterValidator(as_validator(_message))]
_Variable: TypeAlias = Annotated[str, Field(pattern=f"^{c.VARIABLE.pattern}$")]
_Condition: TypeAlias = Annotated[
    c.Condition, PlainValidator(as_validator(_condition)), PlainSerializer(c.condition_document)
]
_FactForm: TypeAlias = Annotated[FactForm, PlainValidator(as_validator(parse_form)), PlainSerializer(form_text)]
_Term: TypeAlias = Annotated[TermForm, PlainSerializer(lambda it: {"id": it.id} if isinstance(it, c.Id) else it)]
_EXACT: Final = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class ActionParameter:
    """A parameter of an action, and the types that a node must be of one of; none for any node."""

    __pydantic_config__ = _EXACT

    name: _Variable
    types: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionRequirement:
    """One conjunct of a precondition; `words` are its PDDL text, with ``{x}`` for the node x.

    `of_type` says that it is the type of a parameter.
    """

    __pydantic_config__ = _EXACT

    condition: _Condition
    words: _Message
    of_type: bool = False


class EachNode(NamedTuple):
    """A variable that stands for each node of which a condition is true."""

    var: _Variable
    where: _Condition


_Each: TypeAlias = Annotated[EachNode, PlainSerializer(lambda it: {"var": it[0], "where": c.condition_document(it[1])})]


@dataclass(frozen=True, slots=True)
class ActionEffect:
    """A fact that begins or ends to hold where `when` is true, for `each` variable's nodes of which a condition is."""

    __pydantic_config__ = _EXACT

    form: _FactForm
    nodes: tuple[_Term, ...]
    holds: bool
    when: _Condition = c.ALWAYS
    each: tuple[_Each, ...] = ()


@dataclass(frozen=True, slots=True)
class DomainAction:
    """An action without the node that acts among its parameters."""

    __pydantic_config__ = _EXACT

    name: _Variable
    words: _Words
    parameters: tuple[ActionParameter, ...]
    requires: tuple[ActionRequirement, ...]
    effects: tuple[ActionEffect, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain: the form of each predicate and type, its constants by name, its actions, and what was left out.

    `goal` is that of the problem whose scene the actions are for, if it has one. `others` are domains that the scene
    was given before. `notes` are not stored.
    """

    __pydantic_config__ = _EXACT

    name: Label
    predicates: Mapping[Label, _FactForm]
    types: Mapping[Label, tuple[_FactForm, ...]]
    constants: Mapping[Label, Label]
    actions: Annotated[tuple[DomainAction, ...], Field(min_length=1)]
    agent_types: Annotated[frozenset[Label], PlainSerializer(sorted)] = frozenset()
    notes: Annotated[tuple[str, ...], Field(exclude=True)] = ()
    goal: _Condition | None = None
    others: tuple[Domain, ...] = ()
    version: Literal[1] = 1

    @property
    def all_domains(self) -> tuple[Domain, ...]:
        """The domains of the scene, oldest first."""
        return (*self.others, self)

    @property
    def all_actions(self) -> tuple[DomainAction, ...]:
        """The actions of all domains of the scene."""
        return tuple(action for domain in self.all_domains for action in domain.actions)


class _Stored(RootModel[Domain]):
    """A stored domain."""


def domain_document(domain: Domain) -> dict[str, Any]:
    """Return a domain as JSON; `domain_from_document` gives the same domain back, without its notes."""
    document: dict[str, Any] = _Stored.model_construct(domain).model_dump(
        mode="json", exclude_none=True, exclude={"others"}
    )
    others = [domain_document(other) for other in domain.others]
    return document | ({"others": others} if others else {})


def domain_from_document(document: object, *, file: str) -> Domain:
    """Parse a JSON document. Raises DocumentError with every problem and its JSON path; `file` names it."""
    return validated(_Stored, document, file).root


def declaration_of(domain: Domain, source: PddlFile, also: Declared | None = None) -> Declared:
    """Return what a scene with the actions of a domain declares: its relations and actions, and `also`."""
    types = (form.word for form in domain.predicates.values() if form.how == "relation")
    known = also or Declared()
    actions = canonical_json(domain_document(domain))
    return replace(known, relation_types=(*known.relation_types, *types), actions=actions, domain=source.text)
