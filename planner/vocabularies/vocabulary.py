"""Vocabularies: the type of all that differs between scenes of one source and another, and each by its name."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Final, TypeAlias

from scenecypher.db.graph.scene import Node, SceneGraph
from scenecypher.db.vocabulary import DEFAULT, Conventions, load_vocabulary
from scenecypher.errors import InputError
from scenecypher.planner.actions.operator import Become, Operator, Parameter, needed_kinds, needed_words, simple_effects
from scenecypher.planner.actions.text import Macro
from scenecypher.planner.symbolic.parts import SMALL_SCENE_NODES

Operators: TypeAlias = Mapping[str, Operator]


@dataclass(frozen=True, slots=True)
class ReasoningTool:
    """A computing tool: the function, its arguments in order, and its annotation for a model."""

    run: Callable[..., Any]
    arguments: tuple[str, ...]
    annotation: str


@dataclass(frozen=True, slots=True)
class Approach:
    """Approach of a thing in ALFWorld's style: the revealing action, the actions that it replaces, its annotation."""

    look: str
    go: tuple[str, ...]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """Words of prompts.

    `environment` describes the world. `stepwise` and `whole` name the actions offered to methods that act step by step
    and to those that write a whole plan, `listed` the action space that SG2's paper lists (None: all). `questions` are
    the opening words of instructions that ask a question (none: instructions ask for actions). SayPlan's prompt has its
    list of actions and its example instead of the general ones, if given.
    """

    environment: str
    stepwise: tuple[str, ...] | None = None
    whole: tuple[str, ...] | None = None
    listed: tuple[str, ...] | None = None
    questions: tuple[str, ...] = ()
    approach: Approach | None = None
    sayplan_actions: str | None = None
    sayplan_example: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Looking:
    """Perception in these scenes.

    `revealing` are actions that also show their argument. With `whole_rooms`, a room is seen as a whole, a thing's cell
    is known, and only the scene's own simulator moves things (grids). `colors` are those that tell things of one class
    apart. With `nearness`, a thing on or in furniture is INSIDE its room, too, and CLOSE to the furniture.
    `affordances_of` returns what is assumed of a new thing of a class that the scene lacks.
    """

    revealing: frozenset[str] = frozenset()
    whole_rooms: bool = False
    colors: tuple[str, ...] = ()
    nearness: bool = False
    affordances_of: Callable[[str], tuple[str, ...]] = lambda _: ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """Hints for the symbolic planner.

    `simplify` returns approximate operators for parts of a scene: every plan is validated. `prepare` returns the
    operators and the graph to plan with. With `keeps_one_parent`, the actions leave each node in one place where it
    was. With `rehearsed`, a plan can be tried on a copy of the graph. A scene of at most `small_scene` nodes is
    planned on whole.
    """

    keeps_one_parent: bool
    simplify: Callable[[Operators], Operators] = lambda operators: operators
    prepare: Callable[[Operators, SceneGraph], tuple[Operators, SceneGraph]] = lambda *given: given
    rehearsed: bool = True
    small_scene: int = SMALL_SCENE_NODES


@dataclass(frozen=True, slots=True, kw_only=True)
class Problems:
    """Reading of the PDDL problems and plans that models write in the vocabulary's domain (LLM+P).

    `argument_places`: by action, positions of our arguments among those of a PDDL step. `required_affordances`: by
    predicate, position and affordance of the argument that makes the fact possible. `relation_predicates`: predicates
    by the graph document's words for relations. `closed`: the domain has a predicate of this name.
    """

    argument_places: Mapping[str, tuple[int, ...]]
    closed: bool
    required_affordances: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    relation_predicates: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """All that is particular to scenes of one source: their actions, words, perception and planning.

    `about` introduces it in the page of actions, which lists the operators that differ from those of `base`, if any.
    `problems` is None if there is no PDDL domain for models. `tools` are the reasoning tools by name.
    """

    name: str
    about: str
    conventions: Conventions
    operators: Operators
    words: Words
    planning: Planning
    base: Vocabulary | None = None
    macros: Mapping[str, Macro] = field(default_factory=dict)
    looking: Looking = field(default_factory=Looking)
    problems: Problems | None = None
    tools: Mapping[str, ReasoningTool] = field(default_factory=dict)


def words_beside(package: str) -> Any:
    """Return the `words` and `problems` of a vocabulary: those of the file ``words.toml`` in its package."""
    from pydantic import TypeAdapter

    found = tomllib.loads((files(package) / "words.toml").read_text(encoding="utf-8"))
    kinds = {"words": Words, "problems": Problems}
    return {name: TypeAdapter(kind).validate_python(found[name]) for name, kind in kinds.items()}


DONE: Final = "done"
"""The action that ends an episode, in vocabularies that have it."""


def vocabulary_named(name: str) -> Vocabulary:
    """Return a vocabulary by its name. Raises InputError for an unknown one, or one that is no Vocabulary."""
    found = load_vocabulary(name)
    if not isinstance(found, Vocabulary):
        msg = f"the vocabulary {name!r} is a {type(found).__name__}, no Vocabulary; mend the package that brings it"
        raise InputError(msg)
    return found


