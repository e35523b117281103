"""Rules of a house: what must never hold, what an action needs, what follows, and when a person is asked first."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import product
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import Field, TypeAdapter, ValidationError

import scenecypher.db.condition as c
from scenecypher.db.graph.delta import AddRelation, ChangeList, Delta, RemoveRelation, SetProperty
from scenecypher.db.graph.field_types import Form, Label
from scenecypher.db.graph.graph_json import canonical_json
from scenecypher.db.graph.live import LiveGraph
from scenecypher.db.graph.problems import document_error, problems_of
from scenecypher.db.graph.scene import GraphView, Relation, SceneGraph
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
ANY: Final = "*"
"""The name that a Delta touches if it adds or removes a node: it may concern every rule."""

PATH: Final = "path "
"""Beginning of the keys of what may lead through several things, and of being held, whose ends are the other way."""
PATHS: Final = ("INSIDE", "ON", "UNDER", "ATTACHED_TO")
"""Relations by which a thing goes along with another."""

Key: TypeAlias = tuple[str | None, ...]
"""A state, relation type or property, and the class, kind or id of each end; None for an end that may be any."""
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
    minutes after what it has `begun` with.
    """

    name: str
    kind: RuleKind
    words: str
    condition: c.Condition
    action: str = ""
    arguments: tuple[str, ...] = ()
    fits: c.Condition = c.ALWAYS
    author: str = ""
    at: str = ""
    since: int = 0
    until: int | None = None
    tense: Tense = ""
    begun: c.Condition = c.NEVER
    limit: int = 0
    unit: Unit = "actions"


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a scene: `documents` are all, others those in force.

    `touched_by` are the `never` rules by what a change may touch; `names` are the first parts of these keys. `past` are
    those that remember what was, `duties` those of them that want something to follow.
    """

    documents: tuple[Rule, ...] = ()
    never: tuple[Rule, ...] = ()
    by_action: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    touched_by: Mapping[Key, tuple[Rule, ...]] = field(default_factory=dict)
    names: frozenset[str | None] = frozenset()
    past: tuple[Rule, ...] = ()
    duties: tuple[Rule, ...] = ()

    @classmethod
    def of(cls, documents: Iterable[Rule]) -> Rules:
        """Return the rules with those in force by what they apply to."""
        found = tuple(documents)
        present = [it for it in found if it.until is None]
        never = [it for it in present if it.kind == "never"]
        by_action: dict[str, tuple[Rule, ...]] = {}
        touched_by: dict[Key, tuple[Rule, ...]] = {}
        for rule in (it for it in present if it.action):
            by_action[rule.action] = (*by_action.get(rule.action, ()), rule)
        for rule in never:
            for key in dict.fromkeys(keys_of(rule.condition)):
                touched_by[key] = (*touched_by.get(key, ()), rule)
        past = tuple(it for it in present if it.tense)
        duties = tuple(it for it in past if it.kind == "within")
        names = frozenset(key[0] for key in touched_by)
        return cls(found, tuple(never), by_action, touched_by, names, past, duties)

    @property
    def in_force(self) -> tuple[Rule, ...]:
        """The rules that count now, in the order in which they were added."""
        return tuple(it for it in self.documents if it.until is None)

    def at(self, version: int) -> tuple[Rule, ...]:
        """Return the rules that were in force at a version of the scene."""
        return tuple(it for it in self.documents if it.since <= version and (it.until is None or version < it.until))


NO_RULES: Final = Rules()


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
    names = {*_names_in(delta)} if rules.never else ()
    if rules.names.isdisjoint(names) and ANY not in names:
        return
    after = LiveGraph(graph)
    after.apply(delta)
    keys = {*_touched(delta, graph, after, names=rules.names)}
    found = (it for key in keys for it in rules.touched_by.get(key, ()))
    concerned = rules.never if ANY in names else sorted({it.name: it for it in found}.values(), key=lambda it: it.name)
    check_states(concerned, graph, after, action=action)


def check_states(rules: Iterable[Rule], before: GraphView, after: GraphView, *, action: str) -> None:
    """Raise RuleBroken if one of the `never` rules is broken by more things after an action than before it."""
    broken = [(it, groups) for it in rules if (groups := newly_broken(it.condition, before, after))]
    if broken:
        named = ((it, _named(groups)) for it, groups in broken)
        reasons = [f"{forbidden_by(it)} ({things})" if things else forbidden_by(it) for it, things in named]
        raise RuleBroken(action, [*reasons[:-1], f"{reasons[-1]}; do something else, or change these things first"])


def broken_now(rules: Rules, graph: SceneGraph) -> list[tuple[Rule, str]]:
    """Return the `never` rules that a scene breaks, each with the things that do, in words."""
    found = ((it, culprits(it.condition, graph)) for it in rules.never)
    return [(it, _named(sorted(groups, key=sorted))) for it, groups in found if groups]


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


def _names_in(delta: Delta) -> Iterator[str]:
    """Yield the first parts of the keys that a Delta touches."""
    for change in delta.changes:
        match change:
            case AddRelation(relation) | RemoveRelation(relation):
                yield from (relation.type, f"{PATH}{relation.type}")
            case ChangeList():
                yield from (*change.added, *change.removed)
            case SetProperty():
                yield change.key
            case _:
                yield ANY


def _touched(delta: Delta, before: GraphView, after: GraphView, *, names: frozenset[str | None]) -> Iterator[Key]:
    """Yield the keys with these names that a Delta touches."""
    for change in delta.changes:
        match change:
            case AddRelation(relation) | RemoveRelation(relation):
                yield from _touched_by(relation, after if isinstance(change, AddRelation) else before, names=names)
            case ChangeList():
                yield from product((*change.added, *change.removed), _labels(after, [change.id]))
            case SetProperty():
                yield from product((change.key,), _labels(after, [change.id]))
            case _:
                continue


def _touched_by(relation: Relation, graph: GraphView, *, names: frozenset[str | None]) -> Iterator[Key]:
    """Yield the keys that a relation touches: with a thing goes what is within it, into all that it then is within."""
    source, target, path = relation.source, relation.target, f"{PATH}{relation.type}"
    if relation.type in names:
        yield from product((relation.type,), _labels(graph, [source]), _labels(graph, [target]))
    if path in names and relation.type in HOLDING:
        yield from product((path,), _labels(graph, [target]), _labels(graph, [source]))
    elif path in names:
        below, above = [source, *graph.reaching(source, *PATHS)], [target, *graph.reached(target, *PATHS)]
        yield from product((path,), _labels(graph, below), _labels(graph, above))


def _labels(graph: GraphView, nodes: Iterable[str]) -> set[str | None]:
    """Return the ids, classes and kinds of nodes, and None, which stands for any."""
    found = [graph.nodes[it] for it in nodes if it in graph.nodes]
    return {None, *(label for it in found for label in (it.id, it.class_, it.kind))}


# --- JSON


class _RuleForm(Form):
    """A rule as it is stored."""

    name: Label
    kind: RuleKind
    words: str
    condition: dict[str, Any]
    action: str = ""
    arguments: Annotated[tuple[str, ...], Field(strict=False)] = ()
    fits: dict[str, Any] | None = None
    author: str = ""
    at: str = ""
    since: Annotated[int, Field(ge=0)] = 0
    until: Annotated[int, Field(ge=0)] | None = None
    tense: Tense = ""
    begun: dict[str, Any] | None = None
    limit: Annotated[int, Field(ge=0, le=MAX_LIMIT)] = 0
    unit: Unit = "actions"

    def rule(self, file: str) -> Rule:
        condition = c.condition_from_document(self.condition, file=file)
        fits = c.ALWAYS if self.fits is None else c.condition_from_document(self.fits, file=file)
        begun = c.NEVER if self.begun is None else c.condition_from_document(self.begun, file=file)
        more = (self.author, self.at, self.since, self.until, self.tense, begun, self.limit, self.unit)
        return Rule(self.name, self.kind, self.words, condition, self.action, self.arguments, fits, *more)


@cache
def _rules_adapter() -> TypeAdapter[list[_RuleForm]]:
    return TypeAdapter(list[_RuleForm])


def rules_json(rules: Iterable[Rule]) -> str:
    """Return rules as canonical JSON; empty if there are none."""
    documents = [rule_document(it) for it in rules]
    return canonical_json(documents) if documents else ""


def rule_document(rule: Rule) -> dict[str, Any]:
    """Return a rule as JSON, without empty fields."""
    document = {name: getattr(rule, name) for name in ("name", "kind", "words", "action", "author", "at", "since")}
    more: dict[str, object] = {"arguments": [*rule.arguments], "until": rule.until, "tense": rule.tense}
    more |= {"limit": rule.limit, "unit": rule.unit} if rule.limit else {}
    fits = {} if rule.fits == c.ALWAYS else {"fits": c.condition_document(rule.fits)}
    fits |= {} if rule.begun == c.NEVER else {"begun": c.condition_document(rule.begun)}
    condition = {"condition": c.condition_document(rule.condition)}
    return {name: it for name, it in (document | more | fits | condition).items() if it not in ("", None, [])}


def rules_from_document(document: object, *, file: str = "the scene's rules") -> Rules:
    """Return the rules of a JSON document. Raises DocumentError with every problem; `file` names the document."""
    if isinstance(document, list) and len(document) > MAX_RULES:
        raise InputError(f"{file}: {len(document):,} rules; a scene has at most {MAX_RULES:,}, so say it with fewer")
    try:
        forms = _rules_adapter().validate_python(document)
    except ValidationError as error:
        raise document_error(file, problems_of(error, document)) from None
    found = [it.rule(file) for it in forms]
    names = [it.name for it in found if it.until is None]
    twice = sorted({it for it in names if names.count(it) > 1}) if len({*names}) < len(names) else ()
    if twice:
        raise InputError(f"{file}: two rules are called {twice[0]}; rename one")
    return Rules.of(found)


def rules_of(declared: Declared) -> Rules:
    """Return the rules of a scene. Raises InputError if they can't be read."""
    return _rules_of(declared.rules) if declared.rules else NO_RULES


@lru_cache(maxsize=64)
def _rules_of(text: str) -> Rules:
    return rules_from_document(json.loads(text))
