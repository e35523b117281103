"""The price of a query: what each value may be at most, so what the query costs, and whether it is of the past.

Each part of the tree is reduced to the size of its value, in the order of the text. What is known of a variable, such
as the kind of its node, is known only here, and noted for the other visitors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Final

from scenecypher.db.gate import tree, words
from scenecypher.db.gate.cost import (
    ITEM_BYTES,
    MAX_COLLECTED,
    MAX_COLLECTED_BYTES,
    MAX_KEY_LENGTH,
    NUMBER,
    Cost,
    Meter,
    Paths,
    Size,
    Variables,
    collected,
    either,
    joined,
    list_of,
    regex_steps,
    returned,
    text_of,
    too_much,
)
from scenecypher.db.gate.lexer import Token, integer_of
from scenecypher.db.gate.limits import Limits
from scenecypher.db.gate.names import FACT_ADVICE, JOIN_ADVICE, LABEL_ADVICE, PAST_LABELS
from scenecypher.db.gate.syntax import Parsed
from scenecypher.db.schema import ENTITY, PAST, PAST_KINDS, PAST_RELATIONS, Schema
from scenecypher.db.store.bounds import Bounds
from scenecypher.errors import QueryRefused

MAX_LIST_DEPTH: Final = 16  # maximum depth of nested lists: the server's type checker doubles its work with each level
SEEK_STEPS, NUMBER_STEPS = 20.0, 0.2
"""Steps of finding a node's vector, and of reading and comparing a number of it: measured, some 0.15 ms for 1,024, of
which 0.03 ms to find it. Among the nearest of an index a node is looked up in one step."""
MAX_ROUND_DIGITS: Final = 20  # maximum digits of round()


class Pricer:
    """Visitor of one query about a graph of this schema and these bounds.

    It notes, by the index of the first token: the labels that bind the nodes of patterns, and the `owners` of
    properties, none if it is not surely known; the nodes that an index hint may name, few and then all of the past;
    and the searches that follow another MATCH, as `breaks`.
    """

    def __init__(self, parsed: Parsed, limits: Limits, bounds: Bounds, schema: Schema) -> None:
        self.tokens, self.past, self.limits, self.is_scene = parsed.tokens, parsed.past, limits, schema.is_scene
        self.names = schema.labels | schema.relation_types
        compared = [SEEK_STEPS + NUMBER_STEPS * it.dimension for it in schema.vectors if not it.indexed]
        self.similarity_steps = max(compared, default=1.0)
        self.meter, self.paths = Meter(limits.steps), Paths(bounds, unique="id" if schema.is_scene else "")
        self.owners: dict[int, str] = {}
        self.hints: tuple[list[tuple[int, str, str]], list[tuple[int, str, str]]] = ([], [])
        self.breaks: list[int] = []
        self.variables: Variables = {}
        self.compared: tuple[Size, ...] = ()  # values that the aggregations of the clause compare

    def price(self, query: tree.Query) -> Cost:
        """Return the cost of the whole query. Raises QueryRefused if it is too high, or joins past and present."""
        return self.meter.total(self.query(query).values())

    @contextmanager
    def inner_scope(self) -> Iterator[None]:
        """Forget the variables that the block adds."""
        variables, self.variables = self.variables, dict(self.variables)
        yield
        self.variables = variables

    def value(self, part: tree.Part) -> Size:
        """Return the size of a value."""
        return self.values[type(part)](self, part)

    # --- patterns

    def pattern(self, path: tree.Path) -> list[tree.Node | tree.Hop]:
        """Add the variables of a pattern to the scope and its rows to the cost; return its nodes and relations."""
        known = set(self.variables)
        parts = self._path(path)
        self.meter.rows *= self.paths.rows(parts, known)
        if path.name:
            self.variables[path.name] = self._path_size(parts)
        return parts

    def _path(self, path: tree.Path) -> list[tree.Node | tree.Hop]:
        parts = [
            replace(part, found=path.found) if isinstance(part, tree.Hop) else part for part in self._links(path.links)
        ]
        self.paths.add(parts, most=path.most)
        return parts

    def _path_size(self, parts: Sequence[tree.Node | tree.Hop]) -> Size:
        is_past = any(self.owners.get(part.at) == PAST for part in parts)
        return list_of(replace(self.paths.entity, kind=PAST if is_past else ENTITY), 2 * self.paths.length(parts) + 1)

    def _links(self, links: Sequence[tree.Link]) -> list[tree.Node | tree.Hop]:
        """Return the parts of a path, all in the present or all in the past; a group's hops repeat."""
        is_past, parts = self._are_past(links), list[tree.Node | tree.Hop]()
        for link in links:
            match link:
                case tree.Node():
                    self._node(link, is_past=is_past)
                    parts.append(link)
                case tree.Hop():
                    self._hop(link, is_past=is_past)
                    parts.append(link)
                case tree.Group():
                    parts += self._group(link)
        return parts

    def _are_past(self, links: Sequence[tree.Link]) -> bool:
        """Check for a label of the past, or a variable that stands for a node of it."""
        return self.past and any(
            self._are_past(link.links)
            if isinstance(link, tree.Group)
            else isinstance(link, tree.Node)
            and (not PAST_LABELS.isdisjoint(link.names) or self._kind_of(link.name) in PAST_LABELS)
            for link in links
        )

    def _kind_of(self, name: str) -> str:
        return self.variables[name].kind if name in self.variables else ""

    def _group(self, group: tree.Group) -> list[tree.Node | tree.Hop]:
        parts = self._links(group.links)
        self._where(group.where)
        parts = [
            replace(part, longest=part.longest * group.most, shortest=part.shortest * group.least)
            if isinstance(part, tree.Hop)
            else part
            for part in parts
        ]
        for name in {part.name for part in parts if part.name}:
            self.variables[name] = list_of(self.variables[name], self.paths.length(parts) + 1)
        return parts

    def _node(self, node: tree.Node, *, is_past: bool) -> None:
        kind = self._kind_of_past(node) if is_past else ENTITY
        self.owners[node.at] = PAST if is_past else ENTITY
        if node.name:
            known = self.variables.get(node.name, self.paths.anything)
            distinct = min(known.distinct, self.paths.distinct(node))
            self.variables[node.name] = replace(self.paths.entity, kind=kind, distinct=distinct)
        self._properties(node.properties, kind)
        self._where(node.where)

    def _kind_of_past(self, node: tree.Node) -> str:
        """Return the kind of a node of the past, as far as it is known. Refuse a node of the present."""
        known = self._kind_of(node.name)
        if not self.names.isdisjoint(node.names) or known == ENTITY:
            piece = self.tokens[node.head].text
            raise QueryRefused("label", "a path joins the past with the present", piece=piece, hint=JOIN_ADVICE)
        kinds = {*node.labels} & PAST_KINDS.keys() or {known or PAST}
        return kinds.pop() if len(kinds) == 1 else PAST

    def _hop(self, hop: tree.Hop, *, is_past: bool) -> None:
        if hop.name:
            kind, distinct = PAST if is_past else ENTITY, self.paths.distinct(hop)
            self.variables[hop.name] = replace(self.paths.entity, kind=kind, distinct=distinct)
        for name in hop.names:
            is_known = name in self.names or name in PAST_RELATIONS
            if self.is_scene and is_known and name not in (PAST_RELATIONS if is_past else self.names):
                realm, hint = ("past", FACT_ADVICE) if is_past else ("present", LABEL_ADVICE)
                raise QueryRefused("relation_type", f"no `{name}` joins nodes of the {realm}", piece=name, hint=hint)
        self._properties(hop.properties, "")
        self._where(hop.where)
        if hop.name and hop.longest != 1:
            self.variables[hop.name] = list_of(self.variables[hop.name], self.paths.length([hop]))

    def _properties(self, properties: tree.Map | None, owner: str) -> None:
        for entry in properties.entries if properties else ():
            if isinstance(entry, tree.Property):
                self.owners[entry.at] = owner
            else:
                self.value(entry)

    def _where(self, condition: tree.Expression | None) -> None:
        if condition:
            self.value(condition)

    # --- expressions

    def expression(self, expression: tree.Expression, subject: Size | None = None) -> Size:
        """Return the size of an expression, which may compare `subject`."""
        sizes, operators, said = [subject] if subject else [], list[Token](), set[str]()
        for term in expression.terms:
            if not isinstance(term, tree.Operator):
                self.meter.spend(self.tokens[term.at], steps=1)
                sizes.append(self.value(term))
                continue
            if term.word == "=~":
                token = self.tokens[term.at + 1]
                self.meter.spend(token, read=regex_steps(term.regex, joined(sizes).text))
            said.add(term.word)
            operators.append(self.tokens[term.at])
            if term.word in words.LOGIC:
                self._combine(sizes, operators)
                sizes, operators = [], []
        size = self._combine(sizes, operators)
        return size if said <= words.ARITHMETIC else NUMBER

    def _combine(self, sizes: Sequence[Size], operators: Sequence[Token]) -> Size:
        """Count each operator as one that reads all the values; return the bounds of what they make."""
        size = joined(sizes)
        for token in operators:
            self.meter.spend(token, read=size.text * size.text / 4 if token.word == "CONTAINS" else size.bytes)
        arithmetic = [token for token in operators if token.word in words.ARITHMETIC]
        if arithmetic:
            copied = ITEM_BYTES * size.items if size.each else size.bytes
            size = self.meter.build(size, (len(arithmetic) + 1) * copied, arithmetic[0])
        if any(token.word in {"/", "^"} for token in arithmetic):
            size = replace(size, number=math.inf)
        if size.depth > MAX_LIST_DEPTH:
            raise too_much("[", f"lists and maps nest more than {MAX_LIST_DEPTH} deep", "return flat lists")
        return size

    # --- values

    def _constant(self, constant: tree.Constant) -> Size:
        token = constant.token
        if token.kind == "string":
            return text_of(len(token.value.encode()))
        return replace(NUMBER, number=float(integer_of(token.text))) if token.kind == "integer" else NUMBER

    def _variable(self, variable: tree.Variable) -> Size:
        return self.variables.get(variable.name, self.paths.anything)

    def _chain(self, chain: tree.Chain) -> Size:
        size = self.value(chain.base)
        for step in chain.steps:
            match step:
                case tree.Property():
                    size = self._property(size, step)
                case tree.Index():
                    size = self._index(size, step)
                case tree.Map():
                    size = self._map(step, size)
                case _:
                    size = NUMBER
        return size

    def _property(self, base: Size, name: tree.Property) -> Size:
        self.owners[name.at] = _owner_of(base)
        of_node = replace(self.paths.property(name.name), distinct=base.distinct)
        found = [base.element] * bool(base.each) + [of_node] * base.has_nodes
        return either(*found or [NUMBER])

    def _index(self, base: Size, index: tree.Index) -> Size:
        for bound in index.bounds:
            self.expression(bound)
        if index.is_slice:
            base = replace(base, distinct=math.inf)  # a value has many slices
            return self.meter.build(base, ITEM_BYTES * base.items, self.tokens[index.at])
        return either(base.element, *([self.paths.anything] if base.has_nodes or not base.each else []))

    def _map(self, map_: tree.Map, base: Size | None = None) -> Size:
        sizes, every = list[Size](), list[Size]()
        if base and map_.has_all:
            self._check_whole(base, "*")
            every = [self.paths.properties, *([base] if base.each else [])]
        for entry in map_.entries:
            if base and isinstance(entry, tree.Property):
                sizes.append(self._property(base, entry))
            elif isinstance(entry, tree.Item):
                sizes.append(self.value(entry.value))
        size = collected(sizes, key_bytes=MAX_KEY_LENGTH)
        return joined([size, either(*every)]) if every else size

    def _check_whole(self, base: Size, piece: str) -> None:
        """Refuse the map of all properties of what may be a node of the past, of which some are hidden."""
        if self.past and _owner_of(base) != ENTITY:
            hint = "return the node itself, or name the properties"
            raise QueryRefused("property", "not all properties of the past can be read", piece=piece, hint=hint)

    def _listed(self, listed: tree.Listed) -> Size:
        size = collected([self.expression(item) for item in listed.items])
        return self.meter.build(size, ITEM_BYTES * size.items, self.tokens[listed.at])

    def _case(self, case: tree.Case) -> Size:
        subject = self.expression(case.subject) if case.subject else None
        sizes = [subject] if subject else []
        for value in case.values:
            is_compared = self.tokens[value.at - 1].word in {"WHEN", ","}
            sizes.append(self.expression(value, subject if is_compared else None))
        return either(*sizes)

    def _comprehension(self, loop: tree.Loop) -> Size:
        if isinstance(loop.source, tree.Path) and loop.body:
            # The store is read row by row, so its rows count no steps.
            with self.inner_scope(), self.meter.subquery():
                self.pattern(loop.source)
                self._where(loop.where)
                return list_of(self.expression(loop.body), min(MAX_COLLECTED, self.meter.rows))
        listed, body = self._loop(loop)
        size = list_of(body or listed.element, listed.items)
        return self.meter.build(size, size.bytes if body else ITEM_BYTES * size.items, self.tokens[loop.at])

    def _loop(self, loop: tree.Loop) -> tuple[Size, Size | None]:
        """Return the sizes of the list and of what is made of each of its elements."""
        first, listed = self.tokens[loop.source.at], self.value(loop.source)
        with self.inner_scope(), self.meter.loop(first, listed.items):
            self.variables[loop.name] = listed.element
            self._where(loop.where)
            body = self.expression(loop.body) if loop.body else None
            self.meter.spend(first, steps=1)
        return listed, body

    def _pattern_value(self, path: tree.Path) -> Size:
        with self.inner_scope():
            self._path(path)
        return NUMBER

    def _subquery(self, subquery: tree.Subquery) -> Size:
        with self.meter.subquery():
            columns, rows = self._body(subquery.body), self.meter.rows
        if subquery.word == "COLLECT":
            return list_of(either(*columns.values()), min(MAX_COLLECTED, rows))
        return replace(NUMBER, number=rows)

    # --- calls

    def _call(self, call: tree.Call) -> Size:
        token, first = self.tokens[call.at], call.arguments[0] if call.arguments else None
        if isinstance(first, tree.Path):
            with self.inner_scope():
                return self._path_size(self._path(first))
        if isinstance(first, tree.Loop):
            self._loop(first)
            return NUMBER
        sizes = [self.value(argument) for argument in call.arguments]
        if call.name == words.SIMILARITY:
            return self._similarity(call, sizes)
        self.meter.spend(token, read=sum(size.bytes for size in sizes))
        if call.name == "round" and len(sizes) > 1 and sizes[1].number > MAX_ROUND_DIGITS:
            raise too_much("round", f"round() takes 0 to {MAX_ROUND_DIGITS} digits", "write such as round(x, 2)")
        if (
            self.is_scene
            and call.name in words.CLOCK_FUNCTIONS
            and not (call.says_time or (sizes and not sizes[0].each))
        ):
            hint = "a scene has no clock: give it a text, or a map with its fields such as {year: 2026, month: 3}"
            raise too_much(token.text, f"{call.name}() may tell the present time", hint, code="function")
        if call.name in words.AGGREGATES:
            return self._aggregated(call, sizes)
        if call.name in {"range", "keys", "labels", "properties"}:
            return self._range(sizes, token) if call.name == "range" else self._described(token, sizes)
        size = returned(call.name, sizes)
        return self.meter.build(size, 0 if size.each and call.name != "split" else size.bytes, token)

    def _similarity(self, call: tree.Call, sizes: list[Size]) -> Size:
        match call.arguments:
            case (
                tree.Expression(terms=(tree.Variable(),)),
                tree.Expression(terms=(tree.Constant(token=Token(kind="string", value=text)),)),
            ) if _owner_of(sizes[0]) == ENTITY and text.strip() and not call.is_distinct:
                self.meter.spend(self.tokens[call.at], steps=self.similarity_steps)
                return NUMBER
        hint = "give it the variable of a node and a text, as in similarity(n, 'something soft to sit on')"
        raise too_much(self.tokens[call.at].text, "similarity() compares a node with a text", hint, code="function")

    def _described(self, function: Token, sizes: list[Size]) -> Size:
        """Return the size of what a function tells of a node: its labels, its keys or all its properties."""
        if function.word == "PROPERTIES" and sizes:
            self._check_whole(sizes[0], function.text)
        return either(self.paths.properties, *(size for size in sizes if size.each))

    def _aggregated(self, call: tree.Call, sizes: list[Size]) -> Size:
        self.compared += (Size(), *(sizes if call.is_distinct or call.name in {"min", "max"} else ()))
        rows = self.meter.rows
        if call.name == "count":
            return replace(NUMBER, number=rows)
        if call.name != "collect" or not sizes:
            return returned(call.name, sizes)
        most = sizes[0].distinct if call.is_distinct else math.inf
        size = list_of(sizes[0], min(rows, most, MAX_COLLECTED))
        return size if size.has_nodes else replace(size, wire=min(size.wire, MAX_COLLECTED_BYTES))

    def _range(self, sizes: list[Size], token: Token) -> Size:
        """Return the size of a list of whole numbers, whose length follows from its bounds."""
        items = sum(size.number for size in sizes[:2]) + 1
        if items > self.limits.steps:
            hint = "write such as range(0, size(list) - 1)"
            raise too_much("range", "range() takes whole numbers, size() or length()", hint)
        self.meter.spend(token, steps=items)
        return list_of(replace(NUMBER, number=items), items)

    values: ClassVar[Mapping[type[tree.Part], Callable[[Pricer, Any], Size]]] = {
        tree.Constant: _constant,
        tree.Variable: _variable,
        tree.Expression: expression,
        tree.Chain: _chain,
        tree.Map: _map,
        tree.Listed: _listed,
        tree.Case: _case,
        tree.Loop: _comprehension,
        tree.Path: _pattern_value,
        tree.Subquery: _subquery,
        tree.Call: _call,
    }

    # --- queries

    def query(self, query: tree.Query, *, is_call: bool = False) -> Variables:
        """Return the columns of a query.

        A query in CALL without a list of names knows those outside only if it begins with WITH.
        """
        around, compared = self.variables, self.compared
        given, start, rows, columns = around, 1.0, 0.0, Variables()
        for branch in query.branches:
            if branch.joiner == "NEXT":
                given, start, rows, columns = columns, rows, 0.0, Variables()
            is_blind = is_call and given is around and self.tokens[branch.at].word != "WITH"
            self.variables = Variables() if is_blind else dict(given)
            self.meter.rows = start
            found = self._branch(branch)
            rows += self.meter.rows
            columns |= {name: either(size, columns.get(name, size)) for name, size in found.items()}
        self.meter.rows = rows
        self.variables, self.compared = around, compared
        return columns

    def _branch(self, branch: tree.Branch) -> Variables:
        self._where(branch.condition)
        if branch.block:
            with self.meter.subquery(is_clause=True):
                return self._body(branch.block)
        columns = Variables()
        for last, clause in zip((branch, *branch.clauses), branch.clauses, strict=False):
            if isinstance(clause, tree.Match) and isinstance(last, tree.Match) and self.variables and clause.is_search:
                self.breaks.append(clause.at)
            columns = self.clauses[type(clause)](self, clause) or Variables()
            self.meter.clause()
        return columns

    def _body(self, body: tree.Query | tree.Match, *, is_call: bool = False) -> Variables:
        if isinstance(body, tree.Query):
            return self.query(body, is_call=is_call)
        with self.inner_scope():
            self._match(body)
        return Variables()

    # --- clauses

    def _match(self, match: tree.Match) -> None:
        known, few, more = set(self.variables), list[tree.Node](), list[tree.Node]()
        for path in match.paths:
            named = [part for part in self.pattern(path) if isinstance(part, tree.Node) and part.name]
            unknown = [node for node in named if node.name not in known]
            past = [node for node in unknown if self.owners[node.at] == PAST]
            # The past has few nodes at first: the server then scans all of them rather than begin at what it knows.
            few += [node for node in unknown if len(unknown) == len(named) or node in past][:1]
            more += [node for node in past if node.name not in {it.name for it in few}]
        for index, nodes in enumerate((few, more)):
            self.hints[index].extend((match.last, node.name, self._past_index(node)) for node in nodes)
        self._where(match.where)

    def _past_index(self, node: tree.Node) -> str:
        """Return the label whose index finds a node of the past; empty for others.

        It is the kind, if the pattern names it: the server joins another index's nodes with a scan of the kind's.
        """
        kinds = {*node.labels} & PAST_KINDS.keys()
        return "" if self.owners[node.at] != PAST else kinds.pop() if len(kinds) == 1 else PAST

    def _clause(self, clause: tree.Clause) -> None:
        sizes = list[Size]()
        for item in clause.items:
            sizes.append(self.value(item.value))
            if clause.word == "UNWIND":
                self.meter.rows *= max(1.0, sizes[0].items)
            if item.name:
                self.variables[item.name] = sizes[-1].element if clause.word == "UNWIND" else sizes[-1]
        if clause.word == "ORDER":
            self.meter.sort(sizes, self.tokens[clause.at])
        elif clause.word == "LIMIT":
            self.meter.rows = min(self.meter.rows, max(1.0, sizes[0].number))

    def _call_query(self, call: tree.Subquery) -> None:
        with self.inner_scope():
            if call.names is not None and "*" not in call.names:
                self.variables = {name: size for name, size in self.variables.items() if name in call.names}
            with self.meter.subquery(is_clause=True):
                columns = self._body(call.body, is_call=call.names is None)
        self.variables.update(columns)

    def _project(self, project: tree.Project) -> Variables | None:
        columns = dict(self.variables) if project.has_all else Variables()
        token = self.tokens[project.at]
        keys, told, self.compared = Variables(), set[str](), ()
        for item in project.items:
            compared = self.compared
            value = columns[item.name] = self.value(item.value)
            if self.compared == compared:
                keys[item.name] = value
                told |= self._told_by(item)
        if self.compared or project.is_distinct:
            once = [value for value in keys.values() if value.groups is not None and value.groups <= told]
            self.meter.sort([Size(), *(it for it in keys.values() if it not in once), *self.compared], token, once=once)
        if self.compared and not keys:
            self.meter.rows = 1.0
        groups = None if project.has_all else frozenset(keys)
        for name in {item.name: None for item in project.items}:
            size = columns[name]
            is_same = size.groups is not None and size.groups <= told
            known = (size.groups if is_same else None) if name in keys else groups
            columns[name] = replace(size, groups=known if size.each else None)
        self.variables = {**self.variables, **columns}
        for one in project.order:
            self._clause(one)
        self._where(project.where)
        if token.word == "RETURN":
            return columns
        self.variables = columns
        return None

    def _told_by(self, item: tree.Item) -> set[str]:
        """Return the variable that an item of WITH or RETURN names as it is, or by the id of its node; else nothing."""
        match item.value:
            case tree.Expression(terms=(tree.Variable(name=name),)) if name in self.variables and name == item.name:
                return {name}
            case tree.Expression(terms=(tree.Chain(base=tree.Variable(name=name), steps=(tree.Property(name="id"),)),)):
                known = self.variables.get(name)
                is_node = self.is_scene and known and known.has_nodes and not known.each
                return {name} if is_node and not self.past else set()
        return set()

    clauses: ClassVar[Mapping[type[tree.Part], Callable[[Pricer, Any], Variables | None]]] = {
        tree.Match: _match,
        tree.Clause: _clause,
        tree.Subquery: _call_query,
        tree.Project: _project,
    }


def _owner_of(size: Size) -> str:
    """Return the label or the kind of a node of this size, if it is surely one; empty for all else."""
    return "" if size.each else size.kind
