"""Tables of the query language's words: keywords, functions, and refused words with the advice to give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


# --- keywords, in capitals

LOGIC: Final = words("AND OR XOR")
COMPARISONS: Final = words("= <> < > <= >= =~ :: IN IS CONTAINS STARTS ENDS")
ARITHMETIC: Final = words("+ || - * / % ^")
OPERATORS: Final = LOGIC | COMPARISONS | ARITHMETIC | words("NOT")
NAME_OPERATORS: Final = words("CONTAINS STARTS ENDS")  # operators that are names where a value should stand

CASE_WORDS: Final = words("WHEN THEN ELSE END")
CONSTANTS: Final = words("NULL TRUE FALSE")
NEVER_NAMES: Final = words("WHERE AS WITH")
TYPE_STARTS: Final = words("TYPED NFC NFD NFKC NFKD LOCAL ZONED SIGNED ANY TIME")
"""Words of types and forms of text, as after IS, that another word of the same value follows."""

CLAUSES: Final = words(
    "MATCH OPTIONAL WHERE WITH RETURN UNWIND CALL UNION ORDER SKIP OFFSET LIMIT AS ASC ASCENDING DESC DESCENDING "
    "NEXT FILTER LET FINISH"
)
"""Words that end an expression."""

WRITES: Final = words("CREATE MERGE SET DELETE DETACH NODETACH REMOVE FOREACH INSERT")
COMMANDS: Final = words("DROP ALTER GRANT REVOKE DENY SHOW TERMINATE START STOP RENAME ENABLE REALLOCATE DEALLOCATE")

REFUSED_WORDS: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(WRITES, ("write", "queries only read")),
    **dict.fromkeys(COMMANDS, ("admin", "read with MATCH … RETURN …")),
    "LOAD": ("file", "files can't be read; read with MATCH … RETURN …"),
    "USE": ("admin", "there is one graph; leave USE out"),
    "EXPLAIN": ("syntax", "leave it out; `scenecypher query --explain` shows the plan"),
    "PROFILE": ("syntax", "leave it out; `scenecypher query --explain` shows the plan"),
    "YIELD": ("procedure", "procedures can't be called; read with MATCH … RETURN …"),
    "USING": ("syntax", "leave index hints out"),
    "FOR": ("syntax", "write UNWIND list AS item"),
    "GROUP": ("syntax", "leave GROUP BY out: what stands beside an aggregation in RETURN groups it"),
    "HAVING": ("syntax", "write WITH … WHERE …"),
    "SELECT": ("syntax", "this is Cypher, not SQL: write MATCH … RETURN …"),
}
"""Words that begin what is never allowed, with the refusal's code and advice."""

FOREIGN: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("LIKE", "ILIKE"), "write n.name CONTAINS 'cup', STARTS WITH or ENDS WITH, or n.name =~ '(?i).*cup.*'"
    ),
    "&": "write AND",
    "!": "write NOT",
    "OVER": "there are no windows: aggregate in WITH",
    "FETCH": "write LIMIT 3",
}
"""What to write for words and marks of other languages where they can't stand."""

RESERVED: Final = OPERATORS | CASE_WORDS | CONSTANTS | CLAUSES | words("CASE DISTINCT BY") | frozenset(REFUSED_WORDS)
"""Words that are no names without backticks: two parsers could read such a text differently."""

SUBQUERIES: Final = words("EXISTS COUNT COLLECT")
SELECTORS: Final = words("ANY ALL SHORTEST PATH PATHS GROUP GROUPS")
PATH_FUNCTIONS: Final = words("SHORTESTPATH ALLSHORTESTPATHS")
MATCH_MODES: Final = words("DIFFERENT REPEATABLE")
MATCHED: Final = words("RELATIONSHIPS RELATIONSHIP ELEMENTS ELEMENT")

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
"""The functions that may be called. None reads more than its arguments; only `range`, `replace` and `round` loop or
make text longer, and `cost` bounds these."""

SIMILARITY: Final = "similarity"
"""Our one function of our own: how near a node's vector is to a text, from 0 to 1. Only scenes with vectors have it."""

AGGREGATES: Final = words("count sum avg min max collect stdev stdevp percentilecont percentiledisc")
PREDICATES: Final = words("any all none single")

# Functions that read the clock if nothing fixes a time, and the keys of a map that do: answers would differ over time.
CLOCK_FUNCTIONS: Final = words("date time localtime datetime localdatetime")
TIME_FIELDS: Final = words("year date time datetime hour epochseconds epochmillis")

FUNCTION_ADVICE: Final[Mapping[str, str]] = {
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
    "join": "return the list itself, such as collect(n.name)",
    "toset": "write collect(DISTINCT …)",
    "mean": "write avg()",
    "average": "write avg()",
    "similarity": "nodes have no vectors here: use their class, name and properties",
    "contains": "write text CONTAINS part, or item IN list",
}
"""Advice for names of other languages' functions and for forbidden ones, given in place of the nearest spelling."""

# --- properties

COMPONENTS: Final = words(
    "x y z longitude latitude height crs srid year quarter month week day hour minute second millisecond microsecond "
    "nanosecond timezone epochSeconds epochMillis years quarters months weeks days hours minutes seconds milliseconds "
    "microseconds nanoseconds ordinalDay dayOfWeek weekday weekDay weekYear dayOfQuarter quarterDay offset "
    "offsetMinutes offsetSeconds quartersOfYear monthsOfQuarter monthsOfYear daysOfWeek minutesOfHour secondsOfMinute "
    "millisecondsOfSecond microsecondsOfSecond nanosecondsOfSecond"
)
"""Components of points, dates and durations, which look like properties."""
