"""The judge: a check that the server's own plan of a text only reads, and that it reads one scene only.

It does not rely on the steps that made the text. Each row of a plan comes from a leaf, and each leaf must be bound to
the scene: by the index that it seeks in, or by a filter above it that runs before anything else is computed. From there
the plan follows relations, and no relation leaves a scene. The same holds for the scopes of other graphs, whose nodes
are marked by a property of another name; of a graph without scopes only the operators are checked.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Final, Self, TypeAlias

from scenecypher.db.schema import KINDS, PAST, PAST_KINDS, SCENE_KEY, SCENES, Schema
from scenecypher.errors import QueryRefused


@dataclass(frozen=True, slots=True)
class Plan:
    """The server's plan of a query: an operator, its details, and its children, whose rows it takes.

    The server's estimates of rows are left out: they depend on the whole database, other scenes included.
    """

    operator: str
    details: str = ""
    children: tuple[Plan, ...] = ()

    @classmethod
    def of(cls, source: Mapping[str, Any]) -> Self:
        """Return the plan from EXPLAIN's result."""
        operator, details = source["operatorType"].partition("@")[0], source.get("args", {}).get("Details", "")
        return cls(operator, str(details), tuple(cls.of(child) for child in source.get("children", ())))

    def __iter__(self) -> Iterator[Plan]:
        """Yield the operator and all below it."""
        yield self
        for child in self.children:
            yield from child

    def text(self, indent: int = 0) -> str:
        """Return the plan as text, one operator per line, its children below and indented."""
        details = " ".join(self.details.split())
        line = f"{'  ' * indent}{self.operator}{' | ' + details if details else ''}"
        return "\n".join([line, *(child.text(indent + 1) for child in self.children)])


# --- the text in plans: conditions, and sub-queries that are printed inside an expression

NAME: Final = r"(?:`[^`]+`|[^\W\d][\w@]*)"
PIECE: Final = re.compile(r"`[^`]+`|\$`?\w+`?|[^\W\d][\w@]*|\d[\w.]*|<=|>=|<>|=~|\S")
"""A token of a plan's text, called a piece here."""
BINDING: Final = re.compile(
    rf"({NAME}) \. (\w+) (?:= \$__scene|IN \[ \$__scene \])|cache \[ ({NAME}) \. (\w+) \] = \$__scene"
)
"""A condition that a property, which must be the scope's, has the scope's value."""
OF_VECTORS: Final = re.compile(rf"({NAME}) \. set (?:= \$__set|IN \[ \$__set \])")
"""A condition that a vector is of the scene's set; only the gate's own text has that parameter."""
PROPERTY: Final = rf"(?:{NAME} \. \w+|cache \[ {NAME} \. \w+ \])"
INFALLIBLE: Final = re.compile(
    rf"(?:NOT )?{NAME} : [\w|&!%:() ]+"
    rf"|(?:NOT )?{NAME} = {NAME}"
    rf"|(?:NOT )?{PROPERTY} (?:=|<>|<|>|<=|>=|STARTS WITH|ENDS WITH|CONTAINS) (?:{PROPERTY}|\$\S+)"
    rf"|(?:NOT )?{PROPERTY} IN (?:\$\S+|\[ \$\S+(?: , \$\S+)* \])"
    rf"|{PROPERTY} IS (?:NOT )?NULL"
)
"""Conditions that can't fail, whatever a node holds: tests of labels and comparisons of properties."""
IN_LISTS: Final = re.compile(
    rf"(?:NOT )?\$\S+ IN (?:{NAME} \. (?:states|affordances)|cache \[ {NAME} \. (?:states|affordances) \])"
)
"""Conditions that can't fail in scenes, where these properties are lists of each node."""


def _depths(pieces: Sequence[str]) -> list[int]:
    return list(accumulate((piece in "([{") - (piece in ")]}") for piece in pieces))


def _split(pieces: Sequence[str], words: Collection[str]) -> list[list[str]]:
    """Return the parts between these words where they stand in no bracket."""
    parts: list[list[str]] = [[]]
    for piece, depth in zip(pieces, _depths(pieces), strict=True):
        if depth == 0 and piece in words:
            parts.append([])
        else:
            parts[-1].append(piece)
    return parts


def conditions(details: str) -> list[str]:
    """Return the parts of a conjunction in order of evaluation; the whole as one part if it has an OR at top level."""
    return list(_conjuncts(PIECE.findall(details)))


