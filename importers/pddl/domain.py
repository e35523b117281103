"""A PDDL domain as data: its actions over facts of a scene graph, read with unified-planning's reader.

What the reader drops (lines, comments, ``either`` types) is taken from the file itself.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, Final, NoReturn

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import InvalidValue, relation_type
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.pddl.expressions import (
    ExpressionReader,
    conjuncts_of,
    identifier,
    parse_with_unified_planning,
)
from scenecypher.importers.pddl.naming import EMPTY_HAND, HELD, Predicate, forms_by_name
from scenecypher.importers.pddl.stored_as import (
    ACTING,
    CHANGEABLE,
    DERIVED,
    DomainMapping,
    FactForm,
    SceneWords,
    form_text,
)
from scenecypher.importers.pddl.syntax import (
    OBJECT,
    Expression,
    Form,
    PddlFile,
    Word,
    laid_out,
    plain_name,
    typed_names,
)
from scenecypher.importers.pddl.types import DomainTypes

KNOWN_REQUIREMENTS: Final = frozenset(
    {
        *(":strips", ":typing", ":equality", ":negative-preconditions", ":disjunctive-preconditions"),
        *(":existential-preconditions", ":universal-preconditions", ":quantified-preconditions"),
        *(":conditional-effects", ":adl", ":action-costs"),
    }
)
ORDER: Final = (":domain", ":types", ":constants", ":objects", ":predicates", ":init", ":goal")
"""The order of sections that unified-planning's reader asks for."""
KNOWN_SECTIONS: Final = (":requirements", ":types", ":constants", ":predicates", ":functions", ":action")
REFUSED_SECTIONS: Final[Mapping[str, str]] = {
    ":durative-action": "durative actions",
    ":derived": "derived predicates",
    ":process": "processes",
    ":event": "events",
    ":constraints": "constraints",
}
CONNECTIVES: Final = frozenset({"and", "or", "not", "imply", "when", "=", "exists", "forall", "increase"})
COST: Final = "total-cost"
NUMERIC: Final = frozenset({"decrease", "assign", "scale-up", "scale-down", "<", ">", "<=", ">="})
_BREAK: Final = re.compile(r"[^A-Za-z0-9_]")


@dataclass(frozen=True, slots=True)
class ActionParameter:
    """A parameter of an action, and the types that a node must be of one of; none for any node."""

    name: str
    types: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionRequirement:
    """One conjunct of a precondition; `words` are its PDDL text, with ``{x}`` for the node x.

    `of_type` says that it is the type of a parameter.
    """

    condition: c.Condition
    words: str
    of_type: bool = False


@dataclass(frozen=True, slots=True)
class ActionEffect:
    """A fact that begins or ends to hold where `when` is true, for `each` variable's nodes of which a condition is."""

    form: FactForm
    nodes: tuple[c.Term, ...]
    holds: bool
    when: c.Condition = c.ALWAYS
    each: tuple[tuple[str, c.Condition], ...] = ()


