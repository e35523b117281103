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
from itertools import combinations
from typing import Any, Final

import scenecypher.db.condition as c
from scenecypher.db.condition.phrases import plural_of
from scenecypher.db.graph.change import value_of
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.graph.value import Value
from scenecypher.db.schema import RELATION_TYPES
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.history import Event
from scenecypher.db.store.reference import CANDIDATES_SHOWN, resolve_reference
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError, UnknownReference, did_you_mean
from scenecypher.planner.actions.operator import is_static
from scenecypher.planner.prompts.terms import states_given
from scenecypher.planner.sessions.goal_past import earlier_facts
from scenecypher.planner.sessions.goal_quantifiers import NAME_LENGTH, NO_LEAST, Parts, Things, quantified
from scenecypher.planner.vocabularies.vocabulary import operators_of, state_rules
from scenecypher.words import named_by, stems

WORDS: Final = tomllib.loads(files("scenecypher.planner.sessions").joinpath("goal_words.toml").read_text("utf-8"))
FORM: Final = "write parts such as `mug ON shelf` or `fridge is closed`, with semicolons between them"
ANYTHING: Final = "thing"
"""The word for movable things of every class."""


def _form(text: str, types: Iterable[str] = (), *, flags: re.RegexFlag = re.VERBOSE) -> re.Pattern[str]:
    """Return a form of the file, in any case."""
    return re.compile(text.replace("TYPES", "|".join((*RELATION_TYPES, *types))), re.IGNORECASE | flags)


