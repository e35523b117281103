"""Names and expressions of PDDL: the forms that names and a scene's own words suggest, types, and conditions."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import scenecypher.db.condition as c
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.pddl.domain_data import ACTING, NO_AGENT, DomainMapping, FactForm, SceneWords
from scenecypher.importers.pddl.syntax import OBJECT, Expression, Form, PddlFile, Word, typed_names
from scenecypher.importers.word_tables import by_word, listed, tables

_WORDS: Final = tables("words")["pddl"]
AGENT_TYPES: Final = frozenset(listed(_WORDS["agent_types"]))
HELD, AGENT_PLACE, EMPTY_HAND = (listed(_WORDS[key]) for key in ("held", "agent_place", "empty_hand"))
REGISTERED: Final = {relation: listed(names) for relation, names in _WORDS["registered"].items()}
KIND_WORDS, STATES = (by_word(_WORDS[key]) for key in ("kinds", "states"))
OPPOSITES: Final[Mapping[str, str]] = _WORDS["opposites"]
_BREAK: Final = re.compile(r"[^a-z0-9]+")
_NO_IDENTIFIER: Final = re.compile(r"[^A-Za-z0-9_]")
CONNECTIVES: Final[Mapping[str, Callable[..., c.Condition]]] = {
    "and": lambda *parts: c.all_of(parts),
    "or": lambda *parts: c.any_of(parts),
    "not": c.Not,
    "imply": lambda first, second: c.Or((c.Not(first), second)),
}
QUANTIFIERS: Final = frozenset({"exists", "forall"})
PARTS: Final[Mapping[str, int]] = {"not": 1, "imply": 2, "=": 2, "exists": 2, "forall": 2, "when": 2}
"""The numbers of parts of expressions that have as many."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate: the types of its arguments, each with its subtypes, and its line; `changed` by some action."""

    name: str
    types: tuple[frozenset[str], ...]
    line: int
    changed: bool


@dataclass(frozen=True, slots=True)
class Naming:
    """The choice of forms by name, among all predicates of a domain, for a scene with these `words`.

    With `hands_agree`, every action that takes or puts something says the same of the empty hand, which therefore need
    not be stored.
    """

    known: Mapping[str, Predicate]
    words: SceneWords
    agent_types: frozenset[str]
    hands_agree: bool

    def form(self, predicate: Predicate) -> FactForm | None:
        """Return the form of a predicate, None where none can hold it: it has over two arguments."""
        count = len(predicate.types)
        return None if count > 2 else self._of_two(predicate) if count == 2 else self._of_one(predicate)

    def _of_one(self, predicate: Predicate) -> FactForm:
        """Return the form of a predicate of one argument, or of none, which is about the node that acts."""
        name, of_agent = predicate.name, not predicate.types
        if of_agent or self._acts(predicate, 0):
            if name in EMPTY_HAND and self.hands_agree:
                return FactForm("holds nothing", of_agent=of_agent)
            return FactForm("state", state_name(name), of_agent)
        if name in AGENT_PLACE:
            return FactForm("relation", "INSIDE", of_agent=True)
        if name in HELD:
            return FactForm("relation", "HOLDS", of_agent=True)
        return (None if predicate.changed else self._of_scene(name)) or self._state(name)

    def _of_two(self, predicate: Predicate) -> FactForm:
        name = predicate.name
        if name in HELD and (self._acts(predicate, 0) or self._acts(predicate, 1)):
            return FactForm("relation", "HOLDS", reverse=not self._acts(predicate, 0))
        registered = {self._first(names): relation for relation, names in REGISTERED.items()}
        if name in AGENT_PLACE and self._acts(predicate, 0) and not self._may_be_first(REGISTERED["INSIDE"]):
            return FactForm("relation", "INSIDE")
        return FactForm("relation", registered.get(name) or relation_name(name))

    def _acts(self, predicate: Predicate, place: int) -> bool:
        """Check if every node at this place of a predicate acts."""
        types = predicate.types[place]
        return bool(types) and types <= self.agent_types

    def _first(self, names: Iterable[str]) -> str | None:
        """Return the first of `names` that is a predicate of two arguments."""
        return next((name for name in names if name in self.known and len(self.known[name].types) == 2), None)

    def _may_be_first(self, names: Iterable[str]) -> bool:
        """Check if the predicate of these names may have a node that acts as its first argument."""
        found = self._first(names)
        types = self.known[found].types[0] if found else self.agent_types
        return found is not None and (not types or bool(types & self.agent_types))

    def _of_scene(self, name: str) -> FactForm | None:
        """Return the scene's affordance, class or kind of this name: what no action changes may be one."""
        for affordance in sorted(self.words.affordances):
            if _plain(affordance) == _plain(name):
                return FactForm("affordance", affordance)
        form = type_forms(name, self.words)[0]
        return form if self.words.classes and (form.how == "kind" or form.word in self.words.classes) else None

    def _state(self, name: str) -> FactForm:
        """Return the state of this name; in a scene that has its opposite, it ends where the opposite begins."""
        if not self.words.classes:
            return FactForm("state", state_name(name))
        state = STATES.get(name, state_name(name))
        opposite = OPPOSITES.get(state)
        is_paired = opposite is not None and bool({state, opposite} & self.words.states)
        is_told = any(STATES.get(other, state_name(other)) == opposite for other in self.known)
        return FactForm("state", state, otherwise=opposite if is_paired and not is_told else None)


