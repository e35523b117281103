"""Explore, then plan: goal-then-plan in a belief, where what the goal names may be elsewhere; an addition of ours.

The model states the goal. What the goal names and nobody has seen is looked for: first where it is remembered, which
the engine's plan takes for true, then room by room: the next room is the one whose likeliest places promise most for
the actions that the way and the looks there take, and in a room the likeliest place comes first. How likely a place is
the model says once, or the data sets' own scenes. A plan stays until a look or a refusal shows that it does not work
any more. The idea of a goal and a belief whose difference is the plan is of EPoG (arXiv 2602.04419), that of stating
the task before acting of TaskGround (arXiv 2605.18109).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Final

from pydantic import BaseModel

import scenecypher.db.condition as c
from scenecypher.chat.model import Message, Model, Usage
from scenecypher.chat.structured_reply import ask_for
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import ReplyRejected
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.methods.ours.asking_back import candidates, lost_classes
from scenecypher.planner.methods.ours.goal_then_plan import GoalAsker, StatedGoal, stated_goal, told_end
from scenecypher.planner.methods.ours.symbolic import MAX_PLANS, too_long
from scenecypher.planner.prompts.layout import SceneLayout, is_confirmed
from scenecypher.planner.prompts.texts import prompts_beside
from scenecypher.planner.sessions.method import Ablation, Act, Decision, Done, GiveUp, Memory, MethodContext
from scenecypher.planner.symbolic.parts import part_of, sought_for
from scenecypher.planner.symbolic.plan import planning_state
from scenecypher.planner.symbolic.states import MAX_REPAIRS, PlanningState, order_by_rooms, with_repairs
from scenecypher.planner.vocabularies.vocabulary import operators_of, vocabulary_named
from scenecypher.planner.worlds.belief_simulator import LOOK_ACTIONS
from scenecypher.planner.worlds.perturbation import AFFORDED_RELATIONS
from scenecypher.planner.worlds.usual_places import plain_class, usual_places

ROOM_COST: Final = 12
"""Actions that a change of rooms counts for."""
LOOK_COST: Final = 2
"""Actions that a look at a place in a room takes: walking to it, and looking."""
UNKNOWN_PLACE: Final = 1.0
"""Times that a thing counts as seen at a class of furniture where the data sets never have it."""
BARE_PLACE: Final = 0.1
"""Factor for what can hold nothing, as far as its affordances say, and holds nothing, such as a painting."""


class Belief:
    """The graph that is believed now, and the nodes `looked` at."""

    def __init__(self, graph: SceneGraph, vocabulary: str, looked: frozenset[str]) -> None:
        self.graph, self.looked, self._vocabulary = graph, looked, vocabulary
        self._layout, self._types = SceneLayout(graph, vocabulary), conventions_of(vocabulary).containment
        self.places = sorted(it for it in graph.by_kind.get("Asset", ()) if it != self._layout.agent)

    def state_of(self, goal: c.Condition, plan: Sequence[ActionCall]) -> PlanningState | None:
        """Return the state of what a goal and a plan name; None without an agent."""
        named = c.And((goal, *(c.Same(c.Id(x), c.Id(x)) for call in plan for x in call.arguments)))
        return planning_state(part_of(self.graph, named, wide=False, small=0), self._vocabulary)

    def look_at_first(self, things: Sequence[str]) -> Act | None:
        """Return the next action towards a look at the remembered place of the first thing that was not seen."""
        for thing in things:
            if thing in self.graph and not is_confirmed(self.graph.nodes[thing]):
                for place in self.graph.targets(thing, *self._types):
                    way = None if self.graph.nodes[place].kind == "Place" else self.way_to_look(place)
                    if place not in self.looked and way:
                        return Act(str(way[0]), f"make sure that {thing} is at {place}")
        return None

    def way_to_look(self, place: str) -> tuple[ActionCall, ...]:
        """Return the actions that lead to a look at a place, the look last; none if there is no way."""
        part = part_of(self.graph, c.Same(c.Id(place), c.Id(place)), wide=False, small=0)
        state = planning_state(part, self._vocabulary)
        if state is None:
            return ()
        look = look_action(self._vocabulary)
        shows = vocabulary_named(self._vocabulary).looking.revealing
        opened = with_repairs(ActionCall("open", (place,)), state, MAX_REPAIRS) if self._is_shut(place) else None
        if opened is not None and "open" in shows:
            return opened
        state = state.after(*(opened or ()))
        seen = with_repairs(ActionCall(look, (place,)), state, MAX_REPAIRS)
        return () if seen is None else (*(opened or ()), *seen)

    def in_order_of_search(self, weights: Mapping[str, float]) -> Iterator[str]:
        """Yield the places of `weights`: the most promising room first, and in a room the likeliest place first."""
        rooms: dict[str | None, list[str]] = {}
        for place in sorted(weights, key=lambda it: (-weights[it], it)):
            rooms.setdefault(self._layout.room_of(place), []).append(place)

        def promise(room: str | None) -> float:
            """Return the largest weight for an action, over the numbers of places that might be looked at."""
            way, sums = ROOM_COST * (room != self._layout.here), accumulate(weights[it] for it in rooms[room])
            return max(found / (way + LOOK_COST * number) for number, found in enumerate(sums, 1))

        for room in sorted(rooms, key=lambda it: (-promise(it), it or "")):
            yield from rooms[room]

    def _is_shut(self, place: str) -> bool:
        return "closed" in self.graph.nodes[place].states and "open" in operators_of(self._vocabulary)

    def weights(self, classes: Sequence[str], places: Sequence[str], ranked: Sequence[str]) -> Mapping[str, float]:
        """Return how likely the classes are at each place: by rank if there is one, else by the data sets' counts."""
        kinds = {place: plain_class(self.graph.nodes[place].class_) for place in places}
        alike = {kind: [*kinds.values()].count(kind) for kind in kinds.values()}
        found = {
            place: sum(usual_places().get(plain_class(it), {}).get(kind, UNKNOWN_PLACE) for it in classes)
            / alike[kind]
            * (1 if self._holds_things(place) else BARE_PLACE)
            for place, kind in kinds.items()
        }
        total = sum(found.values()) or 1.0
        return {
            it: 1 / (1 + ranked.index(it)) if it in ranked else found[it] / total / 10 if ranked else found[it]
            for it in places
        }

    def _holds_things(self, place: str) -> bool:
        """Check if something is, or could be, in or on a place."""
        afforded = AFFORDED_RELATIONS.keys() & {*self.graph.nodes[place].affordances}
        return bool(afforded or self.graph.sources(place, *self._types))

    def place_lines(self) -> Iterator[str]:
        """Yield a line for each room, with the places in it."""
        rooms: dict[str, list[str]] = {}
        for place in self.places:
            if place not in self.looked:
                rooms.setdefault(self._layout.room_of(place) or "no known room", []).append(place)
        yield from (f"{room}: {', '.join(places)}" for room, places in sorted(rooms.items()))


def look_action(vocabulary: str) -> str:
    """Return the name of the action that looks at a node."""
    approach = vocabulary_named(vocabulary).words.approach
    if approach is not None:
        return approach.look
    known = {*operators_of(vocabulary)}
    return min((LOOK_ACTIONS & known) or (vocabulary_named(vocabulary).looking.revealing & known), default="")


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
