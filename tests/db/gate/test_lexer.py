import pytest

from scenecypher.db.gate.lexer import tokens_of
from scenecypher.errors import QueryRefused

TOKENS = {
    "MATCH (n:Object)": ["MATCH", "(", "n", ":", "Object", ")"],
    "-[*1..4]->": ["-", "[", "*", "1", "..", "4", "]", "-", ">"],
    "[..2]": ["[", "..", "2", "]"],
    "0x1F 0o17 1_000": ["0x1F", "0o17", "1_000"],
    "`Größe` `長さ 2`": ["`Größe`", "`長さ 2`"],
    "1.5e3 .5 7": ["1.5e3", ".5", "7"],
    "a.b=~'x'": ["a", ".", "b", "=~", "'x'"],
    "a // b 'c\nd": ["a", "d"],
    "a // b\rc": ["a", "c"],
    "a /* ' // */ b": ["a", "b"],
    "'/* no comment */'": ["'/* no comment */'"],
    "x<>y<=z||w": ["x", "<>", "y", "<=", "z", "||", "w"],
    "(a)<-[r]-(b)": ["(", "a", ")", "<", "-", "[", "r", "]", "-", "(", "b", ")"],
}
STRINGS = {
    r"'it\'s'": "it's",
    r'"a\tb\\c"': "a\tb\\c",
    r"'\d+\.'": r"\d+\.",
    "'é 🥛'": "é 🥛",
    "'two\nlines'": "two\nlines",
    "''": "",
}
REFUSED = {
    "MATCH (n) RETURN n.name\u00a0": "character",
    "MATCH (ñ)": "character",
    "a\u2212b": "character",
    "a\u2028b": "character",
    "a\x0bb": "character",
    "a\x00b": "character",
    "\ufeffa": "character",
    "a\\u0041": "character",
    r"'\u0041'": "character",
    r"'\\u0041'": "character",
    "'\ud800'": "character",
    "$p": "parameter",
    "'open": "syntax",
    '"open': "syntax",
    "/* open": "syntax",
    "a != b": "syntax",
    "007": "syntax",
    "1abc": "syntax",
    "`a``b`": "name",
    "`open": "name",
    "`a)-->(b`": "name",
    "`a.scene = $__scene`": "name",
    "``": "name",
    "__scene": "name",
    "`__k`": "name",
    "anon_0": "name",
    "UNNAMED12": "name",
    "a @ b": "character",
}


@pytest.mark.parametrize("text", TOKENS)
def test_tokens(text: str) -> None:
    assert [token.text for token in tokens_of(text)] == [*TOKENS[text], ""]


@pytest.mark.parametrize("text", STRINGS)
def test_strings_are_read_as_the_server_reads_them(text: str) -> None:
    assert tokens_of(text)[0].value == STRINGS[text]


@pytest.mark.parametrize("text", REFUSED)
def test_refused_characters(text: str) -> None:
    with pytest.raises(QueryRefused) as refusal:
        tokens_of(text)
    assert refusal.value.code == REFUSED[text]


def test_tokens_know_their_place() -> None:
    text = "MATCH /* x */ (`a b`)"
    assert [text[token.start : token.end] for token in tokens_of(text)] == ["MATCH", "(", "`a b`", ")", ""]
    assert [token.spaced for token in tokens_of(text)] == [False, True, False, False, False]
    assert tokens_of("`a b`")[0].value == "a b"
