"""Parser of goals stated by a model: variables and facts, checked against the scene, as one Condition."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from string import Template
from typing import Final, Literal, TypeAlias, assert_never

from pydantic import BaseModel, ConfigDict, Field

import scenecypher.db.condition as c
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.errors import UnknownReference, did_you_mean
from scenecypher.retriever.library import told, words_for

HELD: Final = "HELD"
"""The form's word for being in an agent's hand."""
SYNONYMS: Final = {
    "ONTOP": "ON",
    "ONTOP_OF": "ON",
    "IN": "INSIDE",
    "INSIDE_OF": "INSIDE",
    "HOLDS": HELD,
    "HELD_BY": HELD,
}

NAME_LENGTH: Final = 64
"""Longest name of a variable."""

Quantity: TypeAlias = Literal["one", "all", "number", "own"]


class VariableForm(BaseModel):
    """Things of one class; `own` gives each thing of the variable `of` one of its own."""

    model_config = ConfigDict(extra="forbid")

    name: str
    class_: str = Field(alias="class")
    color: str | None
    quantity: Quantity
    number: int | None
    of: str | None
    not_same_as: list[str]


class FactForm(BaseModel):
    """One thing that shall be so, of a variable or a node."""

    model_config = ConfigDict(extra="forbid")

    what: str
    relation: str | None
    to: str | None
    state: str | None
    negated: bool


class GoalForm(BaseModel):
    """What the model answers: the facts hold of the variables, in their order."""

    model_config = ConfigDict(extra="forbid")

    reason: str
    variables: list[VariableForm]
    goal: list[FactForm]


OPPOSITES: Final = ("open", "closed", "on", "off")
"""States that are allowed even if no node has them yet."""
CONTAINMENTS: Final = ("INSIDE", "ON")
"""Relations that are allowed even if none occurs yet."""


@dataclass(frozen=True, slots=True)
class _Variable:
    """A checked variable: `among` states what it ranges over."""

    name: str
    among: tuple[c.Condition, ...]
    quantity: Quantity
    number: int
    of: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Fact:
    """A claim and the variables that it is about."""

    about: frozenset[str]
    claim: c.Condition


@dataclass(frozen=True)
class GoalParser:
    """Parser from forms to Conditions on one scene; raises UnknownReference, worded for the model.

    `elsewhere` are classes that may be named though none is known in this scene, in a belief that is incomplete.
    `states` are allowed even if no node has them yet.
    """

    occurring: Enumerations
    elsewhere: frozenset[str] = field(default_factory=frozenset)
    states: tuple[str, ...] = OPPOSITES

    def condition(self, form: GoalForm) -> c.Condition:
        """Return the conjunction of all facts, each within the quantifiers of its own variables."""
        variables = self._variables((*form.variables, *self._single(form)))
        facts = tuple(self._fact(fact, {it.name for it in variables}) for fact in form.goal)
        if not facts:
            raise UnknownReference("the goal says nothing: state at least one fact that shall be so")
        for unused in {it.name for it in variables}.difference(*(fact.about for fact in facts)):
            raise UnknownReference(f"no fact is about the variable {unused!r}: state one, or leave the variable out")
        if any(c.Not(fact.claim) in {other.claim for other in facts} for fact in facts):
            raise UnknownReference("a fact and its opposite can't hold at once: state one of the two")
        for own in (it for it in variables if it.quantity == "own"):
            if not any({own.name, own.of} <= fact.about and not isinstance(fact.claim, c.Not) for fact in facts):
                raise UnknownReference(f"no fact joins {own.name!r} and {own.of!r}: state the relation between the two")
        return c.And(tuple(_quantified(variables, facts, ())))

    def _single(self, form: GoalForm) -> Iterator[VariableForm]:
        """Yield a variable for each class of one node that facts name without declaring it."""
        named = {it.name for it in form.variables}
        for word in dict.fromkeys(fact.what for fact in form.goal):
            known = [use for use in self.occurring.classes if _folded(use.name) == _folded(word)]
            if word not in named and word not in self.occurring.ids and [use.count for use in known] == [1]:
                yield VariableForm.model_validate(dict(_ONE, name=word, **{"class": word}))

    def _variables(self, forms: Sequence[VariableForm]) -> tuple[_Variable, ...]:
        """Return the variables, outermost first: `one` is the same for all, `own` follows the variable it is for."""
        names = [it.name for it in forms]
        for form in forms:
            self._check_variable(form, forms, names)
        found = [self._variable(form) for form in forms]
        outer = [it for it in found if it.quantity == "one"] + [it for it in found if it.quantity in {"all", "number"}]
        owners = {it.name: [own for own in found if own.quantity == "own" and own.of == it.name] for it in outer}
        return tuple(it for each in outer for it in (each, *owners[each.name]))

    def _check_variable(self, form: VariableForm, forms: Sequence[VariableForm], names: Sequence[str]) -> None:
        name = form.name
        if not c.VARIABLE.fullmatch(name) or name in self.occurring.ids:
            raise UnknownReference(f"{name[:60]!r} can't name a variable: use letters and digits, and no node's id")
        if names.count(name) > 1:
            raise UnknownReference(f"two variables are called {name!r}: give each a name of its own")
        owners = {it.name for it in forms if it.quantity in {"all", "number"}}
        if form.quantity == "own" and form.of not in owners:
            raise UnknownReference(f'{name!r} is for each of "of": name a variable there that has "all" or "number"')
        for other in form.not_same_as:
            if other not in names or other == name:
                raise UnknownReference(
                    f'{name!r} is "not_same_as" {other[:60]!r}, which is no other variable: name one'
                )

    def _variable(self, form: VariableForm) -> _Variable:
        class_ = self._class(form.class_)
        among: tuple[c.Condition, ...] = (c.HasClass(form.name, class_),)
        if form.color is not None:
            among += (c.PropertyEquals(form.name, "color", form.color.casefold()),)
        number = self._number(form, class_)
        return _Variable(form.name, among, form.quantity, number, form.of or "", tuple(form.not_same_as))

    def _number(self, form: VariableForm, class_: str) -> int:
        if form.quantity != "number":
            return 1
        if form.number is None or form.number < 1:
            raise UnknownReference(f'{form.name!r} wants "number", a whole number from 1: give it, or say "all"')
        known = sum(use.count for use in self.occurring.classes if use.name == class_)
        if form.number > known and class_ not in self.elsewhere:
            raise UnknownReference(f"of the class {class_} there are {known} here: count no more")
        return form.number

    def _fact(self, fact: FactForm, variables: set[str]) -> _Fact:
        x = self._term(fact.what, variables)
        if x is None:
            self._class(fact.what)
            raise UnknownReference(f"{fact.what[:60]!r} is a class of several: declare a variable, and name that")
        about = {fact.what} & variables
        parts: list[c.Condition] = []
        if fact.relation is not None:
            about |= {fact.to or ""} & variables
            parts.append(self._related(fact.relation, fact.to, x, variables))
        if fact.state is not None:
            parts.append(c.HasState(x, self._known("state", fact.state, self._states)))
        if not parts:
            raise UnknownReference(f"of {fact.what[:60]!r} nothing is said: give a relation with a target, or a state")
        claim = parts[0] if len(parts) == 1 else c.And(tuple(parts))
        return _Fact(frozenset(about), c.Not(claim) if fact.negated else claim)

    def _related(self, relation: str, to: str | None, x: c.Term, variables: set[str]) -> c.Condition:
        type_ = relation.strip().upper().replace(" ", "_")
        type_ = SYNONYMS.get(type_, type_)
        if type_ == HELD:
            return c.Exists("agent", c.And((c.HasKind("agent", "Agent"), c.HeldBy(x, "agent"))))
        type_ = self._known("relation", type_, self._types)
        if to is None:
            raise UnknownReference(f'the relation {type_} leads to something: give it in "to"')
        y = self._term(to, variables)
        if y == x:
            raise UnknownReference(f"{to[:60]!r} can't be {type_} itself: name something else")
        if y is not None:
            return c.Related(x, type_, y)
        class_ = self._class(to)
        some = re.sub(r"\W", "_", f"some_{class_}", flags=re.ASCII)[:NAME_LENGTH]
        return c.Exists(some, c.And((c.HasClass(some, class_), c.Related(x, type_, some))))

    def _term(self, word: str, variables: set[str]) -> c.Term | None:
        """Return the variable or node that a word means; None for a class of several."""
        if word in variables:
            return word
        if word in self.occurring.ids:
            return c.Id(word)
        return None

    def _class(self, word: str) -> str:
        here = (*self._classes, *self.occurring.places)
        return self._known("class", word, here, elsewhere=sorted(self.elsewhere))

    def _known(self, what: str, word: str, here: tuple[str, ...], *, elsewhere: Sequence[str] = ()) -> str:
        known = (*here, *elsewhere)
        found = {_folded(each): each for each in reversed(known)}.get(_folded(word))
        if found is None:
            hint = did_you_mean(word[:60], known)
            message = f"no {what} {word[:60]!r} occurs in this scene{hint}; use one that does"
            raise UnknownReference(message, word[:60], here)
        return found

    @cached_property
    def _classes(self) -> tuple[str, ...]:
        return self.occurring.known()["class"]

    @cached_property
    def _states(self) -> tuple[str, ...]:
        return (*self.occurring.known()["states"], *self.states)

    @cached_property
    def _types(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*(pattern.type for pattern in self.occurring.patterns), *CONTAINMENTS)))


_ONE: Final[Mapping[str, object]] = {
    **dict.fromkeys(("color", "number", "of")),
    "quantity": "one",
    "not_same_as": [],
}


_HOME: Final = (
    (
        "Put all $objects2 into the $container and close it.",
        (("x", "$object2", None, "all"), ("y", "$container", None, "one")),
        (("x", "INSIDE", "y", None, False), ("y", None, None, "closed", False)),
    ),
    ("Switch the $device on.", (("x", "$device", None, "one"),), (("x", None, None, "on", False),)),
    ("No $object may stay on the $surface.", (("x", "$object", None, "all"),), (("x", "ON", "$surface", None, True),)),
)
_GRID: Final = (
    ("Pick up the grey $object.", (("x", "$object", "grey", "one"),), (("x", HELD, None, None, False),)),
    ("Open the red door.", (("x", "door", "red", "one"),), (("x", None, None, "open", False),)),
    (
        "Fetch any $object2, and have the blue door opened.",
        (("x", "$object2", None, "one"), ("y", "door", "blue", "one")),
        (("x", HELD, None, None, False), ("y", None, None, "open", False)),
    ),
)
"""Worked goals, for homes and for grids: an instruction, variables (name, class, color, quantity), and facts."""


def goal_examples(occurring: Enumerations) -> Iterator[tuple[str, str]]:
    """Yield worked examples in words of a scene: an instruction, and the form that states its goal, as JSON."""
    words, has_doors = words_for(occurring), dict(occurring.kinds).get("Door", 0) > 0
    for said, variables, facts in _HOME if "asset" in words else _GRID if has_doors else ():
        form = {
            "reason": "that is what shall be so in the end",
            "variables": [
                dict(_ONE, name=n, **{"class": of}, color=color, quantity=q) for n, of, color, q in variables
            ],
            "goal": [dict(zip(FactForm.model_fields, fact, strict=True)) for fact in facts],
        }
        try:
            found = told(said, words), GoalForm.model_validate_json(Template(json.dumps(form)).substitute(words))
        except KeyError:
            continue
        yield found[0], found[1].model_dump_json(by_alias=True)


def _folded(word: str) -> str:
    return word.strip().casefold().replace(" ", "_")


def _quantified(
    variables: Sequence[_Variable], facts: Sequence[_Fact], bound: tuple[_Variable, ...]
) -> Iterator[c.Condition]:
    """Yield the conjuncts: each group of facts that share variables, within the quantifiers of these."""
    for group in _groups(variables, facts):
        inner = [it for it in variables if any(it.name in fact.about for fact in group)]
        if not inner:
            yield from (fact.claim for fact in group)
            continue
        first, *rest = inner
        among = first.among + tuple(c.Not(c.Same(first.name, it.name)) for it in bound if _differ(first, it))
        parts = tuple(_quantified(rest, group, (*bound, first)))
        match first.quantity:
            case "all":
                yield c.ForAll(first.name, _all_of(among), _all_of(parts))
            case "one":
                yield c.Exists(first.name, c.And(among + parts))
            case "number":
                yield c.AtLeast(first.number, first.name, c.And(among + parts))
            case "own":
                owner = next(it for it in bound if it.name == first.of)
                yield c.Exists(first.name, c.And((*among, *parts, _no_other(owner, first, group))))
            case _:
                assert_never(first.quantity)


def _no_other(owner: _Variable, own: _Variable, facts: Sequence[_Fact]) -> c.Condition:
    """Return the condition that no other thing like `owner` shares what is its `own`."""
    joining = tuple(it.claim for it in facts if it.about == {owner.name, own.name} and not isinstance(it.claim, c.Not))
    other = f"other_{owner.name}"[:NAME_LENGTH]
    alike = tuple(c.bind(part, {owner.name: other}) for part in (*owner.among, *joining))
    return c.Not(c.Exists(other, c.And((*alike, c.Not(c.Same(other, owner.name))))))


def _groups(variables: Sequence[_Variable], facts: Sequence[_Fact]) -> list[list[_Fact]]:
    """Return the facts in groups that share none of the variables and constrain none of each other's."""
    groups: list[tuple[set[str], list[_Fact]]] = []
    for fact in facts:
        names = {it.name for it in variables if it.name in fact.about}
        names |= {it.name for it in variables for one in variables if one.name in names and _differ(it, one)}
        joined = [group for group in groups if group[0] & names]
        merged = (names.union(*(group[0] for group in joined)), [*(it for group in joined for it in group[1]), fact])
        groups = [*(group for group in groups if group not in joined), merged]
    return [group for _, group in groups]


def _differ(one: _Variable, other: _Variable) -> bool:
    return one.name in other.others or other.name in one.others


def _all_of(parts: tuple[c.Condition, ...]) -> c.Condition:
    return parts[0] if len(parts) == 1 else c.And(parts)
