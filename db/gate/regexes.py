"""Bounds of the regular expressions in queries: the server's can take exponential time, which its limits do not end."""

from __future__ import annotations

import math
import re
from typing import Final

from scenecypher.errors import QueryRefused

GROUP_REPEATED: Final = re.compile(r"\)[*+{]")
UNSUPPORTED: Final = re.compile(r"\(\?(?!:)|\\[1-9kgGQ]")
REPEAT: Final = re.compile(r"[*+]|\{\d+(?:,\d*)?\}")
OPTIONAL: Final = re.compile(r"(?<![*+?}(])\?")
MAX_REPEATS, MAX_OPTIONALS, MAX_GROUPS, MAX_CHOICES, MAX_TIMES, MAX_REGEX_LENGTH = 4, 4, 4, 16, 100, 200
MAX_STEPS: Final = 160_000_000
"""Maximum steps of matching per row: about a second."""


def regex_steps(regex: str, text: float) -> float:
    """Return the maximum steps of matching a text of this length. Raises QueryRefused if they are too many.

    A backtracking matcher with k repetitions splits a text of n characters in (n + k over k) ways.
    """
    body = _body(regex)
    problem = _problem(body)
    repeats = len(REPEAT.findall(re.sub(r"\.\*$", "", body)))
    choices, groups = body.count("|"), body.count("(") + 1
    ways: float = (text + repeats) ** repeats / math.factorial(repeats) * 2 ** len(OPTIONAL.findall(body))
    steps = ways * (choices / groups + 1) ** groups * (len(body) + 1) + text
    if not problem and steps > MAX_STEPS:
        problem = "may take too long on texts this long"
    if problem:
        message = f"the regular expression {problem}"
        raise QueryRefused("regex", message, piece=regex[:40], hint="use CONTAINS, STARTS WITH or ENDS WITH")
    return steps


def _body(text: str) -> str:
    """Return the expression without leading flags, each escape and each class replaced by one letter."""
    body = re.sub(r"^\(\?[ism]+\)", "", text)
    if UNSUPPORTED.search(body):
        return body
    return re.sub(r"\[\^?\]?(?:\\.|[^\]\\])*\]", "x", re.sub(r"\\[^1-9kgGQ]", "x", body))


def _problem(body: str) -> str:
    """Return why an expression may take too long on any text, or an empty string."""
    counted = (
        (UNSUPPORTED.search(body), "uses look-around, flags or back references"),
        (len(body) > MAX_REGEX_LENGTH, f"is longer than {MAX_REGEX_LENGTH} characters"),
        (GROUP_REPEATED.search(body), "repeats a group"),
        (len(REPEAT.findall(re.sub(r"\.\*$", "", body))) > MAX_REPEATS, f"has more than {MAX_REPEATS} repetitions"),
        (len(OPTIONAL.findall(body)) > MAX_OPTIONALS, f"has more than {MAX_OPTIONALS} optional parts"),
        (body.count("(") > MAX_GROUPS or body.count("|") > MAX_CHOICES, "has too many groups or alternatives"),
        (
            any(int(number) > MAX_TIMES for number in re.findall(r"\d+", "".join(REPEAT.findall(body)))),
            "repeats too often",
        ),
    )
    return next((problem for found, problem in counted if found), "")
