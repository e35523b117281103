from typing import Any

import pytest

from scenecypher.db.gate import Limits
from scenecypher.db.gate.scope import scope
from scenecypher.errors import QueryRefused
from tests.db.gate.corpus import VOCABULARY

# Pairs of texts, the first at the limit and the second beyond it, with the refusal's code.
EDGES: list[tuple[str, str, str]] = [
    ("RETURN " + " + ".join("1" * 25), "RETURN " + " + ".join("1" * 26), "cost"),
    (
        "WITH 'a' AS s " + "WITH s + s AS s " * 19 + "RETURN s",
        "WITH 'a' AS s " + "WITH s + s AS s " * 20 + "RETURN s",
        "cost",
    ),
    (
        "WITH 'aaaa' AS s RETURN " + "replace(" * 4 + "s" + ", 'a', 'bbbbbbbbb')" * 4 + " AS s",
        "WITH 'aaaa' AS s RETURN " + "replace(" * 7 + "s" + ", 'a', 'bbbbbbbbb')" * 7 + " AS s",
        "cost",
    ),
    (
        "WITH [1] AS l " + "WITH [l, l] AS l " * 14 + "RETURN l",
        "WITH [1] AS l " + "WITH [l, l] AS l " * 16 + "RETURN l",
        "cost",
    ),
    (
        "WITH [1] AS l " + "WITH [l] AS l " * 14 + "RETURN l",
        "WITH [1] AS l " + "WITH [l] AS l " * 16 + "RETURN l",
        "cost",
    ),
    ("RETURN 1 AS a " + "UNION ALL RETURN 1 AS a " * 29, "RETURN 1 AS a " + "UNION ALL RETURN 1 AS a " * 30, "cost"),
    ("RETURN x" + ".name" * 40, "RETURN x" + ".name" * 41, "nesting"),
    ("MATCH (a)" + "-[:ON]->()" * 12 + " RETURN 1", "MATCH (a)" + "-[:ON]->()" * 13 + " RETURN 1", "cost"),
    ("MATCH " + "(a), " * 15 + "(b) RETURN 1", "MATCH " + "(a), " * 16 + "(b) RETURN 1", "cost"),
    (f"RETURN {'NOT ' * 40}true AS x", f"RETURN {'NOT ' * 41}true AS x", "nesting"),
    (f"MATCH (n:{'!' * 40}Object) RETURN n", f"MATCH (n:{'!' * 41}Object) RETURN n", "nesting"),
    (
        f"RETURN {'CASE WHEN true THEN ' * 20}1{' END' * 20} AS x",
        f"RETURN {'CASE WHEN true THEN ' * 21}1{' END' * 21} AS x",
        "nesting",
    ),
    (f"WITH [1] AS l RETURN l{'[0..]' * 40} AS x", f"WITH [1] AS l RETURN l{'[0..]' * 41} AS x", "nesting"),
    (
        f"RETURN {'EXISTS { MATCH (n) WHERE ' * 8}true{'}' * 8} AS x",
        f"RETURN {'EXISTS { MATCH (n) WHERE ' * 9}true{'}' * 9} AS x",
        "nesting",
    ),
    (
        "CYPHER 25 " + "WHEN true THEN { " * 8 + "RETURN 1 AS x" + " }" * 8,
        "CYPHER 25 " + "WHEN true THEN { " * 9 + "RETURN 1 AS x" + " }" * 9,
        "nesting",
    ),
    ("RETURN range(0, 5000000) AS l", "RETURN range(0, 20000000) AS l", "cost"),
    (
        "WITH 'aaaa' AS s RETURN CASE s WHEN =~ '.*a.*a.*a.*ab' THEN 1 WHEN > 'b' THEN -1 END AS x",
        f"WITH '{'a' * 1500}' AS s RETURN CASE s WHEN =~ '.*a.*a.*a.*ab' THEN 1 END AS x",
        "regex",
    ),
    ("RETURN range(1, abs(-9999)) AS l", "RETURN range(1, abs(-99999999)) AS l", "cost"),
    (
        "MATCH ((a)-[:ON]->(b)){1,3} RETURN [x IN a | [y IN a | [z IN a | x.id]]] AS l",
        "MATCH ((a)-[:ON]->(b)){1,900} RETURN [x IN a | [y IN a | [z IN a | x.id]]] AS l",
        "cost",
    ),
    ("RETURN range(100, -100, -3) AS l", "MATCH (n) RETURN range(0, toInteger(n.size_x)) AS l", "cost"),
    ("WITH [1] AS l RETURN range(0, size(l) - 1) AS r", "MATCH (n) WITH n.size_x AS x RETURN range(0, x) AS r", "cost"),
    (
        "WITH range(1, 3000) AS l RETURN range(-size(l), size(l) + size(l)) AS r",
        "WITH range(1, 6000) AS l RETURN range(1, size(l) * size(l)) AS r",
        "cost",
    ),
    (
        "MATCH (n) WITH collect(n) AS l RETURN [x IN l WHERE any(y IN l WHERE any(z IN l WHERE x = y))] AS r",
        (
            "MATCH (n) WITH collect(n) AS l "
            "RETURN [x IN l WHERE any(y IN l WHERE any(z IN l WHERE any(w IN l WHERE x = y)))] AS r"
        ),
        "cost",
    ),
    (
        "MATCH (n) WITH {big: collect(n)} AS m RETURN [x IN m.big WHERE any(y IN m.big WHERE x = y)] AS r",
        (
            "MATCH (n) WITH {big: collect(n)} AS m RETURN [x IN m.big WHERE any(y IN m.big WHERE any(z IN m.big "
            "WHERE any(w IN m.big WHERE x = y)))] AS r"
        ),
        "cost",
    ),
    (
        "RETURN [a IN range(1, 99) | [b IN range(1, 99) | a * b]] AS l",
        "RETURN [a IN range(1, 999) | [b IN range(1, 999) | [c IN range(1, 99) | a * b * c]]] AS l",
        "cost",
    ),
    ("RETURN date('2020-01-01') AS d", "RETURN date({timezone: 'UTC'}) AS d", "function"),
    (
        f"RETURN [{', '.join(['datetime({year: 2020})'] * 40)}] AS l",
        f"RETURN [{', '.join(['datetime({year: 2020})'] * 41)}] AS l",
        "cost",
    ),
    ("RETURN datetime({year: 2020}) AS d", "WITH {timezone: 'UTC'} AS m RETURN datetime(m) AS d", "function"),
    (
        "UNWIND ['2020-01-01'] AS t WITH t, t + 'T12:00' AS u RETURN date(t) AS d, datetime(u) AS e",
        "UNWIND [{timezone: 'UTC'}] AS t RETURN date(t) AS d",
        "function",
    ),
    (
        "MATCH (o) RETURN CASE WHEN true THEN date(toLower(o.id)) END AS d",
        "MATCH (o) RETURN date(CASE WHEN true THEN {timezone: 'UTC'} ELSE o.id END) AS d",
        "function",
    ),
    (f"RETURN {'1 * ' * 60}1 AS x", f"RETURN {'1 * ' * 61}1 AS x", "cost"),
    ("MATCH (a)-[*1..6]-(b) RETURN a", "MATCH (a)-[*1..7]-(b) RETURN a", "cost"),
    ("MATCH (a)-[*..6]-(b) RETURN a", "MATCH (a)-[*3..]-(b) RETURN a", "cost"),
    ("MATCH (a)((x)--(y)){1,6}(b) RETURN a", "MATCH (a)((x)--(y)--(z)){1,7}(b) RETURN a", "cost"),
    ("MATCH (a)-[:ON]-+(b) RETURN a", "MATCH (a)-[:!ON]-+(b) RETURN a", "cost"),
    ("MATCH p = shortestPath((a)-[*]-(b)) RETURN p", "MATCH p = (a)-[*]-(b) RETURN p", "cost"),
    (
        "MATCH (o) WITH o, 'x' AS t RETURN " + " + ".join(["o.name", "'y'"] * 12) + " + t AS s",
        "WITH {name: 'x'} AS o " + "WITH {name: o.name + o.name + o.name + o.name} AS o " * 11 + "RETURN o.name AS s",
        "cost",
    ),
    (
        "MATCH (o) WITH collect(o.id) AS l RETURN [x IN l WHERE x IN l AND x <> l[0] AND size(l) > 1] AS r",
        "WITH range(1, 20000) AS l RETURN [x IN l WHERE x IN l AND x <> l[0] AND size(l) > 1] AS r",
        "cost",
    ),
    (
        "MATCH (o) WITH collect(o.id) AS l RETURN [x IN l WHERE l = l] AS r",
        "WITH range(1, 20000) AS l WITH l AS m, l RETURN [x IN l WHERE [m] = [l]] AS r",
        "cost",
    ),
    (
        "MATCH (n) WHERE n.id = 'a' XOR n.id = 'b' XOR n.id = 'c' RETURN n",
        "MATCH (n) WHERE " + " XOR ".join(f"n.id = '{i}'" for i in range(8)) + " RETURN n",
        "cost",
    ),
    (
        "MATCH (n) WHERE " + "NOT (n.id = 'a' OR " * 12 + "true" + ")" * 12 + " RETURN n",
        "MATCH (n) WHERE " + "NOT (n.id = 'a' OR " * 13 + "true" + ")" * 13 + " RETURN n",
        "cost",
    ),
    ("MATCH p = ANY SHORTEST (a)--{0,20}(b) RETURN p", "MATCH p = ANY SHORTEST (a)--{0,21}(b) RETURN p", "cost"),
    (
        "MATCH p = shortestPath((a)-[*..50]-(b)) RETURN p",
        "MATCH p = ALL SHORTEST (a)((x)-[*..11]-(y)){1,2}(b) RETURN p",
        "cost",
    ),
    (
        "RETURN range(1, size([1, 2])) AS l, duration({days: 5}).hours AS h",
        "RETURN range(1, duration({days: 5}).milliseconds) AS l",
        "cost",
    ),
    ("RETURN round(1.5, 2) AS r", "RETURN round(1.5, 21) AS r", "cost"),
    ("RETURN date('2024-01-01') AS d", "RETURN date() AS d", "function"),
]