def _conjuncts(pieces: list[str]) -> Iterator[str]:
    while pieces[:1] == ["("] and 0 not in _depths(pieces)[:-1] and pieces[-1] == ")":
        pieces = pieces[1:-1]
    parts = _split(pieces, {"AND"})
    if len(parts) == 1 or len(_split(pieces, {"OR", "XOR"})) > 1:
        yield " ".join(pieces)
        return
    for part in parts:
        yield from _conjuncts(part)


def bound_name(condition: str, key: str = SCENE_KEY) -> str | None:
    """Return the node that a condition binds to the scene, or None if the condition says anything else."""
    match = BINDING.fullmatch(condition)
    return (match[1] or match[3]).strip("`") if match and key in {match[2], match[4]} else None


def columns(details: str) -> set[str]:
    """Return the columns that an aggregation gives: `a, count(o) AS n` gives `a` and `n`."""
    return {part[-1].strip("`") for part in _split(PIECE.findall(details), {","}) if part}


def names_in(details: str) -> set[str]:
    """Return all pieces of the details, names among them."""
    return {piece.strip("`") for piece in PIECE.findall(details)}


def cannot_fail(condition: str, schema: Schema = SCENES) -> bool:
    """Check that a condition can't fail: only comparisons, joined by AND and OR."""
    parts = re.split(r" (?:OR|AND) ", condition.replace("( ", "").replace(" )", ""))
    return all(INFALLIBLE.fullmatch(part) or (schema.is_scene and IN_LISTS.fullmatch(part)) for part in parts)


CLAUSE_WORDS: Final = frozenset(
    {"MATCH", "OPTIONAL", "WITH", "RETURN", "UNION", "UNWIND", "CALL", "ORDER", "SKIP", "LIMIT"}
)


def subqueries_are_bound(details: str, key: str = SCENE_KEY) -> bool:
    """Check that each sub-query in the details of an operator is bound to the scene, path by path."""
    pieces = PIECE.findall(details) if "{" in details else []
    return all(_is_match_bound(pieces, index + 1, key) for index, piece in enumerate(pieces) if piece == "MATCH")


def _is_match_bound(pieces: list[str], start: int, key: str) -> bool:
    """Check that each path of the MATCH at `start` has a node that its WHERE binds to the scene."""
    pattern, at = _until(pieces, start, CLAUSE_WORDS | {"WHERE"})
    where = _until(pieces, at + 1, CLAUSE_WORDS)[0] if pieces[at : at + 1] == ["WHERE"] else []
    conditions = [*_conjuncts(where)] if where else []
    bound = {bound_name(condition, key) for condition in conditions}
    bound |= {found[1].strip("`") for condition in conditions if (found := OF_VECTORS.fullmatch(condition))}
    return all(bound & _nodes(path) for path in _split(pattern, {","}))


def _until(pieces: list[str], start: int, words: frozenset[str]) -> tuple[list[str], int]:
    """Return the pieces up to one of these words or the closing bracket around them, and the index of that end."""
    for at, depth in enumerate(_depths(pieces[start:]), start):
        if depth < 0 or (depth == 0 and pieces[at] in words and pieces[at - 1] not in {"STARTS", "ENDS"}):
            return pieces[start:at], at
    return pieces[start:], len(pieces)


def _nodes(path: list[str]) -> set[str]:
    starts = [at for at, piece in enumerate(path) if piece == "(" and path[at + 2 : at + 3] == [")"]]
    return {path[at + 1].strip("`") for at in starts}


# --- plans

