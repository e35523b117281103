"""Goal, then plan: the model states only the goal, an engine plans, the session executes; an addition of ours.

The model sees the words of the schema, never the graph. Its goal is checked against the names that occur in the scene;
a faulty one is asked again with the fault, at most twice. If the goal holds already, leaves a choice that changes what
is done, or is about no node, the model is shown what it matches, and may say it better once. It may also say that the
goal is impossible, or that nothing is to be done: that ends the session with its reason. Where a person can be asked,
what the goal and the instruction leave open is asked back. Then the method plans as `symbolic` does, again after each
refused action.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from string import Template
from typing import Final, TypeAlias

from pydantic import BaseModel

import scenecypher.planner.methods.ours.asking_back as back
from scenecypher.chat.model import RETRY_TEMPERATURE, Message, Model, Reply, Request, Usage
from scenecypher.chat.structured_reply import ask_for
from scenecypher.db.condition import Condition, condition_document, condition_from_document, explain
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.errors import InputError, ReplyRejected, UnknownReference
from scenecypher.planner.actions.ruled import AskBack
from scenecypher.planner.methods.ours.symbolic import Symbolic
from scenecypher.planner.prompts.terms import as_lines, class_lists, colors, states_given
from scenecypher.planner.sessions.goal_text import goal_text
from scenecypher.planner.sessions.goal_words import WORDS, GoalParser
from scenecypher.planner.sessions.method import Decision, Done, GiveUp, Memory, MethodContext, Think
from scenecypher.planner.symbolic.parts import sought_for
from scenecypher.planner.symbolic.plan import PlanResult
from scenecypher.planner.vocabularies.vocabulary import operators_of
from scenecypher.retriever.library import told, words_for


class GoalForm(BaseModel, extra="forbid"):
    """What the model answers: parts of a goal, none where nothing is to be done, or that it is impossible."""

    reason: str
    impossible: bool
    goal: list[str]


def goal_examples(occurring: Enumerations) -> Iterator[tuple[str, str]]:
    """Yield worked examples in words of a scene: an instruction, and the form that states its goal, as JSON."""
    words, has_doors = dict(words_for(occurring)), dict(occurring.kinds).get("Door", 0) > 0
    words |= {use.name: str(use.values[0]) for use in occurring.properties if use.name == "color" and use.values}
    for said, goal in WORDS["worked"]["home"] if "asset" in words else WORDS["worked"]["grid"] if has_doors else ():
        try:
            found = told(said, words), Template(goal).substitute(words).split("; ")
        except KeyError:
            continue
        yield found[0], GoalForm(reason="as it is asked", impossible=False, goal=found[1]).model_dump_json()


GOAL_PREFIX: Final = "the goal: "
"""Prefix of the thought that states the goal; in logs of earlier versions the goal's document follows it."""
ATTEMPTS: Final = 3
SYSTEM: Final = """\
You say what must be so when an instruction is carried out in a home. You know which words the home's scene graph has, \
not the graph. You do not plan: another program does.

Reply with one JSON object: "reason" (a sentence), "impossible" and "goal".
"impossible" is true if nothing that is done in a home can make it so; "goal" is empty then, and "reason" says why.
"goal" is a list of texts, all of which must hold in the end; it is empty if nothing is to be done. A text is a fact, \
or the name of things.
A fact is one of
 X RELATION Y: with a relation type such as INSIDE or ON
 X is STATE: with a state such as open or on
 X is held: in the agent's hand
 X is back: where it was before it was last moved
 X is as before: in the states in which it was before they last changed
 not FACT: it must not be so
 FACT or FACT: at least one of them
X is a name of things, an id, or a class of which there is one; Y may be any class too, for anything of that class.
The name of things is
 NAME: QUANTITY CLASS
with a quantity that is "one" for one and the same thing, whichever it is; "all"; "no"; a number for at least so many; \
"exactly" or "at most" and a number. The class "thing" is everything that can be moved. After the class may stand, in \
this order:
 of one kind: all must be of one class, whichever it is
 for each NAME: each thing of that name has one of its own
 other than NAME: other things than those of that name
 where FACT and FACT: only things of which this is so now, before anything is done; there also X has PROPERTY VALUE
NAME: as many CLASS as NAME: exactly as many as things of that name are there now
State no more than the instruction asks for.

The words of this home:
{words}

Examples, in words of this home:
{examples}"""

MATCHES: Final = """\
In the home as it is known now, that goal matches:
{matches}
If this is what the instruction asks for, reply with the same goal. If it is not, state the whole goal once more: by \
the ids that are meant, or by other things and facts."""
UNREACHABLE: Final = """\
In the home as it is known now, that goal can't be reached: {why}.
If the instruction asks for just this, reply with the same goal, and it is told so. If another goal does what it asks \
for, state the whole goal once more."""


