"""The words of the query language as tables: what may stand where, and what is refused with which advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SCENE_KEY: Final = "scene"
"""The property that every member carries; the gate writes it, a query may not."""

# --- keywords, in capitals

OPERATORS: Final = _words("AND OR XOR NOT IN IS CASE WHEN THEN ELSE DISTINCT CONTAINS STARTS ENDS WITH BY")
"""Words of expressions after which a value stands: a bracket there belongs to no function and is no index."""

VALUES: Final = _words("NULL TRUE FALSE END")
"""Words of expressions that are a value, or end one."""

CLAUSES: Final = _words(
    "MATCH OPTIONAL WHERE WITH RETURN UNWIND CALL UNION ORDER SKIP OFFSET LIMIT AS ASC ASCENDING DESC DESCENDING "
    "NEXT FILTER LET"
)
"""Words at which an expression ends."""

WRITES: Final = _words("CREATE MERGE SET DELETE DETACH NODETACH REMOVE FOREACH INSERT")
COMMANDS: Final = _words("DROP ALTER GRANT REVOKE DENY SHOW TERMINATE START STOP RENAME ENABLE REALLOCATE DEALLOCATE")

REFUSED: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(WRITES, ("write", "queries only read; to change the scene, act in it")),
    **dict.fromkeys(COMMANDS, ("admin", "read the scene with MATCH … RETURN …")),
    "LOAD": ("file", "files can't be read; read the scene with MATCH … RETURN …"),
    "USE": ("admin", "there is one graph, the scene; leave USE out"),
    "EXPLAIN": ("syntax", "leave it out; `scenecypher query --explain` shows the plan"),
    "PROFILE": ("syntax", "leave it out; `scenecypher query --explain` shows the plan"),
    "FINISH": ("syntax", "end with RETURN"),
    "YIELD": ("procedure", "procedures can't be called; read the scene with MATCH … RETURN …"),
    "USING": ("syntax", "leave index hints out"),
    "FOR": ("syntax", "write UNWIND list AS item"),
    "GROUP": ("syntax", "leave GROUP BY out: what stands beside an aggregation in RETURN groups it"),
    "HAVING": ("syntax", "write WITH … WHERE …"),
    "SELECT": ("syntax", "this is Cypher, not SQL: write MATCH … RETURN …"),
}
"""Words that begin what is never allowed: the code of the refusal and what to do instead."""

RESERVED: Final = OPERATORS | VALUES | CLAUSES | frozenset(REFUSED)
"""No name may be one of these without backticks, since then two readers could take the text differently."""

SUBQUERIES: Final = _words("EXISTS COUNT COLLECT")
SELECTORS: Final = _words("ANY ALL SHORTEST PATH PATHS GROUP GROUPS")
PATH_FUNCTIONS: Final = _words("SHORTESTPATH ALLSHORTESTPATHS")
MODES: Final = (
    ("DIFFERENT", "RELATIONSHIPS"),
    ("DIFFERENT", "RELATIONSHIP"),
    ("REPEATABLE", "ELEMENTS"),
    ("REPEATABLE", "ELEMENT"),
)

# --- functions, in small letters

FUNCTIONS: Final = frozenset().union(
    # of nodes, relations and paths
    _words("labels type properties keys nodes relationships startnode endnode length exists"),
    _words("shortestpath allshortestpaths"),
    # of lists
    _words("size head last tail reverse range isempty coalesce nullif any all none single"),
    # aggregations
    _words("count sum avg min max collect stdev stdevp percentilecont percentiledisc"),
    # of text
    _words("tolower toupper lower upper trim ltrim rtrim btrim left right substring split replace"),
    _words("char_length character_length tostring tostringornull normalize"),
    # of numbers and truth values
    _words("abs ceil ceiling floor round sign sqrt exp log log10 e pi degrees radians isnan"),
    _words("sin cos tan cot asin acos atan atan2 tointeger tointegerornull tofloat tofloatornull"),
    _words("toboolean tobooleanornull valuetype"),
    # of space and time
    _words("point point.distance point.withinbbox date time localtime datetime localdatetime duration"),
    _words("duration.between duration.indays duration.inmonths duration.inseconds"),
)
"""Every function that may be called. None reads more than its arguments, and none loops or makes text grow but `range`,
`replace` and `round`, within what `limits` lets pass."""

SCALARS: Final = _words(
    "size length count sum avg min max head last coalesce tostring tointeger tofloat any all none single"
)
"""Functions of lists whose value is, as a rule, no list."""
LISTING: Final = _words("collect nodes relationships keys labels range split tail reverse")
"""Functions whose value is a list."""

PREDICATES: Final = _words("any all none single")
CLOCKS: Final = _words("date time localtime datetime localdatetime")
"""Without an argument, or with a time zone only, they tell the time: the same question would have two answers."""
FIXED: Final = _words("year date time datetime hour epochseconds epochmillis")
"""What a map says that fixes a time."""

NO_FUNCTION: Final[Mapping[str, str]] = {
    "reduce": "use sum(), size() or collect() over UNWIND",
    "id": "nodes have an `id` property: write n.id",
    "elementid": "nodes have an `id` property: write n.id",
    "rand": "the same question must have the same answer",
    "randomuuid": "the same question must have the same answer",
    "timestamp": "a scene has no clock",
    "distance": "write point.distance(a, b)",
    "len": "write size() for lists and text, length() for paths",
    "lcase": "write toLower()",
    "ucase": "write toUpper()",
    "string": "write toString()",
    "int": "write toInteger()",
    "float": "write toFloat()",
    "concat": "join text with +",
    "mean": "write avg()",
    "average": "write avg()",
    "contains": "write text CONTAINS part, or item IN list",
}
"""Better advice than the nearest spelling."""

# --- properties

COMPONENTS: Final = _words(
    "x y z longitude latitude height crs srid year quarter month week day hour minute second millisecond microsecond "
    "nanosecond timezone epochSeconds epochMillis years quarters months weeks days hours minutes seconds milliseconds "
    "microseconds nanoseconds ordinalDay dayOfWeek"
)
"""Parts of points, dates and durations, which look like properties."""
