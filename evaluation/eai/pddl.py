"""Predicted PDDL actions as the Embodied Agent Interface reads them, within our limits, and their match with gold ones.

Matching reproduces its evaluator (`logic_score.py`) with its quirks: lists are padded to equal length before they are
compared, only whole inner lists agree, and a clause that agrees with one at another index may also count as wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final, NamedTuple, TypeAlias

from scenecypher.evaluation.eai.grounding import MAX_CHARACTERS

Expression: TypeAlias = "str | tuple[Expression, ...]"
"""Literal with its arguments as one text, or a connective followed by its operands."""

EMPTY: Final = "()"
MAX_DEPTH: Final = 40
MAX_TOKENS: Final = 4_000
CONNECTIVES: Final[Mapping[str, int]] = {"and": 0, "or": 0, "not": 2, "exists": 3, "forall": 3, "when": 3}
"""Length of a list that begins with this connective; 0 for any."""

_COMMENT: Final = re.compile(r";.*$", re.MULTILINE)
_ACTION: Final = re.compile(r"\(:action\s+(\w+)")
_PARTS: Final = (":parameters", ":precondition", ":effect")


@dataclass(frozen=True, slots=True)
class PddlAction:
    """Action as text: each part with its brackets and single blanks."""

    name: str
    parameters: str
    precondition: str
    effect: str


def parse_actions(output: str) -> Mapping[str, PddlAction] | None:
    """Return the actions of an output by name, possibly none; None if it can't be read."""
    if len(output) > MAX_CHARACTERS:
        return None
    text = _output_text(output)
    if not isinstance(text, str) or len(text) > MAX_CHARACTERS:
        return None
    return _actions(" ".join(_COMMENT.sub("", text).split()))


def parse_expression(text: str) -> Expression:
    """Parse an expression. Raises ValueError if it is malformed, too deep or too long."""
    tokens = re.findall(r"[()]|[^()\s][^()]*", text)
    if len(tokens) > MAX_TOKENS:
        raise ValueError(f"over {MAX_TOKENS} words")
    lists: list[list[Expression]] = [[]]
    for token in map(str.strip, tokens):
        if token == "(":  # noqa: S105 - a bracket
            lists.append([])
        elif token == ")":  # noqa: S105
            closed = _finish_list(lists.pop())
            if not lists:
                raise ValueError("a bracket too many")
            lists[-1].append(closed)
        else:
            lists[-1].append(token)
        if len(lists) > MAX_DEPTH:
            raise ValueError(f"over {MAX_DEPTH} levels")
    if len(lists) != 1 or len(lists[0]) != 1:
        raise ValueError("not one expression")
    return lists[0][0]


def _output_text(output: str) -> Any:
    """Return the value of the key ``output``; the text itself if it is not JSON or has no such key."""
    text = output[7:].strip("`") if output.startswith("```json") else output
    text = text.strip().replace("\n", "").replace("'", '"')
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return found["output"] if isinstance(found, dict) and "output" in found else found


def _actions(text: str) -> Mapping[str, PddlAction] | None:
    found: dict[str, PddlAction] = {}
    ends, at = matching_brackets(text), 0
    while action := _ACTION.search(text, at):
        starts = [text.find(part, action.end()) for part in _PARTS]
        if -1 in starts:
            break
        parameters, *clauses = (_block(text, start, ends) for start in starts)
        if parameters is None:
            return None
        precondition, effect = (EMPTY if it is None else it for it in clauses)
        found[action[1]] = PddlAction(action[1], parameters, precondition, effect)
        at = starts[2] + effect[1:].find(")") + 1
    return found


def matching_brackets(text: str) -> Mapping[int, int]:
    """Map each opening bracket that is closed to its closing one."""
    ends: dict[int, int] = {}
    opened: list[int] = []
    for bracket in re.finditer("[()]", text):
        if bracket[0] == "(":
            opened.append(bracket.start())
        elif opened:
            ends[opened.pop()] = bracket.start()
    return ends


def _block(text: str, start: int, ends: Mapping[int, int]) -> str | None:
    """Return the first balanced list from `start` on, empty if none begins, None if it does not end."""
    opened = text.find("(", start)
    if opened < 0:
        return ""
    return text[opened : ends[opened] + 1].replace(") )", "))") if opened in ends else None


def _finish_list(parts: list[Expression]) -> Expression:
    """Return the expression of a completed list."""
    if not parts:
        return EMPTY
    head = parts[0]
    length = CONNECTIVES.get(head) if isinstance(head, str) else None
    if length is None:
        if not all(isinstance(item, str) for item in parts):
            raise ValueError(f"{str(head)[:60]} connects nothing")
        return " ".join(map(str, parts))
    if length and len(parts) != length:
        raise ValueError(f"{head} takes {length - 1}")
    return tuple(parts)


_LISTS: Final = frozenset({"and", "or"})
QUANTIFIERS: Final = frozenset({"exists", "forall"})


