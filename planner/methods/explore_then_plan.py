"""Explore, then plan: goal-then-plan in a belief, where what the goal names may be elsewhere; an addition of ours.

The model states the goal. What the goal names and nobody has seen is looked for: first where it is remembered, which
the engine's plan takes for true, then at places by how likely they are, divided by the actions that a look takes with
the way there. How likely a place is the model says once, or the data sets' own scenes. A plan stays until a look or a
refusal shows that it does not work any more. The idea of a goal and a belief whose difference is the plan is of EPoG
(arXiv 2602.04419), that of stating the task before acting of TaskGround (arXiv 2605.18109).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

import scenecypher.db.condition as c
from scenecypher.chat.form import ask_for
from scenecypher.chat.model import Message, Model, Usage
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import ReplyRejected
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.pddl_part import part_of, sought_for
from scenecypher.planner.actions.pddl_planner import PlanResult, planning_state
from scenecypher.planner.actions.pddl_required_actions import MAX_REPAIRS, with_repairs
from scenecypher.planner.actions.text import ActionCall, parse_action
from scenecypher.planner.belief_simulator import LOOK_ACTIONS
from scenecypher.planner.method import Act, Decision, Done, GiveUp, Memory
from scenecypher.planner.methods.goal_matches import candidates, lost_classes
from scenecypher.planner.methods.goal_then_plan import GoalAsker, stated_goal, told_end
from scenecypher.planner.methods.symbolic import MAX_PLANS
from scenecypher.planner.prompts.layout import SceneLayout, is_confirmed
from scenecypher.planner.usual_places import plain_class, usual_places
from scenecypher.planner.vocabularies.registry import operators_of, vocabulary_named

LIKELIEST: Final = 12
"""Places whose way is computed at a time, the likeliest ones."""
ROOM_COST: Final = 4
"""Actions that a change of rooms counts for."""
UNKNOWN_PLACE: Final = 0.2
"""Times that a thing counts as seen at a class of furniture where the data sets never have it."""

SYSTEM: Final = """\
You say where things are likely to be in a home. Reply with one JSON object: "places", a list of ids of places to look \
at, the likeliest first, at most ten."""


class PlacesForm(BaseModel):
    """Where the model would look."""

    model_config = ConfigDict(extra="forbid")

    places: list[str]


class ExploreThenPlan:
    """Method that asks for the goal, looks for what it needs, and plans; `ranker` (None: statistics) ranks places."""

    def __init__(
        self,
        asker: GoalAsker,
        plan_goal: Callable[[c.Condition], PlanResult],
        read_all: Callable[[], SceneGraph],
        *,
        ranker: Model | None = None,
    ) -> None:
        self._asker, self._plan_goal, self._read_all, self._ranker = asker, plan_goal, read_all, ranker
        self._vocabulary = asker.vocabulary
        self._remaining: list[ActionCall] = []
        self._plans = 0
        self._ranks: dict[tuple[str, ...], Sequence[str]] = {}

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the goal as a thought, then actions of plans and looks. Raises ReplyRejected as the asker does."""
        stated = stated_goal(memory)
        if stated is None:
            stated, usage = self._asker.ask(memory)
            return stated.thought(), usage
        belief = _Belief(self._read_all(), self._vocabulary, _looked(memory, self._vocabulary))
        missing = lost_classes(stated.goal, belief.graph, self._vocabulary)
        if missing:
            return self._search(missing, belief, memory)
        if c.evaluate(stated.goal, belief.graph, {}):
            return self._confirm(belief, stated.goal) or told_end(Done("the goal holds"), stated, memory), Usage()
        if not self._still_works(belief, stated.goal):
            end = self._replan(stated.goal)
            if end is not None:
                return end, Usage()
        look = belief.look_before(self._remaining[0])
        if look is not None:
            return look, Usage()
        call = self._remaining.pop(0)
        return Act(str(call), f"plan {self._plans}, {len(self._remaining)} to come"), Usage()

    def _replan(self, goal: c.Condition) -> GiveUp | None:
        if self._plans == MAX_PLANS:
            return GiveUp(f"{MAX_PLANS} plans did not lead to the goal")
        self._plans += 1
        planned = self._plan_goal(goal)
        self._remaining = [*(planned.plan or ())]
        return None if self._remaining else GiveUp(planned.why)

    def _still_works(self, belief: _Belief, goal: c.Condition) -> bool:
        """Check if the rest of the plan leads to the goal from what is believed now."""
        named = c.And((goal, *(c.Same(c.Id(x), c.Id(x)) for call in self._remaining for x in call.arguments)))
        state = planning_state(part_of(belief.graph, named, wide=False, small=0), self._vocabulary)
        if state is None or not self._remaining:
            return False
        try:
            return c.evaluate(goal, state.after(*self._remaining).graph, {})
        except Infeasible:
            return False

    def _confirm(self, belief: _Belief, goal: c.Condition) -> Decision | None:
        """Return a look at what makes the goal hold as it is remembered, if that has not been seen."""
        met = {node for each in candidates(goal, belief.graph) for node in each.met} | sought_for(goal).ids
        return belief.look_at_first(sorted(met & belief.graph.nodes.keys()))

    def _search(self, missing: Sequence[str], belief: _Belief, memory: Memory) -> tuple[Decision, Usage]:
        """Return the next look for the classes `missing`: the likeliest place for the fewest actions."""
        places, usage = [it for it in belief.places if it not in belief.looked], Usage()
        key = tuple(missing)
        if self._ranker is not None and key not in self._ranks:
            self._ranks[key], usage = _ranked(self._ranker, missing, belief, memory.instruction)
        weights = belief.weights(missing, places, self._ranks.get(key, ()))
        likeliest = sorted(places, key=lambda it: (-weights[it], it))
        while likeliest:
            ways = {it: way for it in likeliest[:LIKELIEST] if (way := belief.way_to_look(it))}
            if ways:
                best = max(sorted(ways), key=lambda it: weights[it] / (len(ways[it]) + belief.walk_cost(it)))
                what = " and ".join(missing)
                return Act(str(ways[best][0]), f"look for {what} at {best}"), usage
            likeliest = likeliest[LIKELIEST:]
        looked = f"it is at none of the {len(belief.looked)} places that were looked at"
        return GiveUp(f"{' and '.join(missing)} was not found: {looked}"), usage


