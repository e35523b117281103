"""The functions that a prompt offers, by vocabulary: the actions of the papers' prompts, from the operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scenecypher.db.schema import family
from scenecypher.planner.actions.vocabularies import DONE, action_list, macros_of, operators_of

STEPWISE: Final[Mapping[str, tuple[str, ...]]] = {
    "grasif": (
        *("go_to", "discover_objects", "rearrange", "turn_on", "turn_off", "open", "close", "pick_up"),
        DONE,
    ),
}
"""Functions of LookPlanGraph's prompt (section IV-A, appendix F-3); other vocabularies offer all actions."""

WHOLE: Final[Mapping[str, tuple[str, ...]]] = {
    "grasif": (
        *("go_to", "pick_up", "put_on", "put_inside", "put_under", "attach"),
        *("turn_on", "turn_off", "open", "close"),
    ),
}
"""Functions of the prompts of baselines, which plan without looking (appendix F-1, F-4)."""


def functions(vocabulary: str, among: Mapping[str, tuple[str, ...]]) -> str:
    """Return the functions as text, one a line, in the order of `among`."""
    operators, macros = operators_of(vocabulary), macros_of(vocabulary)
    names = among.get(family(vocabulary), (*operators, *macros))
    chosen = {name: operators[name] for name in names if name in operators}
    return action_list(chosen, {name: macros[name] for name in names if name in macros})
