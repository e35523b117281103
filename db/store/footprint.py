"""The part of a scene that an action reads, and the Cypher statements that read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Literal, LiteralString

from scenecypher.db.schema import KINDS, RELATION_TYPES
from scenecypher.db.store.commit import LOCK, SCENE_FACTS

START: Final = "start"

_TYPES: Final[Mapping[str, LiteralString]] = {type_: type_ for type_ in RELATION_TYPES}
_PARAMETERS: Final[tuple[LiteralString, ...]] = ("$seed_0", "$seed_1", "$seed_2", "$seed_3")
_VALUES: Final[tuple[LiteralString, ...]] = (
    *("$value_0", "$value_1", "$value_2", "$value_3", "$value_4", "$value_5", "$value_6", "$value_7"),
)
_KINDS: Final[Mapping[str, LiteralString]] = {kind: kind for kind in KINDS}
_VARIABLES: Final[tuple[LiteralString, ...]] = (
    *("v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9"),
    *("v10", "v11", "v12", "v13", "v14", "v15", "v16", "v17", "v18", "v19"),
)
_ROW: Final[LiteralString] = "[startNode(r).id, type(r), endNode(r).id]"
EVERYTHING: Final[LiteralString] = """\
COLLECT { MATCH (n:Entity {scene: $key}) RETURN n } AS nodes,
COLLECT { MATCH (n:Entity {scene: $key})-[r]->(m) RETURN [n.id, type(r), m.id] } AS relations
"""
_LINKS: Final[tuple[LiteralString, ...]] = ("r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7")


@dataclass(frozen=True, slots=True, order=True)
class RelationPattern:
    """A relation of one of `types` from `source` to `target`, both variables.

    If `far`, a path of one to ten such relations: deeper nesting is not read. If `mutual`, relations from `target` to
    `source`, too.
    """

    source: str
    types: tuple[str, ...]
    target: str
    far: bool = False
    mutual: bool = False


@dataclass(frozen=True, slots=True, order=True)
class NodeFilter:
    """A condition on nodes: a kind, a class, a state or an affordance."""

    field: Literal["kind", "class", "states", "affordances"]
    value: str


@dataclass(frozen=True, slots=True)
class PatternRead:
    """All matches of `hops`: the relations of the patterns in `rows`, and the nodes of the variables in `whole`.

    Other nodes are known by their ids only. If `only` is given, nodes of `whole` are returned if one of its filters
    matches. With a `guard`, a seed and an affordance, nothing is read unless the seed has it. The variable START
    stands for each of the seeds `starts` in turn.
    """

    hops: tuple[RelationPattern, ...]
    rows: tuple[RelationPattern, ...] = ()
    whole: tuple[str, ...] = ()
    only: tuple[NodeFilter, ...] = ()
    guard: tuple[str, str] | None = None
    starts: tuple[str, ...] = ()


@dataclass(frozen=True)
class ReadPlan:
    """All reads of an action: its seeds, whole, and the `reads` that start at them.

    The first of `seeds` is the agent: the first agent by id or, if `named`, the agent of that id. Nodes of `classes`
    are returned whole, too. With `everything`, the whole scene is read.
    """

    seeds: tuple[str, ...]
    reads: tuple[PatternRead, ...] = ()
    classes: tuple[str, ...] = ()
    named: bool = False
    everything: bool = False

    def __post_init__(self) -> None:
        longest = max((len(read.hops) for read in self.reads), default=0)
        names = {end for read in self.reads for hop in read.hops for end in (hop.source, hop.target)} | {*self.seeds}
        sizes = ((self.seeds, _PARAMETERS), (names, _VARIABLES), (range(longest), _LINKS), (self.values, _VALUES))
        types = {type_ for read in self.reads for hop in read.hops for type_ in hop.types}
        if any(len(needed) > len(there) for needed, there in sizes) or types - _TYPES.keys():
            msg = f"an action with the seeds {', '.join(self.seeds)} reads too much for one statement"
            raise ValueError(msg)

    @cached_property
    def with_named_agent(self) -> ReadPlan:
        """The same plan with the agent given by its id."""
        return replace(self, named=True)

    @cached_property
    def lock_statement(self) -> LiteralString:
        """The statement that takes the scene's lock for the transaction, and reads."""
        return LOCK + self._seeds("s, version, done") + "RETURN " + SCENE_FACTS + self._found()

    @cached_property
    def read_statement(self) -> LiteralString:
        """The statement that only reads."""
        return "MATCH (s:Scene {key: $key})\n" + self._seeds("s") + "RETURN s.version AS version, " + self._found()

    @cached_property
    def values(self) -> tuple[str, ...]:
        """The states, affordances and classes that filters and guards compare."""
        guards = {read.guard[1] for read in self.reads if read.guard is not None}
        return tuple(sorted(guards | {only.value for read in self.reads for only in read.only}))

    @cached_property
    def _names(self) -> Mapping[str, LiteralString]:
        hops = {hop for read in self.reads for hop in read.hops}
        others = sorted({end for hop in hops for end in (hop.source, hop.target)} - {*self.seeds})
        return dict(zip((*self.seeds, *others), _VARIABLES, strict=False))

    def _seeds(self, kept: LiteralString) -> LiteralString:
        """Bind each seed to its node, or to null."""
        text: LiteralString = "OPTIONAL MATCH (v0:Agent {scene: $key, id: $seed_0})\n"
        if not self.named:
            text = "OPTIONAL MATCH (v0:Agent {scene: $key})\nWITH " + kept + ", v0 ORDER BY v0.id LIMIT 1\n"
        for variable, parameter in zip(_VARIABLES[1 : len(self.seeds)], _PARAMETERS[1:], strict=False):
            text += "OPTIONAL MATCH (" + variable + ":Entity {scene: $key, id: " + parameter + "})\n"
        return text

    def _found(self) -> LiteralString:
        if self.everything:
            return "v0.id AS agent,\n" + EVERYTHING
        seeds: LiteralString = ", ".join(_VARIABLES[: len(self.seeds)])
        nodes: list[LiteralString] = ["[n IN [" + seeds + "] WHERE n IS NOT NULL]"]
        if self.classes:
            nodes.append("COLLECT { UNWIND $classes AS class MATCH (n:Entity {scene: $key, class: class}) RETURN n }")
        nodes += [self._nodes(read, variable) for read in self.reads for variable in read.whole]
        rows: list[LiteralString] = [self._rows(read) for read in self.reads if read.rows]
        found: LiteralString = "v0.id AS agent,\n" + " +\n".join(nodes) + " AS nodes,\n"
        return found + (" +\n".join(rows) or "[]") + " AS relations\n"

    def _nodes(self, read: PatternRead, variable: str) -> LiteralString:
        name = self._names[variable]
        wanted: LiteralString = " OR ".join(self._is(name, only) for only in read.only)
        where: LiteralString = "WITH DISTINCT " + name + " WHERE " + wanted + " " if wanted else ""
        return "COLLECT { " + self._match(read) + where + "RETURN DISTINCT " + name + " }"

    def _is(self, name: LiteralString, only: NodeFilter) -> LiteralString:
        value = _VALUES[self.values.index(only.value)]
        match only.field:
            case "kind":
                return name + ":" + _KINDS[only.value]
            case "class":
                return name + ".class = " + value
            case "states":
                return value + " IN " + name + ".states"
            case "affordances":
                return value + " IN " + name + ".affordances"

    def _rows(self, read: PatternRead) -> LiteralString:
        """Return the relations of a read, each as [source id, type, target id]."""
        match: LiteralString = self._match(read)
        rows: list[LiteralString] = [
            self._row(hop, link) for hop, link in zip(read.hops, _LINKS, strict=False) if hop in read.rows
        ]
        if any(hop.far for hop in read.rows):
            return "COLLECT { " + match + "UNWIND " + " + ".join(rows) + " AS r RETURN DISTINCT " + _ROW + " }"
        if len(rows) == 1:
            return "COLLECT { " + match + "RETURN " + rows[0] + " }"
        return "COLLECT { " + match + "UNWIND [" + ", ".join(rows) + "] AS row RETURN DISTINCT row }"

    def _row(self, hop: RelationPattern, link: LiteralString) -> LiteralString:
        if hop.far:
            return link
        if hop.mutual:
            return "[startNode(" + link + ").id, type(" + link + "), endNode(" + link + ").id]"
        return "[" + self._names[hop.source] + ".id, type(" + link + "), " + self._names[hop.target] + ".id]"

    def _match(self, read: PatternRead) -> LiteralString:
        text: LiteralString = ""
        if read.starts:
            starts: LiteralString = ", ".join(self._names[seed] for seed in read.starts)
            text = "UNWIND [" + starts + "] AS " + self._names[START] + " "
        for hop, link in zip(read.hops, _LINKS, strict=False):
            types: LiteralString = "|".join(_TYPES[type_] for type_ in hop.types)
            far: LiteralString = "*1..10" if hop.far else ""
            source, target = self._names[hop.source], self._names[hop.target]
            arrow: LiteralString = "]-(" if hop.mutual else "]->("
            text += "MATCH (" + source + ")-[" + link + ":" + types + far + arrow + target + ") "
            if read.guard is not None and hop == read.hops[0]:
                seed, affordance = read.guard
                text += "WHERE " + self._is(self._names[seed], NodeFilter("affordances", affordance)) + " "
        return text


@dataclass(frozen=True, slots=True)
class Footprint:
    """The reads of one action: `ids` are its seeds after the agent, in order; `agent` is None for the first agent."""

    reads: ReadPlan
    ids: tuple[str, ...] = ()
    agent: str | None = None

    @property
    def plan(self) -> ReadPlan:
        """The plan with its statements; looking an agent up by id is faster than finding the first one."""
        return self.reads if self.agent is None else self.reads.with_named_agent

    @property
    def parameters(self) -> dict[str, Any]:
        """The statement's parameters, without key and action id."""
        seeds = {f"seed_{number}": seed for number, seed in enumerate((self.agent, *self.ids))}
        values = {f"value_{number}": value for number, value in enumerate(self.reads.values)}
        return {**seeds, **values, "classes": list(self.reads.classes)}
