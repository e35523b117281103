"""The language of rules: ``never knife INSIDE nursery``, ``pour(kettle) only when ...``, ``ask before open(door)``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.rules import MAX_LIMIT, Rule, Tense, Unit
from scenecypher.db.store.load import LoadedScene
from scenecypher.db.store.reference import one_of
from scenecypher.errors import InputError, UnknownReference, did_you_mean
from scenecypher.planner.actions.execution import NO_AGENT
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.sessions.goal_words import ANYTHING, WORDS, GoalParser, name_for
from scenecypher.planner.vocabularies.vocabulary import operators_of

EXAMPLE: Final = "never fork INSIDE microwave and microwave is on"
FORM: Final = (
    "write `never CONDITION`, `ACTION only when CONDITION [since CONDITION]`, `ACTION only once|before CONDITION`, "
    "`within N actions|minutes after CONDITION: CONDITION` or `ask before ACTION [when CONDITION]`, such as "
    f"`{EXAMPLE}`, `open(x: window) only when stove is off`, "
    "`within 4 actions after fridge is open: fridge is closed` or `ask before switch_on(stove)`"
)
MAX_WORDS: Final = 2_000
BOUND: Final = "rule_"
"""Beginning of the variables of a rule, which so are none of an operator."""

_ACTION: Final = r"(?P<action>[\w-]+)(?:\s*\((?P<arguments>[^()]*)\))?"
_NEVER, _ONLY, _ASK, _WITHIN = (
    re.compile(form, re.IGNORECASE | re.DOTALL)
    for form in (
        r"never\s+(?P<condition>.+)",
        rf"{_ACTION}\s+only\s+(?P<tense>when|once|before)\s+(?P<condition>.+)",
        rf"ask\s+before\s+{_ACTION}(?:\s+when\s+(?P<condition>.+))?",
        r"within\s+(?P<limit>\d+)\s+(?P<unit>action|minute)s?\s+after\s+(?P<begun>.+)",
    )
)
_SINCE: Final = re.compile(r"\s+since\s+", re.IGNORECASE)
_ARGUMENT: Final = re.compile(r"(?:(?P<name>\w+)\s*:\s*)?(?P<thing>[^:]+)")


def read_rule(
    text: str, scene: LoadedScene, *, name: str = "", synonyms: Mapping[str, Sequence[str]] | None = None
) -> Rule:
    """Return the rule that a text states about a scene, in whatever state that is.

    Classes, states, relations and actions must be known there; `synonyms` are other words for classes. Some turns of
    people are put into the words of rules. Raises InputError that says what is allowed.
    """
    words = " ".join(text.split())
    if len(words) > MAX_WORDS:
        raise InputError(f"{words[:60]!r}… has {len(words):,} characters, over {MAX_WORDS:,}; {FORM}")
    failure = ""
    for said in dict.fromkeys((words, _plainly(words, scene))):
        try:
            rule = _read(said, scene, synonyms or {})
        except (UnknownReference, InputError) as error:
            failure = f"the rule {said[:200]!r} can't be read: {error}; a condition is of facts, as in `{EXAMPLE}`"
            continue
        if rule is None:
            failure = failure or f"{words[:200]!r} is no rule; {FORM}"
        elif rule.tense and not scene.graph.by_kind.get("Agent"):
            raise InputError(f"what the rule {words[:200]!r} remembers is kept with an agent; {NO_AGENT}")
        else:
            return replace(rule, name=name)
    raise InputError(failure)


def _plainly(words: str, scene: LoadedScene) -> str:
    """Return a sentence of people in the words of rules."""
    for said, meant in WORDS["rules"]:
        words = re.sub(said, meant, words, flags=re.IGNORECASE)
    agents = sorted({scene.graph.nodes[it].class_ for it in scene.graph.by_kind.get("Agent", ())})
    nobody = " and ".join(f"no {it} INSIDE \\1" for it in agents)
    return re.sub(r"\bnobody\s+(?:is\s+)?in(?:side)?\s+(\S+)", nobody, words)


def _read(words: str, scene: LoadedScene, synonyms: Mapping[str, Sequence[str]]) -> Rule | None:
    parser = GoalParser(
        scene.graph, scene.info.vocabulary, scene.info.declared.relation_types, given={}, synonyms=synonyms
    )
    if found := _NEVER.fullmatch(words):
        return Rule("", "never", words, _renamed(parser.read(found["condition"])))
    if found := _WITHIN.fullmatch(words):
        return _duty(found, parser)
    asked = _ASK.fullmatch(words)
    found = asked or _ONLY.fullmatch(words)
    if found is None:
        return None
    operator, given = _action(found["action"], found["arguments"], parser)
    arguments, fits = tuple(f"{BOUND}{it}" for it in given), _renamed(c.And(tuple(given.values())))
    rule = Rule("", "ask" if asked else "only", words, c.ALWAYS, operator.name, arguments, fits)
    if found["condition"] is None:
        return rule
    tense = "" if asked else found["tense"].lower()
    parts = [found["condition"]] if asked or tense != "when" else _SINCE.split(found["condition"], 1)
    if tense in {"once", "before"} or len(parts) == 2:  # the past of a house, not of what an action is about
        conditions = [_renamed(parser.read(it)) for it in parts]
        past: Tense = "since" if len(parts) == 2 else "once" if tense == "once" else "before"
        return replace(rule, condition=conditions[0], tense=past, begun=conditions[1] if parts[1:] else c.NEVER)
    return replace(rule, condition=_renamed(replace(parser, given=given).read(parts[0])))


def _duty(found: re.Match[str], parser: GoalParser) -> Rule:
    """Return the rule that wants something to follow: of the colons one is between two conditions."""
    limit, texts = int(found["limit"]), found["begun"].split(":")
    if not 1 <= limit <= MAX_LIMIT:
        raise InputError(
            f"a rule can wait for 1 to {MAX_LIMIT} actions or minutes, not for {limit}; choose such a number"
        )
    failure: Exception = UnknownReference("it does not say what shall follow: add a colon and a condition")
    unit: Unit = "actions" if found["unit"].lower() == "action" else "minutes"
    for place in range(1, len(texts)):
        try:
            begun, wanted = (parser.read(":".join(it).strip()) for it in (texts[:place], texts[place:]))
        except (UnknownReference, InputError) as error:
            failure = error
        else:
            rule = Rule("", "within", found[0], _renamed(wanted), tense="within", begun=_renamed(begun))
            return replace(rule, limit=limit, unit=unit)
    raise failure


def _action(text: str, arguments: str | None, parser: GoalParser) -> tuple[Operator, dict[str, c.Condition]]:
    """Return the operator that a text names, and the conditions of its arguments by variable, in order."""
    operators, name = operators_of(parser.vocabulary), text.lower().replace("-", "_")
    if name not in operators:
        known = ", ".join(it.signature for it in operators.values())
        raise UnknownReference(
            f"there is no action {name[:60]!r}{did_you_mean(name, [*operators])}; choose one of {known}"
        )
    operator, given = operators[name], dict[str, c.Condition]()
    if arguments is None:
        return operator, given
    for argument in filter(None, map(str.strip, arguments.split(","))):
        variable, among = _argument(argument, parser)
        if variable in given:
            raise UnknownReference(f"two arguments are {argument[:60]!r}: name them, as in `x: {argument[:60]}`")
        given[variable] = among
    if len(given) != len(operator.parameters):
        raise UnknownReference(f"{name} takes {len(operator.parameters)} arguments, as in {operator.signature}")
    return operator, given


def _argument(text: str, parser: GoalParser) -> tuple[str, c.Condition]:
    """Return the variable of an argument, and the condition of what it may be: a class, a node, or anything."""
    found = _ARGUMENT.fullmatch(text)
    if found is None or not c.VARIABLE.fullmatch(found["name"] or "x"):
        raise UnknownReference(f"{text[:60]!r} is no argument: write a class, or a name and a class as in `x: cup`")
    thing = found["thing"].strip()
    class_ = parser.class_named(thing)
    variable = found["name"] or name_for(f"one {class_ or thing}")
    if class_ is None and thing.lower() == ANYTHING:
        return variable, c.Same(variable, variable)
    if class_ is None and thing in parser.graph.nodes:
        return variable, c.Same(variable, c.Id(thing))
    return variable, c.HasClass(variable, class_ or one_of("class", thing, parser.classes))


def _renamed(condition: c.Condition) -> c.Condition:
    """Return a condition with names of its own for all variables."""
    return c.renamed(condition, {it: f"{BOUND}{it}"[:64] for it in c.free_variables(condition)}, prefix=BOUND)
