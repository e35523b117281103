"""The session loop: a method decides, the session executes and feeds back; a generator of immutable events."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TypeAlias, assert_never
from uuid import uuid4

from scenecypher.chat.model import Usage
from scenecypher.db.condition import Condition, condition_from_document
from scenecypher.errors import (
    ActionRefused,
    ModelUnavailable,
    RejectedError,
    ReplyRejected,
    RuleBroken,
    UnknownReference,
)
from scenecypher.planner.actions.execution import Infeasible
from scenecypher.planner.actions.ruled import Answer, AskBack
from scenecypher.planner.actions.simulator import Simulator
from scenecypher.planner.actions.text import parse_action
from scenecypher.planner.sessions import events as e
from scenecypher.planner.sessions import method as m
from scenecypher.planner.sessions import reporting
from scenecypher.planner.sessions.budget import Budget, OthersActs, Spent, Stopwatch, UsageMeter
from scenecypher.planner.vocabularies.vocabulary import DONE
from scenecypher.planner.worlds.environment import WorldMismatch

ViewWriter: TypeAlias = Callable[[m.Memory], str]
"""Function that writes a method's view of the present graph."""
SchemaWriter: TypeAlias = Callable[[], str]
"""Function that writes the schema of the present graph."""
GoalJudge: TypeAlias = Callable[[Condition | None], tuple[e.GoalState, tuple[str, ...]]]
"""Function that says whether the session's goal, or else the one that its method stated, holds, and what does not."""


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A turn that was cut off: its decision, the id of the action under way, and the ids of those logged since."""

    decision: m.Act | m.Solve
    action_id: str
    logged: frozenset[str]


@dataclass(slots=True)
class Session:
    """One task in one scene: `simulator` acts on it, `asker` and `tools` read from it, `method` decides.

    Before each decision `view` writes the graph and `schema` its schema for the method, and `others` reads what others
    did since the last one, which its model is told. `step_writer` words the executed actions. Without
    `reprompt` infeasible actions are neither fed back nor counted as refusals; words that name no node or action still
    are. `watch` is the session's clock; `image_meter` counts the tokens of pictures. At the end `judge` says whether
    the goal holds. `answer` asks a person what is meant.
    """

    method: m.Method
    simulator: Simulator
    asker: m.Asker
    _: KW_ONLY
    tools: Mapping[str, m.Tool] = field(default_factory=dict)
    view: ViewWriter | None = None
    schema: SchemaWriter | None = None
    others: OthersActs | None = None
    step_writer: m.StepWriter | None = None
    budget: Budget = field(default_factory=Budget)
    reprompt: bool = True
    watch: Stopwatch = field(default_factory=Stopwatch)
    image_meter: UsageMeter = field(default_factory=UsageMeter)
    judge: GoalJudge | None = None
    answer: Answer = lambda _: ""
    _interrupted: Interrupted | None = field(default=None, init=False)

    def run(
        self, memory: m.Memory, *, spent: Spent | None = None, interrupted: Interrupted | None = None
    ) -> Iterator[e.Event]:
        """Carry out `memory.instruction`: yield events as they happen, Finished last.

        `spent` is the budget used by the turns in `memory`; the turn after them that was `interrupted` is brought to
        its end first, whatever is left of the budget: the action under way is done again by its id. Each action is one
        committed transaction, so the generator can be stopped anywhere. Rejections are fed back to the method. The
        clock stands while an event is with the reader. Raises ServiceError if the database or the model service fails.
        """
        spent, self._interrupted = spent or Spent(), interrupted
        self.watch.start(spent.seconds)
        self.image_meter.usage += spent.seeing
        for event in self._events(memory, spent):
            self.watch.pause()
            yield event
            self.watch.go_on()

    def _events(self, memory: m.Memory, spent: Spent) -> Iterator[e.Event]:
        while True:
            over = None if self._interrupted else spent.exceeded(self.budget, self.watch.seconds)
            if over is None:
                memory, spent, over = yield from self._turn_in_time(memory, spent)
            if over is not None:
                yield self._finished(memory, spent, over)
                return

    def _finished(self, memory: m.Memory, spent: Spent, ending: reporting.SessionEnd) -> e.Finished:
        """Return the end, with what the scene itself says of the goal, whatever the method has said."""
        seconds, answer, seeing = self.watch.seconds, _answer(memory), self.image_meter.usage
        goal, unmet = self.judge(_stated_goal(memory)) if self.judge else ("unknown", ())
        outcome, reason = ending
        if outcome == "done" and goal == "not met":
            outcome = "not_met"
        return e.Finished(
            outcome, reason, spent.steps, spent.actions, spent.usage, seconds, answer, seeing, goal, unmet
        )

    def _turn_in_time(
        self, memory: m.Memory, before: Spent
    ) -> Generator[e.Event, None, tuple[m.Memory, Spent, reporting.SessionEnd | None]]:
        """Take a turn, or end the session if its time ran out in it. Raises ModelUnavailable if there is time left."""
        try:
            return (yield from self._turn(memory, before))
        except ModelUnavailable:
            over = self._time_over()
            if over is None:
                raise
            return memory, before, over

    def _time_over(self) -> reporting.SessionEnd | None:
        """Return the end of the session if its time is over."""
        seconds = self.budget.seconds
        over = seconds is not None and self.watch.seconds >= seconds
        return ("seconds", f"the limit of {seconds:g} s is reached") if over else None

    def _turn(
        self, memory: m.Memory, before: Spent
    ) -> Generator[e.Event, None, tuple[m.Memory, Spent, reporting.SessionEnd | None]]:
        """Take one decision and execute it."""
        spent, opening = replace(before, steps=before.steps + 1), memory.opening
        memory = self._renewed(memory)
        decision: m.Decision | None = None
        try:
            decision, usage = (self._interrupted.decision, Usage()) if self._interrupted else self.method.decide(memory)
        except ReplyRejected as rejected:
            yield e.Refused(spent.steps, "", "reply", (str(rejected),))
            result = reporting.refusal_result(rejected, spent)
        else:
            result = yield from self._execute(decision, replace(spent, usage=spent.usage + usage))
        spent = replace(result.spent, seeing=self.image_meter.usage)
        document = None if decision is None else m.decision_document(decision)
        cost = spent.usage - before.usage
        remembered = result.feedback, result.done, result.refused
        first_view = "" if opening else memory.opening
        yield e.Remembered(
            spent.steps, document, *remembered, spent.refused, cost, first_view, self.watch.seconds, spent.seeing
        )
        memory = memory.remember(decision, result.feedback, done=result.done, refused=result.refused)
        return memory, spent, result.ending

    def _renewed(self, memory: m.Memory) -> m.Memory:
        """Return the memory with the present state: first others' acts are noticed, then view and schema written."""
        if self.others is not None:
            self.others.renew()
        if self.schema is not None:
            memory = replace(memory, schema=self.schema())
        if self.view is not None:
            view = self.view(memory)
            memory = replace(memory, view=view, opening=memory.opening or view)
        return memory

    def _execute(self, decision: m.Decision, spent: Spent) -> reporting.TurnRun:
        match decision:
            case m.Ask() | AskBack():
                return (yield from self._ask(decision, spent))
            case m.CallTool():
                return (yield from self._call(decision, spent))
            case m.Act():
                return (yield from self._act(decision, spent))
            case m.Solve():
                return (yield from self._solve(decision, spent))
            case m.Think(thought):
                yield e.Thought(spent.steps, thought)
                return reporting.TurnResult(spent, "OK.")
            case m.Done() | m.GiveUp():
                return reporting.TurnResult(spent, ending=(_outcome(decision), decision.reason))
            case _:
                assert_never(decision)

    def _ask(self, decision: m.Ask | AskBack, spent: Spent) -> reporting.TurnRun:
        if isinstance(decision, AskBack):
            return (yield from self._ask_back(decision, spent))
        yield e.Asked(spent.steps, decision.question, decision.reason)
        try:
            found = self.asker.ask(decision.question, self.simulator.scene)
        except RejectedError as rejected:
            yield e.Refused(spent.steps, "", "question", (str(rejected),))
            return reporting.refusal_result(rejected, spent)
        yield reporting.answer_event(spent.steps, found)
        refused = spent.refused if found.outcome == "refused" else 0
        return reporting.TurnResult(replace(spent, refused=refused, usage=spent.usage + found.usage), found.answer)

    def _ask_back(self, decision: AskBack, spent: Spent) -> reporting.TurnRun:
        """Ask a person, while the clock stands; a person who stops ends the session. Raises InputError."""
        yield e.Asked(spent.steps, decision.question, "", to_person=True, choices=decision.choices)
        self.watch.pause()
        answer = self.answer(decision)
        self.watch.go_on()
        if answer is None:
            return reporting.TurnResult(
                spent, ending=("given_up", f"it was stopped where a person was asked: {decision.question}")
            )
        answer = reporting.choice_meant(decision, answer.strip())
        yield e.Answered(spent.steps, reporting.PERSON, answer, Usage())
        return reporting.TurnResult(spent, answer)

    def _call(self, decision: m.CallTool, spent: Spent) -> reporting.TurnRun:
        yield e.Called(spent.steps, decision.tool, decision.arguments, decision.reason)
        try:
            answer = m.call_tool(self.tools, decision.tool, decision.arguments)
        except RejectedError as rejected:
            yield e.Refused(spent.steps, decision.tool, "call", (str(rejected),))
            return reporting.refusal_result(rejected, spent)
        yield e.Answered(spent.steps, decision.tool, answer.text, answer.usage)
        return reporting.TurnResult(replace(spent, refused=0, usage=spent.usage + answer.usage), answer.text)

    def _act(self, decision: m.Act, spent: Spent) -> reporting.TurnRun:
        """Execute an action with its corrections. Each executed action resets the count of refusals."""
        again, self._interrupted = self._interrupted, None
        action_id, logged = (again.action_id, again.logged) if again else (uuid4().hex, frozenset())
        if again is None:
            yield e.Proposed(spent.steps, decision.action, decision.reason, self.simulator.scene.version, action_id)
        feedback: list[str] = []
        done: list[str] = []
        try:
            for step in self.simulator.act(decision.action, action_id=action_id, is_new=again is None):
                spent = replace(spent, actions=spent.actions + 1, refused=0)
                done.append(step.action)
                if step.action_id not in logged:
                    yield from reporting.action_events(spent.steps, step)
                feedback += [self.step_writer(step)] if self.step_writer else reporting.step_text(step)
        except RejectedError as rejected:
            yield e.Refused(spent.steps, decision.action, cause_of(rejected), rejected.reasons)
            if self.reprompt or not isinstance(rejected, Infeasible):
                feedback.append(f"{decision.action} was refused: {'; '.join(rejected.reasons)}")
                spent = replace(spent, refused=spent.refused + 1)
            return reporting.TurnResult(spent, "; ".join(feedback), tuple(done), refused=True)
        ending: reporting.SessionEnd | None = ("done", decision.reason) if ends_session(decision.action) else None
        return reporting.TurnResult(spent, "; ".join(feedback), tuple(done), ending=ending)

    def _solve(self, decision: m.Solve, spent: Spent) -> reporting.TurnRun:
        """Execute a whole solution: a refused action is skipped, or ends the turn if the solution is not final."""
        refused = decision.refused
        if self._interrupted is None:
            yield e.Solved(spent.steps, decision.actions, decision.reason, decision.final)
        result = reporting.TurnResult(spent, decision.told, decision.done, refused=refused > 0)
        for action in decision.actions[decision.tried :]:
            over = None if self._interrupted else self._time_over()
            if over is not None:
                return replace(result, ending=over)
            one = yield from self._act(m.Act(action), result.spent)
            result = reporting.merge_results(result, one)
            refused += one.refused
            if one.refused and not decision.final:
                return result
            if one.ending is not None:
                break
        if refused:
            reason = f"{refused} of {len(decision.actions)} actions could not be carried out"
            return replace(result, ending=("infeasible", reason))
        done = f"carried out: {', '.join(result.done)}" if result.done else "there was nothing to carry out"
        return replace(result, ending=("done", done))


def _outcome(decision: m.Done | m.GiveUp) -> e.Outcome:
    if isinstance(decision, m.Done):
        return "done"
    return "impossible" if decision.impossible else "given_up"


def _answer(memory: m.Memory) -> str:
    last = memory.turns[-1].decision if memory.turns else None
    return last.answer if isinstance(last, m.Done) else ""


def _stated_goal(memory: m.Memory) -> Condition | None:
    """Return the goal that the method stated last, if any."""
    for turn in reversed(memory.turns):
        if isinstance(turn.decision, m.Think) and turn.decision.goal is not None:
            return condition_from_document(turn.decision.goal, file="the goal")
    return None


def ends_session(action: str) -> bool:
    """Check if an executed action is the one that ends the task (GraSIF's ``done``)."""
    return parse_action(action).name == DONE


def cause_of(rejected: RejectedError) -> e.Cause:
    """Return the cause of a refusal; of several unmet requirements the first decides."""
    match rejected:
        case Infeasible():
            return rejected.unmet[0].requirement.fault
        case WorldMismatch():
            return "world"
        case RuleBroken():
            return "rule"
        case UnknownReference():
            return "unknown"
        case ActionRefused():
            return "no_action"
        case _:
            return "conflict"
