"""Model-written programs: allowed ones run, and others are refused."""

from __future__ import annotations

from typing import Any

import pytest

from scenecypher.errors import QueryRefused, ServiceError
from scenecypher.planner.sandbox.running import ProgramLimits, ProgramResult, check_program, run_program

TIGHT = ProgramLimits(seconds=0.2, memory_bytes=32 * 2**20, output_bytes=2_000, calls=20, depth=100)


class World:
    """Tools for a program that record their calls."""

    def __init__(self) -> None:
        self.asked: list[Any] = []

    def query(self, cypher: str) -> list[dict[str, Any]]:
        self.asked.append(cypher)
        if "DELETE" in str(cypher):
            raise QueryRefused("write", "a query may only read", hint="use MATCH and RETURN")
        if "GONE" in str(cypher):
            raise ServiceError("the database is gone; start it")
        return [{"id": "key_1", "color": "red"}, {"id": "key_2", "color": "blue"}]

    def run(self, code: str) -> ProgramResult:
        return run_program(code, {"query": self.query}, limits=TIGHT)


def test_a_program_calculates_with_what_its_tools_answer() -> None:
    world = World()
    code = """
found = {row["id"]: row["color"] for row in query("MATCH (n:Object) RETURN n.id AS id, n.color AS color")}
def key_for(color, *, among=found):
    matching = [id for id, other in among.items() if other == color]
    return matching[0] if matching else None
try:
    query("MATCH (n) DELETE n")
except ValueError as error:
    print("told:", error)
total = 0
while total < 3:
    total += 1
print(key_for("blue"), sorted(found, key=lambda id: -len(found[id])), f"{total:>3}", sum(range(4)), {1, 2} & {2})
"""
    told = "told: a query may only read; use MATCH and RETURN\n"
    assert world.run(code) == ProgramResult(f"{told}key_2 ['key_2', 'key_1']   3 6 {{2}}\n")
    assert len(world.asked) == 2


def test_a_name_of_python_s_own_may_stand_for_something_else() -> None:
    code = "print([id + 'x' for id in ['a']], {max: 1 for max in 'b'}, [f'{list}' for list in 'c'], min(2, 1))"
    assert World().run(code) == ProgramResult("['ax'] {'b': 1} ['c'] 1\n")


def test_what_was_printed_before_an_error_is_kept_and_the_error_says_its_line() -> None:
    assert World().run("print(1)\n\nprint({}['a'])") == ProgramResult("1\n", "line 3: KeyError: a")


