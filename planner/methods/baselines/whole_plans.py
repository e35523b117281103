"""LLM-as-P and LLM+P as in LookPlanGraph (section VI-A, appendices D, F-1, F-2): the whole graph in, a whole plan out.

The graph is the JSON document of appendix C. In LLM-as-P the model writes the plan: one request, no feedback; it is
executed as it stands, and refused actions are skipped. The example is ours; its plan is feasible, unlike that of the
paper's example.

In LLM+P the model writes a PDDL problem, and an engine plans. The prompt has the vocabulary's domain (`domain.pddl`,
which lists its corrections) and an example of this domain; the paper's example is of another one. A reply that is no
PDDL is asked again. Of a problem in PDDL the engine takes what it can parse: initial facts outside the domain are
dropped, and a goal or an object outside it ends the session. All mistakes of the paper's three kinds are reported, and
the plan is executed, which shows the actions that are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from pydantic import BaseModel

from scenecypher.chat.clean import clean_reply
from scenecypher.chat.model import SEED, Message, Request, Usage, ask_until
from scenecypher.chat.structured_reply import ask_for
from scenecypher.errors import DocumentError, InputError, ReplyRejected
from scenecypher.importers.pddl.syntax import expression_text, expressions, nested_words
from scenecypher.planner.actions.text import ActionCall
from scenecypher.planner.prompts.texts import domain_text, examples, functions, prompts_beside
from scenecypher.planner.sessions.method import Decision, GiveUp, Memory, MethodContext, Solve
from scenecypher.planner.symbolic.engine import LAMA, TimeLimit, solve
from scenecypher.planner.vocabularies.vocabulary import Problems, vocabulary_named

PROMPTS: Final = prompts_beside(__name__)


class PlanReply(BaseModel, extra="forbid", title="Reply"):
    """What the model answers."""

    plan: list[str]


@dataclass(frozen=True, slots=True)
class LlmAsP:
    """Method that asks once for a plan."""

    context: MethodContext

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the whole plan. Raises ReplyRejected after three unusable replies."""
        system = PROMPTS["llm_as_p"].format(functions=functions(self.context.vocabulary, "whole"))
        example = _example(self.context)
        shown = json.dumps({"plan": example["plan"]}, ensure_ascii=False) if example else ""
        reply, usage = ask_for(self.context.model, _prompt(system, memory, "plan", example, shown), PlanReply)
        return Solve(tuple(reply.plan)), usage


class LlmPlusP:
    """Method that asks for a problem, which an engine plans for. Raises InputError without a domain."""

    def __init__(self, context: MethodContext) -> None:
        problems = vocabulary_named(context.vocabulary).problems
        if problems is None:
            raise InputError(f"llm+p has no domain for the vocabulary {context.vocabulary!r}; choose another method")
        self._context, self._problems = context, problems
        self._domain = read_domain(domain_text(context.vocabulary))

    def decide(self, memory: Memory) -> tuple[Decision, Usage]:
        """Return the plan, or the problem's mistakes. Raises ReplyRejected after three replies that are no PDDL."""
        problem, usage = self._ask_problem(memory)
        mistakes = find_mistakes(problem, self._domain, view=memory.view, forms=self._problems)
        warnings = "; ".join(map(str, mistakes))
        if not is_parsed(problem, self._domain):
            return GiveUp(warnings), usage
        seconds = self._context.timeout_s()
        limit = TimeLimit(seconds, clock_s=seconds)
        planned = solve(self._domain.text, parsed(problem, self._domain).text(self._domain), limit, search=LAMA)
        if planned.status != "solved":
            return GiveUp("; ".join(filter(None, (planned.why, warnings)))), usage
        names = {node["name"].lower(): node["name"] for group in _node_groups(memory.view) for node in group}
        places = self._problems.argument_places
        actions = [
            ActionCall(name, tuple(names.get(arguments[place], arguments[place]) for place in places[name]))
            for name, *arguments in planned.steps
        ]
        return Solve(tuple(map(str, actions)), warnings), usage

    def _ask_problem(self, memory: Memory) -> tuple[PddlProblem, Usage]:
        """Ask for the problem, again after each reply that is no PDDL problem."""
        example = _example(self._context)
        system, shown = PROMPTS["llm_p"].format(domain=self._domain.text), example.get("pddl", "")
        request = Request(_prompt(system, memory, "problem", example, shown), seed=SEED)
        return ask_until(self._context.model, request, lambda it: read_problem(clean_reply(it.text)), complaint="{}")


def _example(context: MethodContext) -> dict[str, Any]:
    """Return the worked example of a vocabulary; empty without one."""
    return (examples("problems", context.vocabulary) if context.examples else {}) or {}


