"""The type of a vocabulary: all that differs between scenes of one source and another, as one value."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.vocabulary import Conventions
from scenecypher.planner.actions.macro import Macro
from scenecypher.planner.actions.operator import Operator
from scenecypher.planner.symbolic.parts import SMALL_SCENE_NODES

Operators: TypeAlias = Mapping[str, Operator]


def unchanged(operators: Operators) -> Operators:
    """Return the operators themselves, as `Planning.simplify`."""
    return operators


def no_affordances(class_: str) -> tuple[str, ...]:
    """Return no affordances, as `Looking.affordances_of`."""
    del class_
    return ()


def as_it_is(operators: Operators, graph: SceneGraph) -> tuple[Operators, SceneGraph]:
    """Return the operators and the graph themselves, as `Planning.prepare`."""
    return operators, graph


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
    affordances_of: Callable[[str], tuple[str, ...]] = no_affordances


@dataclass(frozen=True, slots=True, kw_only=True)
class Planning:
    """Hints for the symbolic planner.

    `simplify` returns approximate operators for parts of a scene: every plan is validated. `prepare` returns the
    operators and the graph to plan with. With `keeps_one_parent`, the actions leave each node in one place where it
    was. With `rehearsed`, a plan can be tried on a copy of the graph. A scene of at most `small_scene` nodes is
    planned on whole.
    """

    keeps_one_parent: bool
    simplify: Callable[[Operators], Operators] = unchanged
    prepare: Callable[[Operators, SceneGraph], tuple[Operators, SceneGraph]] = as_it_is
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
    required_affordances: Mapping[str, tuple[int, str]]
    relation_predicates: Mapping[str, str]
    closed: bool


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
