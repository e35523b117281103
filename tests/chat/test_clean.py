"""Answers are extracted from every wrapping, and no possible answer is dropped."""

from __future__ import annotations

import json
from time import process_time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from scenecypher.chat.clean import clean_cypher, clean_json, clean_reply, json_values

QUERY = "MATCH (o:Object)-[:INSIDE]->(a {class: 'fridge'})\nWHERE o.name <> 'milk'\n\nRETURN o.name\nORDER BY o.name"

prose = st.text(alphabet="abcdefghij ,.'!?\n", max_size=60)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
objects = st.dictionaries(st.text(), values, max_size=5)
indents = st.sampled_from([None, 2])
pieces = ["<think>", "</think>", "<thinking>", "```", "```json\n", "~~~", "`", "\n", "\n\n", " ", "{", "}", "[", "]"]
words = ['"', "\\", "MATCH (n)", "RETURN n", "This is it.", "a:", ";", "Use it.", "// so", "{}", "\u2028", "é"]
replies = st.lists(st.sampled_from(pieces + words) | st.text(max_size=5), max_size=14).map("".join)


@st.composite
def wrapped(draw: st.DrawFn, inner: str, language: str) -> str:
    """Return `inner` as models send it: after a thought, in a fence, between prose."""
    before = draw(prose)
    fence = draw(
        st.sampled_from([f"```{language}\n{inner}\n```", f"```\n{inner}\n```", f"~~~{language}\n{inner}\n~~~"])
    )
    thought = draw(
        st.sampled_from(["", f"<think>{before} {inner[:9]}</think>", f"{before}</think>", "<think></think>\n"])
    )
    return draw(
        st.sampled_from([thought + inner, f"{thought}\n{before}\n{fence}\n{draw(prose)}", f"{thought}\n\n{fence}"])
    )


@given(st.data(), objects, indents)
def test_json_is_extracted_from_every_wrapping(
    data: st.DataObject, value: dict[str, object], indent: int | None
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=data.draw(st.booleans()))
    assert clean_json(data.draw(wrapped(text, "json"))) == text


@given(objects, prose, prose)
def test_json_is_extracted_from_prose(value: dict[str, object], before: str, after: str) -> None:
    text = json.dumps(value)
    assert clean_json(before + text + after) == text


@given(st.data())
def test_cypher_is_extracted_from_every_wrapping(data: st.DataObject) -> None:
    assert clean_cypher(data.draw(wrapped(QUERY, "cypher"))) == QUERY


@given(replies)
@example("<think>a<think>b</think>c</think>d")
@example("<th<think>x</think>ink>y")
@example("```\n```\nx\n```\n```")
def test_cleaning_is_idempotent(text: str) -> None:
    assert clean_reply(clean_reply(text)) == clean_reply(text)


@given(replies)
def test_cleaning_adds_no_text(text: str) -> None:
    for cleaned in (clean_reply(text), clean_cypher(text), clean_json(text)):
        assert set(cleaned) <= set(text)
        assert len(cleaned) <= len(text)
    assert all(piece in text for piece in json_values(text)) or "<think" in text


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("<think>where is it?</think>\nIn the fridge.", "In the fridge."),
        ("where is it?</think>In the fridge.", "In the fridge."),
        ("<THINKING>hm</THINKING>yes", "yes"),
        ("Well. <think>hm</think>Yes.", "Well. Yes."),
        ("<think>never ends", ""),
        ("a <think>b<think>c</think> d", "a  d"),
        ("```\nMATCH (n) RETURN n\n```", "MATCH (n) RETURN n"),
        ("```json\n{}\n```", "{}"),
        ("```json\n{}", "{}"),
        ('{"said": "<think>no</think>"}', '{"said": "<think>no</think>"}'),
        ('{"said": "</think>"}', '{"said": "</think>"}'),
        ("Answer: `a` <think>", "Answer: `a` <think>"),
        ("  \n", ""),
        ("<|im_start|>assistant\ngrab(cup)<|im_end|>\n", "grab(cup)"),
        ("```\ngrab(cup)\n```<|eot_id|></s>", "grab(cup)"),
        ('{"said": "<|im_end|>"}', '{"said": "<|im_end|>"}'),
    ],
)
def test_clean(reply: str, meant: str) -> None:
    assert clean_reply(reply) == meant


@pytest.mark.parametrize(
    ("reply", "pieces"),
    [
        ('see [1]: {"a": 1} and [2]', ('{"a": 1}', "[2]", "[1]")),
        ('{"a": 1} no, {"a": 2}', ('{"a": 2}', '{"a": 1}')),
        ('{"a": {"b": 1}, "c": "cut o', ('{"a": {"b": 1}, "c": "cut o',)),
        ('{"a": {"b": 1},}', ('{"a": {"b": 1},}',)),
        ('{"fence": "```cypher\\nMATCH (n) {\\n```"}', ('{"fence": "```cypher\\nMATCH (n) {\\n```"}',)),
        ('{"quote": "\\"}"}', ('{"quote": "\\"}"}',)),
        ("nothing here", ()),
    ],
)
def test_json_pieces(reply: str, pieces: tuple[str, ...]) -> None:
    assert json_values(reply) == pieces