def _prompt(system: str, memory: Memory, what: str, example: dict[str, Any], shown: str) -> tuple[Message, Message]:
    """Return the two messages that ask for a plan or a problem; an example with what is `shown` of it comes first."""
    problem, parts = PROMPTS["problem"], list[str]()
    if shown:
        graph = json.dumps(example["graph"], ensure_ascii=False)
        told = problem.format(instruction=example["instruction"], graph=graph)
        parts.append(f"An example. {told}\nIts {what}:\n{shown}")
    parts.append(f"Now the task. {problem.format(instruction=memory.instruction, graph=memory.view)}\nIts {what}:")
    return Message("system", system), Message("user", "\n\n".join(parts))


PddlExpression: TypeAlias = Any
"""A word, or a list of expressions."""
PddlFact: TypeAlias = tuple[str, ...]

CONNECTIVES: Final = ("and", "or", "not", "imply")
QUANTIFIERS: Final = ("forall", "exists")


@dataclass(frozen=True, slots=True)
class PddlDomain:
    """A domain: types, and predicates and actions with the types of their parameters."""

    name: str
    text: str
    types: tuple[str, ...]
    predicates: Mapping[str, tuple[str, ...]]
    actions: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class PddlProblem:
    """A problem written by a model: objects with their types, initial facts, and the goal."""

    objects: Mapping[str, str]
    init: tuple[PddlFact, ...]
    goal: PddlExpression

    def text(self, domain: PddlDomain) -> str:
        """Return the problem as PDDL."""
        objects = " ".join(f"{name} - {type_}" for name, type_ in self.objects.items())
        init = " ".join(expression_text(list(fact)) for fact in self.init)
        return (
            f"(define (problem written) (:domain {domain.name}) (:objects {objects}) "
            f"(:init {init}) (:goal {expression_text(self.goal)}))"
        )


def read_domain(text: str) -> PddlDomain:
    """Parse one of our domains."""
    (_, (_, name), *sections) = parse_expression(text)
    found = {section[0]: section[1:] for section in sections if section[0] != ":action"}
    actions = {section[1]: section for section in sections if section[0] == ":action"}
    predicates = {predicate[0]: (*parse_typed_list(predicate[1:]).values(),) for predicate in found[":predicates"]}
    parameters = {name: (*parse_typed_list(action[3]),) for name, action in actions.items()}
    return PddlDomain(name, text, tuple(found[":types"]), predicates, parameters)


def read_problem(text: str) -> PddlProblem:
    """Parse the problem in a reply. Raises ReplyRejected if there is none.

    Negated facts in the initial state, such as ``(not (closed fridge))`` (PDDL 2.1, appendix A), are dropped: facts
    that are not stated are false anyway.
    """
    found = parse_expression(text[max(0, text.lower().find("(define")) :])
    if not isinstance(found, list) or not found or found[0] != "define":
        raise ReplyRejected('that is no PDDL problem: write one that begins with "(define (problem"')
    sections = {str(it[0]): it[1:] for it in found[1:] if isinstance(it, list) and it}
    missing = [name for name in (":objects", ":init", ":goal") if name not in sections]
    if missing or len(sections[":goal"]) != 1:
        raise ReplyRejected(f"the problem lacks {', '.join(missing) or 'one goal'}: write it whole")
    init = tuple(
        tuple(map(expression_text, it)) for it in sections[":init"] if isinstance(it, list) and it[:1] != ["not"]
    )
    return PddlProblem(parse_typed_list(sections[":objects"]), init, sections[":goal"][0])


def parse_expression(text: str) -> PddlExpression:
    """Parse the first expression of a text, in lower case and without comments. Raises ReplyRejected."""
    try:
        return nested_words(next(expressions(text, "the reply")))
    except (DocumentError, StopIteration) as error:
        msg = "that is no PDDL: its brackets do not close; write the problem again, whole"
        raise ReplyRejected(msg) from error


def parse_typed_list(words: Sequence[PddlExpression]) -> dict[str, str]:
    """Parse a list such as ``a b - room c`` into types by name; the default type is ``object``."""
    found: dict[str, str] = {}
    waiting: list[str] = []
    rest = iter(map(expression_text, words))
    for word in rest:
        if word == "-":
            found |= dict.fromkeys(waiting, next(rest, "object"))
            waiting = []
        else:
            waiting.append(word)
    return found | dict.fromkeys(waiting, "object")


def goal_facts(goal: PddlExpression) -> Iterator[tuple[PddlFact, bool]]:
    """Yield the facts of a goal, each with True if it must hold and False if it must not."""
    yield from _facts(goal, wanted=True)


def _facts(goal: PddlExpression, *, wanted: bool) -> Iterator[tuple[PddlFact, bool]]:
    if not isinstance(goal, list) or not goal:
        return
    if goal[0] in CONNECTIVES:
        for part in goal[1:]:
            yield from _facts(part, wanted=wanted != (goal[0] == "not"))
    elif goal[0] in QUANTIFIERS and len(goal) > 1:
        yield from _facts(goal[-1], wanted=wanted)
    else:
        yield tuple(map(expression_text, goal)), wanted


