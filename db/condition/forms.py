"""The form of each operator in a JSON document; `condition()` gives the value that a checked form stands for."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import AfterValidator, Field, PlainValidator, WithJsonSchema

from scenecypher.db.condition.algebra import (
    MOST_NODES,
    VARIABLE,
    And,
    AtLeast,
    Condition,
    Exactly,
    Exists,
    ForAll,
    HasAffordance,
    HasClass,
    HasKind,
    HasState,
    HeldBy,
    Id,
    Not,
    Or,
    PropertyEquals,
    Related,
    Same,
    Term,
    Within,
    comparable_key,
    variable_name,
)
from scenecypher.db.graph.form import Form, JsonValue, Kind, Label, RelationType, StateText, by
from scenecypher.db.graph.value import InvalidValue, shown


def _term_from(document: Any) -> Term:
    match document:
        case str() if VARIABLE.fullmatch(document):
            return document
        case {"id": str(node_id), **rest} if not rest:
            return Id(node_id)
        case _:
            msg = f"{shown(document)} is no term; give a variable's name, or a node as {{'id': …}}"
            raise InvalidValue(msg)


_NODE_SCHEMA: Final = {
    "description": "a variable's name, or a node of the scene by its id",
    "anyOf": [
        {"type": "string", "pattern": f"^{VARIABLE.pattern}$"},
        {
            "type": "object",
            "properties": {"id": {"type": "string"}},
            "required": ["id"],
            "additionalProperties": False,
        },
    ],
}
_Term: TypeAlias = Annotated[Term, PlainValidator(by(_term_from)), WithJsonSchema(_NODE_SCHEMA)]
_Variable: TypeAlias = Annotated[str, AfterValidator(by(variable_name)), WithJsonSchema({"type": "string"})]
_Key: TypeAlias = Annotated[str, AfterValidator(by(comparable_key)), WithJsonSchema({"type": "string"})]
_Number: TypeAlias = Annotated[int, Field(ge=0, le=MOST_NODES)]


class _AndForm(Form):
    op: Literal["and"]
    parts: list[ConditionForm]

    def condition(self) -> Condition:
        return And(tuple(part.condition() for part in self.parts))


class _OrForm(Form):
    op: Literal["or"]
    parts: list[ConditionForm]

    def condition(self) -> Condition:
        return Or(tuple(part.condition() for part in self.parts))


class _NotForm(Form):
    op: Literal["not"]
    part: ConditionForm

    def condition(self) -> Condition:
        return Not(self.part.condition())


class _StateForm(Form):
    op: Literal["has_state"]
    x: _Term
    state: StateText

    def condition(self) -> Condition:
        return HasState(self.x, self.state)


class _ClassForm(Form):
    op: Literal["has_class"]
    x: _Term
    class_: Label = Field(alias="class")

    def condition(self) -> Condition:
        return HasClass(self.x, self.class_)


class _KindForm(Form):
    op: Literal["has_kind"]
    x: _Term
    kind: Kind

    def condition(self) -> Condition:
        return HasKind(self.x, self.kind)


class _AffordanceForm(Form):
    op: Literal["has_affordance"]
    x: _Term
    affordance: StateText

    def condition(self) -> Condition:
        return HasAffordance(self.x, self.affordance)


class _PropertyForm(Form):
    op: Literal["property_equals"]
    x: _Term
    key: _Key
    value: JsonValue

    def condition(self) -> Condition:
        return PropertyEquals(self.x, self.key, self.value)


class _RelatedForm(Form):
    op: Literal["related"]
    source: _Term
    type: RelationType
    target: _Term

    def condition(self) -> Condition:
        return Related(self.source, self.type, self.target)


class _HeldByForm(Form):
    op: Literal["held_by"]
    x: _Term
    agent: _Term

    def condition(self) -> Condition:
        return HeldBy(self.x, self.agent)


class _WithinForm(Form):
    op: Literal["within"]
    x: _Term
    y: _Term
    types: list[RelationType] = Field(default=["INSIDE", "ON"], min_length=1)

    def condition(self) -> Condition:
        return Within(self.x, self.y, tuple(self.types))


class _SameForm(Form):
    op: Literal["same"]
    x: _Term
    y: _Term

    def condition(self) -> Condition:
        return Same(self.x, self.y)


class _ExistsForm(Form):
    op: Literal["exists"]
    var: _Variable
    where: ConditionForm

    def condition(self) -> Condition:
        return Exists(self.var, self.where.condition())


class _ForAllForm(Form):
    op: Literal["for_all"]
    var: _Variable
    where: ConditionForm
    then: ConditionForm

    def condition(self) -> Condition:
        return ForAll(self.var, self.where.condition(), self.then.condition())


class _AtLeastForm(Form):
    op: Literal["at_least"]
    n: _Number
    var: _Variable
    where: ConditionForm

    def condition(self) -> Condition:
        return AtLeast(self.n, self.var, self.where.condition())


class _ExactlyForm(Form):
    op: Literal["exactly"]
    n: _Number
    var: _Variable
    where: ConditionForm

    def condition(self) -> Condition:
        return Exactly(self.n, self.var, self.where.condition())


_AtomForm: TypeAlias = (
    _StateForm
    | _ClassForm
    | _KindForm
    | _AffordanceForm
    | _PropertyForm
    | _RelatedForm
    | _HeldByForm
    | _WithinForm
    | _SameForm
)
ConditionForm: TypeAlias = Annotated[
    _AndForm | _OrForm | _NotForm | _AtomForm | _ExistsForm | _ForAllForm | _AtLeastForm | _ExactlyForm,
    Field(discriminator="op"),
]
