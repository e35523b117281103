"""The words of the query language as tables: what may stand where, and what is refused with which advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


SCENE_KEY: Final = "scene"
"""The property that every member carries; the gate writes it, a query may not."""

# --- keywords, in capitals

OPERATORS: Final = words("AND OR XOR NOT IN IS CASE WHEN THEN ELSE DISTINCT CONTAINS STARTS ENDS WITH BY")
"""Words of expressions after which a value stands: a bracket there belongs to no function and is no index."""

VALUES: Final = words("NULL TRUE FALSE END")
"""Words of expressions that are a value, or end one."""

CLAUSES: Final = words(
    "MATCH OPTIONAL WHERE WITH RETURN UNWIND CALL UNION ORDER SKIP OFFSET LIMIT AS ASC ASCENDING DESC DESCENDING "
    "NEXT FILTER LET FINISH"
)
"""Words at which an expression ends."""

WRITES: Final = words("CREATE MERGE SET DELETE DETACH NODETACH REMOVE FOREACH INSERT")
COMMANDS: Final = words("DROP ALTER GRANT REVOKE DENY SHOW TERMINATE START STOP RENAME ENABLE REALLOCATE DEALLOCATE")

REFUSED: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(WRITES, ("write", "queries only read; to change the scene, act in it")),
    **dict.fromkeys(COMMANDS, ("admin", "read the scene with MATCH … RETURN …")),
    "LOAD": ("file", "files can't be read; read the scene with MATCH … RETURN …"),
    "USE": ("admin", "there is one graph, the scene; leave USE out"),
    "EXPLAIN": ("syntax", "leave it out; `scenecypher query --explain` shows the plan"),
    "PROFILE": ("syntax", "leave it out; `scenecypher query --explain` shows the plan"),
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

SUBQUERIES: Final = words("EXISTS COUNT COLLECT")
SELECTORS: Final = words("ANY ALL SHORTEST PATH PATHS GROUP GROUPS")
PATH_FUNCTIONS: Final = words("SHORTESTPATH ALLSHORTESTPATHS")
MODES: Final = (
    ("DIFFERENT", "RELATIONSHIPS"),
    ("DIFFERENT", "RELATIONSHIP"),
    ("REPEATABLE", "ELEMENTS"),
    ("REPEATABLE", "ELEMENT"),
)

# --- functions, in small letters

FUNCTIONS: Final = frozenset().union(
    # of nodes, relations and paths
    words("labels type properties keys nodes relationships startnode endnode length exists"),
    words("shortestpath allshortestpaths"),
    # of lists
    words("size head last tail reverse range isempty coalesce nullif any all none single"),
    # aggregations
    words("count sum avg min max collect stdev stdevp percentilecont percentiledisc"),
    # of text
    words("tolower toupper lower upper trim ltrim rtrim btrim left right substring split replace"),
    words("char_length character_length tostring tostringornull normalize"),
    # of numbers and truth values
    words("abs ceil ceiling floor round sign sqrt exp log log10 e pi degrees radians isnan"),
    words("sin cos tan cot asin acos atan atan2 tointeger tointegerornull tofloat tofloatornull"),
    words("toboolean tobooleanornull valuetype tobooleanlist tofloatlist tointegerlist tostringlist"),
    # of space and time
    words("point point.distance point.withinbbox date time localtime datetime localdatetime duration"),
    words("duration.between duration.indays duration.inmonths duration.inseconds"),
)
"""Every function that may be called. None reads more than its arguments, and none loops or makes text grow but `range`,
`replace` and `round`, within what `limits` lets pass."""

AGGREGATES: Final = words("count sum avg min max collect stdev stdevp percentilecont percentiledisc")
COUNTS: Final = words("SIZE LENGTH COUNT TOINTEGER")
"""Functions whose value is a whole number, so that `list[size(list) - 1]` can be no property's name."""
TYPE_WORDS: Final = words(
    "ANY ARRAY BOOL BOOLEAN DATE DATETIME DURATION EDGE FLOAT INT INTEGER LIST LOCAL MAP NODE NOT NOTHING NULL PATH "
    "POINT PROPERTY RELATIONSHIP SIGNED STRING TIME TIMESTAMP TIMEZONE VALUE VARCHAR VERTEX WITH WITHOUT ZONED"
)
"""Words of types, as after `IS ::`."""

PREDICATES: Final = words("any all none single")
CLOCKS: Final = words("date time localtime datetime localdatetime")
"""Without an argument, or with a time zone only, they tell the time: the same question would have two answers."""
FIXED: Final = words("year date time datetime hour epochseconds epochmillis")
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

COMPONENTS: Final = words(
    "x y z longitude latitude height crs srid year quarter month week day hour minute second millisecond microsecond "
    "nanosecond timezone epochSeconds epochMillis years quarters months weeks days hours minutes seconds milliseconds "
    "microseconds nanoseconds ordinalDay dayOfWeek"
)
"""Parts of points, dates and durations, which look like properties."""