def operators_of(vocabulary: str) -> Mapping[str, Operator]:
    """Return the operators of a vocabulary by name. Raises InputError for an unknown vocabulary."""
    return vocabulary_named(vocabulary).operators


def macros_of(vocabulary: str) -> Mapping[str, Macro]:
    """Return the macros of a vocabulary by name; empty if it has none."""
    return vocabulary_named(vocabulary).macros


def action_list(operators: Mapping[str, Operator], macros: Mapping[str, Macro] | None = None) -> str:
    """Return the actions as a prompt lists them, one a line."""
    return "\n".join([*map(_line, operators.values()), *map(_macro_line, (macros or {}).values())])


def brief_action_list(operators: Mapping[str, Operator], macros: Mapping[str, Macro]) -> str:
    """Return the actions but `done` in few words: equal effects on one line, those without any by their names."""
    alike: dict[tuple[object, ...], list[Operator]] = {}
    for operator in (it for name, it in operators.items() if name != DONE):
        alike.setdefault((len(operator.parameters), operator.effects), []).append(operator)
    groups = [(", ".join(it.signature for it in group), group[0]) for group in alike.values()]
    lines = [f"{names}: {first.words}" for names, first in groups if first.effects]
    idle = ", ".join(names for names, first in groups if not first.effects)
    lines += [f"changing nothing that is recorded: {idle}"] if idle else []
    for macro in macros.values():
        words = (word for word, steps in macro.expansions.items() if all(name in operators for name, _ in steps))
        lines.append(f"{macro.signature}: {macro.words.partition(':')[0]} ({macro.word}: {', '.join(words)})")
    return "\n".join(lines)


def _line(action: Operator) -> str:
    """Return a line for an action: what it does, its arguments, and the affordances that they need."""
    roles = "; ".join(_role(action, parameter) for parameter in action.parameters)
    return f"{action.signature}: {action.words}{f' ({roles})' if roles else ''}"


def _role(operator: Operator, parameter: Parameter) -> str:
    needed = needed_words(operator, parameter.name)
    return f"{parameter.name}: {parameter.words}{f', needs {needed}' if needed else ''}"


def _macro_line(macro: Macro) -> str:
    roles = [f"{parameter.name}: {parameter.words}" for parameter in macro.parameters]
    roles.insert(1, f"{macro.word}: {', '.join(macro.expansions)}")
    return f"{macro.signature}: {macro.words} ({'; '.join(roles)})"


@dataclass(frozen=True, slots=True)
class StateRule:
    """What the actions of a vocabulary say of one state.

    It excludes the states `excludes`. Only a node with one of `affordances`, or of one of `classes`, can have it; any
    node if both are empty. `usual` are the affordances that the actions name first.
    """

    excludes: set[str] = field(default_factory=set)
    affordances: set[str] = field(default_factory=set)
    classes: set[str] = field(default_factory=set)
    usual: set[str] = field(default_factory=set)


@cache
def state_rules(vocabulary: str) -> Mapping[str, StateRule]:
    """Return the rules of states that exclude one another, such as open and closed, from the operators' effects.

    The default vocabulary's hold besides, for states that no action of this one changes.
    """
    rules = defaultdict[str, StateRule](StateRule)
    for operator in operators_of(vocabulary).values():
        for effect in simple_effects(operator.effects):
            if isinstance(effect, Become) and effect.instead_of is not None:
                affordances, classes = needed_kinds(operator, effect.x)
                for state, other in ((effect.state, effect.instead_of), (effect.instead_of, effect.state)):
                    rules[state].excludes.add(other)
                    rules[state].affordances.update(affordances)
                    rules[state].classes.update(classes)
                    rules[state].usual.update(affordances[:1])
    return dict(rules) if vocabulary == DEFAULT else {**state_rules(DEFAULT), **rules}


@dataclass(frozen=True, slots=True)
class ToldStates:
    """States of a node after a look: affordances that they show, and told states that are not believed."""

    states: tuple[str, ...]
    shown: tuple[str, ...] = ()
    doubted: tuple[str, ...] = ()


def believable_states(node: Node, told: Iterable[str], *, vocabulary: str, is_stated: bool) -> ToldStates:
    """Return the states of a node by a look that tells some of them; others stay unless a told one excludes them.

    Told states that exclude one another are not believed, nor those that need an affordance that the node lacks. Unless
    it `is_stated` what the node affords, a seen state shows that it has them.
    """
    rules, seen = state_rules(vocabulary), {*told}
    clear = {it for it in seen if it not in rules or not rules[it].excludes & seen}
    lacking = {it for it in clear if it in rules and not _can_be(node, it, rules[it])}
    believed = clear - lacking if is_stated else clear
    shown = {word for it in believed & lacking for word in rules[it].usual}
    excluded = {state for it in believed if it in rules for state in rules[it].excludes}
    states = believed | ({*node.states} - excluded)
    return ToldStates(tuple(sorted(states)), tuple(sorted(shown)), tuple(sorted(seen - believed)))


def _can_be(node: Node, state: str, rule: StateRule) -> bool:
    """Check if a node has an affordance that a state needs, or has or had a state of the same kind."""
    if not rule.affordances and not rule.classes:
        return True
    is_known = {state, *rule.excludes} & {*node.states}
    return bool(is_known or rule.affordances & {*node.affordances} or node.class_ in rule.classes)
