"""The types of a PDDL domain: which are below which, and which nodes of a scene graph are of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

import scenecypher.db.condition as c
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.pddl.naming import AGENT_TYPES, type_forms
from scenecypher.importers.pddl.stored_as import NO_AGENT, DomainMapping, FactForm, SceneWords
from scenecypher.importers.pddl.syntax import OBJECT, PddlFile, Word, typed_names


@dataclass(slots=True)
class TypeTree:
    """The types of a domain, each with the line of its name and its parents: none but ``object`` for most roots."""

    source: PddlFile
    parents: dict[str, tuple[str, ...]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, source: PddlFile) -> TypeTree:
        """Return the types that a domain declares. Raises DocumentError for one that is its own ancestor."""
        tree = cls(source)
        for name, types in typed_names(source.items(":types")):
            if name.text != OBJECT:
                given = (it.text for it in types if it.text != OBJECT)
                tree.parents[name.text] = tuple(dict.fromkeys((*tree.parents.get(name.text, ()), *given)))
                tree.lines.setdefault(name.text, name.line)
        for declared in tuple(tree.parents):
            tree._check_ancestors(declared)
        return tree

    def below(self, names: Iterable[str]) -> frozenset[str]:
        """Return the types and all their subtypes; empty for all objects."""
        wanted = set(names)
        return frozenset(name for name in self.parents if wanted & {name, *self.ancestors(name)})

    def ancestors(self, name: str) -> tuple[str, ...]:
        """Return a type's parents, theirs, and so on, the nearest first, without ``object``."""
        found = [*self.parents.get(name, ())]
        for parent in found:
            found += [it for it in self.parents.get(parent, ()) if it not in found]
        return tuple(found)

    def check(self, types: Iterable[Word]) -> tuple[str, ...]:
        """Return the names of `types`. Raises DocumentError for one that is not declared."""
        for type_ in types:
            if type_.text not in self.parents and type_.text != OBJECT:
                hint = did_you_mean(type_.text, tuple(self.parents))
                self.source.fail(type_.line, f"the type {type_.text} is not declared{hint}; add it to (:types …)")
        return tuple(type_.text for type_ in types if type_.text != OBJECT)

    def _check_ancestors(self, name: str) -> None:
        for parent in self.ancestors(name):
            self.parents.setdefault(parent, ())
            self.lines.setdefault(parent, self.lines[name])
            if parent == name:
                self.source.fail(self.lines[name], f"the type {name} is its own ancestor; break the circle")


class DomainTypes:
    """The types of one domain and their forms in one scene."""

    def __init__(self, source: PddlFile, mapping: DomainMapping, words: SceneWords) -> None:
        self._mapping, self._words = mapping, words
        self.tree = TypeTree.of(source)

    @cached_property
    def agent_types(self) -> frozenset[str]:
        """The types of nodes that act."""
        agent = self._mapping.agent
        if agent == NO_AGENT:
            return frozenset()
        if agent is not None and agent not in self.tree.parents:
            hint = did_you_mean(agent, tuple(self.tree.parents))
            msg = f"{self._mapping.file}: agent: {agent!r} is no type of the domain{hint}; name one of them"
            raise InputError(msg)
        return self.tree.below({agent} if agent else AGENT_TYPES & self.tree.parents.keys())

    def forms_of(self, type_: str) -> tuple[FactForm, ...]:
        """Return the forms of a type and its subtypes; the agent's is the kind Agent."""
        forms: dict[FactForm, None] = {}
        for name in sorted(self.tree.below({type_})):
            if name in self.agent_types:
                forms[FactForm("kind", "Agent")] = None
            elif name in self._mapping.types:
                forms[self._mapping.types[name]] = None
            else:
                forms |= dict.fromkeys(type_forms(name, self._words))
        return tuple(forms)

    def is_of(self, x: c.Term, types: Iterable[str]) -> c.Condition:
        """Return the condition that `x` is of one of `types`; without types, any object of the domain."""
        forms = tuple(dict.fromkeys(form for type_ in types for form in self.forms_of(type_)))
        if forms:
            return c.Or(tuple(form.condition((x,)) for form in forms)) if len(forms) > 1 else forms[0].condition((x,))
        return c.ALWAYS if self.agent_types else c.Not(c.HasKind(x, "Agent"))

    def node_named(self, name: str) -> str:
        """Return the id of the node that a constant or an object stands for."""
        return self._words.ids.get(name, name)

    def is_agent(self, types: Iterable[str]) -> bool:
        """Check if every node of `types` acts."""
        below = self.tree.below(types)
        return bool(below) and below <= self.agent_types
