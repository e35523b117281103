"""Regular expressions of queries: the server's can take exponential time, which no limit of its own ends."""

from __future__ import annotations

import re
from typing import Final

GROUP_REPEATED: Final = re.compile(r"\)[*+{]")
NOT_PLAIN: Final = re.compile(r"\(\?(?!:)|\\[1-9kgGQ]")
REPEAT: Final = re.compile(r"[*+]|\{\d+(?:,\d*)?\}")
OPTIONAL: Final = re.compile(r"(?<![*+?}(])\?")
REPEATS, OPTIONALS, GROUPS, CHOICES, TIMES, REGEX_LENGTH = 4, 4, 4, 16, 100, 200


def regex_problem(text: str) -> str:
    """Why a regular expression may take too long, or an empty string. Escapes and classes count as one letter."""
    body = re.sub(r"^\(\?[ism]+\)", "", text)
    if NOT_PLAIN.search(body):
        return "uses look-around, flags or back references"
    body = re.sub(r"\[\^?\]?(?:\\.|[^\]\\])*\]", "x", re.sub(r"\\[^1-9kgGQ]", "x", body))
    counted = (
        (len(body) > REGEX_LENGTH, f"is longer than {REGEX_LENGTH} characters"),
        (GROUP_REPEATED.search(body), "repeats a group"),
        (len(REPEAT.findall(re.sub(r"\.\*$", "", body))) > REPEATS, f"has more than {REPEATS} repetitions"),
        (len(OPTIONAL.findall(body)) > OPTIONALS, f"has more than {OPTIONALS} optional parts"),
        (body.count("(") > GROUPS or body.count("|") > CHOICES, "has too many groups or alternatives"),
        (any(int(number) > TIMES for number in re.findall(r"\d+", "".join(REPEAT.findall(body)))), "repeats too often"),
    )
    return next((problem for found, problem in counted if found), "")