def test_what_is_no_ones_fault_ends_the_program_and_is_raised() -> None:
    world = World()
    with pytest.raises(ServiceError, match="gone"):
        world.run("for i in range(5):\n  try:\n    query('GONE')\n  except Exception as error:\n    print(error)")
    assert world.asked == ["GONE"]


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("import os", "imports are not allowed"),
        ("from functions import query", "imports are not allowed"),
        ("__import__('os')", "begin with _"),
        ("open('/etc/passwd')", "there is no 'open'"),
        ("eval('1')", "there is no 'eval'"),
        ("exec('import os')", "there is no 'exec'"),
        ("globals()", "there is no 'globals'"),
        ("getattr(1, 'real')", "there is no 'getattr'"),
        ("type(1)", "there is no 'type'"),
        ("().__class__.__bases__[0].__subclasses__()", "begin with _"),
        ("(lambda: 0).__globals__", "begin with _"),
        ("x = {'a': 1}\nx._b", "line 3"),
        ("print(_=1, __x=2)", "begin with _"),
        ("def _hidden(): pass", "begin with _"),
        ("def f(__x): return 1", "begin with _"),
        ("\uff45\uff56\uff41\uff4c('1')", "there is no 'eval'"),
        ("().__\uff43lass__", "begin with _"),
        ("class A: pass", "classes are not allowed"),
        ("with query('a') as x: pass", "`with` is not allowed"),
        ("def g():\n  yield 1", "generators are not allowed"),
        ("async def f(): pass", "`AsyncFunctionDef` is not allowed"),
        ("match 1:\n  case x: pass", "`match` is not allowed"),
        ("raise SystemExit", "there is no 'SystemExit'"),
        ("try: pass\nexcept BaseException: pass", "there is no 'BaseException'"),
        ("try:\n  1/0\nexcept* ValueError: pass", "`TryStar` is not allowed"),
        ("querx('a')", "did you mean 'query'"),
        ("x = = 1", "line 2: no Python"),
        ("x = '\0'", "no Python"),
        ("x = " + "(" * 5_000 + "1" + ")" * 5_000, "no Python"),
        ("x = " + "-" * 19_000 + "1", "no Python"),
        ("x = 1\n" * 5_000, "at most 20,000"),
        ("x = '\ud800'", "no Python"),
    ],
)
def test_more_than_calculating_is_refused_before_it_runs(code: str, words: str) -> None:
    world = World()
    ran = world.run("query('first')\n" + code)
    assert ran.output == ""
    assert words in (ran.error or "")
    assert world.asked == []


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("while True: pass", "longer than 0.2 s"),
        ("while True:\n  try:\n    while True: pass\n  except Exception: pass", "longer than 0.2 s"),
        ("def f():\n  try: f()\n  except Exception: f()\nf()", "longer than 0.2 s"),
        ("x = 1\nfor i in range(1, 10**6): x *= i", "longer than 0.2 s"),
        ("x = 10**10**10", "bytes of memory"),
        ("x = 1 << 10**12", "bytes of memory"),
        ("x = pow(7, 10**9)", "bytes of memory"),
        ("x = 'a' * 10**10", "bytes of memory"),
        ("x = [0] * 10**10", "bytes of memory"),
        ("x = ('a' * 10**6).replace('a', 'a' * 10**6)", "bytes of memory"),
        ("x = ('a' * 10**6).join(['b'] * 10**5)", "bytes of memory"),
        ("x = 'a'.ljust(10**10)", "bytes of memory"),
        ("x = 'a'\nwhile True: x = x + x", "bytes of memory"),
        ("x = [0 for a in range(10**5) for b in range(10**5)]", ""),
        ("def f(): return f()\nf()", "100 deep"),
        ("x = int('9' * 10**6)", "4300 digits"),
        ("while True: print('a' * 100)", "printed more than 2,000 bytes"),
        ("print('a' * 10**6)", "printed more than 2,000 bytes"),
        ("for i in range(1000): query('a')", "more than 20 times"),
        ("for i in range(1000):\n  try: query('a')\n  except Exception: pass", "more than 20 times"),
        ("x = []\ny = []\nfor i in range(10**4):\n  x = [x]\n  y = [y]\nprint(x == y)", "deep"),
        ("print('{0.__class__}'.format(1))", "has no attribute '__class__'"),
        ("print('{q.__globals__}'.format(q=query))", "no attribute"),
        ("print((x for x in [1]).gi_frame)", "no attribute 'gi_frame'"),
        ("try: 1/0\nexcept Exception as e: print(e.tb_frame)", "no attribute"),
        ("query()", "TypeError"),
        ("query('a', nothing=1)", "TypeError"),
    ],
)
def test_hostile_programs_end_with_words(code: str, words: str) -> None:
    ran = World().run(code)
    assert ran.error is not None, ran.output[:200]
    assert words in ran.error
    assert len(ran.output) <= 2_000


def test_what_tools_are_given_is_never_something_to_call() -> None:
    world = World()
    world.run("x = []\nx.append(x)\nquery(x)\nquery(lambda a: a)\nquery(10**300)\nquery({1: (2, None)})")
    assert len(world.asked) == 4
    assert not any(callable(asked) for asked in world.asked)


def test_names_that_a_program_gives_meaning_to_may_be_used() -> None:
    check_program(
        "for i, (a, *b) in enumerate([]):\n  if (n := i) > 1: print(a, b, n)\nf = lambda x, *y, z=1, **w: (x, y, z, w)",
        (),
    )
    check_program("def f():\n  x = 1\n  def g():\n    nonlocal x\n    x += 1\n  return g", ())
