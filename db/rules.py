"""Rules of a house: what must never hold, what an action needs, what follows, and when a person is asked first."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product
from operator import itemgetter
from types import MappingProxyType
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, TypeAlias

from pydantic import ConfigDict, Field, PlainSerializer, PlainValidator, StrictInt, TypeAdapter, ValidationError

import scenecypher.db.condition as c
from scenecypher.db.graph.delta import AddRelation, ChangeList, Delta, RemoveRelation, SetProperty
from scenecypher.db.graph.field_types import Label, as_validator
from scenecypher.db.graph.graph_json import canonical_json
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.problems import document_error, problems_of
from scenecypher.db.graph.scene import GraphView, SceneGraph
from scenecypher.db.schema import HOLDING, Declared
from scenecypher.errors import InputError, RuleBroken

RuleKind: TypeAlias = Literal["never", "only", "ask", "within"]
Tense: TypeAlias = Literal["", "once", "before", "since", "within"]
Unit: TypeAlias = Literal["actions", "minutes"]
MAX_RULES: Final = 1_000
"""Maximum number of rules of a scene, with those that were removed."""
MAX_LIMIT: Final = 60
"""Maximum number of actions or minutes within which something is to follow."""
MAX_CULPRITS: Final = 3
"""Maximum number of groups of things that a message names."""

PATH: Final = "path "
"""Beginning of the keys of what may lead through several things, and of being held, whose ends are the other way."""
PATHS: Final = ("INSIDE", "ON", "UNDER", "ATTACHED_TO")
"""Relations by which a thing goes along with another."""

ConditionField: TypeAlias = Annotated[
    c.Condition,
    PlainValidator(as_validator(lambda it: c.condition_from_document(it, file="a condition"))),
    PlainSerializer(c.condition_document),
]
Number: TypeAlias = Annotated[StrictInt, Field(ge=0)]
Key: TypeAlias = tuple[str | None, ...]
"""A state, relation type or property, and the class, kind or id of each end; None for an end that may be any."""
ANY: Final = "*"
"""The first part of the key that a Delta touches if it adds or removes a node: it may concern every rule."""
Culprits: TypeAlias = frozenset[str]
"""Ids of nodes that make a condition true together."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule in words, and its condition on a scene.

    A `never` rule is broken while the condition holds. An `only` rule allows an action that `fits` only while the
    condition holds before it; an `ask` rule has a person approve such an action. `arguments` are the variables of the
    arguments of `action`, none if any will do. The rule is in force from the scene's version `since` on, and before
    `until` (None: still). `at` is the time in ISO form.

    By its `tense` an `only` rule is about the past: the condition held `once`, or did not `before`, or holds `since`
    what it has `begun` with last came to hold. A `within` rule wants the condition in at most `limit` actions or
    minutes after what it has `begun` with. The fields' types are those of its JSON document.
    """

    __pydantic_config__: ClassVar = ConfigDict(extra="forbid")
    name: Label
    kind: RuleKind
    words: str
    condition: ConditionField
    action: str = ""
    arguments: tuple[str, ...] = ()
    fits: ConditionField = c.ALWAYS
    author: str = ""
    at: str = ""
    since: Number = 0
    until: Number | None = None
    tense: Tense = ""
    begun: ConditionField = c.NEVER
    limit: Annotated[Number, Field(le=MAX_LIMIT)] = 0
    unit: Unit = "actions"


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a scene: `documents` are all, others those in force.

    `touched_by` are the `never` rules by what a change may touch; `names` are the first parts of these keys. `past` are
    those that remember what was.
    """

    documents: tuple[Rule, ...] = ()
    never: tuple[Rule, ...] = ()
    by_action: Mapping[str, list[Rule]] = field(default_factory=dict)
    touched_by: Mapping[Key, list[Rule]] = field(default_factory=dict)
    names: frozenset[str] = frozenset()
    past: tuple[Rule, ...] = ()

    @classmethod
    def of(cls, documents: Iterable[Rule]) -> Rules:
        """Return the rules with those in force by what they apply to."""
        found = tuple(documents)
        present = [it for it in found if it.until is None]
        never = tuple(it for it in present if it.kind == "never")
        by_action, touched_by = defaultdict[str, list[Rule]](list), defaultdict[Key, list[Rule]](list)
        for rule in (it for it in present if it.action):
            by_action[rule.action].append(rule)
        for rule, key in ((it, key) for it in never for key in {*keys_of(it.condition)}):
            touched_by[key].append(rule)
        names = frozenset((ANY, *(str(key[0]) for key in touched_by)))
        past = tuple(it for it in present if it.tense)
        return cls(found, never, {**by_action}, {**touched_by}, names, past)

    @property
    def duties(self) -> tuple[Rule, ...]:
        """Those of the rules about the past that want something to follow."""
        return tuple(it for it in self.past if it.kind == "within")

    @property
    def in_force(self) -> tuple[Rule, ...]:
        """The rules that count now, in the order in which they were added."""
        return tuple(it for it in self.documents if it.until is None)

    def at(self, version: int) -> tuple[Rule, ...]:
        """Return the rules that were in force at a version of the scene."""
        return tuple(it for it in self.documents if it.since <= version and (it.until is None or version < it.until))


