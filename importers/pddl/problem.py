"""A PDDL problem as a scene graph: its objects are nodes, its initial facts states and relations, its goal a goal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.importers.pddl.domain import REFUSED_SECTIONS, DomainReader, facts_of
from scenecypher.importers.pddl.domain_data import ACTING, DERIVED, Domain
from scenecypher.importers.pddl.expressions import KIND_WORDS, ExpressionReader
from scenecypher.importers.pddl.syntax import OBJECT, Form, PddlFile, Word, typed_names

KNOWN_SECTIONS: Final = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length")
ROBOT: Final = "robot"
"""The node that acts where a problem names none."""


@dataclass(frozen=True, slots=True)
class PddlScene:
    """The scene of a problem, and its domain with the problem's goal."""

    domain: Domain
    graph: SceneGraph


def read_problem(problem: PddlFile, reader: DomainReader) -> PddlScene:
    """Return the scene of a problem in a domain. Raises DocumentError naming the line.

    An object of the problem that an action names is a constant, declared or not.
    """
    return _ProblemReader(problem, reader).read()


class _ProblemReader:
    def __init__(self, problem: PddlFile, reader: DomainReader) -> None:
        named = {item.text for fact in reader.facts() for item in fact.rest if isinstance(item, Word)}
        agents, objects = reader.types.agent_types, [*typed_names(problem.items(":objects"))]
        acting = {it.text: None for it, given in (*reader.constants, *objects) if agents & {one.text for one in given}}
        constants = [it for it in objects if it[0].text in named]
        self._problem, self._objects = problem, [it for it in objects if it not in constants]
        self._reader = reader.for_problem(constants, tuple(acting))
        self._domain = self._reader.read()
        self._types: dict[str, str] = dict(self._domain.constants)

    def read(self) -> PddlScene:
        for section in self._problem.sections:
            what = REFUSED_SECTIONS.get(section.head, section.head)
            if section.head not in KNOWN_SECTIONS:
                self._problem.fail(section.line, f"{what} are not supported in a problem; leave this part out")
        self._read_objects()
        agents = [name for name, type_ in self._types.items() if type_ in self._domain.agent_types]
        nodes = {name: self._node(name, type_) for name, type_ in self._types.items()}
        if not agents:
            acting = next(it for n in count(1) if (it := ROBOT if n == 1 else f"{ROBOT}_{n}") not in nodes)
            nodes[acting] = Node(acting, "Agent", acting, ROBOT)
            agents = [acting]
        states: dict[str, set[str]] = {}
        relations: set[Relation] = set()
        for fact in self._problem.items(":init"):
            self._add(self._checked(fact), agents, states, relations)
        self._add_opposites(nodes, states)
        told = [replace(node, states=tuple(sorted(states.get(node.id, ())))) for node in nodes.values()]
        graph = SceneGraph.of(told, sorted(relations))
        return PddlScene(replace(self._domain, goal=self._goal(agents)), graph)

    def _read_objects(self) -> None:
        for name, types in self._objects:
            self._reader.types.tree.check(types)
            if len(types) > 1:
                self._problem.fail(name.line, f"{name.text} has several types; give it one")
            type_ = types[0].text if types else OBJECT
            if self._types.setdefault(name.text, type_) != type_:
                self._problem.fail(name.line, f"{name.text} is declared twice")

    def _node(self, name: str, type_: str) -> Node:
        lineage = (type_, *self._reader.types.tree.ancestors(type_))
        kind = next((KIND_WORDS[it] for it in lineage if it in KIND_WORDS), "Object")
        kind = "Agent" if type_ in self._domain.agent_types else "Object" if kind == "Agent" else kind
        return Node(name, kind, name, type_)

    # --- initial facts

    def _checked(self, fact: object) -> Form:
        """Return a fact whose predicate and objects are declared."""
        if not isinstance(fact, Form) or not fact.head:
            self._problem.fail(getattr(fact, "line", 1), "a fact such as (on a b) should stand here")
        is_known = fact.head in self._domain.predicates
        if is_known or fact.head not in {"=", "not"}:
            self._reader.check_fact(fact, self._problem)
        for item in fact.rest if is_known else ():
            name = item.text if isinstance(item, Word) else "a list"
            self._problem.check(name, self._types, fact.line, f"({fact.head} …): no object is called {name}")
        return fact

    def _add(self, fact: Form, agents: list[str], states: dict[str, set[str]], relations: set[Relation]) -> None:
        form = self._domain.predicates.get(fact.head)
        if form is None or form.how in DERIVED:
            return
        if form.of_agent and len(agents) > 1:
            names = ", ".join(agents)
            self._problem.fail(
                fact.line, f"({fact.head}) is of the agent, but there are several ({names}); give it a parameter"
            )
        given = tuple(c.Id(item.text) for item in fact.rest if isinstance(item, Word))
        x, *others = (node.id if isinstance(node, c.Id) else agents[0] for node in form.ends(given))
        if form.how == "relation":
            relations.add(Relation(x, form.word, others[0]))
        elif form.how == "state":
            states.setdefault(x, set()).add(form.word)
        else:
            self._problem.fail(
                fact.line, f"({fact.head} …) is stored as the {form.how} {form.word!r}; give the object its type"
            )

    def _add_opposites(self, nodes: Mapping[str, Node], states: dict[str, set[str]]) -> None:
        """Give each node that lacks a state the one that stands for its absence."""
        for name, form in self._domain.predicates.items():
            if form.otherwise is None:
                continue
            types = frozenset[str]() if form.of_agent else self._reader.predicates[name].types[0]
            for node in nodes.values():
                fits = node.kind == "Agent" if form.of_agent else not types or node.class_ in types
                if fits and form.word not in states.get(node.id, ()):
                    states.setdefault(node.id, set()).add(form.otherwise)

    # --- the goal

    def _goal(self, agents: list[str]) -> c.Condition:
        """Return the goal, in which the scene's only agent stands for the one that acts."""
        goals = tuple(self._problem.all(":goal"))
        if not goals:
            self._problem.fail(1, "the problem has no (:goal …); add one")
        wanted = [part for goal in goals for part in goal.rest]
        for fact in (fact for part in wanted for fact in facts_of(part)):
            self._reader.check_fact(fact, self._problem)
        reader = ExpressionReader(self._problem, self._reader.types, self._domain.predicates, self._types)
        goal = c.all_of(tuple(map(reader.condition, wanted)))
        bound = c.bind(goal, {ACTING: c.Id(agents[0])})
        if bound != goal and len(agents) > 1:
            names = ", ".join(agents)
            self._problem.fail(
                goals[0].line, f"the goal is about the agent, but there are several ({names}); name one in a predicate"
            )
        return bound
