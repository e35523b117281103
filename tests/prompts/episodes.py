"""A short episode of each method in a tiny world of each vocabulary, with scripted replies; its requests are kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Final

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from scenecypher.planner.methods import METHODS, recipe_named
from scenecypher.planner.sessions.budget import Budget
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from tests.planner.actions.household_worlds import SILENT
from tests.planner.actions.test_operators import put
from tests.planner.actions.worlds import HOME
from tests.planner.methods import coffee
from tests.planner.methods.playing import INSTRUCTION, ROLES, ROOMS

ROWS: Final = "```cypher\nMATCH (n:Object) RETURN n.id AS id, n.states AS states ORDER BY id\n```"
FORMS: Final = "[Explanation]\nso\n\n[Mode]\n{}\n\n[Content]\n{}"


@dataclass(frozen=True, slots=True)
class TinyWorld:
    """A scene with a task, a place to look at, an action that is possible, and one that is not."""

    vocabulary: str
    graph: SceneGraph
    instruction: str
    place: str
    possible: str
    refused: str


WORLDS: Final = (
    TinyWorld(
        "grasif", coffee.COFFEE, coffee.INSTRUCTION, "kitchen-1", "go_to(kitchen-1)", "pick_up(coffee_machine-1)"
    ),
    TinyWorld("virtualhome", HOME, "Put the cup into the fridge.", "kitchen_10", "walk(fridge_21)", "grab(fridge_21)"),
    TinyWorld("babyai", ROOMS, INSTRUCTION, "room_1", "pickup(key_1)", "pickup(door_1)"),
    TinyWorld("household", SILENT, "Bring the cup to the shelf in the hall.", "kitchen", "go_to(kitchen)", "open(cup)"),
)
SUB_AGENTS: Final[Mapping[str, Sequence[str]]] = {
    "writer": (ROWS,),
    "verifier": ("There are several.",),
    "retriever": (ROWS, "[Summary]\nThere are several.\n\nINFO RETRIEVED"),
    "reader": ("There are several.",),
    "limited": ("Thought: so\nAction: get_attrs({place})", "Thought: so\nAction: answer(several)"),
    "caller": ("```python\nprint(traverse_room([2.5, 2.5], [6, 6], [['ball_1', 4, 4]], [4, 1], [5, 4]))\n```",),
    "translator": ("[{possible}]",),
}
"""Replies of the agents that methods work with, by role; the last one is repeated."""


def _json(**values: object) -> str:
    return json.dumps(values)


def decides(decision: str, text: str | None = None) -> str:
    question, action = (text if decision == kind else None for kind in ("ask", "act"))
    return _json(reason="so", decision=decision, question=question, action=action)


def _step(action: str) -> str:
    name, _, arguments = action.rstrip(")").partition("(")
    step = {"function_name": name, "node": arguments, "relation": None, "destination": None}
    return _json(reason="so", action=step)


def _sayplan(command: str | None, place: str | None, plan: Sequence[str] | None, **more: object) -> str:
    called = None if command is None else {"command_name": command, "node_name": place}
    return _json(chain_of_thought=["so"], reasoning="so", command=called, plan=plan, **more)


def _goal(world: TinyWorld) -> str:
    """Return the goal that some thing is where a thing of its class is now."""
    things = sorted(it.id for it in world.graph.nodes.values() if it.kind == "Object")
    thing, relation = next(
        (it, found)
        for it in things
        for found in sorted(world.graph.relations)
        if found.source == it and found.type in {"INSIDE", "ON"}
    )
    goal = [f"x: one {world.graph.nodes[thing].class_}", f"x {relation.type} {relation.target}"]
    return _json(reason="so", impossible=False, goal=goal)


def main_replies(method: str, world: TinyWorld) -> Sequence[str]:
    """Return the replies of the method's own agent: a question or a look, a mistake, an action, and the end."""
    place, good, bad = world.place, world.possible, world.refused
    acts = [f"[{bad}, {good}]", f"[{good}]"]
    calls = {"react-sg2": f"expand({place})", "react-limit": f"get_neighbors({place})", "react-rwr": "get_nodes()"}
    lite = [
        _json(chain_of_thought=["so"], reasoning="so", command={"command_name": name, "node_name": node})
        for name, node in (("expand_node", place), ("contract_node", place), ("verify_plan", None))
    ]
    tool = [FORMS.format("TOOL", "traverse_room for room_1")] if world.vocabulary == "babyai" else []
    said = [f"Solution: {solution}" for solution in acts]
    forms: Mapping[str, Sequence[str]] = {
        "stepwise": (
            decides("ask", "Which objects are there?"),
            *(decides("act", bad), decides("act", good), decides("done")),
        ),
        "lookplangraph": (_step(bad), _step(good), _step(f"done({place})")),
        "sayplan": (
            _sayplan("expand_node", place, None, mode="exploring"),
            *(_sayplan(None, None, [action], mode="planning") for action in (bad, good)),
        ),
        "sayplan-lite": (*lite, *(_json(chain_of_thought=["so"], plan=[action]) for action in (bad, good))),
        "llm-as-p": (_json(plan=[good]),),
        "llm+p": ("hm",),
        # A malformed goal; one that holds already, so that the model is shown what it matches; its repetition; a rank.
        **dict.fromkeys(
            ("goal-then-plan", "explore-then-plan"),
            ("hm", _goal(world), _goal(world), _json(reason="so", places=[place])),
        ),
        **dict.fromkeys(
            ("sg2", "sg2-limit"),
            (
                FORMS.format("QUERY", "Which objects are there?"),
                *tool,
                *(FORMS.format("SOLUTION", solution) for solution in acts),
            ),
        ),
        **dict.fromkeys(
            ("sg-rwr", "sg-rwr-fs", "sg-rwr-alg"),
            (
                "[Explanation]\nso\n\n[Query]\nWhich objects are there?",
                "[Explanation]\nso\n\n[Code]\n```python\nprint(1)\n```",
                *(f"[Summary]\nso\n\n[Actions]\n{solution}\n\nTASK TERMINATE" for solution in acts),
            ),
        ),
        "rwr-text": (
            "[Explanation]\nso\n\n[Query]\nWhich objects are there?",
            "[Summary]\nso\n\n[Plan]\nDo it.\n\nTASK TERMINATE",
        ),
        "single-coder": (
            "```python\nprint(nothing)\n```",
            *(f"```python\nprint({solution!r})\n```" for solution in acts),
        ),
        **{
            name: (f"Thought: so\nAction: {call}", *(f"Thought: so\nAction: finish({solution})" for solution in acts))
            for name, call in calls.items()
        },
        "react-alfworld": ("> think: so", f"> {bad}", f"> {good}", "> done()"),
        **dict.fromkeys(("zero-shot", "0-cot", "ltm", "cot", "bag", "algorithm"), said),
    }
    return forms[method]