@dataclass(frozen=True, slots=True)
class DomainAction:
    """An action without the node that acts among its parameters."""

    name: str
    words: str
    parameters: tuple[ActionParameter, ...]
    requires: tuple[ActionRequirement, ...]
    effects: tuple[ActionEffect, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain: the form of each predicate and type, its constants by name, its actions, and what was left out.

    `goal` is that of the problem whose scene the actions are for, if it has one. `others` are domains that the scene
    was given before.
    """

    name: str
    predicates: Mapping[str, FactForm]
    types: Mapping[str, tuple[FactForm, ...]]
    constants: Mapping[str, str]
    actions: tuple[DomainAction, ...]
    agent_types: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    goal: c.Condition | None = None
    others: tuple[Domain, ...] = ()

    @property
    def all_domains(self) -> tuple[Domain, ...]:
        """The domains of the scene, oldest first."""
        return (*self.others, self)

    @property
    def all_actions(self) -> tuple[DomainAction, ...]:
        """The actions of all domains of the scene."""
        return tuple(action for domain in self.all_domains for action in domain.actions)


def read_domain(source: PddlFile, mapping: DomainMapping | None = None, words: SceneWords | None = None) -> Domain:
    """Return the domain of a file for a scene with these `words`; without, for a new scene.

    Raises DocumentError naming the line of what can't be mapped or is not supported, InputError without
    unified-planning.
    """
    return DomainReader(source, mapping or DomainMapping(), words or SceneWords()).read()


class DomainReader:
    """Reads one domain for a scene with these `words`; for a new scene they are empty."""

    def __init__(self, source: PddlFile, mapping: DomainMapping, words: SceneWords) -> None:
        self.source, self._mapping, self._words = source, mapping, words
        self.types = DomainTypes(source, mapping, words)
        self._notes: list[str] = []

    def read(self) -> Domain:
        """Return the domain. Raises DocumentError naming the line of what is not supported."""
        self._check_sections()
        self._check_names()
        problem = parse_with_unified_planning(self.source, self.plain_text())
        forms = self._forms()
        actions = tuple(_ActionReader(self, action, forms).read() for action in problem.actions)
        types = {type_: self.types.forms_of(type_) for type_ in self.types.tree.parents}
        constants = {name.text: (given[0].text if given else OBJECT) for name, given in self._constants}
        self._check_constants()
        return Domain(
            self.source.name,
            forms,
            types,
            constants,
            actions,
            self.types.agent_types,
            tuple(dict.fromkeys(self._notes)),
        )

    # --- what the file declares

    @cached_property
    def _constants(self) -> tuple[tuple[Word, tuple[Word, ...]], ...]:
        return tuple(typed_names(self.source.items(":constants")))

    @cached_property
    def predicates(self) -> dict[str, Predicate]:
        """The declared predicates by name."""
        changed = {name for action in self.source.all(":action") for name, _ in _changes(part_of(action, ":effect"))}
        found: dict[str, Predicate] = {}
        for form in self.source.items(":predicates"):
            if not isinstance(form, Form) or not form.head:
                self.source.fail(form.line, "a predicate such as (on ?x ?y) should stand here")
            types = tuple(self.types.tree.below(self.types.tree.check(given)) for _, given in typed_names(form.rest))
            if form.head in found:
                self.source.fail(form.line, f"the predicate {form.head} is declared twice")
            found[form.head] = Predicate(form.head, types, form.line, form.head in changed)
        return found

    def action_form(self, name: str) -> Form:
        """Return an action's section."""
        name = self.types.originals.get(name, name)
        return next(form for form in self.source.all(":action") if len(form.items) > 1 and _text(form.items[1]) == name)

    def fail(self, line: int, cause: str) -> NoReturn:
        """Raise DocumentError for a line of the domain."""
        self.source.fail(line, cause)

    def note(self, words: str) -> None:
        """Tell something that was left out."""
        self._notes.append(words)

    # --- what is refused

    def _check_sections(self) -> None:
        for section in self.source.sections:
            if section.head in REFUSED_SECTIONS:
                self.fail(section.line, f"{REFUSED_SECTIONS[section.head]} are not supported; leave this part out")
            if section.head not in KNOWN_SECTIONS:
                hint = did_you_mean(section.head, KNOWN_SECTIONS)
                self.fail(section.line, f"{section.head} is no part of a domain that is known here{hint}")
        self._check_requirements()
        if not any(self.source.all(":action")):
            self.fail(
                1, "the domain has no action; add one as (:action NAME :parameters (…) :precondition … :effect …)"
            )

    def _check_requirements(self) -> None:
        for word in self.source.items(":requirements"):
            if _text(word) not in KNOWN_REQUIREMENTS:
                supported = " ".join(sorted(KNOWN_REQUIREMENTS))
                self.fail(word.line, f"{_text(word)} is not supported; supported are {supported}")
        costs = {COST, *(name for action in self.source.all(":action") for name in _costs(action))}
        for function in self.source.items(":functions"):
            if isinstance(function, Form) and function.head not in costs:
                self.fail(function.line, f"numeric fluents such as {function.head} are not supported; leave them out")

    def _check_names(self) -> None:
        """Check that actions use declared predicates with the right number of arguments, and declared types."""
        names: set[str] = set()
        for action in self.source.all(":action"):
            if len(action.items) < 2 or not isinstance(action.items[1], Word):
                self.fail(action.line, "an action's name should stand after :action")
            if identifier(action.items[1].text) in names:
                self.fail(action.line, f"another action is called {identifier(action.items[1].text)} too; rename one")
            names.add(identifier(action.items[1].text))
            parameters = part_of(action, ":parameters")
            if isinstance(parameters, Form):
                for _, given in typed_names(parameters.items):
                    self.types.tree.check(given)
            for part in (":precondition", ":effect"):
                for fact in _facts(part_of(action, part)):
                    self._check_fact(fact)

    def _check_constants(self) -> None:
        for name, _ in self._constants:
            if self._words.classes and name.text not in self._words.ids:
                hint = did_you_mean(name.text, tuple(self._words.ids))
                self.fail(name.line, f"the scene has no node that is called {name.text}{hint}")

    def _check_fact(self, fact: Form) -> None:
        predicate = self.predicates.get(fact.head)
        if predicate is None and fact.head in NUMERIC:
            self.fail(fact.line, f"numbers ({fact.head} …) are not supported, but as costs; leave this part out")
        if predicate is None:
            hint = did_you_mean(fact.head, tuple(self.predicates))
            self.fail(fact.line, f"the predicate {fact.head or '()'} is not declared{hint}; add it to (:predicates …)")
        if len(fact.rest) != len(predicate.types):
            counts = f"{len(fact.rest)} arguments are given, {len(predicate.types)} are declared"
            self.fail(fact.line, f"({fact.head} …): {counts}")

    def plain_text(self) -> str:
        """Return the domain for unified-planning: plain names, no comments, no costs, and each type with one parent."""
        tree = self.types.tree
        types = " ".join(f"{name} - {(*parents, OBJECT)[0]}" for name, parents in tree.parents.items())
        sections = [Form(tuple(map(self._unlike_predicates, _section(f":types {types}").items)), 1)] if types else []
        left = {":requirements", ":types", ":functions"}
        if not tree.is_tree:  # the reader takes no types with several parents: they are ours to check
            sections.append(Form((Word(":predicates", 1), *map(_untyped, self.predicates.values())), 1))
            left.add(":predicates")
        return self._plain_text(self.source, sections, left)

    def plain_problem(self, source: PddlFile) -> str:
        """Return a problem for unified-planning, without its initial facts, which we read."""
        left = {":init", ":metric", ":requirements", ":length", ":situation"}
        return self._plain_text(source, [_section(":init")], left)

    def _plain_text(self, source: PddlFile, sections: Iterable[Form], left: Collection[str]) -> str:
        what = "domain" if source is self.source else "problem"
        plain = ((section, self._plain(section)) for section in source.sections if section.head not in left)
        kept = [it if isinstance(it, Form) else section for section, it in plain]
        in_order = sorted((*sections, *kept), key=lambda it: ORDER.index(it.head) if it.head in ORDER else len(ORDER))
        whole = Form((Word("define", 1), _section(f"{what} {source.name}"), *in_order), 1)
        self.types.originals = {plain_name(word): word for word in _all_words(whole)} | self.types.originals
        return laid_out(whole)

    def _unlike_predicates(self, item: Expression) -> Expression:
        """Return a name that is also a predicate's as another: the reader would take it for the fact."""
        if not isinstance(item, Word) or item.text not in self.predicates:
            return item
        renamed = f"n-{plain_name(item.text)}-"
        self.types.originals[renamed] = item.text
        return Word(renamed, item.line)

    def _plain(self, item: Expression) -> Expression | None:
        """Return an expression with the nearest common type for an ``either``; None for an effect on costs alone."""
        if isinstance(item, Word):
            return item
        if item.head == "either":
            return Word(self.types.tree.common(tuple(map(_text, item.rest))), item.line)
        if item.head == "increase":
            self.note("action costs are ignored")
            return None
        others = map(self._unlike_predicates, item.items[1:])
        inner = [self._plain(it) for it in (*item.items[:1], *others)]
        if item.head in {"when", "forall"} and inner[-1] is None:
            return None
        empty = Form((Word("and", item.line),), item.line)
        kept = (empty if it is None and item.head == ":action" else it for it in inner)
        return Form(tuple(it for it in kept if it is not None), item.line)

    # --- forms

    def _forms(self) -> dict[str, FactForm]:
        given = self._mapping.predicates
        for name in given.keys() - self.predicates.keys():
            hint = did_you_mean(name, tuple(self.predicates))
            raise InputError(f"{self._mapping.file}: predicates.{name}: the domain has no such predicate{hint}")
        by_name = forms_by_name(
            self.predicates.values(), self._words, agent_types=self.types.agent_types, hands_agree=self._hands_agree()
        )
        forms = {name: given.get(name) or by_name[name] for name in self.predicates}
        for name, predicate in self.predicates.items():
            form = forms[name]
            if form is None:
                self.fail(predicate.line, _too_many(predicate))
            self._check_form(predicate, form)
        self._check_clashes(forms)
        return {name: form for name, form in forms.items() if form is not None}

    def _check_form(self, predicate: Predicate, form: FactForm) -> None:
        count = len(predicate.types)
        if count not in form.arities:
            wanted = " or ".join(map(str, form.arities))
            self.fail(
                predicate.line, f"({predicate.name} …) has {count} arguments; its form in the mapping has {wanted}"
            )
        if predicate.changed and form.how not in CHANGEABLE | DERIVED:
            what = f"{form.how} {form.word!r}"
            self.fail(
                predicate.line, f"an action changes {predicate.name}, but it is stored as the {what}; map it to a state"
            )
        try:
            c.conjuncts(form.condition(tuple(f"x{i}" for i in range(count))))
            if form.how == "relation":
                relation_type(form.word)
        except InvalidValue as error:
            self.fail(predicate.line, f"({predicate.name} …) can't be stored: {error}")

    def _check_clashes(self, forms: Mapping[str, FactForm | None]) -> None:
        """Check that no two predicates of which one changes are stored as the same fact of the same nodes."""
        for one, other in combinations(self.predicates.values(), 2):
            form = forms[one.name]
            if form != forms[other.name] or form is None or form.how in DERIVED or not (one.changed or other.changed):
                continue
            if not (one.types and all(it.types[0] for it in (one, other)) and not one.types[0] & other.types[0]):
                cause = f"{other.name} is stored as {form_text(form)}, as {one.name} is; map one of them otherwise"
                self.fail(other.line, cause)

    def _hands_agree(self) -> bool:
        """Check that every action that takes or puts something says the same of the empty hand."""
        if not self.predicates.keys() & set(EMPTY_HAND) or not self.predicates.keys() & set(HELD):
            return False
        for action in self.source.all(":action"):
            changes = set(_changes(part_of(action, ":effect")))
            taken = {holds for name, holds in changes if name in HELD}
            emptied = {not holds for name, holds in changes if name in EMPTY_HAND}
            if taken != emptied:
                return False
        return True


class _ActionReader:
    """Reads one action of unified-planning's problem."""

    def __init__(self, domain: DomainReader, action: Any, forms: Mapping[str, FactForm]) -> None:
        self._domain, self._action, self._forms = domain, action, forms
        self._form = domain.action_form(action.name)
        place = f"action {action.name}"
        self._reader = ExpressionReader(domain.source, domain.types, forms, line=self._form.line, place=place)

    def read(self) -> DomainAction:
        parameters = self._parameters()
        requires = [
            ActionRequirement(condition, _type_words(parameter), of_type=True)
            for parameter in parameters
            if (condition := self._domain.types.is_of(parameter.name, parameter.types)) != c.ALWAYS
        ]
        parts = (part for precondition in self._action.preconditions for part in conjuncts_of(precondition))
        requires += [ActionRequirement(self._reader.condition(part), self._reader.text(part)) for part in parts]
        effects = tuple(self._effects())
        words = self._form.comment or self._words_of(requires)
        return DomainAction(identifier(_text(self._form.items[1])), words, parameters, tuple(requires), effects)

    def _parameters(self) -> tuple[ActionParameter, ...]:
        """Bind all parameters and return those besides the first agent, which is the node that acts."""
        form = part_of(self._form, ":parameters")
        found, acting = [], False
        for name, given in typed_names(form.items) if isinstance(form, Form) else ():
            types = tuple(type_.text for type_ in given)
            if not acting and self._domain.types.is_agent(types):
                acting = True
                self._reader.bind(plain_name(name.text)[1:], ACTING)
            else:
                found.append(ActionParameter(self._reader.bind(plain_name(name.text)[1:]), types))
        return tuple(found)

    def _words_of(self, requires: Iterable[ActionRequirement]) -> str:
        """Return a sentence of an action's parts, for one without a comment."""
        needs = " ".join(it.words.replace("{", "").replace("}", "") for it in requires if not it.of_type)
        changes = [f"{'' if effect.value.is_true() else 'not '}{effect.fluent}" for effect in self._action.effects]
        return f"needs {needs or 'nothing'}; then {', '.join(changes) or 'nothing changes'}"

    def _effects(self) -> Iterator[ActionEffect]:
        for effect in self._action.effects:
            name = str(effect.fluent.fluent().name)
            form = self._forms[self._domain.types.originals.get(name, name)]
            if form.how in DERIVED:
                continue
            outer = dict(self._reader.names)
            bound = [(self._reader.bind(it.name), self._reader.type_of(it)) for it in effect.forall]
            each = tuple((var, self._domain.types.is_of(var, types)) for var, types in bound)
            nodes = form.ends(tuple(map(self._reader.term, effect.fluent.args)))
            when = self._reader.condition(effect.condition)
            self._reader.names = outer
            yield ActionEffect(form, nodes, effect.value.is_true(), when, each)


def _type_words(parameter: ActionParameter) -> str:
    if not parameter.types:
        return f"{{{parameter.name}}} is who acts, no object of the domain"
    return f"{{{parameter.name}}} is no {' or '.join(parameter.types)}"


def _too_many(predicate: Predicate) -> str:
    name, count = predicate.name, len(predicate.types)
    told = f"({name} …) has {count} arguments; a scene graph holds facts of one or two"
    if predicate.changed:
        return told
    parts = " ".join(f"({name}-{n} ?fact ?x{n})" for n in range(1, count + 1))
    return f"{told}. No action changes it: make an object of each such fact, and of the predicate {parts}"


def _costs(item: Expression) -> Iterator[str]:
    """Yield the functions by which an action increases the costs."""
    match item:
        case Form(items=(Word(text="increase"), Form(items=(Word(text="total-cost"),)), *amounts)):
            yield from (word for amount in amounts for word in _all_words(amount))
        case Form():
            for inner in item.items:
                yield from _costs(inner)


def _all_words(item: Expression) -> Iterator[str]:
    if isinstance(item, Word):
        yield item.text
        return
    for inner in item.items:
        yield from _all_words(inner)


def _section(text: str) -> Form:
    return Form(tuple(Word(word, 1) for word in text.split()), 1)


def _untyped(predicate: Predicate) -> Form:
    return _section(" ".join((predicate.name, *(f"?x{n}" for n in range(len(predicate.types))))))


def _text(item: Expression) -> str:
    return item.text if isinstance(item, Word) else item.head


def part_of(action: Form, name: str) -> Expression | None:
    """Return what follows a keyword of an action."""
    items = iter(action.items)
    return next((next(items, None) for item in items if _text(item) == name), None)


def _facts(expression: Expression | None) -> Iterator[Form]:
    """Yield the facts of a precondition or effect."""
    if not isinstance(expression, Form) or not expression.items:
        return
    if expression.head in {"exists", "forall"}:
        yield from _facts(expression.items[-1])
    elif expression.head in {"=", "increase"}:
        return
    elif expression.head in CONNECTIVES or not expression.head:
        for part in expression.items:
            yield from _facts(part)
    else:
        yield expression


def _changes(effect: Expression | None, *, holds: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield each predicate that an effect changes, and whether it then holds."""
    if not isinstance(effect, Form):
        return
    match effect.head:
        case "when" | "forall":
            yield from _changes(effect.items[-1], holds=holds)
        case "not":
            yield from _changes(effect.items[-1], holds=not holds)
        case "and":
            for part in effect.rest:
                yield from _changes(part, holds=holds)
        case "increase" | "":
            return
        case name:
            yield name, holds