NO_RULES: Final = Rules()


class BrokenRule(NamedTuple):
    """A rule that a scene breaks, and the things that do, in words."""

    rule: Rule
    things: str


# --- checking


def culprits(condition: c.Condition, graph: GraphView, bindings: Mapping[str, str] | None = None) -> set[Culprits]:
    """Return the groups of nodes that make a condition true; empty if it is false."""
    known = bindings or {}
    match condition:
        case c.Or(parts):
            return {group for part in parts for group in culprits(part, graph, known)}
        case c.And(parts):
            groups = [culprits(part, graph, known) for part in parts]
            return {frozenset[str]().union(*chosen) for chosen in product(*groups)}
        case c.Exists(var, where):
            found = c.witnesses(var, where, graph=graph, bindings=known)
            return {group | {it} for it in found for group in culprits(where, graph, {**known, var: it})}
        case c.AtLeast(n, var, where):
            counted = frozenset(c.witnesses(var, where, graph=graph, bindings=known))
            return {counted} if len(counted) >= n else set()
    if not c.evaluate(condition, graph, known):
        return set()
    ends = (c.resolve_term(it, graph, known) for it in (c.terms(condition) if isinstance(condition, c.Atom) else ()))
    return {frozenset(it for it in ends if it is not None)}


def newly_broken(condition: c.Condition, before: GraphView, after: GraphView) -> list[Culprits]:
    """Return the groups of nodes that make a condition true after a change, and did not before it.

    A part of an earlier group is none: less is wrong than was.
    """
    now = culprits(condition, after)
    earlier = culprits(condition, before) if now else set()
    return sorted((it for it in now - earlier if not any(it < group for group in earlier)), key=sorted)


def check_outcome(rules: Rules, graph: GraphView, delta: Delta, *, action: str) -> None:
    """Raise RuleBroken if a change breaks a `never` rule, or makes more things break it; mending one is allowed."""
    facts = {it for it in _facts(delta) if it[0] in rules.names} if rules.never else ()
    if not facts:
        return
    after = LiveGraph(graph)
    after.apply(delta)
    keys = {key for name, ends, is_gone in facts for key in _keys(name, ends, graph if is_gone else after)}
    found = rules.never if (ANY,) in keys else (it for key in keys for it in rules.touched_by.get(key, ()))
    concerned = sorted({it.name: it for it in found}.values(), key=lambda it: it.name)
    broken = [(it, groups) for it in concerned if (groups := newly_broken(it.condition, graph, after))]
    if broken:
        named = ((it, _named(groups)) for it, groups in broken)
        reasons = [f"{forbidden_by(it)} ({things})" if things else forbidden_by(it) for it, things in named]
        raise RuleBroken(action, [*reasons[:-1], f"{reasons[-1]}; do something else, or change these things first"])


def broken_now(rules: Rules, graph: SceneGraph) -> tuple[BrokenRule, ...]:
    """Return the `never` rules that a scene breaks."""
    found = ((it, culprits(it.condition, graph)) for it in rules.never)
    return tuple(BrokenRule(it, _named(sorted(groups, key=sorted))) for it, groups in found if groups)


def forbidden_by(rule: Rule) -> str:
    """Return the words with which a rule refuses."""
    return f"the rule {rule.name} forbids it: {rule.words}"


def _named(groups: Iterable[Culprits]) -> str:
    """Return groups of nodes in words, the first few of them."""
    texts = [" and ".join(sorted(it)) for it in groups if it]
    more = f" and {len(texts) - MAX_CULPRITS} more" if len(texts) > MAX_CULPRITS else ""
    return f"{'; '.join(texts[:MAX_CULPRITS])}{more}"


# --- what a rule depends on, and what a Delta touches


