"""The judge: a check that the server's own plan of a text reads one scene only.

It does not rely on the steps that made the text. Each row of a plan comes from a leaf, and each leaf must be bound to
the scene: by the index that it seeks in, or by a filter above it that runs before anything else is computed. From there
the plan follows relations, and no relation leaves a scene.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from scenecypher.db.gate.conditions import (
    NAME,
    bound_name,
    cannot_fail,
    columns,
    conditions,
    names_in,
    subqueries_are_bound,
)
from scenecypher.db.gate.plan import Plan
from scenecypher.errors import QueryRefused

OperatorRole: TypeAlias = Literal["keeps", "asks", "cuts", "fixed", "seek", "scan"]

# The role of each operator in the search, upwards from a leaf, for the filter that binds the leaf. "keeps": the search
# goes on. "cuts": the search ends, since the operator may rename, group, order or drop rows or compute something, and a
# filter above it comes too late. "asks": a semi-join, which tests each row of its first child by its second. Leaves:
# "fixed" brings no rows of its own, "seek" asks an index for the scene, "scan" reads more and needs the filter.
OPERATORS: Final[dict[str, OperatorRole]] = {
    **dict.fromkeys(("Filter", "CacheProperties", "Expand(All)", "Expand(Into)"), "keeps"),
    **dict.fromkeys(("VarLengthExpand(All)", "VarLengthExpand(Into)", "VarLengthExpand(Pruning)"), "cuts"),
    **dict.fromkeys(("VarLengthExpand(Pruning,BFS,All)", "VarLengthExpand(Pruning,BFS,Into)"), "cuts"),
    **dict.fromkeys(("CartesianProduct", "Apply", "NodeHashJoin", "ValueHashJoin"), "cuts"),
    **dict.fromkeys(("ProduceResults", "Projection", "ProjectEndpoints", "PreserveOrder"), "cuts"),
    **dict.fromkeys(("Aggregation", "EagerAggregation", "OrderedAggregation", "Distinct", "OrderedDistinct"), "cuts"),
    **dict.fromkeys(("Sort", "PartialSort", "Top", "PartialTop", "Top1WithTies", "Limit", "Skip"), "cuts"),
    **dict.fromkeys(("Union", "OrderedUnion", "Optional", "Eager", "NullifyMetadata", "EmptyResult"), "cuts"),
    **dict.fromkeys(("OptionalExpand(All)", "OptionalExpand(Into)", "Unwind", "RollUpApply"), "cuts"),
    **dict.fromkeys(("SemiApply", "AntiSemiApply"), "asks"),
    **dict.fromkeys(("LetSemiApply", "LetAntiSemiApply"), "cuts"),
    **dict.fromkeys(("SelectOrSemiApply", "SelectOrAntiSemiApply"), "cuts"),
    **dict.fromkeys(("LetSelectOrSemiApply", "LetSelectOrAntiSemiApply"), "cuts"),
    **dict.fromkeys(("ConditionalApply", "AntiConditionalApply", "ArgumentTracker"), "cuts"),
    **dict.fromkeys(("NodeLeftOuterHashJoin", "NodeRightOuterHashJoin"), "cuts"),
    **dict.fromkeys(("TriadicSelection", "TriadicBuild", "TriadicFilter", "ShortestPath"), "cuts"),
    **dict.fromkeys(("StatefulShortestPath(All)", "StatefulShortestPath(Into)"), "cuts"),
    **dict.fromkeys(("StatefulShortestPath(All, Trail)", "StatefulShortestPath(Into, Trail)"), "cuts"),
    **dict.fromkeys(("StatefulShortestPath(All, Walk)", "StatefulShortestPath(Into, Walk)"), "cuts"),
    **dict.fromkeys(("Repeat(All, Trail)", "Repeat(Into, Trail)", "Repeat(Trail)"), "cuts"),
    **dict.fromkeys(("Repeat(All, Walk)", "Repeat(Into, Walk)", "BidirectionalRepeat(Trail)"), "cuts"),
    **dict.fromkeys(("Argument", "EmptyRow"), "fixed"),
    **dict.fromkeys(("NodeIndexSeek", "NodeIndexSeekByRange", "NodeUniqueIndexSeek"), "seek"),
    **dict.fromkeys(("NodeUniqueIndexSeekByRange", "MultiNodeIndexSeek"), "seek"),
    **dict.fromkeys(("NodeIndexScan", "NodeByLabelScan", "UnionNodeByLabelsScan"), "scan"),
    **dict.fromkeys(("IntersectionNodeByLabelsScan", "SubtractionNodeByLabelsScan"), "scan"),
    **dict.fromkeys(("DirectedRelationshipTypeScan", "UndirectedRelationshipTypeScan"), "scan"),
    **dict.fromkeys(("DirectedUnionRelationshipTypesScan", "UndirectedUnionRelationshipTypesScan"), "scan"),
    **dict.fromkeys(("DirectedAllRelationshipsScan", "UndirectedAllRelationshipsScan"), "scan"),
}
"""The operators that a plan may have. All others are refused: scans of all nodes, counts taken from the store,
look-ups by internal id, procedures, files, writes."""

VERIFIED: Final = ("2026.08.1", "5.26.30")
"""The versions of Neo4j on whose plans this table was tested; operators new in other versions are refused."""

GROUPING: Final = frozenset({"Aggregation", "EagerAggregation", "Distinct"})

LEAF_COMPUTATIONS: Final = frozenset({"Projection", "Unwind"})
"""Leaves that make rows from the text alone: `RETURN 1`, `UNWIND [1, 2] AS x`."""

SEEK: Final = re.compile(
    rf"(?:RANGE INDEX|UNIQUE) {NAME}:[A-Za-z]+\(scene(?:, [a-z_]+)*\) WHERE scene = \$__scene(?= AND |,|$)"
)
INDEX: Final = re.compile(r"(?:RANGE|TEXT|POINT) INDEX|UNIQUE|TOKEN LOOKUP")
SCANNED: Final = re.compile(rf"(?:(?:RANGE INDEX|UNIQUE) )?\(?({NAME})(?:[:)]|$)(?:.*[)>-]\(({NAME})\)$)?")
REFUSAL: Final = "the server would read more than this scene to answer the query"
ADVICE: Final = "write each pattern as nodes with a label, such as (n:Object), and relations between them"


def check_plan(plan: Plan, query_type: str | None, *, version: str = VERIFIED[0]) -> None:
    """Refuse a plan that writes or that may read outside of the scene; `version` is the server's, for the message.

    Raises QueryRefused.
    """
    if query_type != "r":
        raise QueryRefused("write", "the query does more than read", hint="use MATCH … RETURN … only")
    for step in plan:
        if step.operator not in OPERATORS:
            raise _refused(step, version)
        if not subqueries_are_bound(step.details):
            raise _refused(step)
    for leaf, above in leaves(plan):
        if not _is_bound(leaf, above):
            raise _refused(leaf)


def _refused(step: Plan, version: str = VERIFIED[0]) -> QueryRefused:
    of = "" if version in VERIFIED else f" of Neo4j {version}"
    return QueryRefused("plan", f"{REFUSAL} ({step.operator}{of})", piece=step.operator, hint=ADVICE)


# --- leaves

StepsAbove: TypeAlias = "tuple[str | Plan, ...]"
"""Steps above a leaf, the nearest first: the conditions of a filter, or the second child of a semi-join."""


def leaves(plan: Plan, above: StepsAbove = ()) -> Iterator[tuple[Plan, StepsAbove]]:
    """Yield each leaf with the steps above it that test its unchanged rows."""
    if not plan.children:
        yield plan, above
        return
    match OPERATORS[plan.operator]:
        case "asks":
            first, asked = plan.children
            yield from leaves(first, (asked, *above))
            yield from leaves(asked)
            return
        case "keeps" if plan.operator == "Filter" and plan.children[0].operator == "Apply":
            first, then = plan.children[0].children
            yield from leaves(first)
            yield from leaves(then, () if _binds_first(first, plan.details) else (plan.details,))
            return
        case "keeps" if plan.operator == "Filter":
            above = (plan.details, *above)
        case "cuts":
            above = ()
    for child in plan.children:
        yield from leaves(child, above)


def _binds_first(first: Plan, details: str) -> bool:
    """Check whether a filter above an Apply binds a name of its first child; if not, it binds one of the second."""
    return bool(_names_in(first) & {bound_name(condition) for condition in conditions(details)})


def _names_in(plan: Plan) -> set[str]:
    """Return the names that may be in scope above: the columns of an aggregation, else all names in its details."""
    if plan.operator in GROUPING:
        return columns(plan.details)
    return names_in(plan.details).union(*(_names_in(child) for child in plan.children))


def _is_bound(leaf: Plan, above: StepsAbove) -> bool:
    match OPERATORS[leaf.operator]:
        case "fixed":
            return True
        case "seek":
            return 0 < len(SEEK.findall(leaf.details)) == len(INDEX.findall(leaf.details))
        case "scan":
            match = SCANNED.match(leaf.details)
            return match is not None and _binds({name.strip("`") for name in match.groups() if name}, above)
        case _:
            return leaf.operator in LEAF_COMPUTATIONS


def _binds(names: set[str], above: StepsAbove) -> bool:
    """Check that a condition binds one of these nodes to the scene before any condition that may fail.

    A failure would tell of other scenes.
    """
    for step in above:
        if isinstance(step, Plan):
            if any(OPERATORS[part.operator] == "cuts" for part in step) or not _binds(names, next(leaves(step))[1]):
                return False
            continue
        for condition in conditions(step):
            bound = bound_name(condition)
            if bound in names:
                return True
            if bound is None and not cannot_fail(condition):
                return False
    return False
