"""The language of goals, typed as ``--goal`` or stated by a model: ``x: all cup where x is dirty; x INSIDE sink``."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.condition.phrases import plural_of
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.graph.value import Value
from scenecypher.db.schema import RELATION_TYPES
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.history import Event
from scenecypher.db.store.reference import CANDIDATES_SHOWN, resolve_reference
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, UnknownReference, did_you_mean
from scenecypher.planner.actions.variables import is_static, variables_of
from scenecypher.planner.prompts.scene_words import states_given
from scenecypher.planner.sessions.goal_past import earlier_facts
from scenecypher.planner.sessions.goal_quantifiers import NAME_LENGTH, Fact, Variable, all_of, quantified
from scenecypher.planner.vocabularies.registry import operators_of
from scenecypher.planner.vocabularies.states import state_rules

FORM: Final = "write parts such as `mug ON shelf` or `fridge is closed`, with semicolons between them"
WORDS: Final = {"IN": "INSIDE", "INSIDE_OF": "INSIDE", "ONTOP": "ON", "ONTOP_OF": "ON"}
"""Other words for relation types."""
PLACING: Final = ("INSIDE", "ON")
"""Relations of a thing to where it was put."""
OPPOSITES: Final = ("open", "closed", "on", "off")
"""States that are allowed even if no node has them yet."""
ANYTHING: Final = "thing"
"""The word for movable things of every class."""

_NAMED: Final = re.compile(r"(\w+)\s*:\s+(.+)")
_THINGS: Final = re.compile(
    r"(?P<quantity>one|all|every|no|as many|(?:at least |at most |exactly )?\d{1,9})\s+(?P<words>.+?)"
    r"(?P<alike>\s+of one kind)?(?:\s+as\s+(?P<counted>\w+))?(?:\s+for each\s+(?P<owner>\w+))?"
    r"(?:\s+other than\s+(?P<others>\w+(?:\s*,\s*\w+)*))?(?:\s+where\s+(?P<where>.+))?",
    re.IGNORECASE,
)
_NOT, _IS, _HAS, _OR, _AND = (
    re.compile(form, re.IGNORECASE)
    for form in (
        r"not\s+(.+)",
        r"(.+?)\s+is\s+(not\s+)?(as before|[\w-]+)",
        r"(.+?)\s+has\s+(not\s+)?(\w+)\s+(.+)",
        r"\s+or\s+",
        r"\s+and\s+",
    )
)


@dataclass(frozen=True)
class GoalParser:
    """Parser of goals about a scene as it is now: what is said after `where` is looked up there.

    `types` are relation types of the scene's own. `elsewhere` are classes that may be named though none is known, in a
    belief that is incomplete. `events` returns the scene's events, newest first.

    With `given`, the condition of a rule is read, which counts at all times: a class stands for any thing of it, the
    same throughout, what is said after `where` is part of the condition, INSIDE may lead through other things, and
    facts may be joined by `and`. `given` are the conditions of names that stay free in it. `synonyms` are words for a
    class, by a word that the scene may lack.
    """

    graph: SceneGraph
    vocabulary: str
    types: tuple[str, ...] = ()
    elsewhere: frozenset[str] = frozenset()
    events: Callable[[], Iterable[Event]] = tuple
    given: Mapping[str, c.Condition] | None = None
    synonyms: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def is_rule(self) -> bool:
        """True if the condition of a rule is read."""
        return self.given is not None

    def read(self, text: str) -> c.Condition:
        """Return the conjunction of all facts. Raises InputError for its form, UnknownReference for its words."""
        reading = _Reading(self)
        for name, among in (self.given or {}).items():
            reading.variables[name] = Variable(name, (among,))
        for part in self._parts(text):
            try:
                reading.add(part)
            except UnknownReference as error:
                what = "condition" if self.is_rule else "goal"
                raise UnknownReference(f"the {what} {part[:100]!r}: {error}", error.word, error.known) from error
        parts = reading.parts()
        return parts[0] if len(parts) == 1 else c.And(parts)

    def class_named(self, word: str) -> str | None:
        """Return the class that a word means, in any case, with blanks or as a plural; None if it means none."""
        found = self._classes.get(_folded(word))
        others = (self._classes.get(_folded(it)) for it in self.synonyms.get(_folded(word), ()))
        return found if found is not None else next(filter(None, others), None)

    def known(self, what: str, word: str, here: Sequence[str]) -> str:
        """Return the one of the words `here` that is meant, whatever its case. Raises UnknownReference."""
        found = {_folded(each): each for each in reversed(here)}.get(_folded(word))
        if found is None:
            hint = did_you_mean(word[:60], here)
            message = f"no {what} {word[:60]!r} occurs in this scene{hint}; use one that does"
            raise UnknownReference(message, word[:60], here)
        return found

    def _parts(self, text: str) -> Iterator[str]:
        for part in filter(None, map(str.strip, text.split(";"))):
            yield from _AND.split(part) if self.is_rule and not _NAMED.fullmatch(part) else (part,)

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The classes that may be named."""
        return (*sorted(self.graph.by_class), *sorted(self.elsewhere - self.graph.by_class.keys()))

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The states that something has or that an action gives."""
        occurring = {state for node in self.graph.nodes.values() for state in node.states}
        return tuple(sorted({*occurring, *OPPOSITES, *states_to_name(self.vocabulary)}))

    @cached_property
    def related(self) -> re.Pattern[str]:
        """The form of a relation between two things."""
        names = sorted({*RELATION_TYPES, *self.types, *WORDS}, key=len, reverse=True)
        return re.compile(rf"(.+?)\s+(not\s+)?({'|'.join(names)})\s+(.+)", re.IGNORECASE)

    @cached_property
    def _classes(self) -> dict[str, str]:
        plurals = {_folded(plural_of(it)): it for it in self.classes}
        return plurals | {_folded(it): it for it in reversed(self.classes)}


def read_goal_in(store: SceneStore, scene: SceneInfo, text: str) -> c.Condition:
    """Return the condition that a text states of a scene. Raises InputError, UnknownReference."""
    graph, types = store.now(scene).graph, scene.declared.relation_types
    return GoalParser(graph, scene.vocabulary, types, events=partial(store.latest, scene)).read(text)


def states_to_name(vocabulary: str) -> tuple[str, ...]:
    """Return the states that actions of a vocabulary give to something."""
    return states_given(operators_of(vocabulary))


@dataclass(slots=True)
class _Reading:
    """A goal while it is read: its variables and facts so far."""

    parser: GoalParser
    variables: dict[str, Variable] = field(default_factory=dict)
    facts: list[Fact] = field(default_factory=list)
    earlier: frozenset[str] = frozenset()
    """The variables of earlier parts: a phrase such as `no cup` stands for things of its own in each part."""
    suffix: str = ""
    mentioned: set[str] = field(default_factory=set)
    """The variables named after `other than`: no fact need be about them."""

    def add(self, part: str) -> None:
        """Read a part: what a name stands for, or facts of which one must hold."""
        self.earlier = frozenset(self.variables)
        named = _NAMED.fullmatch(part)
        things = _THINGS.fullmatch(named[2]) if named else None
        if named is None or things is None:
            self.facts.append(self._one_of(part))
            return
        if not c.VARIABLE.fullmatch(named[1]) or named[1] in {*self.parser.graph.nodes, *self.variables}:
            raise UnknownReference(
                f"{named[1][:60]!r} can't be a name for things: use another word that is no node's id"
            )
        self._declare(named[1], things)

    def parts(self) -> tuple[c.Condition, ...]:
        """Return the parts of the goal. Raises UnknownReference for names and facts that do not go together."""
        used = {name for it in self.variables.values() for name in (it.owner, it.counted)}
        used |= {*(self.parser.given or ()), *self.mentioned}
        for name in self.variables.keys() - used.union(*(fact.about for fact in self.facts)):
            raise UnknownReference(f"no fact is about {name!r}: state one, or leave it out")
        claims = {fact.claim for fact in self.facts}
        if not claims:
            raise InputError(f"the goal is empty; {FORM}")
        if any(c.Not(claim) in claims for claim in claims):
            raise UnknownReference("a fact and its opposite can't hold at once: state one of the two")
        if not self.parser.is_rule:
            self._check_states(it for it in claims if isinstance(it, c.HasState))
        for own in (it for it in self.variables.values() if it.owner):
            if not any({own.name, own.owner} <= it.about and not isinstance(it.claim, c.Not) for it in self.facts):
                raise UnknownReference(f"no fact joins {own.name!r} and {own.owner!r}: state the relation of the two")
        put_down = () if self.parser.is_rule else self._put_down()
        more = [it for it in put_down if it.placed is None or is_held(it.placed) not in claims]
        inner = [it for it in more if it.about]
        return (*quantified(self._in_order(), (*self.facts, *inner), ()), *(it.claim for it in more if not it.about))

    def _check_states(self, claims: Iterable[c.HasState]) -> None:
        """Raise UnknownReference for two states that no thing has at once, such as on and off."""
        rules = state_rules(self.parser.vocabulary)
        for one, other in combinations(claims, 2):
            if one.x == other.x and one.state in rules and other.state in rules[one.state].excludes:
                it, states = one.x.id if isinstance(one.x, c.Id) else one.x, sorted((one.state, other.state))
                raise UnknownReference(f"{it} can't be {states[0]} and {states[1]} at once: state one of the two")

    def _put_down(self) -> Iterator[Fact]:
        """Yield that things which must not be in or on something are not with an agent instead."""
        for x, denied in {(it.placed, isinstance(it.claim, c.Not)): None for it in self.facts if it.placed is not None}:
            in_no_hand = c.Not(is_with_agent(x))
            match self.variables.get(x) if isinstance(x, str) else None:
                case Variable(quantity="no" | "at most" | "exactly") as it:
                    if not denied:
                        yield Fact(frozenset(), c.ForAll(it.name, all_of(it.among), in_no_hand), x)
                case Variable() if denied:
                    yield Fact(frozenset({str(x)}), in_no_hand, x)
                case None if denied and isinstance(x, c.Id) and self.parser.graph.nodes[x.id].kind == "Object":
                    yield Fact(frozenset(), in_no_hand, x)

    def _in_order(self) -> tuple[Variable, ...]:
        """Return the variables, outermost first: `one` is the same for all, an own thing follows what it is for."""
        found = [it for it in self.variables.values() if it.name not in (self.parser.given or ())]
        outer = sorted((it for it in found if not it.owner), key=lambda it: it.quantity != "one")
        return tuple(it for each in outer for it in (each, *(own for own in found if own.owner == each.name)))

    # --- things

    def _declare(self, name: str, found: re.Match[str]) -> None:
        class_, adjectives = self._class_of(found["words"])
        kind = c.HasKind(name, "Object") if class_ is None else c.HasClass(name, class_)
        quantity, number = _quantity(found["quantity"].lower())
        if quantity == "as many" and not found["counted"]:
            raise UnknownReference("as many as what? say before, as in `y: all mat; x: as many cup as y`")
        if found["counted"]:
            quantity, number = "exactly", len(self._nodes(self._variable(found["counted"])))
        owner = self._variable(found["owner"]) if found["owner"] else None
        if owner is not None and owner.quantity not in {"all", "at least"}:
            raise UnknownReference(f"{owner.name!r} is one thing: {name!r} is for each of several, such as `all cup`")
        apart = [self._variable(it) for it in re.findall(r"\w+", found["others"] or "")]
        self.mentioned.update(it.name for it in apart)
        others = tuple(it.name for it in apart if it.quantity != "all")
        own, counted = owner.name if owner else "", found["counted"] or ""
        it = Variable(name, (kind,), quantity, number, own, others, counted=counted)
        self.variables[name] = it
        where = _AND.split(re.sub(r"\bit\b", name, found["where"])) if found["where"] else ()
        claims = [self._claim_now(name, fact) for fact in (*(f"{name} is {word}" for word in adjectives), *where)]
        # All of some are known here, and are left out by what they are; `others` are chosen when the goal is evaluated.
        claims += [
            c.Not(all_of(tuple(c.bind(part, {it.name: name}) for part in it.among)))
            for it in apart
            if it.name not in others
        ]
        nodes = self._nodes(replace(it, among=(kind, *claims)))
        if self.parser.is_rule:
            if found["alike"] or found["counted"]:
                raise UnknownReference("a rule counts at all times: name a class and a number of things")
            self.variables[name] = replace(it, among=(kind, *claims))
            return
        if not all(map(is_static, claims)):
            claims = [*filter(is_static, claims), c.Or(tuple(c.Same(name, c.Id(node)) for node in nodes))]
        least = number if quantity in {"at least", "exactly"} else int(quantity == "one")
        if least > len(nodes) and class_ not in self.parser.elsewhere:
            raise UnknownReference(f"of {found['words'][:60]!r} there are {len(nodes)} like that here: ask for no more")
        self.variables[name] = replace(it, among=(kind, *claims), kinds=self._kinds(nodes, number, found["alike"]))

    def _kinds(self, nodes: Sequence[str], number: int, alike: str | None) -> tuple[str, ...]:
        """Return the classes that have enough of the nodes, if all must be of one class."""
        classes = [self.parser.graph.nodes[node].class_ for node in nodes] if alike else []
        kinds = tuple(sorted({it for it in classes if classes.count(it) >= number}))
        if alike and not kinds:
            raise UnknownReference(f"no class has {number} such things here: ask for no more")
        return kinds

    def _class_of(self, text: str) -> tuple[str | None, list[str]]:
        """Return the class that a phrase ends with, None for things of any class, and the words before it."""
        words = text.split()
        for start in range(len(words)):
            word = " ".join(words[start:])
            found = self.parser.class_named(word)
            if found is not None or word.lower() == ANYTHING:
                return found, words[:start]
        self.parser.known("class", text, self.parser.classes)
        raise AssertionError(text)

    def _variable(self, name: str) -> Variable:
        if name not in self.variables:
            raise UnknownReference(f"{name[:60]!r} stands for nothing yet: say before, as in `{name[:60]}: all cup`")
        return self.variables[name]

    def _nodes(self, it: Variable) -> tuple[str, ...]:
        return tuple(c.witnesses(it.name, c.And(it.among), graph=self.parser.graph, bindings={}))

    def _claim_now(self, name: str, text: str) -> c.Condition:
        """Return what a fact after `where` claims; other names in it stand for any of their things."""
        before = {*self.variables}
        fact = self._closed(self._one_of(text, now=True), before)
        claim = fact.claim
        for other in sorted(fact.about - {name}):
            claim = c.Exists(other, c.And((*self.variables[other].among, claim)))
        return claim

    # --- facts

    def _one_of(self, text: str, *, now: bool = False) -> Fact:
        texts = _OR.split(text)
        if len(texts) == 1:
            return self._fact(text, now=now)
        facts = [self._alone(it, number, now=now) for number, it in enumerate(texts)]
        return Fact(frozenset[str]().union(*(it.about for it in facts)), c.Or(tuple(it.claim for it in facts)))

    def _alone(self, text: str, number: int, *, now: bool) -> Fact:
        """Return one of several alternatives, in which phrases such as `all cup` stand for things of its own."""
        before = {*self.variables}
        self.suffix = f"_{number}"
        fact = self._fact(text, now=now)
        self.suffix = ""
        return self._closed(fact, before)

    def _closed(self, fact: Fact, before: set[str]) -> Fact:
        """Return a fact within the quantifiers of its own phrases, whose variables were not there before."""
        own = [self.variables.pop(name) for name in [*self.variables] if name not in before]
        claim = all_of(tuple(quantified(own, [fact], ()))) if own else fact.claim
        return Fact(fact.about - {it.name for it in own}, claim)

    def _fact(self, text: str, *, now: bool) -> Fact:
        denied = _NOT.fullmatch(text)
        said: str = denied[1] if denied else text
        placed: c.Term | None = None
        if found := _IS.fullmatch(said):
            claim = self._is(self._subject(found[1]), found[3])
        elif found := _HAS.fullmatch(said):
            claim = self._has(self._subject(found[1]), found[3], found[4])
        elif found := self.parser.related.fullmatch(said):
            x, type_ = self._subject(found[1]), WORDS.get(found[3].upper(), found[3].upper())
            claim, placed = self._related(x, type_, found[4], now=now), x if type_ in PLACING else None
        else:
            raise InputError(f"{text[:100]!r} is no goal; {FORM}")
        about = frozenset(variables_of(claim) & self.variables.keys())
        return Fact(about, c.Not(claim) if bool(denied) is not bool(found[2]) else claim, placed)

    def _is(self, x: c.Term, word: str) -> c.Condition:
        match word.lower():
            case "held":
                return is_held(x)
            case "back" | "as before":
                return self._as_earlier(x, by_place=word.lower() == "back")
        colors = sorted({it for it in self._values("color") if isinstance(it, str)})
        if _folded(word) in {*map(_folded, self.parser.states)} or _folded(word) not in {*map(_folded, colors)}:
            return c.HasState(x, self.parser.known("state", word, self.parser.states))
        return self._has(x, "color", word)

    def _has(self, x: c.Term, key: str, word: str) -> c.Condition:
        values = {value: [*map(str, value if isinstance(value, tuple) else (value,))] for value in self._values(key)}
        meant = self.parser.known(key, word, [each for words in values.values() for each in words])
        alike = tuple(c.PropertyEquals(x, key, value) for value, words in values.items() if meant in words)
        return alike[0] if len(alike) == 1 else c.Or(alike)

    def _values(self, key: str) -> list[Value]:
        found = (it.properties[key] for it in self.parser.graph.nodes.values() if key in it.properties)
        return [*dict.fromkeys(found)]

    def _as_earlier(self, x: c.Term, *, by_place: bool) -> c.Condition:
        nodes = (x.id,) if isinstance(x, c.Id) else self._nodes(self.variables[x])
        ways: list[c.And] = []
        for node in nodes:
            facts = earlier_facts(self.parser.graph, self.parser.events(), node, by_place=by_place)
            if not facts:
                raise UnknownReference(
                    f"{node} never {'was elsewhere' if by_place else 'changed'}: say where it shall be"
                )
            ways.append(c.And((c.Same(x, c.Id(node)), *facts)))
        return c.And(ways[0].parts[1:]) if isinstance(x, c.Id) else c.Or(tuple(ways))

    def _related(self, x: c.Term, type_: str, word: str, *, now: bool) -> c.Condition:
        y = self._term(word)
        if y == x:
            raise UnknownReference(f"{word[:60]!r} can't be {type_} itself: name something else")

        def reach(y: c.Term) -> c.Condition:
            is_deep = type_ == "INSIDE" and (now or self.parser.is_rule)
            return c.Within(x, y) if is_deep else c.Related(x, type_, y)

        if y is not None:
            return reach(y)
        class_ = self.parser.class_named(word) or word
        some = re.sub(r"\W", "_", f"some_{class_}", flags=re.ASCII)[:NAME_LENGTH]
        return c.Exists(some, c.And((c.HasClass(some, class_), reach(some))))

    def _subject(self, word: str) -> c.Term:
        found = self._term(word)
        if found is None:
            nodes = ", ".join(self.parser.graph.by_class[self.parser.class_named(word) or word][:CANDIDATES_SHOWN])
            raise UnknownReference(
                f"{word[:60]!r} can mean several things: {nodes}; use an id, or say `all {word[:60]}`"
            )
        return found

    def _term(self, word: str) -> c.Term | None:
        """Return the variable or node that a word means; None for a class of several."""
        graph, class_ = self.parser.graph, self.parser.class_named(word)
        if word in self.variables:
            return word
        any_of_class = self.parser.is_rule and class_ is not None
        if not any_of_class and (word in graph.nodes or len(graph.by_name.get(word, ())) == 1):
            return c.Id(resolve_reference(graph, word))
        phrase = word if class_ is None else f"one {class_}"
        things = _THINGS.fullmatch(phrase)
        if things and (any_of_class or not graph.by_class.get(class_ or "", ())):
            name = name_for(phrase)
            if not (self.parser.is_rule and name in self.variables):
                name += self.suffix + (f"_{len(self.facts)}" if name + self.suffix in self.earlier else "")
            if name not in self.variables:
                self._declare(name, things)
            return name
        nodes = graph.by_class.get(class_ or "", ())
        return None if len(nodes) > 1 else c.Id(resolve_reference(graph, class_ or word))


def name_for(phrase: str) -> str:
    """Return the variable of a phrase such as ``one cup``."""
    return re.sub(r"\W", "_", f"_{phrase}", flags=re.ASCII)[: NAME_LENGTH - 4]


def is_held(x: c.Term) -> c.Condition:
    """Return that a thing is in an agent's hand."""
    return _of_agent(c.HeldBy(x, "some_agent"))


def is_with_agent(x: c.Term) -> c.Condition:
    """Return that an agent holds a thing or has it in it: VirtualHome's actions put things into agents, too."""
    return _of_agent(c.Or((c.HeldBy(x, "some_agent"), c.Related(x, "INSIDE", "some_agent"))))


def _of_agent(claim: c.Condition) -> c.Condition:
    return c.Exists("some_agent", c.And((c.HasKind("some_agent", "Agent"), claim)))


def _folded(word: str) -> str:
    return word.strip().casefold().replace(" ", "_")


def _quantity(text: str) -> tuple[str, int]:
    """Return a quantity and its number: a bare number is the least, none is "no"."""
    words, _, last = text.rpartition(" ")
    if not last.isdigit():
        return {"every": "all"}.get(text, text), 1
    return ("no", 1) if int(last) == 0 else (words or "at least", int(last))
