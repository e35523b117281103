"""Methods of SG2, SG-RwR and graph prompting finish in each vocabulary, and execute their decisions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from scenecypher.planner.methods import NO_MEANING, QUERY_METHODS
from tests.planner.actions.grasif_worlds import home
from tests.planner.actions.worlds import HOME
from tests.planner.methods.playing import play, role_of, system_of
from tests.sampling import FULL

WORLDS: Final[Mapping[str, tuple[SceneGraph, str]]] = {
    "virtualhome": (HOME, "open(fridge_21)"),
    "grasif": (home(), "pick_up(pen-1)"),
}
"""A home of each vocabulary, and a feasible action in it."""


def answers(action: str) -> Callable[[dict[str, Any]], str]:
    """Return a script in which each agent gives that one action as the solution, in its own form."""
    forms = {
        "planner": f"[Explanation]\nx\n[Mode]\nSOLUTION\n[Content]\n[{action}]",
        "reasoner": f"[Summary]\nx\n[Actions]\n[{action}]\n\nTASK TERMINATE",
        "coder": f'```python\nprint("[{action}]")\n```',
        "react": f"Thought: x\nAction: finish([{action}])",
        "prompting": f"x\nSolution: [{action}]",
        "translator": f"[{action}]",
    }

    def step(request: dict[str, Any]) -> str:
        role = role_of(request)
        if role == "alfworld":
            return f"> {'done()' if len(request['messages']) > 2 else action}"
        if role == "reasoner" and "[Plan]" in system_of(request):
            return f"[Summary]\nx\n[Plan]\n{action}\n\nTASK TERMINATE"
        return forms[role]

    return step


BOTH = [(method, vocabulary) for method in QUERY_METHODS for vocabulary in WORLDS]
IN_TURN = [*zip(QUERY_METHODS, itertools.cycle(WORLDS), strict=False)]


@pytest.mark.parametrize(("method", "vocabulary"), BOTH if FULL else IN_TURN)
def test_it_runs_to_its_end(store: SceneStore, method: str, vocabulary: str) -> None:
    graph, action = WORLDS[vocabulary]
    if (method, vocabulary) in NO_MEANING:
        with pytest.raises(InputError, match=r"for such tasks .*; choose another"):
            play(store, method, answers(action), graph=graph, vocabulary=vocabulary, instruction="Do as told.")
        return
    played = play(store, method, answers(action), graph=graph, vocabulary=vocabulary, instruction="Do as told.")
    assert action in played.actions, played.events
    assert played.end.outcome == "done"
    for request in played.requests:
        text = system_of(request)
        assert "traverse_room" not in text, "a tool of grids alone"
        assert "key of its own color" not in text
