"""A PDDL domain as data: its actions over facts of a scene graph."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import combinations, starmap
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import InvalidValue, relation_type
from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.pddl import domain_data as data
from scenecypher.importers.pddl import expressions as pddl
from scenecypher.importers.pddl.syntax import OBJECT, Expression, Form, PddlFile, TypedName, Word, typed_names
from scenecypher.importers.word_tables import listed, tables

_WORDS: Final = tables("words")["pddl"]
KNOWN_REQUIREMENTS: Final = frozenset(listed(_WORDS["known_requirements"]))
KNOWN_PARTS: Final = (":parameters", ":precondition", ":effect")
KNOWN_SECTIONS: Final = (":requirements", ":types", ":constants", ":predicates", ":functions", ":action")
REFUSED_SECTIONS: Final[Mapping[str, str]] = _WORDS["refused_sections"]
CONNECTIVES: Final = frozenset({"and", "or", "not", "imply", "when", "exists", "forall"})
MEASURES: Final = frozenset({"increase", "decrease", "assign", "scale-up", "scale-down"})
"""Effects on numbers, which are ignored: since no condition may compare numbers, they decide nothing."""
REFUSED_WORDS: Final[Mapping[str, str]] = _WORDS["refused_words"]
MAX_NAMED: Final = 5
"""Maximum number of objects that a note lists."""


def read_domain(
    source: PddlFile, mapping: data.DomainMapping | None = None, words: data.SceneWords | None = None
) -> data.Domain:
    """Return the domain of a file for a scene with these `words`; without, for a new scene.

    Raises DocumentError naming the line of what can't be mapped or is not supported.
    """
    return DomainReader(source, mapping or data.DomainMapping(), words or data.SceneWords()).read()


class DomainReader:
    """Reads one domain for a scene with these `words`; for a new scene they are empty."""

    def __init__(
        self, source: PddlFile, mapping: data.DomainMapping, words: data.SceneWords, more: Iterable[TypedName] = ()
    ) -> None:
        self.source, self.mapping, self.words = source, mapping, words
        self.constants = (*typed_names(source.items(":constants")), *more)
        self.types = pddl.DomainTypes(source, mapping, words)
        self.notes: list[str] = []

    def read(self) -> data.Domain:
        """Return the domain. Raises DocumentError naming the line of what is not supported."""
        self._check_sections()
        self._check_names()
        forms = self._forms()
        actions = tuple(_ActionReader(self, action, forms).read() for action in self.source.all(":action"))
        types = {type_: self.types.forms_of(type_) for type_ in self.types.tree.parents}
        constants = {name.text: (given[0].text if given else OBJECT) for name, given in self.constants}
        for name, _ in self.constants if self.words.classes else ():
            cause = f"the scene has no node that is called {name.text}"
            self.source.check(name.text, self.words.ids, name.line, cause)
        notes = tuple(dict.fromkeys(self.notes))
        return data.Domain(self.source.name, forms, types, constants, actions, self.types.agent_types, notes)

    # --- what the file declares

    @cached_property
    def predicates(self) -> dict[str, pddl.Predicate]:
        """The declared predicates by name."""
        changed = {it.head for action in self.source.all(":action") for it, _ in changes(part_of(action, ":effect"))}
        found: dict[str, pddl.Predicate] = {}
        for form in self.source.items(":predicates"):
            if not isinstance(form, Form) or not form.head:
                self.source.fail(form.line, "a predicate such as (on ?x ?y) should stand here")
            types = tuple(self.types.tree.below(self.types.tree.check(given)) for _, given in typed_names(form.rest))
            if form.head in found:
                self.source.fail(form.line, f"the predicate {form.head} is declared twice")
            found[form.head] = pddl.Predicate(form.head, types, form.line, form.head in changed)
        return found

    def facts(self) -> Iterator[Form]:
        """Yield the facts of all preconditions and effects."""
        for action in self.source.all(":action"):
            for part in (":precondition", ":effect"):
                yield from facts_of(part_of(action, part))

    def for_problem(self, constants: Iterable[TypedName], acting: Sequence[str]) -> DomainReader:
        """Return the reader for a problem whose actions name these `constants`, and in which these nodes act.

        Where several act, each is an object that its actions name; the type in a mapping file stays the agent's.
        """
        is_team = len(acting) > 1 and self.mapping.agent is None
        mapping = replace(self.mapping, agent=data.NO_AGENT) if is_team else self.mapping
        reader = DomainReader(self.source, mapping, self.words, constants)
        shown = ", ".join(acting[:MAX_NAMED]) + (", …" if len(acting) > MAX_NAMED else "")
        told = f"several act ({shown}): they are objects that actions name, and one robot carries all actions out"
        reader.notes += [told] if is_team else []
        return reader

    # --- what is refused

    def _check_sections(self) -> None:
        for section in self.source.sections:
            if section.head in REFUSED_SECTIONS:
                what = REFUSED_SECTIONS[section.head]
                self.source.fail(section.line, f"{what} are not supported; leave this part out")
            cause = f"{section.head} is no part of a domain that is known here"
            self.source.check(section.head, KNOWN_SECTIONS, section.line, cause)
        self._check_requirements()
        if not any(self.source.all(":action")):
            form = "(:action NAME :parameters (…) :precondition … :effect …)"
            self.source.fail(1, f"the domain has no action; add one as {form}")

    def _check_requirements(self) -> None:
        others = [it for it in map(_text, self.source.items(":requirements")) if it not in KNOWN_REQUIREMENTS]
        if others:
            self.notes.append(f"requirements that no part of the domain needs are ignored: {', '.join(others)}")
        for item in self.source.items(":functions"):
            if isinstance(item, Word) and item.text not in {"-", "number"}:
                cause = f"functions to {item.text} are not supported; write a predicate with one argument more"
                self.source.fail(item.line, cause)

    def _check_names(self) -> None:
        """Check that actions use declared predicates with the right number of arguments, and declared types."""
        names: set[str] = set()
        for action in self.source.all(":action"):
            if len(action.items) < 2 or not isinstance(action.items[1], Word):
                self.source.fail(action.line, "an action's name should stand after :action")
            if (name := pddl.identifier(action.items[1].text)) in names:
                self.source.fail(action.line, f"another action is called {name} too; rename one")
            names.add(name)
            for item in (it for it in action.rest[1:] if isinstance(it, Word)):
                cause = f"{item.text} is no part of an action that is known here"
                self.source.check(item.text, KNOWN_PARTS, item.line, cause)
            parameters = part_of(action, ":parameters")
            if isinstance(parameters, Form):
                for _, given in typed_names(parameters.items):
                    self.types.tree.check(given)
        for fact in self.facts():
            self.check_fact(fact, self.source)

    def check_fact(self, fact: Form, source: PddlFile) -> None:
        """Raise DocumentError for a fact of a file that is of no declared predicate, or has other arguments."""
        if fact.head not in self.predicates and fact.head in REFUSED_WORDS:
            what = f"{REFUSED_WORDS[fact.head]} ({fact.head} …)"
            source.fail(fact.line, f"{what} are not supported; leave this part out")
        cause = f"the predicate {fact.head or '()'} is not declared"
        source.check(fact.head, self.predicates, fact.line, cause, "; add it to (:predicates …)")
        predicate = self.predicates[fact.head]
        if len(fact.rest) != len(predicate.types):
            counts = f"{len(fact.rest)} arguments are given, {len(predicate.types)} are declared"
            source.fail(fact.line, f"({fact.head} …): {counts}")

    # --- forms

    def _forms(self) -> dict[str, data.FactForm]:
        given = self.mapping.predicates
        for name in given.keys() - self.predicates.keys():
            hint = did_you_mean(name, tuple(self.predicates))
            raise InputError(f"{self.mapping.file}: predicates.{name}: the domain has no such predicate{hint}")
        naming = pddl.Naming(self.predicates, self.words, self.types.agent_types, self._hands_agree())
        forms = {name: given.get(name) or naming.form(it) for name, it in self.predicates.items()}
        for name, predicate in self.predicates.items():
            form = forms[name]
            if form is None:
                self.source.fail(predicate.line, _too_many(predicate))
            self._check_form(predicate, form)
        self._check_clashes(forms)
        return {name: form for name, form in forms.items() if form is not None}

    def _check_form(self, predicate: pddl.Predicate, form: data.FactForm) -> None:
        count = len(predicate.types)
        if count not in form.arities:
            wanted = " or ".join(map(str, form.arities))
            cause = f"({predicate.name} …) has {count} arguments; its form in the mapping has {wanted}"
            self.source.fail(predicate.line, cause)
        if predicate.changed and form.how not in data.CHANGEABLE | data.DERIVED:
            cause = f"an action changes {predicate.name}, but it is stored as the {form.how} {form.word!r}"
            self.source.fail(predicate.line, f"{cause}; map it to a state")
        try:
            c.conjuncts(form.condition(tuple(f"x{i}" for i in range(count))))
            if form.how == "relation":
                relation_type(form.word)
        except InvalidValue as error:
            self.source.fail(predicate.line, f"({predicate.name} …) can't be stored: {error}")

    def _check_clashes(self, forms: Mapping[str, data.FactForm | None]) -> None:
        """Check that no two predicates that change or are mapped are stored as the same fact of the same nodes."""
        for one, other in combinations(self.predicates.values(), 2):
            form = forms[one.name]
            is_one = form is not None and form == forms[other.name] and form.how not in data.DERIVED
            are_mapped = {one.name, other.name} <= self.mapping.predicates.keys()
            if form is None or not is_one or not (one.changed or other.changed or are_mapped):
                continue
            if not (one.types and all(it.types[0] for it in (one, other)) and not one.types[0] & other.types[0]):
                cause = f"{other.name} is stored as {data.form_text(form)}, as {one.name} is; map one of them otherwise"
                self.source.fail(other.line, cause)

    def _hands_agree(self) -> bool:
        """Check that every action that takes or puts something says the same of the empty hand."""
        if not self.predicates.keys() & set(pddl.EMPTY_HAND) or not self.predicates.keys() & set(pddl.HELD):
            return False
        for action in self.source.all(":action"):
            made = [(fact.head, holds) for fact, holds in changes(part_of(action, ":effect"))]
            taken = {holds for name, holds in made if name in pddl.HELD}
            emptied = {not holds for name, holds in made if name in pddl.EMPTY_HAND}
            if taken != emptied:
                return False
        return True


class _ActionReader(pddl.ExpressionReader):
    """Reads one action."""

    def __init__(self, domain: DomainReader, form: Form, forms: Mapping[str, data.FactForm]) -> None:
        super().__init__(domain.source, domain.types, forms, {name.text for name, _ in domain.constants})
        self._domain, self._form = domain, form

    def read(self) -> data.DomainAction:
        parameters = self._parameters()
        requires = [
            data.ActionRequirement(condition, _type_words(parameter), of_type=True)
            for parameter in parameters
            if (condition := self._types.is_of(parameter.name, parameter.types)) != c.ALWAYS
        ]
        parts = pddl.conjuncts_of(part_of(self._form, ":precondition") or Form((), self._form.line))
        requires += [data.ActionRequirement(self.condition(part), self.text(part)) for part in parts]
        effects = tuple(self._effects(part_of(self._form, ":effect") or Form((), self._form.line)))
        name, words = pddl.identifier(_text(self._form.items[1])), self._form.comment or self._words_of(requires)
        return data.DomainAction(name, words, parameters, tuple(requires), effects)

    def _parameters(self) -> tuple[data.ActionParameter, ...]:
        """Bind all parameters and return those besides the first agent, which is the node that acts."""
        form = part_of(self._form, ":parameters")
        found, acting = [], False
        for name, given in typed_names(form.items) if isinstance(form, Form) else ():
            types = tuple(type_.text for type_ in given)
            if not acting and self._types.is_agent(types):
                acting = True
                self.bind(name.text, data.ACTING)
            else:
                found.append(data.ActionParameter(self.bind(name.text), types))
        return tuple(found)

    def _words_of(self, requires: Iterable[data.ActionRequirement]) -> str:
        """Return a sentence of an action's parts, for one without a comment."""
        needs = " ".join(it.words.replace("{", "").replace("}", "") for it in requires if not it.of_type)
        made = [f"{'' if holds else 'not '}{_call(it)}" for it, holds in changes(part_of(self._form, ":effect"))]
        return f"needs {needs or 'nothing'}; then {', '.join(made) or 'nothing changes'}"

    def _effects(
        self, item: Expression, when: c.Condition = c.ALWAYS, each: tuple[data.EachNode, ...] = ()
    ) -> Iterator[data.ActionEffect]:
        """Yield the effects of an expression, under a condition and for each of what is quantified around it."""
        if not isinstance(item, Form):
            self._source.fail(item.line, "an effect such as (on ?x ?y) should stand here")
        parts = self.parts(item)
        match item.head:
            case "and" | "":
                for part in parts if item.head else item.items:
                    yield from self._effects(part, when, each)
            case "when":
                also = self.condition(parts[0])
                yield from self._effects(parts[1], also if when == c.ALWAYS else c.And((when, also)), each)
            case "forall":
                outer = dict(self.names)
                yield from self._effects(parts[1], when, (*each, *starmap(data.EachNode, self.bind_all(parts[0]))))
                self.names = outer
            case head if head in MEASURES:
                costs = "action costs are ignored"
                self._domain.notes.append(costs if head == "increase" else "numbers are ignored: none decides")
            case head:
                yield from self._change(item, parts[0] if head == "not" else item, when, each)

    def _change(
        self, item: Form, fact: Expression, when: c.Condition, each: tuple[data.EachNode, ...]
    ) -> Iterator[data.ActionEffect]:
        form = self._forms.get(fact.head) if isinstance(fact, Form) else None
        if form is None or not isinstance(fact, Form):
            self._source.fail(item.line, f"({item.head} …) is no effect; write facts, each alone or in (not …)")
        if form.how not in data.DERIVED:
            nodes = form.ends(tuple(map(self.term, fact.rest)))
            yield data.ActionEffect(form, nodes, fact is item, when, each)