def keys_of(condition: c.Condition, labels: Mapping[str, str | None] = MappingProxyType({})) -> Iterator[Key]:
    """Yield a key for each atom of a condition; `labels` are the classes or kinds of variables, as far as known."""
    if isinstance(condition, c.Exists | c.ForAll | c.AtLeast | c.Exactly):
        labels = {**labels, condition.var: _label(condition)}
    elif isinstance(condition, c.Atom):
        ends = [it.id if isinstance(it, c.Id) else labels.get(it) for it in c.terms(condition)]
        yield from ((name, *ends) for name in _names_of(condition))
    for part in c.children(condition):
        yield from keys_of(part, labels)


def _label(part: c.Exists | c.ForAll | c.AtLeast | c.Exactly) -> str | None:
    """Return the class or kind of all that a quantifier ranges over; None if it may be any."""
    for it in c.conjuncts(part.where):
        match it:
            case c.HasClass(part.var, label) | c.HasKind(part.var, label):
                return label
    return None


def _names_of(atom: c.Atom) -> tuple[str, ...]:
    match atom:
        case c.HasState(_, name) | c.HasAffordance(_, name) | c.PropertyEquals(_, name) | c.Related(_, name, _):
            return (name,)
        case c.Within():
            return tuple(f"{PATH}{it}" for it in atom.types)
        case c.HeldBy():
            return tuple(f"{PATH}{it}" for it in HOLDING)
        case c.HasClass() | c.HasKind():
            return ("class",)
        case c.Same():
            return ()


def _facts(delta: Delta) -> Iterator[tuple[str, tuple[str, ...], bool]]:
    """Yield what a Delta changes: the first part of its keys, the nodes, and whether it is so no more."""
    for change in delta.changes:
        match change:
            case AddRelation(it) | RemoveRelation(it):
                ends, is_gone = (it.source, it.target), isinstance(change, RemoveRelation)
                yield from ((name, ends, is_gone) for name in (it.type, f"{PATH}{it.type}"))
            case ChangeList():
                yield from ((name, (change.id,), False) for name in (*change.added, *change.removed))
            case SetProperty():
                yield change.key, (change.id,), False
            case _:
                yield ANY, (), False


def _keys(name: str, ends: Sequence[str], graph: GraphView) -> Iterator[Key]:
    """Return the keys of a fact: with a thing goes what is within it, into all that it then is within."""
    type_, groups = name.removeprefix(PATH), [[it] for it in ends]
    if type_ != name and type_ in HOLDING:
        groups.reverse()
    elif type_ != name:
        groups = [[ends[0], *graph.reaching(ends[0], *PATHS)], [ends[1], *graph.reached(ends[1], *PATHS)]]
    return product((name,), *(_labels(graph, it) for it in groups))


def _labels(graph: GraphView, nodes: Iterable[str]) -> set[str | None]:
    """Return the ids, classes and kinds of nodes, and None, which stands for any."""
    found = [graph.nodes[it] for it in nodes if it in graph.nodes]
    return {None, *(label for it in found for label in (it.id, it.class_, it.kind))}


# --- JSON


@cache
def _documents() -> TypeAdapter[list[Rule]]:
    return TypeAdapter(list[Rule])


def rules_json(rules: Iterable[Rule]) -> str:
    """Return rules as canonical JSON; empty if there are none."""
    documents = rule_documents(rules)
    return canonical_json(documents) if documents else ""


def rule_documents(rules: Iterable[Rule]) -> list[dict[str, Any]]:
    """Return rules as JSON, without fields that have their usual value."""
    found: list[dict[str, Any]] = _documents().dump_python([*rules], mode="json", exclude_defaults=True)
    return found


def rules_from_document(document: object, *, file: str = "the scene's rules") -> Rules:
    """Return the rules of a JSON document. Raises DocumentError with every problem; `file` names the document."""
    if isinstance(document, list) and len(document) > MAX_RULES:
        raise InputError(f"{file}: {len(document):,} rules; a scene has at most {MAX_RULES:,}, so say it with fewer")
    try:
        found = _documents().validate_python(document)
    except ValidationError as error:
        raise document_error(file, problems_of(error, document)) from None
    name, number = max(Counter(it.name for it in found if it.until is None).items(), key=itemgetter(1), default=("", 0))
    if number > 1:
        raise InputError(f"{file}: two rules are called {name}; rename one")
    return Rules.of(found)


def rules_of(declared: Declared) -> Rules:
    """Return the rules of a scene. Raises InputError if they can't be read."""
    return _rules_of(declared.rules) if declared.rules else NO_RULES


@lru_cache(maxsize=64)
def _rules_of(text: str) -> Rules:
    return rules_from_document(json.loads(text))
