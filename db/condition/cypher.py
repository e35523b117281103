"""Compilation of Conditions to one Cypher query: data only in parameters, names only from the registry."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, LiteralString, TypeAlias, assert_never

from scenecypher.db.condition.algebra import (
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
    Quantifier,
    Related,
    Same,
    Term,
    Within,
    conjuncts,
    terms,
)
from scenecypher.db.graph.value import Point, Value
from scenecypher.db.schema import CORE_PROPERTIES, EXTRA_PROPERTIES, HOLDING, KINDS, RELATION_TYPES

Names: TypeAlias = Mapping[Term, LiteralString]
"""The Cypher variable of each bound term."""


@dataclass(frozen=True, slots=True)
class CypherCondition:
    """A query that returns one row with one boolean, `holds`; its parameters besides `scene`, the scene's key."""

    text: LiteralString
    parameters: Mapping[str, Any]


def to_cypher(condition: Condition, bindings: Mapping[str, str]) -> CypherCondition:
    """Compile `condition` to a query of the same value as `evaluate`; conditions of one shape have the same text."""
    writer = _Writer()
    names: dict[Term, LiteralString] = {}
    look_ups: list[LiteralString] = []
    for term in dict.fromkeys(_free_terms(condition, frozenset())):
        node_id = term.id if isinstance(term, Id) else bindings.get(term)
        if node_id is not None:
            names[term] = writer.variable()
            where: LiteralString = "{scene: $scene, id: " + writer.parameter(node_id) + "}"
            look_ups.append("OPTIONAL MATCH (" + names[term] + ":Entity " + where + ")\n")
    text = "".join(look_ups) + "RETURN " + writer.expression(condition, names) + " AS holds"
    return CypherCondition(text, writer.parameters)