ROLES: Final = {
    "keeps": "Filter; CacheProperties; Expand(All); Expand(Into)",
    "asks": "SemiApply; AntiSemiApply",
    "cuts": """VarLengthExpand(All); VarLengthExpand(Into); VarLengthExpand(Pruning); VarLengthExpand(Pruning,BFS,All);
        VarLengthExpand(Pruning,BFS,Into); CartesianProduct; Apply; NodeHashJoin; ValueHashJoin; ProduceResults;
        Projection; ProjectEndpoints; PreserveOrder; Aggregation; EagerAggregation; OrderedAggregation; Distinct;
        OrderedDistinct; Sort; PartialSort; Top; PartialTop; Top1WithTies; Limit; Skip; Union; OrderedUnion; Optional;
        Eager; NullifyMetadata; EmptyResult; OptionalExpand(All); OptionalExpand(Into); Unwind; RollUpApply;
        LetSemiApply; LetAntiSemiApply; SelectOrSemiApply; SelectOrAntiSemiApply; LetSelectOrSemiApply;
        LetSelectOrAntiSemiApply; ConditionalApply; AntiConditionalApply; ArgumentTracker; NodeLeftOuterHashJoin;
        NodeRightOuterHashJoin; TriadicSelection; TriadicBuild; TriadicFilter; ShortestPath; StatefulShortestPath(All);
        StatefulShortestPath(Into); StatefulShortestPath(All, Trail); StatefulShortestPath(Into, Trail);
        StatefulShortestPath(All, Walk); StatefulShortestPath(Into, Walk); Repeat(All, Trail); Repeat(Into, Trail);
        Repeat(Trail); Repeat(All, Walk); Repeat(Into, Walk); BidirectionalRepeat(Trail)""",
    "fixed": "Argument; EmptyRow",
    "seek": """NodeIndexSeek; NodeIndexSeekByRange; NodeUniqueIndexSeek; NodeUniqueIndexSeekByRange;
        MultiNodeIndexSeek""",
    "scan": """NodeIndexScan; NodeByLabelScan; UnionNodeByLabelsScan; IntersectionNodeByLabelsScan;
        SubtractionNodeByLabelsScan; DirectedRelationshipTypeScan; UndirectedRelationshipTypeScan;
        DirectedUnionRelationshipTypesScan; UndirectedUnionRelationshipTypesScan; DirectedAllRelationshipsScan;
        UndirectedAllRelationshipsScan""",
}
"""The role of each operator in the search, upwards from a leaf, for the filter that binds the leaf. "keeps": the search
goes on. "cuts": the search ends, since the operator may rename, group, order or drop rows or compute something, and a
filter above it comes too late. "asks": a semi-join, which tests each row of its first child by its second. Leaves:
"fixed" brings no rows of its own, "seek" asks an index for the scene, "scan" reads more and needs the filter."""
OPERATORS: Final = {operator.strip(): role for role, names in ROLES.items() for operator in names.split(";")}
"""The operators that a plan may have. All others are refused: scans of all nodes, counts taken from the store,
look-ups by internal id, procedures, files, writes."""
WITHOUT_MEMBER: Final = {**OPERATORS, "AllNodesScan": "scan"}
"""The same for scopes whose nodes have no label in common."""
WHOLE_GRAPH: Final = """NodeCountFromCountStore; RelationshipCountFromCountStore; NodeIndexContainsScan;
    NodeIndexEndsWithScan; DirectedRelationshipIndexSeek; UndirectedRelationshipIndexSeek;
    DirectedRelationshipIndexSeekByRange; UndirectedRelationshipIndexSeekByRange; DirectedRelationshipIndexScan;
    UndirectedRelationshipIndexScan; DirectedRelationshipIndexContainsScan; UndirectedRelationshipIndexContainsScan;
    DirectedRelationshipIndexEndsWithScan; UndirectedRelationshipIndexEndsWithScan"""
WHOLE: Final = WITHOUT_MEMBER.keys() | {operator.strip() for operator in WHOLE_GRAPH.split(";")}
"""The same for a graph that may be read as a whole."""

VERIFIED: Final = ("2026.08.1", "5.26.30")
"""The versions of Neo4j on whose plans this table was tested; operators new in other versions are refused."""

GROUPING: Final = frozenset({"Aggregation", "EagerAggregation", "Distinct"})
LEAF_COMPUTATIONS: Final = frozenset({"Projection", "Unwind"})
"""Leaves that make rows from the text alone: `RETURN 1`, `UNWIND [1, 2] AS x`."""

SEEK: Final = re.compile(
    rf"(?:RANGE INDEX|UNIQUE) {NAME}:({NAME})\((\w+)(?:, \w+)*\) WHERE (\w+) = \$__scene(?= AND |,|$)"
)
"""A seek for the scope's value: the index's label, its first property, and the property that has the value."""
INDEX: Final = re.compile(r"(?:RANGE|TEXT|POINT) INDEX|UNIQUE|TOKEN LOOKUP")
SCANNED: Final = re.compile(rf"(?:(?:RANGE INDEX|UNIQUE) )?\(?({NAME})(?:[:)]|$)(?:.*[)>-]\(({NAME})\)$)?")
ADVICE: Final = "write each pattern as nodes with a label, such as (n:Object), and relations between them"