_THINGS: Final = _form(WORDS["things"])
_SAID: Final = [(_form(words, flags=re.NOFLAG), meant) for words, meant in WORDS["said"]]
_ONE: Final = {**dict.fromkeys(_THINGS.groupindex), "quantity": "one"}
_OR, _AND = (_form(rf"\s+{word}\s+(?![^()]*\))") for word in ("or", "and"))


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
        reading = _Reading(self, {name: Things(name, (among,)) for name, among in (self.given or {}).items()})
        for said in (said for part in filter(None, map(str.strip, text.split(";"))) for said in self._facts_in(part)):
            try:
                reading.add(said)
            except UnknownReference as error:
                what = "condition" if self.is_rule else "goal"
                raise UnknownReference(f"the {what} {said[:100]!r}: {error}", error.word, error.known) from error
        return c.all_of(reading.parts())

    def _facts_in(self, part: str) -> Sequence[str]:
        """Return facts that are joined by `and`, or one of each thing that is (`a and b ON c`), in plain words."""
        plain = part
        for words, meant in _SAID:
            plain = words.sub(meant, plain)
        part = plain if self.facts.match(plain) or _THINGS.fullmatch(plain) else part
        facts, whole, things = _AND.split(part), self.facts.fullmatch(part), _THINGS.fullmatch(part)
        if things and things["name"]:
            return [part]
        if self.is_rule or all(map(self.facts.fullmatch, facts)):
            return facts
        if whole is None or self.class_named(whole["x"]) or whole["x"] in self.graph.by_name:
            return [part]
        start, end = whole.span("x")
        return [f"{part[:start]}{x}{part[end:]}" for x in _AND.split(whole["x"])]

    def class_named(self, word: str) -> str | None:
        """Return the class that a word means, in any case, with blanks or as a plural; None if it means none.

        The last part of a compound means it if no other class has it: egg is food_egg.
        """
        words = (word, *self.synonyms.get(_folded(word), ()))
        found = next((found for it in words if (found := self._classes.get(_folded(it)))), None)
        if found or word in self.graph.nodes or word in self.graph.by_name:
            return found
        alike = [it for it in named_by(word, self.classes) if "".join(stems(it)).endswith("".join(stems(word)))]
        return alike[0] if len(alike) == 1 else None

    def known(self, what: str, word: str, here: Sequence[str]) -> str:
        """Return the one of the words `here` that is meant, whatever its case. Raises UnknownReference."""
        found = {_folded(each): each for each in reversed(here)}.get(_folded(word))
        if found is None:
            hint = did_you_mean(word[:60], here)
            message = f"no {what} {word[:60]!r} occurs in this scene{hint}; use one that does"
            raise UnknownReference(message, word[:60], here)
        return found

    def values(self, key: str) -> dict[Value, list[str]]:
        """Return the values of a property, each with its words."""
        found = dict.fromkeys(it for node in self.graph.nodes.values() if (it := value_of(node, key)) is not None)
        return {it: value_words(it) for it in found}

    @cached_property
    def classes(self) -> tuple[str, ...]:
        """The classes that may be named."""
        return (*sorted(self.graph.by_class), *sorted(self.elsewhere - self.graph.by_class.keys()))

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The states that something has, that an action gives, or that are usual."""
        given = (*states_given(operators_of(self.vocabulary)), "open", "closed", "on", "off")
        return tuple(sorted({*given, *(state for node in self.graph.nodes.values() for state in node.states)}))

    @cached_property
    def facts(self) -> re.Pattern[str]:
        """The form of facts: a state, a property or a relation."""
        return _form(WORDS["fact"], (*self.types, *WORDS["relations"]))

    @cached_property
    def _classes(self) -> dict[str, str]:
        plurals = {_folded(plural_of(it)): it for it in self.classes}
        return plurals | {_folded(it): it for it in reversed(self.classes)}


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
            self._declare(name, found.groupdict())
        else:
            raise UnknownReference(f"{name[:60]!r} can't be a name for things: use another word that is no node's id")

    def parts(self) -> tuple[c.Condition, ...]:
        """Return the parts of the goal. Raises UnknownReference for names and facts that do not go together."""
        for fault in self._faults():
            raise UnknownReference(fault)
        if not self.facts:
            raise InputError(f"the goal is empty; {FORM}")
        free = [it for it in self.things.values() if it.name not in (self.parser.given or ())]
        if self.parser.is_rule:
            return tuple(map(_deep, quantified(free, tuple(self.facts))))
        return tuple(quantified(free, tuple(dict.fromkeys((*self.facts, *self._put_down())))))

    def _faults(self) -> Iterator[str]:
        used = self.used.union(self.parser.given or (), *map(c.free_variables, self.facts))
        yield from (f"no fact is about {it!r}: state one, or leave it out" for it in self.things if it not in used)
        joined = [c.free_variables(it) for it in self.facts if not isinstance(it, c.Not)]
        for own in (it for it in self.things.values() if it.owner):
            if not any({own.name, own.owner} <= names for names in joined):
                yield f"no fact joins {own.name!r} and {own.owner!r}: state the relation of the two"
        meant = (it for it in self.things.values() if it.quantity not in {"no", "at most"})
        rules = {} if self.parser.is_rule else state_rules(self.parser.vocabulary)
        claims = (*self.facts, *(claim for it in meant for claim in it.among))
        for pair in combinations((part for claim in claims for part in _denials(claim)), 2):
            match pair:
                case (one, c.Not(other)) | (c.Not(other), one) if one == other:
                    yield "a fact and its opposite can't hold at once: state one of the two"
                case c.HasState(x, one), c.HasState(y, other) if (
                    x == y and one in rules and other in rules[one].excludes
                ):
                    thing, states = x.id if isinstance(x, c.Id) else x, " and ".join(sorted((one, other)))
                    yield f"{thing} can't be {states} at once: state one of the two"

    def _put_down(self) -> Iterator[c.Condition]:
        """Yield that things which must not be in or on something are not with an agent instead."""
        names, node = [*self.things], Things("", (), "")
        for fact in self.facts:
            match fact.part if (is_denied := isinstance(fact, c.Not)) else fact:
                case c.Related(x, "INSIDE" | "ON", y) | c.Exists(where=c.And((_, c.Related(x, "INSIDE" | "ON", y)))):
                    thing, place = self.things.get(x, node), self.things.get(y, node)
                    is_few, is_nowhere = thing.quantity in {"no", "at most", "exactly"}, place.quantity == "no"
                    if is_nowhere and thing.quantity == "at least" and names.index(x) > names.index(y):
                        continue  # which of them these are is chosen for each place
                    is_movable = not isinstance(x, c.Id) or self.parser.graph.nodes[x.id].kind == "Object"
                    is_held = is_with_agent(x, held=True) in self.facts
                    if is_denied + is_few + is_nowhere in {1, 3} and is_movable and not is_held:
                        away = c.Not(is_with_agent(x))
                        is_each = is_few or thing.quantity == "all"
                        yield c.ForAll(thing.name, c.all_of(thing.among), away) if is_each else away

    # --- things

    def _declare(self, name: str, found: Mapping[str, str | Any]) -> None:
        """Keep what a name stands for. Raises UnknownReference."""
        parser, among = self.parser, self._like(name, found["words"])
        it = Things(name, among, *self._quantity(found), found["owner"] or "")
        if it.owner and self._named(it.owner).quantity not in {"all", "at least"}:
            raise UnknownReference(f"{it.owner!r} is one thing: {name!r} is for each of several, such as `all cup`")
        others = tuple(self._other_than(it, re.findall(r"[\w-]+", found["others"] or "")))
        self.things[name] = it
        where = filter(None, _AND.split(re.sub(r"\bit\b", name, found["where"] or "")))
        among = (*among, *(self._claim_now(name, fact) for fact in where), *others)
        nodes = self._nodes(name, among)
        if not parser.is_rule and not all(map(is_static, among)):
            among = (*filter(is_static, among), c.Or(tuple(c.Same(name, c.Id(node)) for node in nodes)))
        is_enough = it.number <= len(nodes) or it.quantity in NO_LEAST
        if not (parser.is_rule or is_enough or getattr(among[0], "class_", "") in parser.elsewhere):
            what = found["words"][:60]
            raise UnknownReference(f"of {what!r} there are {len(nodes)} like that here: ask for no more")
        counts = Counter(parser.graph.nodes[node].class_ for node in nodes if found["alike"])
        kinds = tuple(sorted(class_ for class_, count in counts.items() if count >= it.number))
        if found["alike"] and not kinds:
            raise UnknownReference(f"no class has {it.number} such things here: ask for no more")
        self.things[name] = replace(it, among=among, kinds=kinds)

    def _like(self, name: str, phrase: str) -> tuple[c.Condition, ...]:
        """Return what things are that a phrase such as ``red cup`` means. Raises UnknownReference."""
        words, parser = phrase.split(), self.parser
        for start in range(len(words)):
            class_ = parser.class_named(word := " ".join(words[start:]))
            if class_ is not None or word.lower() in {ANYTHING, plural_of(ANYTHING)}:
                break
        else:
            start, class_ = 0, parser.known("class", phrase, parser.classes)
        kind = c.HasKind(name, "Object") if class_ is None else c.HasClass(name, class_)
        self.things[name] = Things(name, (kind,))
        among = (kind, *(self._is(name, it) for it in words[:start]))
        del self.things[name]
        return among

    def _quantity(self, found: Mapping[str, str | Any]) -> tuple[str, int]:
        """Return the quantity of things and its number: a bare number is the least, none is "no"."""
        if self.parser.is_rule and (found["alike"] or found["counted"]):
            raise UnknownReference("a rule counts at all times: name a class and a number of things")
        words, _, last = found["quantity"].lower().replace("every", "all").rpartition(" ")
        if found["counted"]:
            counted = self._named(found["counted"])
            words, last = "exactly", str(len(self._nodes(counted.name, counted.among)))
        elif last == "many":
            raise UnknownReference("as many as what? say before, as in `y: all mat; x: as many cup as y`")
        return (last, 1) if not last.isdigit() else ("no", 1) if int(last) == 0 else (words or "at least", int(last))

    def _other_than(self, it: Things, others: Sequence[str]) -> Iterator[c.Condition]:
        """Yield that things are none of the others, which are nodes or have names."""
        for other in others:
            if other in self.parser.graph.nodes:
                yield c.Not(c.Same(it.name, c.Id(other)))
            elif (them := self._named(other)).quantity in NO_LEAST:
                yield c.Not(c.bind(c.all_of(them.among), {other: it.name}))
            elif it.quantity == "one" != them.quantity:  # one thing is the same for all others: it is chosen first
                self.things[other] = replace(them, among=(*them.among, c.Not(c.Same(other, it.name))))
            else:
                yield c.Not(c.Same(it.name, other))

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
        found = self.parser.facts.fullmatch(text)
        if found is None:
            raise InputError(f"{text[:100]!r} is no goal; {FORM}")
        x = self._term(found["x"])
        if isinstance(x, tuple):
            raise _unclear(found["x"], x, "all")
        if found["state"]:
            claim = self._is(x, found["state"])
        elif found["key"]:
            claim = self._has(x, found["key"], found["value"])
        else:
            type_ = found["type"].upper()
            claim = self._related(x, WORDS["relations"].get(type_, type_), found["y"])
        return c.Not(claim) if sum(map(bool, found.group(1, 3, 5, 8))) % 2 else claim

    def _is(self, x: c.Term, word: str) -> c.Condition:
        parser, meant = self.parser, _folded(word)
        states = {*map(_folded, parser.states)}
        if meant == "held":
            return is_with_agent(x, held=True)
        if meant in {"back", "as_before"}:
            nodes = (x.id,) if isinstance(x, c.Id) else self._nodes(x, self.things[x].among)
            facts = [earlier_facts(parser.graph, parser.events(), it, by_place=meant == "back") for it in nodes]
            ways = (c.And((c.Same(x, c.Id(node)), *those)) for node, those in zip(nodes, facts, strict=True))
            return c.And(facts[0]) if isinstance(x, c.Id) else c.Or(tuple(ways))
        if meant not in states and (word in self.things or word in parser.graph.nodes):
            return c.Same(x, word if word in self.things else c.Id(word))
        if meant == ANYTHING:
            return c.HasKind(x, "Object")
        if meant in {_folded(it) for words in parser.values("color").values() for it in words} - states:
            return self._has(x, "color", word)
        return c.HasState(x, parser.known("state", word, parser.states))

    def _has(self, x: c.Term, key: str, word: str) -> c.Condition:
        values = self.parser.values(key)
        known = [each for words in values.values() for each in words]
        meant = {self.parser.known(key, it, known) for it in word.split("|")}
        return c.any_of(tuple(c.PropertyEquals(x, key, value) for value, words in values.items() if meant & {*words}))

    def _related(self, x: c.Term, type_: str, word: str) -> c.Condition:
        y = self._term(word)
        if y == x:
            raise UnknownReference(f"{word[:60]!r} can't be {type_} itself: name something else")
        if not isinstance(y, tuple):
            return c.Related(x, type_, y)
        class_ = self.parser.graph.nodes[y[0]].class_
        if y != (*self.parser.graph.by_class[class_],):
            raise _unclear(word, y, "one", "no")
        some = re.sub(r"\W", "_", f"some_{class_}", flags=re.ASCII)[:NAME_LENGTH]
        return c.Exists(some, c.And((c.HasClass(some, class_), c.Related(x, type_, some))))

    def _term(self, word: str) -> c.Term | tuple[str, ...]:
        """Return the name or node that a word means; the nodes of a class of several."""
        graph, is_rule, class_ = self.parser.graph, self.parser.is_rule, self.parser.class_named(word)
        if word in self.things:
            return word
        if not (is_rule and class_) and (word in graph.nodes or len(graph.by_name.get(word, ())) == 1):
            return c.Id(resolve_reference(graph, word))
        found = _THINGS.fullmatch(word) if class_ is None else None
        if class_ is None and found is None and " " not in word:
            return c.Id(resolve_reference(graph, word))
        if not (found or is_rule) and (class_ is None or class_ in graph.by_class):
            nodes = self._nodes("_it", self._like("_it", word))
            if not nodes:
                raise UnknownReference(f"there is no {word[:60]!r} in this scene; use the id of a node in it")
            return nodes if len(nodes) > 1 else c.Id(nodes[0])
        name = name_for(word if found else f"one {class_ or word}")
        if not is_rule:  # there a phrase stands for the same thing throughout
            self.phrases[name] += 1
            name += f"_{self.phrases[name]}" if self.phrases[name] > 1 else ""
        if name not in self.things:
            self._declare(name, found.groupdict() if found else {**_ONE, "words": class_ or word})
        return name


def _unclear(word: str, nodes: Sequence[str], *quantities: str) -> UnknownReference:
    what, several = word[:60], ", ".join(nodes[:CANDIDATES_SHOWN])
    better = " or ".join(f"`{it} {what}`" for it in quantities)
    return UnknownReference(f"{what!r} can mean several things: {several}; use an id, or say {better}")


def name_for(phrase: str) -> str:
    """Return the name of a phrase such as ``one cup``."""
    return re.sub(r"\W", "_", f"_{phrase}", flags=re.ASCII)[: NAME_LENGTH - 4]


def value_words(value: Value) -> list[str]:
    """Return the words by which a property's value is known: each of a list's, and last that of the whole."""
    return [*map(str, value), ", ".join(map(str, value))] if isinstance(value, tuple) else [str(value)]


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


def _folded(word: str) -> str:
    return word.strip().casefold().replace(" ", "_")