@dataclass(frozen=True, slots=True)
class ExpressionMatch:
    """Expressions that agree, and those of the prediction and of the gold expression that do not."""

    score: float
    both: tuple[Expression, ...] = ()
    predicted: tuple[Expression, ...] = ()
    gold: tuple[Expression, ...] = ()


class PredicateMatch(NamedTuple):
    """Names of predicates in agreeing clauses, false alarms and misses."""

    hits: frozenset[str] = frozenset()
    alarms: frozenset[str] = frozenset()
    misses: frozenset[str] = frozenset()


def match_predicates(predicted: str, gold: str) -> PredicateMatch | None:
    """Compare the predicates of two expressions; None if the predicted one can't be read."""
    try:
        one, other = _align(parse_expression(predicted), parse_expression(gold))
    except ValueError:
        return None
    found = match_expressions(one, other)
    return PredicateMatch(*map(predicate_names, (found.both, found.predicted, found.gold)))


def predicate_names(trees: Iterable[Expression]) -> frozenset[str]:
    """Return the predicates that occur."""
    return frozenset(name for one in trees for name in _names(one) if name != EMPTY)


def match_expressions(one: Expression, other: Expression) -> ExpressionMatch:
    """Compare a predicted expression with the gold one."""
    score: float
    if isinstance(one, str) or isinstance(other, str):
        score = one == other
    elif one[0] == other[0] in _LISTS:
        return _match_lists(one[1:], other[1:])
    elif one[0] != other[0]:
        score = 0
    elif one[0] == "not":
        score = match_expressions(one[1], other[1]).score
    elif one[0] == "when":
        score = all(match_expressions(one[at], other[at]).score == 1 for at in (1, 2))
    else:
        score = match_expressions(one[2], other[2]).score if one[1] == other[1] else 0
    return ExpressionMatch(score, both=(one,)) if score > 0 else ExpressionMatch(0, predicted=(one,), gold=(other,))


def _match_lists(one: Sequence[Expression], other: Sequence[Expression]) -> ExpressionMatch:
    found = [[match_expressions(a, b) for b in other] for a in one]
    agree = [[cell.score >= 1 for cell in row] for row in found]
    partner = _maximum_matching(agree, len(other))
    taken = {column for column in partner if column is not None}
    least = min(len(one), len(other))
    return ExpressionMatch(
        len(taken) / least if least else 0,
        both=tuple(part for row in found for cell in row if cell.score >= 1 for part in cell.both),
        # The original checks here whether the row's index is among the matched columns.
        predicted=tuple(one[row] for row in range(len(one)) if partner[row] is None or row not in taken),
        gold=tuple(other[column] for column in range(len(other)) if column not in taken),
    )


def _maximum_matching(agree: Sequence[Sequence[bool]], columns: int) -> list[int | None]:
    """Return the column of each row in a maximum matching, by augmenting paths (breadth-first: nothing recurses)."""
    row_of: list[int | None] = [None] * columns
    partner: list[int | None] = [None] * len(agree)
    for start in range(len(agree)):
        came_from: dict[int, int] = {}
        queue = [start]
        for row in queue:
            for column in (at for at, agrees in enumerate(agree[row]) if agrees and at not in came_from):
                came_from[column] = row
                if (holder := row_of[column]) is not None:
                    queue.append(holder)
        free = next((column for column in came_from if row_of[column] is None), None)
        while free is not None:
            row = row_of[free] = came_from[free]
            free, partner[row] = partner[row], free
    return partner


def _names(one: Expression) -> Iterable[str]:
    if isinstance(one, str):
        return (one.split(" ")[0],)
    inner = one[2:] if one[0] in QUANTIFIERS else one[1:]
    return (name for part in inner for name in _names(part))


def _align(one: Expression, other: Expression) -> tuple[Expression, Expression]:
    """Pad lists to equal length with EMPTY, and rename gold quantifiers' variables to the predicted ones."""
    if isinstance(one, str) or isinstance(other, str):
        return one, other
    if one[0] == other[0] and one[0] in QUANTIFIERS:
        old, new = (_variable(part[1]) for part in (other, one))
        return one, (other[0], *(_rename(part, old, new) for part in other[1:]))
    if one[0] in _LISTS and other[0] in _LISTS:
        pairs = [_align(a, b) for a, b in zip_longest(one[1:], other[1:], fillvalue=EMPTY)]
        return (one[0], *(a for a, _ in pairs)), (other[0], *(b for _, b in pairs))
    return one, other


def _variable(part: Expression) -> str:
    if not isinstance(part, str):
        raise ValueError("a quantifier needs a variable")  # noqa: TRY004 - the text is at fault
    return part.split("-")[0].strip()


def _rename(part: Expression, old: str, new: str) -> Expression:
    return part.replace(old, new) if isinstance(part, str) else tuple(_rename(one, old, new) for one in part)
