"""Explore, then plan: goal-then-plan in a belief, where what the goal names may be elsewhere; an addition of ours.

The model states the goal. What the goal names and nobody has seen is looked for: first where it is remembered, which
the engine's plan takes for true, then room by room: the next room is the one whose likeliest places promise most for
the actions that the way and the looks there take, and in a room the likeliest place comes first. How likely a place is
the model says once, or the data sets' own scenes. A plan stays until a look or a refusal shows that it does not work
any more. The idea of a goal and a belief whose difference is the plan is of EPoG (arXiv 2602.04419), that of stating
the task before acting of TaskGround (arXiv 2605.18109).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pydantic import BaseModel

import scenecypher.db.condition as c
from scenecypher.chat.model import Message, Model, Usage
from scenecypher.chat.structured_reply import ask_for
from scenecypher.errors import ReplyRejected
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.methods.ours.asking_back import candidates, lost_classes
from scenecypher.planner.methods.ours.belief_search import Belief
from scenecypher.planner.methods.ours.goal_then_plan import GoalAsker, StatedGoal, stated_goal, told_end
from scenecypher.planner.methods.ours.symbolic import MAX_PLANS, too_long
from scenecypher.planner.prompts.texts import prompts_beside
from scenecypher.planner.sessions.method import Ablation, Act, Decision, Done, GiveUp, Memory, MethodContext
from scenecypher.planner.symbolic.parts import sought_for
from scenecypher.planner.symbolic.states import order_by_rooms
from scenecypher.planner.vocabularies.vocabulary import vocabulary_named
from scenecypher.planner.worlds.belief_simulator import LOOK_ACTIONS
from scenecypher.planner.worlds.usual_places import usual_places

PROMPTS: Final = prompts_beside(__name__)
USUAL_PLACES: Final = Ablation(
    "usual-places", "the data sets' scenes say where things usually are, instead of the model"
)


class PlacesForm(BaseModel, extra="forbid"):
    """Where the model would look."""

    places: list[str]


class ExploreThenPlan:
    """Method that asks for the goal, looks for what it needs, and plans; its model or statistics rank places."""

    def __init__(self, context: MethodContext) -> None:
        self._context, self._asker = context, GoalAsker(context, frozenset(usual_places()))
        self._vocabulary = context.vocabulary
        self._remaining: list[ActionCall] = []
        self._plans = 0
        self._ranks: dict[tuple[str, ...], Sequence[str]] = {}

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the goal as a thought, then actions of plans and looks. Raises ReplyRejected as the asker does."""
        stated = stated_goal(memory)
        if stated is None:
            return self._asker.ask(memory)
        belief = Belief(self._context.read_all(), self._vocabulary, _looked(memory, self._vocabulary))
        missing = lost_classes(stated.goal, belief.graph, self._vocabulary)
        if missing:
            return self._search(missing, belief, memory)
        open_yet = self._asker.asked_back(stated, memory)
        return (open_yet, Usage()) if open_yet else self._act(stated, belief, memory)

    def _act(self, stated: StatedGoal, belief: Belief, memory: Memory) -> tuple[Decision, Usage]:
        if c.evaluate(stated.goal, belief.graph, {}):
            return self._confirm(belief, stated.goal) or told_end(Done("the goal holds"), stated, memory), Usage()
        if not self._still_works(belief, stated.goal):
            end = self._replan(belief, stated.goal, memory)
            if end is not None:
                return end, Usage()
        look = belief.look_at_first(self._remaining[0].arguments)
        if look is not None:
            return look, Usage()
        call = self._remaining.pop(0)
        return Act(str(call), f"plan {self._plans}, {len(self._remaining)} to come"), Usage()

    def _replan(self, belief: Belief, goal: c.Condition, memory: Memory) -> GiveUp | None:
        if self._plans == MAX_PLANS:
            return GiveUp(f"{MAX_PLANS} plans did not lead to the goal")
        self._plans += 1
        planned = self._context.plan_goal(goal)
        self._remaining = [*(planned.plan or ())]
        state = belief.state_of(goal, self._remaining)
        if state is not None:
            self._remaining = [*order_by_rooms(self._remaining, goal, state, self._vocabulary)]
        return too_long(self._remaining, memory, self._context.max_steps) if self._remaining else GiveUp(planned.why)

    def _still_works(self, belief: Belief, goal: c.Condition) -> bool:
        """Check if the rest of the plan leads to the goal from what is believed now."""
        state = belief.state_of(goal, self._remaining)
        if state is None or not self._remaining:
            return False
        try:
            return c.evaluate(goal, state.after(*self._remaining).graph, {})
        except Infeasible:
            return False

    def _confirm(self, belief: Belief, goal: c.Condition) -> Decision | None:
        """Return a look at what makes the goal hold as it is remembered, if that has not been seen."""
        met = {node for each in candidates(goal, belief.graph) for node in each.met} | sought_for(goal).ids
        return belief.look_at_first(sorted(met & belief.graph.nodes.keys()))

    def _search(self, missing: Sequence[str], belief: Belief, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next action towards a look for the classes `missing`."""
        places, usage = [it for it in belief.places if it not in belief.looked], Usage()
        key = tuple(missing)
        if USUAL_PLACES not in self._context.ablations and key not in self._ranks:
            self._ranks[key], usage = _ranked(self._context.model, missing, belief, memory.instruction)
        weights = belief.weights(missing, places, self._ranks.get(key, ()))
        for place in belief.in_order_of_search(weights):
            way = belief.way_to_look(place)
            if way:
                return Act(str(way[0]), f"look for {' and '.join(missing)} at {place}"), usage
        looked = f"it is at none of the {len(belief.looked)} places that were looked at"
        return GiveUp(f"{' and '.join(missing)} was not found: {looked}"), usage


def _looked(memory: Memory, vocabulary: str) -> frozenset[str]:
    """Return the nodes that were looked at so far, or could not be."""
    names = LOOK_ACTIONS | vocabulary_named(vocabulary).looking.revealing
    done = [action for turn in memory.turns for action in turn.done]
    tried = [turn.decision.action for turn in memory.turns if turn.refused and isinstance(turn.decision, Act)]
    calls = map(parse_action, (*done, *tried))
    return frozenset(call.arguments[0] for call in calls if call.name in names and call.arguments)


def _ranked(model: Model, missing: Sequence[str], belief: Belief, instruction: str) -> tuple[tuple[str, ...], Usage]:
    """Return the places that the model would look at, likeliest first; none if its replies can't be used."""
    text = "\n".join(
        [
            f"Instruction: {instruction}",
            f"Not where it was, or never seen: {', '.join(missing)}",
            f"Looked at so far: {', '.join(sorted(belief.looked)) or 'nothing'}",
            "Places by room:",
            *belief.place_lines(),
        ]
    )
    try:
        form, usage = ask_for(
            model, (Message("system", PROMPTS["where_things_are"]), Message("user", text)), PlacesForm
        )
    except ReplyRejected as rejected:
        return (), Usage(rejected.prompt_tokens, rejected.completion_tokens)
    return tuple(dict.fromkeys(it for it in form.places if it in belief.graph)), usage