def check_plan(plan: Plan, query_type: str | None, schema: Schema = SCENES, *, version: str = VERIFIED[0]) -> None:
    """Refuse a plan that writes or that may read outside of the scope; `version` is the server's, for the message.

    Raises QueryRefused.
    """
    if query_type != "r":
        raise QueryRefused("write", "the query does more than read", hint="use MATCH … RETURN … only")
    key, allowed = schema.scope, OPERATORS if schema.member else WITHOUT_MEMBER
    for step in plan:
        if step.operator not in (allowed if key else WHOLE):
            raise _refused(step, schema, version)
        if key and not subqueries_are_bound(step.details, key):
            raise _refused(step, schema)
    for leaf, above in leaves(plan, key=key) if key else ():
        if not _is_bound(leaf, above, schema):
            raise _refused(leaf, schema)


def _refused(step: Plan, schema: Schema, version: str = VERIFIED[0]) -> QueryRefused:
    of = "" if version in VERIFIED else f" of Neo4j {version}"
    message = f"the server would read more than this {schema.scope}" if schema.scope else "the server would do more"
    return QueryRefused(
        "plan", f"{message} to answer the query ({step.operator}{of})", piece=step.operator, hint=ADVICE
    )


# --- leaves

StepsAbove: TypeAlias = "tuple[str | Plan, ...]"
"""Steps above a leaf, the nearest first: the conditions of a filter, or the second child of a semi-join."""


def leaves(plan: Plan, above: StepsAbove = (), *, key: str = SCENE_KEY) -> Iterator[tuple[Plan, StepsAbove]]:
    """Yield each leaf with the steps above it that test its unchanged rows."""
    if not plan.children:
        yield plan, above
        return
    match WITHOUT_MEMBER[plan.operator]:
        case "asks":
            first, asked = plan.children
            yield from leaves(first, (asked, *above), key=key)
            yield from leaves(asked, key=key)
            return
        case "keeps" if plan.operator == "Filter" and plan.children[0].operator == "Apply":
            first, then = plan.children[0].children
            yield from leaves(first, key=key)
            yield from leaves(then, (_without_names_of(first, plan.details, key),), key=key)
            return
        case "keeps" if plan.operator == "Filter":
            above = (plan.details, *above)
        case "cuts":
            above = ()
    for child in plan.children:
        yield from leaves(child, above, key=key)


def _without_names_of(first: Plan, details: str, key: str) -> str:
    """Return the conditions of a filter above an Apply in order, without those that bind a name of its first child."""
    names = _names_in(first)
    return " AND ".join(f"({it})" for it in conditions(details) if bound_name(it, key) not in names)


def _names_in(plan: Plan) -> set[str]:
    """Return the names that may be in scope above: the columns of an aggregation, else all names in its details."""
    if plan.operator in GROUPING:
        return columns(plan.details)
    return names_in(plan.details).union(*(_names_in(child) for child in plan.children))


def _is_bound(leaf: Plan, above: StepsAbove, schema: Schema) -> bool:
    match WITHOUT_MEMBER[leaf.operator]:
        case "fixed":
            return True
        case "seek":
            readable, key = schema.labels | {schema.member}, schema.scope
            if schema.is_scene:
                readable = readable | KINDS.keys() | {PAST, *PAST_KINDS}
            sought = [it for it in SEEK.findall(leaf.details) if it[0].strip("`") in readable and {*it[1:]} == {key}]
            return 0 < len(sought) == len(INDEX.findall(leaf.details))
        case "scan":
            match = SCANNED.match(leaf.details)
            return match is not None and _binds({name.strip("`") for name in match.groups() if name}, above, schema)
        case _:
            return leaf.operator in LEAF_COMPUTATIONS


def _binds(names: set[str], above: StepsAbove, schema: Schema) -> bool:
    """Check that a condition binds one of these nodes to the scene before any condition that may fail.

    A failure would tell of other scenes.
    """
    for step in above:
        if isinstance(step, Plan):
            if any(WITHOUT_MEMBER[part.operator] == "cuts" for part in step):
                return False
            if not _binds(names, next(leaves(step, key=schema.scope))[1], schema):
                return False
            continue
        for condition in conditions(step):
            bound = bound_name(condition, schema.scope)
            if bound in names:
                return True
            if bound is None and not cannot_fail(condition, schema):
                return False
    return False
