"""LLM+P's domain for GraSIF is generated from the operators, and equals the paper's except for its corrections."""

from __future__ import annotations

from typing import Any, Final

import pytest

from scenecypher.planner.methods.baselines.whole_plans import parse_expression
from scenecypher.planner.prompts.domains.making import MENDED, PAPERS, action_pddl, domain_pddl
from scenecypher.planner.prompts.texts import domain_text
from scenecypher.planner.vocabularies.grasif import OPERATORS

NEAR: Final = {"(robot-in r)", "(object-room x r)"}
PAPER: Final[dict[str, tuple[str, set[str], set[str]]]] = {
    "go_to": ("r x", {"(robot-in r)"}, {"(not (robot-in r))", "(robot-in x)"}),
    "pick_up": (
        "x s r",
        {*NEAR, "(object-room s r)", "(hand-empty)", "(or (ontop x s) (and (inside x s) (not (closed s))))"},
        {"(agent-hold x)", "(not (ontop x s))", "(not (inside x s))", "(not (hand-empty))"},
    ),
    "put_on": (
        "h x r",
        {*NEAR, "(agent-hold h)"},
        {"(ontop h x)", "(object-room h r)", "(not (agent-hold h))", "(hand-empty)"},
    ),
    "put_inside": (
        "h x r",
        {*NEAR, "(agent-hold h)", "(not (closed x))"},
        {"(inside h x)", "(object-room h r)", "(not (agent-hold h))", "(hand-empty)"},
    ),
    "turn_on": ("x r", {*NEAR, "(not (on-state x))"}, {"(on-state x)"}),
    "turn_off": ("x r", {*NEAR, "(on-state x)"}, {"(not (on-state x))"}),
    "open": ("x r", {*NEAR, "(closed x)"}, {"(not (closed x))"}),
    "close": ("x r", {*NEAR, "(not (closed x))"}, {"(closed x)"}),
}
"""Parameters, precondition and effect of each action in LookPlanGraph's domain (appendix D)."""


def test_the_domain_that_ships_is_what_the_operators_make() -> None:
    assert domain_pddl() == domain_text("grasif")


@pytest.mark.parametrize("name", PAPER)
def test_not_mended_it_is_the_papers(name: str) -> None:
    assert read(action_pddl(OPERATORS[name], mended=False)) == paper(name)


def test_what_is_mended_is_told_apart() -> None:
    differ = [name for name in PAPER if read(action_pddl(OPERATORS[name], mended=True)) != paper(name)]
    assert differ == ["pick_up", "put_on", "put_inside"]
    assert f"(:requirements {' '.join(PAPERS)})" in domain_pddl(mended=False)
    assert all(word in domain_pddl() and word not in domain_pddl(mended=False) for word in MENDED)


@pytest.mark.parametrize("name", ["put_under", "attach", "discover_objects"])
def test_what_the_predicates_can_not_say_has_no_rule(name: str) -> None:
    with pytest.raises(ValueError, match="no rule translates"):
        action_pddl(OPERATORS[name], mended=True)


def paper(name: str) -> tuple[int, set[str], set[str]]:
    parameters, needed, changed = PAPER[name]
    return len(parameters.split()), needed, changed


def read(text: str) -> tuple[int, set[str], set[str]]:
    """Return the number of parameters, precondition and effect, with the table's names for the variables."""
    _, name, _, parameters, _, needed, _, changed = parse_expression(text)
    variables = [word for word in parameters if word.startswith("?")]
    names = dict(zip(variables, PAPER[name][0].split(), strict=True))
    return len(variables), parts(needed, names), parts(changed, names)


def parts(formula: Any, names: dict[str, str]) -> set[str]:
    found = formula[1:] if formula[0] == "and" else [formula]
    return {written(part, names) for part in found}


def written(part: Any, names: dict[str, str]) -> str:
    return names.get(part, part) if isinstance(part, str) else f"({' '.join(written(it, names) for it in part)})"
