"""The language of goals, typed as ``--goal`` or stated by a model: ``x: all cup where x is dirty; x INSIDE sink``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import combinations
from typing import Final

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
from scenecypher.planner.actions.variables import is_static
from scenecypher.planner.prompts.scene_words import states_given
from scenecypher.planner.sessions.goal_past import earlier_facts
from scenecypher.planner.sessions.goal_quantifiers import NAME_LENGTH, Things, all_of, any_of, quantified
from scenecypher.planner.vocabularies.registry import operators_of
from scenecypher.planner.vocabularies.states import state_rules
from scenecypher.words import named_by, stems

FORM: Final = "write parts such as `mug ON shelf` or `fridge is closed`, with semicolons between them"
WORDS: Final = {"IN": "INSIDE", "INSIDE_OF": "INSIDE", "ONTOP": "ON", "ONTOP_OF": "ON"}
"""Other words for relation types."""
ANYTHING: Final = "thing"
"""The word for movable things of every class."""

_THINGS: Final = re.compile(
    r"(?:(?P<name>\w+)\s*:\s+)?"
    r"(?P<quantity>one|all|every|no|as many|(?:at least |at most |exactly )?\d{1,9})\s+(?P<words>.+?)"
    r"(?P<alike>\s+of one kind)?(?:\s+as\s+(?P<counted>\w+))?(?:\s+for each\s+(?P<owner>\w+))?"
    r"(?:\s+other than\s+(?P<others>[\w-]+(?:\s*,\s*[\w-]+)*))?(?:\s+\(?where\s+(?P<where>.+?)\)?)?",
    re.IGNORECASE,
)
_NUMBERS: Final = "two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905
_THING_FOLLOWS: Final = r"(?=\w)(?!(?:is|has|or|and|where|for|other|as|in|on|" + "|".join(RELATION_TYPES) + r")\b)"
"""Else the word is the name of a thing."""
_SAID: Final = (
    (r"\bnone of\b", "no"),
    (r"\b(?:of )?the\s+", ""),
    (r"(?<!for )\b(?:both|each)\s+(?!of\b)", "all "),
    (rf"(^|:\s+|\bnot\s+)(?:an?|any|some)\s+{_THING_FOLLOWS}", r"\1one "),
    (rf"\s(?:an?|any|some)\s+{_THING_FOLLOWS}", " "),
    *((rf"\b{word}\s+(?!of\b)", f"{number} ") for number, word in enumerate(_NUMBERS, 2)),
    (r"\b((?:exactly|at least|at most)\s+)one\b", r"\g<1>1"),
)
"""What people say, by the words of the language, in turn."""
_OR, _AND = (re.compile(rf"\s+{word}\s+(?![^()]*\))", re.IGNORECASE) for word in ("or", "and"))


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
        for given in filter(None, map(str.strip, text.split(";"))):
            part = self._plain(given)
            found, facts = _THINGS.fullmatch(part), [*self._facts_in(part)]
            is_joined = self.is_rule or all(map(self.facts.fullmatch, facts))
            for said in facts if is_joined and not (found and found["name"]) else (part,):
                try:
                    reading.add(said)
                except UnknownReference as error:
                    what = "condition" if self.is_rule else "goal"
                    raise UnknownReference(f"the {what} {said[:100]!r}: {error}", error.word, error.known) from error
        return all_of(reading.parts())

    def _plain(self, part: str) -> str:
        """Return a part in the words of the language; as it is if that makes it none."""
        plain = part
        for words, meant in _SAID:
            plain = re.sub(words, meant, plain, flags=re.IGNORECASE)
        return plain if self.facts.match(plain) or _THINGS.fullmatch(plain) else part

    def _facts_in(self, part: str) -> Iterator[str]:
        """Yield facts that are joined by `and`, or one of each thing that is: `a and b ON c`."""
        facts, whole = _AND.split(part), self.facts.fullmatch(part)
        if self.is_rule or whole is None or all(map(self.facts.fullmatch, facts)):
            yield from facts
        elif self.class_named(whole["x"]) or whole["x"] in self.graph.by_name:
            yield part
        else:
            start, end = whole.span("x")
            yield from (f"{part[:start]}{x}{part[end:]}" for x in _AND.split(whole["x"]))

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
        types = "|".join(sorted({*RELATION_TYPES, *self.types, *WORDS}, key=len, reverse=True))
        return re.compile(
            r"(not\s+)?(?P<x>(?:\([^()]*\)|[^(])+?)\s+(?:is\s+(not\s+)?(?P<state>as before|[\w-]+)|"
            rf"has\s+(not\s+)?(?P<key>\w+)\s+(?P<value>.+)|(?:is\s+)?(not\s+)?(?P<type>{types})\s+(?P<y>.+))",
            re.IGNORECASE,
        )

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
    things: dict[str, Things]
    facts: list[c.Condition] = field(default_factory=list)
    phrases: Counter[str] = field(default_factory=Counter)
    used: set[str] = field(default_factory=set)

    def add(self, part: str) -> None:
        """Read a part: what a name stands for, or facts of which one must hold."""
        found = _THINGS.fullmatch(part)
        if found is None or not (name := found["name"]):
            self.facts.append(self._any_of(part) if _OR.search(part) else self._fact(part))
        elif c.VARIABLE.fullmatch(name) and name not in {*self.parser.graph.nodes, *self.things}:
            self._declare(name, found)
        else:
            raise UnknownReference(f"{name[:60]!r} can't be a name for things: use another word that is no node's id")

    def parts(self) -> tuple[c.Condition, ...]:
        """Return the parts of the goal. Raises UnknownReference for names and facts that do not go together."""
        about, given = [*map(c.free_variables, self.facts)], self.parser.given or {}
        for name in self.things.keys() - self.used.union(given, *about):
            raise UnknownReference(f"no fact is about {name!r}: state one, or leave it out")
        if not self.facts:
            raise InputError(f"the goal is empty; {FORM}")
        joined = [names for it, names in zip(self.facts, about, strict=True) if not isinstance(it, c.Not)]
        for own in (it for it in self.things.values() if it.owner):
            if not any({own.name, own.owner} <= names for names in joined):
                raise UnknownReference(f"no fact joins {own.name!r} and {own.owner!r}: state the relation of the two")
        meant = (it for it in self.things.values() if it.quantity not in {"no", "at most"})
        for one, other in combinations((*self.facts, *(claim for it in meant for claim in it.among)), 2):
            self._check_both(one, other)
        free = [it for it in self.things.values() if it.name not in given]
        if self.parser.is_rule:
            return tuple(map(_deep, quantified(free, tuple(self.facts))))
        return tuple(quantified(free, tuple(dict.fromkeys((*self.facts, *self._put_down())))))

    def _check_both(self, one: c.Condition, other: c.Condition) -> None:
        """Raise UnknownReference for two facts that can't hold at once: opposites, or states such as on and off."""
        if c.Not(one) == other or c.Not(other) == one:
            raise UnknownReference("a fact and its opposite can't hold at once: state one of the two")
        match one, other:
            case c.HasState(x, first), c.HasState(y, second) if x == y and not self.parser.is_rule:
                if second in getattr(state_rules(self.parser.vocabulary).get(first), "excludes", ()):
                    what = f"{first} and {second}" if first < second else f"{second} and {first}"
                    thing = x.id if isinstance(x, c.Id) else x
                    raise UnknownReference(f"{thing} can't be {what} at once: state one of the two")

    def _put_down(self) -> Iterator[c.Condition]:
        """Yield that things which must not be in or on something are not with an agent instead."""
        for fact in self.facts:
            match fact.part if (is_denied := isinstance(fact, c.Not)) else fact:
                case c.Related(x, "INSIDE" | "ON", y) | c.Exists(where=c.And((_, c.Related(x, "INSIDE" | "ON", y)))):
                    thing, place = (self.things.get(it) if isinstance(it, str) else None for it in (x, y))
                    is_few = thing is not None and thing.quantity in {"no", "at most", "exactly"}
                    order = [it for it in self.things.values() if it in (thing, place)]
                    is_nowhere = place is not None and place.quantity == "no"
                    if is_nowhere and thing and thing.quantity == "at least" and order[-1] is thing:
                        continue  # which of them these are is chosen for each place
                    is_movable = not isinstance(x, c.Id) or self.parser.graph.nodes[x.id].kind == "Object"
                    if is_denied + is_few + is_nowhere in {0, 2} or not is_movable:
                        continue
                    if is_with_agent(x, held=True) not in self.facts:
                        none = c.Not(is_with_agent(x))
                        is_each = thing is not None and (is_few or thing.quantity == "all")
                        yield c.ForAll(thing.name, all_of(thing.among), none) if thing and is_each else none
                case _:
                    pass

    # --- things

    def _declare(self, name: str, found: re.Match[str]) -> None:
        """Keep what a name stands for. Raises UnknownReference."""
        class_, adjectives = self._class_of(found["words"])
        kind = c.HasKind(name, "Object") if class_ is None else c.HasClass(name, class_)
        it = self.things[name] = Things(name, (kind,), *self._quantity(found), found["owner"] or "")
        if it.owner and self._named(it.owner).quantity not in {"all", "at least"}:
            raise UnknownReference(f"{it.owner!r} is one thing: {name!r} is for each of several, such as `all cup`")
        where = _AND.split(re.sub(r"\bit\b", name, found["where"])) if found["where"] else ()
        claims = [*(self._is(name, word) for word in adjectives), *(self._claim_now(name, fact) for fact in where)]
        others = re.findall(r"[\w-]+", found["others"] or "")
        claims += [c.Not(c.Same(name, c.Id(it))) for it in others if it in self.parser.graph.nodes]
        for other in (self._named(it) for it in others if it not in self.parser.graph.nodes):
            if other.quantity in {"all", "no", "at most"}:
                claims.append(c.Not(c.bind(all_of(other.among), {other.name: name})))
            elif it.quantity == "one" != other.quantity:  # one thing is the same for all others: it is chosen first
                self.things[other.name] = replace(other, among=(*other.among, c.Not(c.Same(other.name, name))))
            else:
                claims.append(c.Not(c.Same(name, other.name)))
        nodes = self._nodes(replace(it, among=(kind, *claims)))
        if not self.parser.is_rule and not all(map(is_static, claims)):
            claims = [*filter(is_static, claims), c.Or(tuple(c.Same(name, c.Id(node)) for node in nodes))]
        is_enough = it.number <= len(nodes) or it.quantity in {"all", "no", "at most"}
        if not (self.parser.is_rule or is_enough or class_ in self.parser.elsewhere):
            what = found["words"][:60]
            raise UnknownReference(f"of {what!r} there are {len(nodes)} like that here: ask for no more")
        counts = Counter(self.parser.graph.nodes[node].class_ for node in nodes if found["alike"])
        kinds = tuple(sorted(class_ for class_, count in counts.items() if count >= it.number))
        if found["alike"] and not kinds:
            raise UnknownReference(f"no class has {it.number} such things here: ask for no more")
        self.things[name] = replace(it, among=(kind, *claims), kinds=kinds)

    def _quantity(self, found: re.Match[str]) -> tuple[str, int]:
        """Return the quantity of things and its number: a bare number is the least, none is "no"."""
        if self.parser.is_rule and (found["alike"] or found["counted"]):
            raise UnknownReference("a rule counts at all times: name a class and a number of things")
        if found["counted"]:
            words, last = "exactly", f"{len(self._nodes(self._named(found['counted'])))}"
        else:
            words, _, last = found["quantity"].lower().replace("every", "all").rpartition(" ")
        if last == "many":
            raise UnknownReference("as many as what? say before, as in `y: all mat; x: as many cup as y`")
        return (last, 1) if not last.isdigit() else ("no", 1) if int(last) == 0 else (words or "at least", int(last))

    def _class_of(self, text: str) -> tuple[str | None, list[str]]:
        """Return the class that a phrase ends with, None for things of any class, and the words before it."""
        words = text.split()
        for start in range(len(words)):
            word = " ".join(words[start:])
            found = self.parser.class_named(word)
            if found is not None or word.lower() in {ANYTHING, plural_of(ANYTHING)}:
                return found, words[:start]
        return self.parser.known("class", text, self.parser.classes), []

    def _named(self, name: str) -> Things:
        self.used.add(name)
        if name not in self.things:
            raise UnknownReference(f"{name[:60]!r} stands for nothing yet: say before, as in `{name[:60]}: all cup`")
        return self.things[name]

    def _nodes(self, it: Things) -> tuple[str, ...]:
        return tuple(c.witnesses(it.name, c.And(it.among), graph=self.parser.graph, bindings={}))

    def _claim_now(self, name: str, text: str) -> c.Condition:
        """Return what a fact after `where` claims; other names in it stand for any of their things."""
        claim = _deep(self._any_of(text))
        for other in sorted(c.free_variables(claim) - {name}):
            claim = c.Exists(other, c.And((*self.things[other].among, claim)))
        return claim

    def _described(self, phrase: str) -> tuple[str, ...]:
        """Return the nodes that a phrase such as ``red cup`` fits. Raises UnknownReference."""
        class_, adjectives = self._class_of(phrase)
        kind = c.HasKind("_it", "Object") if class_ is None else c.HasClass("_it", class_)
        nodes = self._nodes(Things("_it", (kind, *(self._is("_it", it) for it in adjectives))))
        if not nodes and not self.parser.is_rule:
            raise UnknownReference(f"there is no {phrase[:60]!r} in this scene; use the id of a node in it")
        return nodes

    # --- facts

    def _any_of(self, text: str) -> c.Condition:
        """Return alternatives; in each of them phrases such as `all cup` stand for things of its own."""
        found, known = list[c.Condition](), {*self.things}
        for said in _OR.split(text):
            claim = self._fact(said)
            own = [self.things.pop(name) for name in [*self.things] if name not in known]
            found.append(all_of(tuple(quantified(own, (claim,)))))
        return any_of(tuple(found))

    def _fact(self, text: str) -> c.Condition:
        found = self.parser.facts.fullmatch(text)
        if found is None:
            raise InputError(f"{text[:100]!r} is no goal; {FORM}")
        x = self._term(found["x"])
        if isinstance(x, tuple):
            what, several = found["x"][:60], ", ".join(x[:CANDIDATES_SHOWN])
            raise UnknownReference(f"{what!r} can mean several things: {several}; use an id, or say `all {what}`")
        if found["state"]:
            claim = self._is(x, found["state"])
        elif found["key"]:
            claim = self._has(x, found["key"], found["value"])
        else:
            claim = self._related(x, WORDS.get(found["type"].upper(), found["type"].upper()), found["y"])
        return c.Not(claim) if sum(map(bool, found.group(1, 3, 5, 8))) % 2 else claim

    def _is(self, x: c.Term, word: str) -> c.Condition:
        meant, states = _folded(word), {*map(_folded, self.parser.states)}
        if meant == "held":
            return is_with_agent(x, held=True)
        if meant in {"back", "as_before"}:
            return self._as_earlier(x, by_place=meant == "back")
        if meant not in states and (word in self.things or word in self.parser.graph.nodes):
            return c.Same(x, word if word in self.things else c.Id(word))
        if meant == ANYTHING:
            return c.HasKind(x, "Object")
        if meant in {_folded(it) for words in self.parser.values("color").values() for it in words} - states:
            return self._has(x, "color", word)
        return c.HasState(x, self.parser.known("state", word, self.parser.states))

    def _has(self, x: c.Term, key: str, word: str) -> c.Condition:
        values = self.parser.values(key)
        known = [each for words in values.values() for each in words]
        meant = {self.parser.known(key, it, known) for it in word.split("|")}
        return any_of(tuple(c.PropertyEquals(x, key, value) for value, words in values.items() if meant & {*words}))

    def _as_earlier(self, x: c.Term, *, by_place: bool) -> c.Condition:
        ways: list[c.And] = []
        for node in (x.id,) if isinstance(x, c.Id) else self._nodes(self.things[x]):
            facts = earlier_facts(self.parser.graph, self.parser.events(), node, by_place=by_place)
            if not facts:
                what = "was elsewhere" if by_place else "changed"
                raise UnknownReference(f"{node} never {what}: say where it shall be")
            ways.append(c.And((c.Same(x, c.Id(node)), *facts)))
        return c.And(ways[0].parts[1:]) if isinstance(x, c.Id) else c.Or(tuple(ways))

    def _related(self, x: c.Term, type_: str, word: str) -> c.Condition:
        y = self._term(word)
        if y == x:
            raise UnknownReference(f"{word[:60]!r} can't be {type_} itself: name something else")
        if not isinstance(y, tuple):
            return c.Related(x, type_, y)
        class_ = self.parser.graph.nodes[y[0]].class_
        some = re.sub(r"\W", "_", f"some_{class_}", flags=re.ASCII)[:NAME_LENGTH]
        return c.Exists(some, c.And((c.HasClass(some, class_), c.Related(x, type_, some))))

    def _term(self, word: str) -> c.Term | tuple[str, ...]:
        """Return the name or node that a word means; the nodes of a class of several."""
        graph, class_ = self.parser.graph, self.parser.class_named(word)
        if word in self.things:
            return word
        any_of_class = self.parser.is_rule and class_ is not None
        if not any_of_class and (word in graph.nodes or len(graph.by_name.get(word, ())) == 1):
            return c.Id(resolve_reference(graph, word))
        nodes = graph.by_class.get(class_ or "", ())
        found = _THINGS.fullmatch(word if class_ is None else f"one {class_}")
        if found is None and " " in word:
            found = _THINGS.fullmatch(f"one {word}") if self.parser.is_rule else None
            nodes = self._described(word)
        if found is None or (nodes and not any_of_class):
            return tuple(nodes) if len(nodes) > 1 else c.Id(nodes[0] if nodes else resolve_reference(graph, word))
        name = name_for(found[0])
        if not self.parser.is_rule:  # there a phrase stands for the same thing throughout
            self.phrases[name] += 1
            name += f"_{self.phrases[name]}" if self.phrases[name] > 1 else ""
        if name not in self.things:
            self._declare(name, found)
        return name


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


def _folded(word: str) -> str:
    return word.strip().casefold().replace(" ", "_")