@dataclass(slots=True)
class _Writer:
    """Writer of expressions that are true or false, never null, and collector of their parameters."""

    parameters: dict[str, Any] = field(default_factory=dict)
    variables: int = 0

    def parameter(self, value: Any) -> LiteralString:
        name: LiteralString = "p" + _numeral(len(self.parameters))
        self.parameters[name] = value
        return "$" + name

    def variable(self) -> LiteralString:
        self.variables += 1
        return "n" + _numeral(self.variables)

    def expression(self, condition: Condition, names: Names) -> LiteralString:
        match condition:
            case And():
                return self._joined(" AND ", condition.parts, names) or "true"
            case Or():
                return self._joined(" OR ", condition.parts, names) or "false"
            case Not():
                return "NOT " + self.expression(condition.part, names)
            case Exists() | ForAll() | AtLeast() | Exactly():
                return self._quantified(condition, names)
            case Related() | HeldBy() | Within() | Same():
                return self._between(condition, names)
            case HasState() | HasClass() | HasKind() | HasAffordance() | PropertyEquals():
                node = names.get(condition.x)
                return "coalesce(" + self._of_node(condition, node) + ", false)" if node else "false"
            case _:
                assert_never(condition)

    def _joined(self, link: LiteralString, parts: Iterable[Condition], names: Names) -> LiteralString:
        written: list[LiteralString] = [self.expression(part, names) for part in parts]
        return "(" + link.join(written) + ")" if written else ""

    def _of_node(
        self, atom: HasState | HasClass | HasKind | HasAffordance | PropertyEquals, node: LiteralString
    ) -> LiteralString:
        match atom:
            case HasState():
                return self.parameter(atom.state) + " IN " + node + ".states"
            case HasAffordance():
                return self.parameter(atom.affordance) + " IN " + node + ".affordances"
            case HasClass():
                return node + ".class = " + self.parameter(atom.class_)
            case HasKind():
                return node + ":" + _registered(atom.kind, KINDS)
            case PropertyEquals():
                return self._equals(atom, node)
            case _:
                assert_never(atom)

    def _equals(self, atom: PropertyEquals, node: LiteralString) -> LiteralString:
        """Compare value and type: the server takes 1 and 1.0 for equal."""
        key = _registered(atom.key, CORE_PROPERTIES) or _registered(atom.key, EXTRA_PROPERTIES)
        value = node + ("." + key if key else "[" + self.parameter(atom.key) + "]")
        same: LiteralString = value + " = " + self._value(atom.value)
        type_ = _number_type(atom.value)
        return "(" + value + " IS :: " + type_ + " AND " + same + ")" if type_ else same

    def _value(self, value: Value) -> LiteralString:
        match value:
            case Point():
                return "point(" + self.parameter(_axes(value)) + ")"
            case tuple() if any(isinstance(item, Point) for item in value):
                axes = [_axes(item) for item in value if isinstance(item, Point)]
                return "[axes IN " + self.parameter(axes) + " | point(axes)]"
            case tuple():
                return self.parameter([*value])
            case _:
                return self.parameter(value)

    def _between(self, atom: Related | HeldBy | Within | Same, names: Names) -> LiteralString:
        match atom:
            case Related():
                pattern = self._pattern(names.get(atom.source), (atom.type,), names.get(atom.target))
            case HeldBy():
                pattern = self._pattern(names.get(atom.agent), HOLDING, names.get(atom.x))
            case Within():
                pattern = self._path(names.get(atom.x), atom.types, names.get(atom.y))
            case Same():
                x, y = names.get(atom.x), names.get(atom.y)
                return "coalesce(" + x + " = " + y + ", false)" if x and y else "false"
        return "EXISTS { MATCH " + pattern + " }" if pattern else "false"

    def _pattern(
        self, source: LiteralString | None, types: Iterable[str], target: LiteralString | None
    ) -> LiteralString:
        if source is None or target is None:
            return ""
        return "(" + source + ")-[" + self._types(types) + "]->(" + target + ")"

    def _path(self, source: LiteralString | None, types: Iterable[str], target: LiteralString | None) -> LiteralString:
        """Match one shortest path: the server then visits each node once, however many paths there are."""
        if source is None or target is None:
            return ""
        return "SHORTEST 1 (" + source + ") (()-[" + self._types(types) + "]->())+ (" + target + ")"

    def _types(self, types: Iterable[str]) -> LiteralString:
        """Write registry types into the text; if the scene declares one of them, compare all with a parameter."""
        wanted = [*types]
        known: list[LiteralString] = [name for name in RELATION_TYPES if name in wanted]
        if len(known) == len({*wanted}):
            return ":" + "|".join(known)
        relation = self.variable()
        return relation + " WHERE type(" + relation + ") IN " + self.parameter(wanted)

    def _quantified(self, condition: Quantifier, names: Names) -> LiteralString:
        node = self.variable()
        inner: dict[Term, LiteralString] = {**names, condition.var: node}
        found = self._found(condition, node, inner)
        match condition:
            case Exists():
                return "EXISTS { " + found + " }"
            case ForAll():
                return "NOT EXISTS { " + found + " AND NOT " + self.expression(condition.then, inner) + " }"
            case AtLeast():
                return "COUNT { " + found + " } >= " + self.parameter(condition.n)
            case Exactly():
                return "COUNT { " + found + " } = " + self.parameter(condition.n)
            case _:
                assert_never(condition)

    def _found(self, condition: Quantifier, node: LiteralString, names: Names) -> LiteralString:
        """Match the witnesses by a pattern that lets the planner start at an index or a neighbour."""
        label: LiteralString = "Entity"
        links: list[LiteralString] = []
        facts: list[LiteralString] = []
        for part in conjuncts(condition.where):
            match part:
                case HasKind() if part.x == condition.var and label == "Entity":
                    label = _registered(part.kind, KINDS)
                case HasClass() if part.x == condition.var:
                    facts.append(self._of_node(part, node))
                case Related() if (part.source == condition.var) is not (part.target == condition.var):
                    pattern = self._pattern(names.get(part.source), (part.type,), names.get(part.target))
                    (links if pattern else facts).append(" MATCH " + pattern if pattern else "false")
                case _:
                    facts.append(self.expression(part, names))
        where: LiteralString = " WHERE " + (" AND ".join(facts) or "true")
        return "MATCH (" + node + ":" + label + " {scene: $scene})" + "".join(links) + where


def _free_terms(condition: Condition, bound: frozenset[str]) -> Iterable[Term]:
    match condition:
        case And() | Or():
            for part in condition.parts:
                yield from _free_terms(part, bound)
        case Not():
            yield from _free_terms(condition.part, bound)
        case ForAll():
            yield from _free_terms(condition.where, bound | {condition.var})
            yield from _free_terms(condition.then, bound | {condition.var})
        case Exists() | AtLeast() | Exactly():
            yield from _free_terms(condition.where, bound | {condition.var})
        case _:
            yield from (term for term in terms(condition) if term not in bound)


def _registered(name: str, registry: Iterable[LiteralString]) -> LiteralString:
    """Return the registry's literal that is equal to `name`, else empty text."""
    for known in registry:
        if known == name:
            return known
    return ""


def _numeral(number: int) -> LiteralString:
    digits: Final[tuple[LiteralString, ...]] = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
    return (_numeral(number // 10) if number > 9 else "") + digits[number % 10]


def _number_type(value: Value) -> LiteralString:
    first = value[0] if isinstance(value, tuple) and value else value
    number: LiteralString = "INTEGER" if type(first) is int else "FLOAT" if type(first) is float else ""
    return "LIST<" + number + " NOT NULL> NOT NULL" if number and isinstance(value, tuple) else number


def _axes(point: Point) -> dict[str, float]:
    axes = {"x": point.x, "y": point.y}
    return axes if point.z is None else {**axes, "z": point.z}