@dataclass(frozen=True, slots=True)
class StatedGoal:
    """A goal, and what it matched when it was stated, if that was worth telling."""

    goal: Condition
    matches: str = ""

    def thought(self) -> Think:
        """Return the goal as a thought, in words that ``--goal`` takes and as `stated_goal` reads it."""
        words = goal_text(self.goal) or explain(self.goal, SceneGraph.of(), {})
        return Think("\n".join(filter(None, (f"{GOAL_PREFIX}{words}", self.matches))), condition_document(self.goal))


_Stated: TypeAlias = StatedGoal | AskBack | Done | GiveUp
"""A goal, or what ends or stops the asking for one."""


class GoalThenPlan:
    """Method that asks for the goal, then decides like Symbolic."""

    def __init__(self, context: MethodContext) -> None:
        self._context, self._asker = context, GoalAsker(context)
        self._symbolic: Symbolic | None = None

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the goal as a thought, then the plan's actions. Raises ReplyRejected after three unusable goals."""
        stated = stated_goal(memory)
        if stated is None:
            return self._asker.ask(memory)
        if open_yet := self._asker.asked_back(stated, memory):
            return open_yet, Usage()
        goal = stated.goal
        self._symbolic = self._symbolic or Symbolic(lambda _: self._plan(goal), max_steps=self._context.max_steps)
        decision, usage = self._symbolic.decide(memory)
        return (told_end(decision, stated, memory) if isinstance(decision, Done) else decision), usage

    def _plan(self, goal: Condition) -> PlanResult:
        lost = back.lost_classes(goal, self._context.read_all(), self._context.vocabulary)
        if lost:
            why = f"nobody knows where to find {' and '.join(lost)}: the method explore-then-plan looks for it"
            return PlanResult(None, why, nodes=0, seconds=0.0)
        return self._context.plan_goal(goal)


def told_end(end: Done, stated: StatedGoal, memory: Memory) -> Done:
    """Return the end, which says so if nothing was done, and what the goal matched."""
    idle = "" if any(turn.done for turn in memory.turns) else ", and nothing had to be done for it"
    matches = f"; when it was stated: {stated.matches}" if stated.matches else ""
    return Done(f"{end.reason}{idle}{matches}")


