"""The judge: whether the server's own plan of a text reads one scene only, however the text was made.

It trusts nothing that was done to the text before. A row of a plan comes from a leaf; each leaf must be bound to the
scene, by the index it seeks in or by a filter above it that is asked before anything else is computed. From there
relations are followed, and no relation leaves a scene.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from scenecypher.db.gate.conditions import NAME, anchored, bound_name, columns, conditions, is_harmless, names
from scenecypher.db.gate.plan import Plan
from scenecypher.errors import QueryRefused

Part: TypeAlias = Literal["keeps", "asks", "cuts", "fixed", "seek", "scan"]

# What an operator does to the search for the filter that binds a leaf: it "keeps" the search going, "cuts" it off (it
# may rename, group, order or drop rows, or compute something: a filter above it comes too late), "asks" its second
# child about each row of its first, or is a leaf itself: "fixed" brings no rows of its own, "seek" asks an index for
# the scene, "scan" reads more and needs the filter.
OPERATORS: Final[dict[str, Part]] = {
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
"""Every operator that a query may be made of; any other is refused: scans of all nodes, counts taken from the store,
look-ups by internal id, procedures, files, writes."""

VERIFIED: Final = "2026.08.1"
"""The version of Neo4j on whose plans this table was tested; operators that another has and it lacks are refused."""

GROUPING: Final = frozenset({"Aggregation", "EagerAggregation", "Distinct"})

COMPUTED: Final = frozenset({"Projection", "Unwind"})
"""What may stand as a leaf and makes rows of nothing but the text: `RETURN 1`, `UNWIND [1, 2] AS x`."""

SEEK: Final = re.compile(
    rf"(?:RANGE INDEX|UNIQUE) {NAME}:[A-Za-z]+\(scene(?:, [a-z_]+)*\) WHERE scene = \$__scene(?= AND |,|$)"
)
INDEX: Final = re.compile(r"(?:RANGE|TEXT|POINT) INDEX|UNIQUE|TOKEN LOOKUP")
SCANNED: Final = re.compile(rf"(?:(?:RANGE INDEX|UNIQUE) )?\(?({NAME})(?:[:)]|$)(?:.*[)>-]\(({NAME})\)$)?")
REFUSAL: Final = "the server would read more than this scene to answer the query"
ADVICE: Final = "write each pattern as nodes with a label, such as (n:Object), and relations between them"


def judge(plan: Plan, query_type: str | None, *, version: str = VERIFIED) -> None:
    """Refuse a plan of a server of this version that writes or that may read outside of the scene.

    Raises QueryRefused.
    """
    if query_type != "r":
        raise QueryRefused("write", "the query does more than read", hint="use MATCH … RETURN … only")
    for step in plan:
        if step.operator not in OPERATORS:
            raise _refused(step, version)
        if not anchored(step.details):
            raise _refused(step)
    for leaf, above in leaves(plan):
        if not _is_bound(leaf, above):
            raise _refused(leaf)


def _refused(step: Plan, version: str = VERIFIED) -> QueryRefused:
    of = "" if version == VERIFIED else f" of Neo4j {version}"
    return QueryRefused("plan", f"{REFUSAL} ({step.operator}{of})", piece=step.operator, hint=ADVICE)


# --- leaves

Above: TypeAlias = "tuple[str | Plan, ...]"
"""What stands above a leaf, the nearest first: the conditions of a filter, or what a semi-join asks of its rows."""


def leaves(plan: Plan, above: Above = ()) -> Iterator[tuple[Plan, Above]]:
    """Each leaf with what stands above it and speaks of its rows as they are."""
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
            yield from leaves(then, () if _speaks_of(first, plan.details) else (plan.details,))
            return
        case "keeps" if plan.operator == "Filter":
            above = (plan.details, *above)
        case "cuts":
            above = ()
    for child in plan.children:
        yield from leaves(child, above)


def _speaks_of(first: Plan, details: str) -> bool:
    """Whether a filter binds what was read first: else, right above, what it binds is what was read for each of it."""
    return bool(_named(first) & {bound_name(condition) for condition in conditions(details)})


def _named(plan: Plan) -> set[str]:
    """Every name that may still be known above: of an aggregation its columns only, else all that its texts hold."""
    if plan.operator in GROUPING:
        return columns(plan.details)
    return names(plan.details).union(*(_named(child) for child in plan.children))


def _is_bound(leaf: Plan, above: Above) -> bool:
    match OPERATORS[leaf.operator]:
        case "fixed":
            return True
        case "seek":
            return 0 < len(SEEK.findall(leaf.details)) == len(INDEX.findall(leaf.details))
        case "scan":
            match = SCANNED.match(leaf.details)
            return match is not None and _binds({name.strip("`") for name in match.groups() if name}, above)
        case _:
            return leaf.operator in COMPUTED


def _binds(names: set[str], above: Above) -> bool:
    """Whether rows are bound to the scene by one of their nodes before anything that may fail is asked of them.

    What fails would tell of other scenes.
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
            if bound is None and not is_harmless(condition):
                return False
    return False