class _Belief:
    """What is believed now, and the nodes `looked` at."""

    def __init__(self, graph: SceneGraph, vocabulary: str, looked: frozenset[str]) -> None:
        self.graph, self.looked, self._vocabulary = graph, looked, vocabulary
        self._layout, self._types = SceneLayout(graph, vocabulary), conventions_of(vocabulary).containment
        self.places = sorted(it for it in graph.by_kind.get("Asset", ()) if it != self._layout.agent)

    def look_before(self, call: ActionCall) -> Act | None:
        """Return a look at the remembered place of what an action uses, if that has not been seen."""
        return self.look_at_first(call.arguments)

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

    def walk_cost(self, place: str) -> int:
        """Return the actions that the way to a place counts for besides its own: a change of rooms is long."""
        return ROOM_COST if self._layout.room_of(place) != self._layout.here else 0

    def _is_shut(self, place: str) -> bool:
        return "closed" in self.graph.nodes[place].states and "open" in operators_of(self._vocabulary)

    def weights(self, classes: Sequence[str], places: Sequence[str], ranked: Sequence[str]) -> Mapping[str, float]:
        """Return how likely the classes are at each place: by rank if there is one, else by the data sets' counts."""
        kinds = {place: plain_class(self.graph.nodes[place].class_) for place in places}
        alike = {kind: [*kinds.values()].count(kind) for kind in kinds.values()}
        found = {
            place: sum(usual_places().get(plain_class(it), {}).get(kind, UNKNOWN_PLACE) for it in classes) / alike[kind]
            for place, kind in kinds.items()
        }
        total = sum(found.values()) or 1.0
        return {
            it: 1 / (1 + ranked.index(it)) if it in ranked else found[it] / total / 10 if ranked else found[it]
            for it in places
        }

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


def _looked(memory: Memory, vocabulary: str) -> frozenset[str]:
    """Return the nodes that were looked at so far, or could not be."""
    names = LOOK_ACTIONS | vocabulary_named(vocabulary).looking.revealing
    done = [action for turn in memory.turns for action in turn.done]
    tried = [turn.decision.action for turn in memory.turns if turn.refused and isinstance(turn.decision, Act)]
    calls = map(parse_action, (*done, *tried))
    return frozenset(call.arguments[0] for call in calls if call.name in names and call.arguments)


def _ranked(model: Model, missing: Sequence[str], belief: _Belief, instruction: str) -> tuple[tuple[str, ...], Usage]:
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
        form, usage = ask_for(model, (Message("system", SYSTEM), Message("user", text)), PlacesForm)
    except ReplyRejected as rejected:
        return (), Usage(rejected.prompt_tokens, rejected.completion_tokens)
    return tuple(dict.fromkeys(it for it in form.places if it in belief.graph)), usage