MistakeKind: TypeAlias = Literal["predicate misalignment", "semantic violation", "temporal inconsistency"]
"""Unknown words of the domain; impossible facts; facts left out, so that preconditions are missed."""


@dataclass(frozen=True, slots=True)
class PddlMistake:
    """One mistake, with an explanation."""

    kind: MistakeKind
    words: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.words}"


def find_mistakes(problem: PddlProblem, domain: PddlDomain, *, view: str, forms: Problems) -> tuple[PddlMistake, ...]:
    """Return the mistakes of a problem about the graph in `view`, a JSON document."""
    nodes = {node["name"].lower(): node for group in _node_groups(view) for node in group}
    return (
        *(PddlMistake("predicate misalignment", words) for words in _misaligned(problem, domain)),
        *(PddlMistake("semantic violation", words) for words in _impossible(problem, nodes, forms)),
        *(PddlMistake("temporal inconsistency", words) for words in _left_out(problem, nodes, forms)),
    )


def is_parsed(problem: PddlProblem, domain: PddlDomain) -> bool:
    """Check if the engine parses the problem but for its initial facts: the goal and the objects are of the domain."""
    wanted = [fact for fact, _ in goal_facts(problem.goal)]
    known = {*domain.types} >= {*problem.objects.values()}
    return known and all(_is_of_domain(fact, problem, domain) for fact in wanted)


def parsed(problem: PddlProblem, domain: PddlDomain) -> PddlProblem:
    """Return the problem without the initial facts that are outside the domain."""
    return replace(problem, init=tuple(fact for fact in problem.init if _is_of_domain(fact, problem, domain)))


def _is_of_domain(fact: PddlFact, problem: PddlProblem, domain: PddlDomain) -> bool:
    arguments = (it for it in fact[1:] if not it.startswith("?"))
    return {*arguments} <= problem.objects.keys() and not any(_ill_formed(fact, problem, domain))


def _node_groups(view: str) -> Iterator[list[dict[str, Any]]]:
    nodes = json.loads(view)["nodes"]
    yield from (nodes.get(name, []) for name in ("rooms", "asset", "objects", "doors"))
    if "agent" in nodes:
        yield [nodes["agent"]]


def _misaligned(problem: PddlProblem, domain: PddlDomain) -> Iterator[str]:
    for name, type_ in problem.objects.items():
        if type_ not in domain.types:
            yield f"{name} is of the type {type_}, which the domain does not have"
    for fact in (*problem.init, *(fact for fact, _ in goal_facts(problem.goal))):
        yield from _ill_formed(fact, problem, domain)


def _ill_formed(fact: PddlFact, problem: PddlProblem, domain: PddlDomain) -> Iterator[str]:
    name, *arguments = fact
    text = f"({' '.join(fact)})"
    if name == "=":
        return
    if name not in domain.predicates:
        yield f"{text}: there is no predicate {name}"
    elif len(arguments) != len(domain.predicates[name]):
        yield f"{text}: {name} takes {len(domain.predicates[name])} arguments"
    else:
        for argument, type_ in zip(arguments, domain.predicates[name], strict=True):
            if problem.objects.get(argument, type_) != type_:
                yield f"{text}: {argument} is no {type_}"


def _impossible(problem: PddlProblem, nodes: Mapping[str, dict[str, Any]], forms: Problems) -> Iterator[str]:
    for name in problem.objects:
        if name not in nodes:
            yield f"there is no {name} in the graph"
    mentioned = {argument for fact in problem.init for argument in fact[1:]}
    for name in sorted(mentioned - {*problem.objects}):
        yield f"{name} is used, but is none of the objects"
    for fact, wanted in goal_facts(problem.goal):
        place, affordance = forms.required_affordances.get(fact[0], (0, ""))
        if not wanted or not 0 < place < len(fact) or fact[place].startswith("?"):
            continue
        node = nodes.get(fact[place])
        if node is None:
            yield f"({' '.join(fact)}): there is no {fact[place]} in the graph"
        elif not _affords(node, affordance) and fact not in problem.init:
            yield f"({' '.join(fact)}): {fact[place]} does not admit {affordance}"


def _affords(node: Mapping[str, Any], affordance: str) -> bool:
    """Check if a node of the graph's document has an affordance; of a room nothing is told but its name."""
    return affordance in node.get("affordances", ()) or node.keys() <= {"name"}


def _left_out(problem: PddlProblem, nodes: Mapping[str, dict[str, Any]], forms: Problems) -> Iterator[str]:
    """Yield facts about the problem's objects that are missing in it and decide the order of actions."""
    init = {*problem.init}
    for name in problem.objects:
        node = nodes.get(name, {})
        predicate = forms.relation_predicates.get(str(node.get("relation")))
        fact = (predicate or "", name, str(node.get("related_to")).lower())
        if predicate and fact[2] in problem.objects and fact not in init:
            yield f"({' '.join(fact)}) is left out"
        if forms.closed and "closed" in node.get("states", ()) and ("closed", name) not in init:
            yield f"(closed {name}) is left out"
