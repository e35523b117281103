import pytest

from scenecypher.db.gate.keywords import NAMES, names_quoted
from scenecypher.db.gate.lexer import tokens_of

QUOTED = {
    "MATCH (end) RETURN end": "MATCH (`end`) RETURN `end`",
    "MATCH (end:Place)-[use:ON]->(next {id: 1}) RETURN 1": "MATCH (`end`:Place)-[`use`:ON]->(`next` {id: 1}) RETURN 1",
    "RETURN CASE end WHEN 1 THEN 2 ELSE end END AS end": "RETURN CASE `end` WHEN 1 THEN 2 ELSE `end` END AS `end`",
    "RETURN [end IN ends | end.name][0] AS set": "RETURN [`end` IN `ends` | `end`.name][0] AS `set`",
    "WITH n AS order ORDER BY order DESC LIMIT 3 RETURN order": (
        "WITH n AS `order` ORDER BY `order` DESC LIMIT 3 RETURN `order`"
    ),
    "RETURN n AS next NEXT RETURN next NEXT RETURN next + 1": (
        "RETURN n AS `next` NEXT RETURN `next` NEXT RETURN `next` + 1"
    ),
    "MATCH end = (a)--(b) WITH *, end LIMIT 1 RETURN *": "MATCH `end` = (a)--(b) WITH *, `end` LIMIT 1 RETURN *",
    "RETURN count(*) AS limit LIMIT 1": "RETURN count(*) AS `limit` LIMIT 1",
    "RETURN x - limit * offset": "RETURN x - `limit` * `offset`",
    "RETURN [1, 2][..end] AS x": "RETURN [1, 2][..`end`] AS x",
}
AS_THEY_ARE = [
    "MATCH (n) SET n.x = 1",
    "MATCH (n) DETACH DELETE n",
    "MATCH (n) WHERE n.end = 1 AND n:% RETURN *",
    "MATCH (n) WHERE n:% ORDER BY n.id RETURN [n]",
    "MATCH ((a)-->(b))+ RETURN [1]",
    "MATCH ((a)-->(b))* RETURN *",
    "RETURN * ORDER BY n",
    "WITH * MATCH (n) RETURN n",
    "RETURN 1 AS x UNION DISTINCT RETURN -1 AS x",
    "RETURN 1 AS x UNION RETURN [1] AS x NEXT RETURN *",
    "OPTIONAL CALL { MATCH (n) RETURN n } RETURN n",
    "RETURN COLLECT { MATCH (n) RETURN n }",
    "RETURN CASE WHEN 1 IS NULL THEN 1 ELSE null END",
    "RETURN CASE x WHEN STARTS WITH 'a' THEN [] END",
    "RETURN {end: 1}.end AS x",
    "WITH n, CREATE (m)",
    "CALL db.labels()",
    "LOAD CSV FROM 'x' AS l RETURN l",
    "",
]


def rewritten(cypher: str) -> str:
    tokens = names_quoted(tokens_of(cypher))
    return "".join((" " if token.spaced else "") + token.text for token in tokens).strip()


@pytest.mark.parametrize(("cypher", "quoted"), QUOTED.items())
def test_a_keyword_that_is_a_name_gets_backticks(cypher: str, quoted: str) -> None:
    assert rewritten(cypher) == quoted


@pytest.mark.parametrize("cypher", AS_THEY_ARE)
def test_a_keyword_that_is_one_stays_as_it_is(cypher: str) -> None:
    assert rewritten(cypher) == cypher


@pytest.mark.parametrize("word", sorted(NAMES))
def test_any_of_them_may_be_the_name_of_anything(word: str) -> None:
    cypher = (
        "MATCH p = ({w}:Place)-[x]->({w}) WHERE {w}.id > {w}.name WITH DISTINCT {w} AS {w}, [{w} IN [] | {w}] AS l "
    )
    assert rewritten((cypher + "RETURN {w}, {w} ORDER BY {w}").format(w=word)) == (
        cypher + "RETURN {w}, {w} ORDER BY {w}"
    ).format(w=f"`{word}`")
