"""Regular expressions of queries: the server's can take exponential time, which no limit of its own ends."""

from __future__ import annotations

import math
import re
from typing import Final

from scenecypher.db.gate.syntax import Part
from scenecypher.errors import QueryRefused

GROUP_REPEATED: Final = re.compile(r"\)[*+{]")
NOT_PLAIN: Final = re.compile(r"\(\?(?!:)|\\[1-9kgGQ]")
REPEAT: Final = re.compile(r"[*+]|\{\d+(?:,\d*)?\}")
OPTIONAL: Final = re.compile(r"(?<![*+?}(])\?")
REPEATS, OPTIONALS, GROUPS, CHOICES, TIMES, REGEX_LENGTH = 4, 4, 4, 16, 100, 200
STEPS: Final = 160_000_000
"""Steps of matching that one row may take: about a second."""


def regex_steps(part: Part, text: float) -> float:
    """Return how many steps matching a text of this length may take. Raises QueryRefused for too many.

    With k repetitions a matcher that tracks back divides a text of n letters in (n + k over k) ways.
    """
    body = _body(part.name)
    problem = _problem(body)
    repeats = len(REPEAT.findall(re.sub(r"\.\*$", "", body)))
    choices, groups = body.count("|"), body.count("(") + 1
    ways: float = (text + repeats) ** repeats / math.factorial(repeats) * 2 ** len(OPTIONAL.findall(body))
    steps = ways * (choices / groups + 1) ** groups * (len(body) + 1) + text
    if not problem and steps > STEPS:
        problem = "may take too long on texts this long"
    if problem:
        message = f"the regular expression {problem}"
        raise QueryRefused("regex", message, piece=part.name[:40], hint="use CONTAINS, STARTS WITH or ENDS WITH")
    return steps


def _body(text: str) -> str:
    """Return the expression with each escape and class as one letter, without flags at its beginning."""
    body = re.sub(r"^\(\?[ism]+\)", "", text)
    if NOT_PLAIN.search(body):
        return body
    return re.sub(r"\[\^?\]?(?:\\.|[^\]\\])*\]", "x", re.sub(r"\\[^1-9kgGQ]", "x", body))


def _problem(body: str) -> str:
    """Return why an expression may take too long whatever it is matched with, or an empty string."""
    counted = (
        (NOT_PLAIN.search(body), "uses look-around, flags or back references"),
        (len(body) > REGEX_LENGTH, f"is longer than {REGEX_LENGTH} characters"),
        (GROUP_REPEATED.search(body), "repeats a group"),
        (len(REPEAT.findall(re.sub(r"\.\*$", "", body))) > REPEATS, f"has more than {REPEATS} repetitions"),
        (len(OPTIONAL.findall(body)) > OPTIONALS, f"has more than {OPTIONALS} optional parts"),
        (body.count("(") > GROUPS or body.count("|") > CHOICES, "has too many groups or alternatives"),
        (any(int(number) > TIMES for number in re.findall(r"\d+", "".join(REPEAT.findall(body)))), "repeats too often"),
    )
    return next((problem for found, problem in counted if found), "")