@dataclass(frozen=True)
class GoalAsker:
    """Asks the model for a goal, shows it once what that matches, and checks it against what occurs in the scene.

    `elsewhere` is as in GoalParser. Words that the scene does not use are told with those of its words that are near in
    meaning; what no action can bring about is told once.
    """

    context: MethodContext
    elsewhere: frozenset[str] = frozenset()

    def asked_back(self, stated: StatedGoal, memory: Memory) -> Decision | None:
        """Return the question what is meant, or the goal with what was answered; None if nothing is open."""
        if self.context.asking == "never" or back.is_begun(memory):
            return None
        found = back.after_answer(stated.goal, memory)
        if found is None or isinstance(found, AskBack):
            return found or self._unclear(stated.goal, self.context.read_all(), memory)
        return StatedGoal(found, stated.matches).thought()

    def _unclear(self, goal: Condition, graph: SceneGraph, memory: Memory) -> AskBack | None:
        if self.context.asking == "never":
            return None
        but, said = {it.about for it, _ in back.asked(memory)}, memory.instruction
        return back.unclear(goal, graph, self.context.vocabulary, said, always=self.context.asking == "always", but=but)

    def _unknown(self, error: UnknownReference, graph: SceneGraph, memory: Memory) -> AskBack | None:
        """Return the question for what a word of the instruction stands that names nothing here, nor anything near."""
        is_name = error.word and graph.by_class.keys() <= {*error.known}
        if (
            self.context.asking == "never"
            or not is_name
            or self.context.meaning.nearest(error.word, (*graph.by_class,))
        ):
            return None
        question = AskBack(f"There is no {error.word} here: what is meant?")
        return None if question in dict(back.asked(memory)) else question

    def ask(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the goal as a thought, or the end if none is stated, and the tokens of all replies.

        Raises ReplyRejected after three unusable ones.
        """
        given = self.context
        occurring, counting = given.occurring(), _CountingModel(given.model)
        answers = (f"A person was asked: {it.question} The answer: {answer}." for it, answer in back.asked(memory))
        types = tuple(pattern.type for pattern in occurring.patterns)
        parser = GoalParser(given.read_all(), given.vocabulary, types, given.events, elsewhere=self.elsewhere)
        messages = [
            Message("system", _system(occurring, states_given(operators_of(given.vocabulary)), memory.schema)),
            Message("user", "\n".join((f"Instruction: {memory.instruction}", *answers))),
        ]
        first: _Stated | None = None
        mistake = ""
        while counting.replies < ATTEMPTS:
            try:
                form = counting.form(messages)
                stated = self._stated(form, parser, memory)
            except (UnknownReference, InputError) as error:
                mistake = str(given.meaning.explained(error) if isinstance(error, UnknownReference) else error)
                said = f"That goal can't be used: {mistake}. State the whole goal again."
            except ReplyRejected:
                if first is None:
                    raise
                break
            else:
                said = self._doubts(stated, parser, occurring, memory)
                if first or not said:
                    return _decision(stated), counting.usage
                first = stated
            messages += [Message("assistant", form.model_dump_json()), Message("user", said)]
        if first is None:
            raise counting.rejection(mistake)
        return _decision(first), counting.usage

    def _stated(self, form: GoalForm, parser: GoalParser, memory: Memory) -> _Stated:
        """Return the goal that a form states, or the end of a session whose model states none, with its reason.

        What a person should say first is asked back.
        """
        if form.impossible:
            return GiveUp(form.reason, impossible=True)
        if not form.goal:
            return Done(f"nothing is to be done: {form.reason}")
        try:
            goal = parser.read("; ".join(form.goal))
        except UnknownReference as error:
            if question := self._unknown(error, parser.graph, memory):
                return question
            raise
        matches, is_notable = back.match_words(goal, parser.graph, self.context.vocabulary)
        return StatedGoal(goal, matches if is_notable else "")

    def _doubts(self, stated: _Stated, parser: GoalParser, occurring: Enumerations, memory: Memory) -> str:
        """Return what the model is asked about its goal: what it matches, or why nothing can bring it about; or "".

        What the instruction leaves open is a person's to say, if one is asked: the model could only guess.
        """
        if not isinstance(stated, StatedGoal):
            return ""
        question = self._unclear(stated.goal, parser.graph, memory)
        if question is not None and not back.is_told_apart(memory.instruction, question, stated.goal):
            return ""
        is_lost = back.lost_classes(stated.goal, parser.graph, self.context.vocabulary)
        if why := "" if is_lost else self.context.why_unreachable(stated.goal):
            return UNREACHABLE.format(why=why)
        matches = "\n".join((stated.matches, *self._meant(stated.goal, occurring)))
        return MATCHES.format(matches=matches) if stated.matches else ""

    def _meant(self, goal: Condition, occurring: Enumerations) -> Iterator[str]:
        """Yield what the classes that a goal names and the scene lacks may be called there."""
        here = tuple(dict.fromkeys(use.name for use in occurring.classes))
        for class_ in sorted(sought_for(goal).classes - {*here}):
            near = " or ".join(repr(it.word) for it in self.context.meaning.nearest(class_, here))
            if near:
                yield f"In this scene {class_!r} may be {near}."


def _decision(stated: _Stated) -> Decision:
    return stated.thought() if isinstance(stated, StatedGoal) else stated


def _system(occurring: Enumerations, states: Iterable[str], schema: str) -> str:
    examples = "\n".join(f"Instruction: {said}\n{form}" for said, form in goal_examples(occurring))
    text = SYSTEM.format(words=goal_words(occurring, states, schema), examples=examples)
    return text if examples else text.partition("\n\nExamples, in words")[0]


def goal_words(occurring: Enumerations, states: Iterable[str], schema: str) -> str:
    """Return the words that a goal may use: those that occur, or the schema text if that is shorter."""
    lists = {
        **class_lists(occurring),
        "Relation types": dict.fromkeys(pattern.type for pattern in occurring.patterns),
        "States": dict.fromkeys((*(use.value for use in occurring.states), *states)),
        "Colours": colors(occurring),
    }
    return min(as_lines(lists), schema, key=len)


@dataclass(slots=True)
class _CountingModel:
    """Model with a count of its replies, whether malformed or with unknown names."""

    model: Model
    replies: int = 0
    usage: Usage = field(default_factory=Usage)

    def reply(self, request: Request) -> Reply:
        """Return one reply, further ones at a temperature above nought. Raises as the model does."""
        if self.replies and request.temperature is not None:
            request = replace(request, temperature=max(request.temperature, RETRY_TEMPERATURE))
        reply = self.model.reply(request)
        self.replies, self.usage = self.replies + 1, self.usage + reply.usage
        return reply

    def form(self, messages: Sequence[Message]) -> GoalForm:
        """Return the next well-formed reply. Raises ReplyRejected after `ATTEMPTS` replies in all."""
        try:
            return ask_for(self, messages, GoalForm, attempts=ATTEMPTS - self.replies)[0]
        except ReplyRejected as rejected:
            raise self.rejection(str(rejected)) from rejected

    def rejection(self, why: str) -> ReplyRejected:
        """Return the exception to raise, with the tokens of all replies."""
        tokens = self.usage
        return ReplyRejected(why, prompt_tokens=tokens.prompt_tokens, completion_tokens=tokens.completion_tokens)


def stated_goal(memory: Memory) -> StatedGoal | None:
    """Return the goal that was stated last in an earlier turn, if any."""
    for turn in reversed(memory.turns):
        if isinstance(turn.decision, Think) and turn.decision.thought.startswith(GOAL_PREFIX):
            words, _, matches = turn.decision.thought.partition("\n")
            document = turn.decision.goal or json.loads(words.removeprefix(GOAL_PREFIX))
            return StatedGoal(condition_from_document(document, file="the goal"), matches)
    return None