REGEXES = {
    "(?i).*red.*cup.*": True,
    r"^\w+_\d+$": True,
    "(cup|mug|glass)s?": True,
    "[a-z]{1,20} cup": True,
    r"\(x\)\+": True,
    "[+*()]x": True,
    "(a+)+": False,
    "(a|b)*": False,
    "(?:ab){3}": False,
    "((a))+": False,
    r"(a)\1": False,
    "(?=a)b": False,
    "(?<x>a)": False,
    "(?x)a": False,
    "a*b*c*d*e*f": False,
    "a?b?c?d?e?": False,
    "(a|a)(a|a)(a|a)(a|a)(a|a)": False,
}


def refusal_of(text: str) -> str:
    try:
        scope(text, VOCABULARY, Limits())
    except QueryRefused as refusal:
        return refusal.code
    return ""


@pytest.mark.parametrize(("most", "more", "code"), EDGES)
def test_each_limit_has_two_sides(most: str, more: str, code: str) -> None:
    assert refusal_of(most) == ""
    assert refusal_of(more) == code


@pytest.mark.parametrize("regex", REGEXES)
def test_regular_expressions(regex: str) -> None:
    text = "MATCH (n) WHERE n.name =~ '" + regex.replace("\\", "\\\\") + "' RETURN n"
    assert refusal_of(text) == ("" if REGEXES[regex] else "regex")


def test_a_regular_expression_must_be_written_out() -> None:
    assert refusal_of("MATCH (n) WHERE n.name =~ n.id RETURN n") == "regex"
    assert refusal_of("MATCH (n) WHERE n.name =~ 'a' + 'b' RETURN n") == ""
    assert refusal_of("MATCH (n) WHERE n.name =~ '(a' + '+)+' RETURN n") == "regex"
    assert refusal_of("MATCH (n) WHERE n.name =~ 'a' + n.id RETURN n") == "regex"
    assert refusal_of("MATCH (n) WHERE n.name =~ ('a') RETURN n") == "regex"
    assert refusal_of("WITH 'a' AS s " + "WITH s+s AS s " * 10 + "RETURN s =~ '.*a.*a.*a.*ab' AS m") == "regex"


@pytest.mark.parametrize(
    ("limit", "text", "code"),
    [
        ({"text_length": 20}, "MATCH (n) RETURN n.name", "length"),
        ({"nesting": 2}, "RETURN (((1))) AS x", "nesting"),
    ],
)
def test_settings(limit: dict[str, Any], text: str, code: str) -> None:
    with pytest.raises(QueryRefused) as refusal:
        scope(text, VOCABULARY, Limits(**limit))
    assert refusal.value.code == code
