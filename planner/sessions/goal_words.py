"""The language of goals, typed as ``--goal`` or stated by a model: ``x: all cup where x is dirty; x INSIDE sink``.

Its forms, and what people say for them, are in ``goal_words.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from importlib.resources import files
from itertools import chain
from typing import Final

import scenecypher.db.condition as c
from scenecypher.db.condition.phrases import plural_of
from scenecypher.db.schema import RELATION_TYPES
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.history import Event
from scenecypher.db.store.reference import SceneWords, found_in, one_of, resolve_reference, single
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, UnknownReference
from scenecypher.planner.actions.operator import is_static
from scenecypher.planner.prompts.terms import states_given
from scenecypher.planner.sessions.goal_things import (
    NAME_LENGTH,
    NO_LEAST,
    Parts,
    Things,
    earlier_facts,
    no_other,
    quantified,
)
from scenecypher.planner.vocabularies.vocabulary import operators_of, state_rules

WORDS: Final = tomllib.loads(files("scenecypher.planner.sessions").joinpath("goal_words.toml").read_text("utf-8"))
FORM: Final = "write parts such as `mug ON shelf` or `fridge is closed`, with semicolons between them"
ANYTHING: Final = "thing"
"""The word for movable things of every class."""


def _form(text: str, types: Iterable[str] = (), *, flags: re.RegexFlag = re.VERBOSE) -> re.Pattern[str]:
    """Return a form of the file, in any case."""
    return re.compile(text.replace("TYPES", "|".join((*RELATION_TYPES, *types))), re.IGNORECASE | flags)


_THINGS: Final = _form(WORDS["things"])
_BETWEEN: Final = _form(WORDS["between"], flags=re.NOFLAG)
_ORDERS, _SAID = ([(_form(it, flags=re.NOFLAG), meant) for it, meant in WORDS[said]] for said in ("orders", "said"))
_OR, _AND = (_form(rf"\s+{word}\s+(?![^()]*\))") for word in ("or", "and"))


@dataclass(frozen=True)
class GoalParser(SceneWords):
    """Parser of goals about a scene as it is now: what is said after `where` is looked up there.

    `types` are relation types of the scene's own. `events` returns the scene's events, newest first.

    With `given`, the condition of a rule is read, which counts at all times: a class stands for any thing of it, the
    same throughout, what is said after `where` is part of the condition, INSIDE may lead through other things, and
    facts may be joined by `and`. `given` are the conditions of names that stay free in it.
    """

    vocabulary: str
    types: tuple[str, ...] = ()
    events: Callable[[], Iterable[Event]] = tuple
    given: Mapping[str, c.Condition] | None = None

    @property
    def is_rule(self) -> bool:
        """True if the condition of a rule is read."""
        return self.given is not None

    def read(self, text: str) -> c.Condition:
        """Return the conjunction of all facts. Raises InputError for its form, UnknownReference for its words."""
        reading = _Reading(self, {name: Things(name, (among,)) for name, among in (self.given or {}).items()})
        parts = filter(None, (" ".join(part.split()) for part in _BETWEEN.split(text)))
        for said, fact in ((part, fact) for part in parts for fact in self._facts_in(part)):
            try:
                reading.add(fact)
            except UnknownReference as error:
                what = "condition" if self.is_rule else "goal"
                raise UnknownReference(f"the {what} {said[:100]!r}: {error}", error.word, error.known) from error
        return c.all_of(reading.parts())

    def _facts_in(self, part: str) -> Sequence[str]:
        """Return facts that are joined by `and`, or one of each thing that is (`a and b ON c`), in plain words."""
        plain = part
        for words, meant in _SAID if self.is_rule else (*_ORDERS, *_SAID):
            plain = words.sub(meant, plain)
        part = plain if self.facts.match(plain) or _THINGS.fullmatch(plain) else part
        facts, whole, things = _AND.split(part), self.facts.fullmatch(part), _THINGS.fullmatch(part)
        if things and things["name"]:
            return [part]
        if self.is_rule or all(map(self.facts.fullmatch, facts)):
            return facts
        if whole is None or self.class_named(whole["x"]) or whole["x"] in self.graph.by_name:
            return [part]
        return [part.replace(whole["x"], x, 1) for x in _AND.split(whole["x"])]

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The states that something has, that an action gives, or that are usual."""
        given = (*states_given(operators_of(self.vocabulary)), "open", "closed", "on", "off")
        return tuple(sorted({*given, *(state for node in self.graph.nodes.values() for state in node.states)}))

    @cached_property
    def facts(self) -> re.Pattern[str]:
        """The form of facts: a state, a property or a relation."""
        return _form(WORDS["fact"], (*self.types, *WORDS["relations"]))