def type_forms(type_: str, words: SceneWords) -> tuple[FactForm, ...]:
    """Return the forms of a type: the scene's classes of this name, else a kind of this name, else its own class."""
    classes = [word for word in sorted(words.classes) if _plain(word) == _plain(type_)]
    if classes:
        return tuple(FactForm("class", word) for word in classes)
    if words.classes and type_ in KIND_WORDS:
        return (FactForm("kind", KIND_WORDS[type_]),)
    return (FactForm("class", type_),)


def state_name(name: str) -> str:
    """Return a predicate's name as a state: ``hand_empty``."""
    return _BREAK.sub("_", name).strip("_") or "state"


def relation_name(name: str) -> str:
    """Return a predicate's name as a relation type: ``CONNECTED_TO``."""
    found = _BREAK.sub("_", name).strip("_").upper()
    return found if found[:1].isalpha() else f"R_{found}"


def _plain(word: str) -> str:
    return _BREAK.sub("", word.casefold())


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
            if type_.text != OBJECT:
                cause = f"the type {type_.text} is not declared"
                self.source.check(type_.text, self.parents, type_.line, cause, "; add it to (:types …)")
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
            raise InputError(f"{self._mapping.file}: agent: {agent!r} is no type of the domain{hint}; name one of them")
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


class ExpressionReader:
    """Reads the expressions of one action or goal about `objects`; `names` gives the variable of each PDDL name."""

    def __init__(
        self, source: PddlFile, types: DomainTypes, forms: Mapping[str, FactForm], objects: Collection[str]
    ) -> None:
        self._source, self._types, self._forms, self._objects = source, types, forms, objects
        self.names: dict[str, str] = {}

    def bind(self, name: str, var: str | None = None) -> str:
        """Return a new variable for a parameter or quantified variable such as ``?x``; `var` if given."""
        used, own = {*self.names.values(), ACTING}, identifier(name)
        self.names[name] = var or next(
            it for n in range(1, 1_000) if (it := f"{own}_{n}" if n > 1 else own) not in used
        )
        return self.names[name]

    def bind_all(self, given: Expression) -> list[tuple[str, c.Condition]]:
        """Return a new variable for each of a typed list, with the condition that a node is of its type."""
        if not isinstance(given, Form):
            self._source.fail(given.line, "variables such as (?x - cup) should stand here")
        typed = [(name.text, self._types.tree.check(types)) for name, types in typed_names(given.items)]
        return [(var, self._types.is_of(var, types)) for name, types in typed for var in [self.bind(name)]]

    def parts(self, item: Form) -> tuple[Expression, ...]:
        """Return the parts of an expression. Raises DocumentError if they are too many or too few."""
        wanted = PARTS.get(item.head, len(item.rest))
        if len(item.rest) != wanted:
            self._source.fail(item.line, f"({item.head} …) has {len(item.rest)} parts; give it {wanted}")
        return item.rest

    def condition(self, item: Expression) -> c.Condition:
        """Return an expression as a condition. Raises DocumentError for what is none."""
        if not isinstance(item, Form) or (item.items and not item.head):
            self._source.fail(item.line, "a condition such as (on ?x ?y) should stand here")
        if not item.items:
            return c.ALWAYS
        parts = self.parts(item)
        if item.head in CONNECTIVES:
            return CONNECTIVES[item.head](*map(self.condition, parts))
        if item.head in QUANTIFIERS:
            return self._quantified(item.head, *parts)
        terms = tuple(map(self.term, parts))
        if item.head == "=":
            return c.Same(*terms)
        if item.head not in self._forms:
            self._source.fail(item.line, f"({item.head} …) is no condition; leave this part out")
        return self._forms[item.head].condition(terms)

    def _quantified(self, head: str, variables: Expression, body: Expression) -> c.Condition:
        outer = dict(self.names)
        bound = self.bind_all(variables)
        inner = self.condition(body)
        for var, of_type in reversed(bound):
            inner = c.ForAll(var, of_type, inner) if head == "forall" else c.Exists(var, c.And((of_type, inner)))
        self.names = outer
        return inner

    def term(self, item: Expression) -> c.Term:
        """Return the variable of a parameter or quantified variable, or the id of an object."""
        name = item.text if isinstance(item, Word) else f"({item.head} …)"
        if name in self.names:
            return self.names[name]
        if name.startswith("?"):
            self._source.check(
                name, self.names, item.line, f"{name} is no parameter, and not quantified", "; declare it"
            )
        then = f"; declare it, or write ?{name}"
        self._source.check(name, self._objects, item.line, f"no object is called {name}", then)
        return c.Id(self._types.node_named(name))

    def text(self, item: Expression) -> str:
        """Return an expression as PDDL, with ``{x}`` for the node of a variable."""
        if isinstance(item, Word):
            return f"{{{self.names[item.text]}}}" if item.text in self.names else _escaped(item.text)
        if item.head in QUANTIFIERS:
            variables, body = item.rest
            given = typed_names(variables.items) if isinstance(variables, Form) else ()
            return f"({item.head} ({' '.join(_escaped(name.text) for name, _ in given)}) {self.text(body)})"
        return f"({' '.join(map(self.text, item.items))})"


def _escaped(text: str) -> str:
    """Return text for a message in which braces stand for variables."""
    return text.replace("{", "{{").replace("}", "}}")


def identifier(name: str) -> str:
    """Return a name of PDDL as an identifier: ``from_room``."""
    name = _NO_IDENTIFIER.sub("_", name.removeprefix("?"))[:60]
    return name if name[:1].isalpha() else f"n_{name}"


def conjuncts_of(item: Expression) -> Iterator[Expression]:
    """Yield the conjuncts of an expression, nested ones flattened."""
    if isinstance(item, Form) and (item.head == "and" or not item.items):
        for part in item.rest:
            yield from conjuncts_of(part)
    else:
        yield item