class RoleModel:
    """A model that replies by the role of the agent that is asked, and keeps the requests."""

    def __init__(self, method: str, world: TinyWorld) -> None:
        self.requests: list[Request] = []
        lines = {"": main_replies(method, world), **SUB_AGENTS}
        self._lines: dict[str, Iterator[str]] = {role: chain(said, repeat(said[-1])) for role, said in lines.items()}
        self._world = world

    def reply(self, request: Request) -> Reply:
        """Return the next reply of the agent."""
        self.requests.append(request)
        system = request.messages[0].text
        role = next((role for words, role in ROLES.items() if system.startswith(words)), "")
        text = next(self._lines[role if role in SUB_AGENTS else ""])
        for name in ("place", "possible"):
            text = text.replace(f"{{{name}}}", getattr(self._world, name))
        return Reply(text, Usage(), "roles", source="scripted")


def play(store: SceneStore, world: TinyWorld, method: str, ablations: tuple[str, ...] = ()) -> list[Request] | str:
    """Return the requests of an episode, or why there is none."""
    model = RoleModel(method, world)
    setting = SessionSetting(
        store,
        Gate(store.database),
        put(store, world.graph, vocabulary=world.vocabulary),
        world.instruction,
        method,
        model=model,
        ablations=ablations,
        budget=Budget({"llm+p": 1, "goal-then-plan": 1, "explore-then-plan": 2}.get(method, 8)),
    )
    try:
        assert [*prepare_session(setting, recipe_named(method)).run()]
    except InputError as refused:
        return str(refused)
    return model.requests


def variants() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield each method that asks a model, first as it is, then with each of its ablations."""
    for name, recipe in METHODS.items():
        if recipe.model:
            yield name, ()
            for ablation in recipe.ablations:
                yield name, (ablation.name,)


Play = Callable[[TinyWorld, str, tuple[str, ...]], "list[Request] | str"]