def read_goal_in(store: SceneStore, scene: SceneInfo, text: str) -> c.Condition:
    """Return the condition that a text states of a scene. Raises InputError, UnknownReference."""
    graph, types = store.now(scene).graph, scene.declared.relation_types
    return GoalParser(graph, scene.vocabulary, types, events=partial(store.latest, scene)).read(text)


@dataclass(slots=True)
class _Reading:
    """A goal, or a rule's condition, while it is read: the things and facts so far, and names that need no fact."""

    parser: GoalParser
    things: dict[c.Term, Things]
    facts: list[c.Condition] = field(default_factory=list)
    phrases: Counter[str] = field(default_factory=Counter)
    used: set[str] = field(default_factory=set)

    def add(self, part: str) -> None:
        """Read a part: what a name stands for, or facts of which one must hold."""
        found = _THINGS.fullmatch(part)
        if found is None or not (name := found["name"]):
            self.facts.append(self._any_of(part) if _OR.search(part) else self._fact(part))
        elif c.VARIABLE.fullmatch(name) and name not in {*self.parser.graph.nodes, *self.things}:
            self._declare(name, part)
        else:
            raise UnknownReference(f"{name[:60]!r} can't be a name for things: use another word that is no node's id")

    def parts(self) -> tuple[c.Condition, ...]:
        """Return the parts of the goal. Raises UnknownReference for names and facts that do not go together."""
        given = self.parser.given or ()
        free = [it for it in self.things.values() if it.name not in given]
        used = self.used.union(*map(c.free_variables, self.facts))
        if idle := [it.name for it in free if it.name not in used]:
            raise UnknownReference(f"no fact is about {idle[0]!r}: state one, or leave it out")
        if not self.facts:
            raise InputError(f"the goal is empty; {FORM}")
        self._check_claims()
        facts = tuple(self.facts)
        facts = (*facts, *(no_other(self.things[it.owner], it, facts) for it in free if it.owner))
        if self.parser.is_rule:
            return tuple(map(_deep, quantified(free, facts)))
        return tuple(quantified(free, tuple(dict.fromkeys((*facts, *self._put_down())))))

    def _check_claims(self) -> None:
        """Raise UnknownReference if a fact is stated with its opposite, or a state with one that it excludes."""
        rules = {} if self.parser.is_rule else state_rules(self.parser.vocabulary)
        ranges = (it.among for it in self.things.values() if it.quantity not in {"no", "at most"})
        claims = dict.fromkeys(part for claim in chain(self.facts, *ranges) for part in _denials(claim))
        for it in claims:
            if c.Not(it) in claims:
                raise UnknownReference("a fact and its opposite can't hold at once: state one of the two")
            if isinstance(it, c.HasState) and it.state in rules:
                for other in (other for other in rules[it.state].excludes if c.HasState(it.x, other) in claims):
                    thing, states = it.x.id if isinstance(it.x, c.Id) else it.x, " and ".join(sorted((it.state, other)))
                    raise UnknownReference(f"{thing} can't be {states} at once: state one of the two")

    def _put_down(self) -> Iterator[c.Condition]:
        """Yield that things which must not be in or on something are not with an agent instead."""
        names, node = [*self.things], Things("", (), "")
        for fact in self.facts:
            match fact.part if (is_denied := isinstance(fact, c.Not)) else fact:
                case c.Related(x, "INSIDE" | "ON", y) | c.Exists(where=c.And((_, c.Related(x, "INSIDE" | "ON", y)))):
                    thing, place = self.things.get(x, node), self.things.get(y, node)
                    is_few, is_nowhere = thing.quantity in {"no", "at most", "exactly"}, place.quantity == "no"
                    is_chosen_there = is_nowhere and thing.quantity == "at least" and names.index(x) > names.index(y)
                    is_fixed = isinstance(x, c.Id) and self.parser.graph.nodes[x.id].kind != "Object"
                    is_kept = is_chosen_there or is_fixed or is_with_agent(x, held=True) in self.facts
                    if (is_denied ^ is_few ^ is_nowhere) and not is_kept:
                        away, is_each = c.Not(is_with_agent(x)), is_few or thing.quantity == "all"
                        yield c.ForAll(thing.name, c.all_of(thing.among), away) if is_each else away

    # --- things

    def _declare(self, name: str, phrase: str) -> None:
        """Keep what a name stands for. Raises UnknownReference."""
        found = _THINGS.fullmatch(phrase)
        assert found is not None  # noqa: S101 - matched, or a quantity and words
        parser, words, owner = self.parser, found["words"], found["owner"] or ""
        quantity, number = self._quantity(found)
        if owner and self._named(owner).quantity not in {"all", "at least"}:
            raise UnknownReference(f"{owner!r} is one thing: {name!r} is for each of several, such as `all cup`")
        others = [*self._apart(name, quantity, re.findall(r"[\w-]+", found["others"] or ""))]
        kind, described = self._kind(name, words)
        it = self.things[name] = Things(name, (kind,), quantity, number, owner)
        where = filter(None, _AND.split(re.sub(r"\bit\b", name, found["where"] or "")))
        claims = (*(self._is(name, it) for it in described), *(self._claim_now(name, it) for it in where))
        among = (kind, *claims, *others)
        nodes = self._nodes(name, among)
        if not parser.is_rule and not all(map(is_static, among)):
            among = (*filter(is_static, among), c.Or(tuple(c.Same(name, c.Id(node)) for node in nodes)))
        if found["quantity"].lower() == "the" and nodes and not parser.is_rule:
            single(words, nodes, f"use an id, or say `one {words}` or `all {words}`")
        is_elsewhere = isinstance(kind, c.HasClass) and kind.class_ in parser.elsewhere
        if not parser.is_rule and not is_elsewhere and len(nodes) < number and quantity not in NO_LEAST:
            raise UnknownReference(f"of {words[:60]!r} there are {len(nodes)} like that here: ask for no more")
        counts = Counter(parser.graph.nodes[node].class_ for node in nodes if found["alike"])
        kinds = tuple(sorted(class_ for class_, count in counts.items() if count >= number))
        if found["alike"] and not kinds:
            raise UnknownReference(f"no class has {number} such things here: ask for no more")
        self.things[name] = replace(it, among=among, kinds=kinds)

    def _kind(self, name: str, phrase: str) -> tuple[c.Condition, list[str]]:
        """Return of what kind things are that a phrase such as ``red cup`` means, and the words before that."""
        words, parser = phrase.split(), self.parser
        for start in range(len(words)):
            if class_ := parser.class_named(word := " ".join(words[start:])):
                return c.HasClass(name, class_), words[:start]
            if word.lower() in {ANYTHING, plural_of(ANYTHING)}:
                return c.HasKind(name, "Object"), words[:start]
        if phrase.lower() in parser.states:
            raise UnknownReference(f"{phrase!r} is a state: leave this out, and write `NAME is {phrase.lower()}`")
        return c.HasClass(name, one_of("class", phrase, parser.classes)), []

    def _quantity(self, found: re.Match[str]) -> tuple[str, int]:
        """Return the quantity of things and its number: a bare number is the least, none is "no"."""
        if self.parser.is_rule and (found["alike"] or found["counted"]):
            raise UnknownReference("a rule counts at all times: name a class and a number of things")
        words, _, last = found["quantity"].lower().replace("every", "all").replace("the", "one").rpartition(" ")
        if found["counted"]:
            counted = self._named(found["counted"])
            words, last = "exactly", str(len(self._nodes(counted.name, counted.among)))
        elif last == "many":
            raise UnknownReference("as many as what? say before, as in `y: all mat; x: as many cup as y`")
        return (last, 1) if not last.isdigit() else ("no", 1) if int(last) == 0 else (words or "at least", int(last))

    def _apart(self, name: str, quantity: str, others: Sequence[str]) -> Iterator[c.Condition]:
        """Yield that things are none of the others, which are nodes or have names."""
        for other in others:
            if other in self.parser.graph.nodes:
                yield c.Not(c.Same(name, c.Id(other)))
            elif (them := self._named(other)).quantity in NO_LEAST:
                yield c.Not(c.bind(c.all_of(them.among), {other: name}))
            elif quantity == "one" != them.quantity:  # one thing is the same for all others: it is chosen first
                self.things[other] = replace(them, among=(*them.among, c.Not(c.Same(other, name))))
            else:
                yield c.Not(c.Same(name, other))

    def _named(self, name: str) -> Things:
        self.used.add(name)
        if name not in self.things:
            raise UnknownReference(f"{name[:60]!r} stands for nothing yet: say before, as in `{name[:60]}: all cup`")
        return self.things[name]

    def _nodes(self, name: str, among: Parts) -> tuple[str, ...]:
        return tuple(c.witnesses(name, c.And(among), graph=self.parser.graph, bindings={}))

    def _claim_now(self, name: str, text: str) -> c.Condition:
        """Return what a fact after `where` claims; other names in it stand for any of their things."""
        claim = _deep(self._any_of(text))
        for other in sorted(c.free_variables(claim) - {name}):
            claim = c.Exists(other, c.And((*self.things[other].among, claim)))
        return claim

    # --- facts

    def _any_of(self, text: str) -> c.Condition:
        """Return alternatives; in each of them phrases such as `all cup` stand for things of its own."""
        found, known = list[c.Condition](), {*self.things}
        for said in _OR.split(text):
            claim = self._fact(said)
            own = [self.things.pop(name) for name in [*self.things] if name not in known]
            found.append(c.all_of(tuple(quantified(own, (claim,)))))
        return c.any_of(tuple(found))

    def _fact(self, text: str) -> c.Condition:
        found, (thing, _, state) = self.parser.facts.fullmatch(text), text.rpartition(" ")
        if found is None and state.upper() not in RELATION_TYPES and found_in(state, self.parser.states):
            found = self.parser.facts.fullmatch(f"{thing} is {state}")
        if found is None:
            raise InputError(f"{text[:100]!r} is no goal; {FORM}")
        x = self._term(found["x"], "all", "one")
        if found["state"]:
            claim = self._is(x, found["state"])
        elif found["key"]:
            claim = self._has(x, found["key"], found["value"])
        else:
            type_ = found["type"].upper()
            claim = self._related(x, WORDS["relations"].get(type_, type_), found["y"])
        return c.Not(claim) if sum(map(bool, found.group(1, 3, 5, 8))) % 2 else claim

    def _is(self, x: c.Term, word: str) -> c.Condition:
        parser, meant, state = self.parser, word.casefold().replace(" ", "_"), found_in(word, self.parser.states)
        if meant == "held":
            return is_with_agent(x, held=True)
        if meant in {"back", "as_before"}:
            nodes = (x.id,) if isinstance(x, c.Id) else self._nodes(x, self.things[x].among)
            facts = [earlier_facts(parser.graph, parser.events(), it, by_place=meant == "back") for it in nodes]
            ways = (c.And((c.Same(x, c.Id(node)), *those)) for node, those in zip(nodes, facts, strict=True))
            return c.And(facts[0]) if isinstance(x, c.Id) else c.Or(tuple(ways))
        if state is None and (word in self.things or word in parser.graph.nodes):
            return c.Same(x, word if word in self.things else c.Id(word))
        if meant == ANYTHING:
            return c.HasKind(x, "Object")
        if state is None and found_in(word, [it for words in parser.values("color").values() for it in words]):
            return self._has(x, "color", word)
        return c.HasState(x, state or one_of("state", word, parser.states))

    def _has(self, x: c.Term, key: str, word: str) -> c.Condition:
        values = self.parser.values(key)
        known = [each for words in values.values() for each in words]
        meant = {one_of(key, it, known) for it in word.split("|")}
        return c.any_of(tuple(c.PropertyEquals(x, key, value) for value, words in values.items() if meant & {*words}))

    def _related(self, x: c.Term, type_: str, word: str) -> c.Condition:
        class_ = None if self.parser.is_rule or word in self.things else self.parser.class_of_several(word)
        if class_:
            some = re.sub(r"\W", "_", f"some_{class_}", flags=re.ASCII)[:NAME_LENGTH]
            return c.Exists(some, c.And((c.HasClass(some, class_), c.Related(x, type_, some))))
        y = self._term(word, "one", "no")
        if y == x:
            raise UnknownReference(f"{word[:60]!r} can't be {type_} itself: name something else")
        return c.Related(x, type_, y)

    def _term(self, word: str, *quantities: str) -> c.Term:
        """Return the name or node that a word means; what means several things needs one of the `quantities`."""
        graph, is_rule, class_ = self.parser.graph, self.parser.is_rule, self.parser.class_named(word)
        if word in self.things:
            return word
        is_phrase = class_ is None and _THINGS.fullmatch(word) is not None
        is_node = self.parser.is_node(word) and not (is_rule and class_)
        if is_node or not (class_ or is_phrase or " " in word):
            return c.Id(resolve_reference(graph, word))
        if is_phrase or is_rule or (class_ and class_ not in graph.by_class):
            return self._phrase(word if is_phrase else f"one {class_ or word}")
        self._declare("_it", f"one {class_ or word}")
        better = " or ".join(f"`{it} {word[:60]}`" for it in quantities)
        return c.Id(single(word, self._nodes("_it", self.things.pop("_it").among), f"use an id, or say {better}"))

    def _phrase(self, phrase: str) -> str:
        """Return a name for what a phrase stands for: things of its own, in a rule the same throughout."""
        name = name_for(phrase)
        if not self.parser.is_rule:
            self.phrases[name] += 1
            name += f"_{self.phrases[name]}" if self.phrases[name] > 1 else ""
        if name not in self.things:
            self._declare(name, phrase)
        return name


def name_for(phrase: str) -> str:
    """Return the name of a phrase such as ``one cup``."""
    return re.sub(r"\W", "_", f"_{phrase}", flags=re.ASCII)[: NAME_LENGTH - 4]


def is_with_agent(x: c.Term, *, held: bool = False) -> c.Condition:
    """Return that an agent holds a thing, or if not `held` has it in it, as VirtualHome's actions may leave it."""
    holds = c.HeldBy(x, "some_agent")
    has = holds if held else c.Or((holds, c.Related(x, "INSIDE", "some_agent")))
    return c.Exists("some_agent", c.And((c.HasKind("some_agent", "Agent"), has)))


def _deep(condition: c.Condition) -> c.Condition:
    """Return a condition in which INSIDE leads through other things."""
    if isinstance(condition, c.Related) and condition.type == "INSIDE":
        return c.Within(condition.source, condition.target)
    return c.map_children(condition, _deep)


def _denials(claim: c.Condition) -> tuple[c.Condition, ...]:
    """Return a claim; that none of several holds is one of each."""
    return tuple(map(c.Not, c.disjuncts(claim.part))) if isinstance(claim, c.Not) else (claim,)