@pytest.mark.parametrize(
    ("reply", "query"),
    [
        ("MATCH (n) RETURN n", "MATCH (n) RETURN n"),
        ("match (n) return n", "match (n) return n"),
        ("`MATCH (n) RETURN n`", "MATCH (n) RETURN n"),
        ("```MATCH (n) RETURN n```", "MATCH (n) RETURN n"),
        ("```cypher MATCH (n) RETURN n\n```", "MATCH (n) RETURN n"),
        ("Here: ```cypher\r\nMATCH (n)\r\nRETURN n\r\n```\r\n", "MATCH (n)\r\nRETURN n"),
        ("```python\nprint()\n```\n```Cypher\nRETURN 1\n```", "RETURN 1"),
        ("Here is the query:\nMATCH (n)\nRETURN n\n\nIt lists all nodes.", "MATCH (n)\nRETURN n"),
        ("With the schema, this works:\nMATCH (n) RETURN n", "MATCH (n) RETURN n"),
        ("Let me look.\n\n// all of them\nMATCH (n) RETURN n", "// all of them\nMATCH (n) RETURN n"),
        ("MATCH (n)\n\nWhere n.name = 'x'\n\nReturn n.name", "MATCH (n)\n\nWhere n.name = 'x'\n\nReturn n.name"),
        ("MATCH (n) RETURN n\n\n**Explanation:** it lists all.", "MATCH (n) RETURN n"),
        ("MATCH (n) RETURN n;\nMATCH (m) DELETE m", "MATCH (n) RETURN n;\nMATCH (m) DELETE m"),
        ("CREATE (n) RETURN n", "CREATE (n) RETURN n"),
        ("MATCH (n:`odd name`) RETURN n", "MATCH (n:`odd name`) RETURN n"),
        ("MATCH (n {name: 'a\u2028b'}) RETURN n", "MATCH (n {name: 'a\u2028b'}) RETURN n"),
        ("I can't answer that.", "I can't answer that."),
        ("", ""),
        ("Answer: MATCH (n) RETURN n", "MATCH (n) RETURN n"),
        ("**Cypher:** MATCH (n) RETURN n", "MATCH (n) RETURN n"),
        ("Cypher query: MATCH (n) RETURN n", "MATCH (n) RETURN n"),
        ("Final answer:\nMATCH (n) RETURN n", "MATCH (n) RETURN n"),
        ("cypher\nMATCH (n) RETURN n", "MATCH (n) RETURN n"),
        ("cypher MATCH (n) RETURN n", "MATCH (n) RETURN n"),
        ("```\ncypher\nMATCH (n) RETURN n\n```", "MATCH (n) RETURN n"),
        ("CYPHER 25 MATCH (n) RETURN n", "CYPHER 25 MATCH (n) RETURN n"),
        ('{"cypher": "MATCH (n)\\nRETURN n"}', "MATCH (n)\nRETURN n"),
        ('```json\n{"query": "MATCH (n) RETURN n", "why": "{}"}\n```', "MATCH (n) RETURN n"),
        ('{"cypher": "```cypher\\nMATCH (n) RETURN n\\n```"}', "MATCH (n) RETURN n"),
        ("MATCH (n) RETURN n<|im_end|>", "MATCH (n) RETURN n"),
        ("<|im_start|>assistant\nMATCH (n) RETURN n\n<|eot_id|></s>", "MATCH (n) RETURN n"),
        ("```cypher\nMATCH (n) RETURN n<|im_end|>\n```<|im_end|>", "MATCH (n) RETURN n"),
        ("MATCH (a)-[:ON]-&gt;(b) WHERE 1 &lt; 2 RETURN b", "MATCH (a)-[:ON]->(b) WHERE 1 < 2 RETURN b"),
        ("MATCH (a {name: 'a &gt; b'})--&gt;(b) RETURN b", "MATCH (a {name: 'a &gt; b'})-->(b) RETURN b"),
        ("MATCH (answer) RETURN answer.name AS query", "MATCH (answer) RETURN answer.name AS query"),
    ],
)
def test_clean_cypher(reply: str, query: str) -> None:
    assert clean_cypher(reply) == query


HOSTILE = {
    "openings": "<think>" * 40_000,
    "closings": "</think>" * 40_000,
    "thoughts": "<think>x</think>y" * 20_000,
    "stray ends": "<think>x</think>y" * 20_000 + "</think>" * 20_000,
    "brackets": "{" * 300_000,
    "quotes": '{"' * 150_000,
    "backslashes": '{"a": "' + "\\" * 300_000,
    "backticks": "`" * 300_000,
    "fences": "```\n" * 75_000,
    "nested fences": "".join("`" * (203 - depth) + "\n" for depth in range(200)),
    "fence and lines": "```" + " \n" * 100_000,
    "paragraphs": "A a\n\n" * 60_000,
    "marks": "<|im_end|>" * 40_000 + "x" + "<|im_end|>" * 40_000,
    "labels": "Answer: " * 60_000,
    "label lines": "cypher\n\n" * 60_000,
    "entities": "'&gt;" * 80_000 + "\\" * 80_000,
    "objects": '{"cypher": "' * 40_000,
    "blank": "\n" + " " * 300_000 + "x" + "\n" * 300_000,
}


@pytest.mark.parametrize("reply", HOSTILE.values(), ids=HOSTILE)
def test_hostile_replies_are_cleaned_in_linear_time(reply: str) -> None:
    start = process_time()
    clean_reply(reply), clean_json(reply), clean_cypher(reply)
    assert process_time() - start < 5