def _type_words(parameter: data.ActionParameter) -> str:
    if not parameter.types:
        return f"{{{parameter.name}}} is who acts, no object of the domain"
    return f"{{{parameter.name}}} is no {' or '.join(parameter.types)}"


def _too_many(predicate: pddl.Predicate) -> str:
    name, count = predicate.name, len(predicate.types)
    told = f"({name} …) has {count} arguments; a scene graph holds facts of one or two"
    if predicate.changed:
        return f"{told}; split it into facts of two"
    parts = " ".join(f"({name}-{n} ?fact ?x{n})" for n in range(1, count + 1))
    return f"{told}. No action changes it: make an object of each such fact, and of the predicate {parts}"


def _call(fact: Form) -> str:
    """Return a fact as ``on(x, y)``."""
    arguments = ", ".join(_text(item).removeprefix("?") for item in fact.rest)
    return f"{fact.head}({arguments})" if arguments else fact.head


def _text(item: Expression) -> str:
    return item.text if isinstance(item, Word) else item.head


def part_of(action: Form, name: str) -> Expression | None:
    """Return what follows a keyword of an action."""
    items = iter(action.items)
    return next((next(items, None) for item in items if _text(item) == name), None)


def facts_of(expression: Expression | None) -> Iterator[Form]:
    """Yield the facts of a precondition, effect or goal, and comparisons of numbers."""
    if not isinstance(expression, Form) or not expression.items or expression.head in MEASURES:
        return
    if expression.head in pddl.QUANTIFIERS:
        yield from facts_of(expression.items[-1])
    elif expression.head in CONNECTIVES or not expression.head:
        for part in expression.items:
            yield from facts_of(part)
    elif expression.head != "=" or any(isinstance(item, Form) for item in expression.rest):
        yield expression


def changes(effect: Expression | None, *, holds: bool = True) -> Iterator[tuple[Form, bool]]:
    """Yield each fact that an effect changes, and whether it then holds."""
    if not isinstance(effect, Form) or not effect.head:
        return
    match effect.head:
        case "when" | "forall":
            yield from changes(effect.items[-1], holds=holds)
        case "not":
            yield from changes(effect.items[-1], holds=not holds)
        case "and":
            for part in effect.rest:
                yield from changes(part, holds=holds)
        case name if name not in MEASURES:
            yield effect, holds
