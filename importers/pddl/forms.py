"""How the predicates and types of a PDDL domain are stored in a scene graph, by name or by a mapping file."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

import scenecypher.db.condition as c
from scenecypher.db.graph.scene import InvalidValue, SceneGraph, relation_type
from scenecypher.db.schema import KINDS
from scenecypher.errors import DocumentError, did_you_mean
from scenecypher.importers.bounded import read_bytes

ACTING: Final = "agent"
"""The variable of the node that acts."""
CONTAINMENT: Final = ("INSIDE", "ON", "UNDER", "ATTACHED_TO")
MAPPING_BYTES: Final = 2**20

How: TypeAlias = Literal["state", "relation", "class", "kind", "affordance", "within", "holds nothing"]
CHANGEABLE: Final[frozenset[How]] = frozenset({"state", "relation"})
DERIVED: Final[frozenset[How]] = frozenset({"within", "holds nothing"})
"""Facts that follow from others: effects on them are left out."""


@dataclass(frozen=True, slots=True)
class FactForm:
    """How a fact is stored: a state, relation, class, kind or affordance `word`, or one that follows from others.

    With `of_agent` the acting node stands for the first argument, which the predicate does not have. A relation that is
    `reverse` starts at the second argument. A state is replaced by the state `otherwise` where it ends.
    """

    how: How
    word: str = ""
    of_agent: bool = False
    reverse: bool = False
    otherwise: str | None = None

    @property
    def arities(self) -> tuple[int, ...]:
        """The numbers of arguments that a predicate of this form can have."""
        if self.how == "holds nothing":
            return (0,) if self.of_agent else (1,)
        ends = 2 if self.how in {"relation", "within"} else 1
        return (ends - self.of_agent,)

    def ends(self, arguments: tuple[c.Term, ...]) -> tuple[c.Term, ...]:
        """Return the nodes of a fact: the acting node where the predicate does not name it."""
        nodes = (ACTING, *arguments) if self.of_agent else arguments
        return nodes[::-1] if self.reverse else nodes

    def condition(self, arguments: tuple[c.Term, ...]) -> c.Condition:
        """Return the condition that the fact holds of these arguments."""
        x, *others = self.ends(arguments)
        match self.how:
            case "state":
                return c.HasState(x, self.word)
            case "class":
                return c.HasClass(x, self.word)
            case "kind":
                return c.HasKind(x, self.word)
            case "affordance":
                return c.HasAffordance(x, self.word)
            case "relation":
                return c.Related(x, self.word, others[0])
            case "within":
                return c.Within(x, others[0], CONTAINMENT)
            case "holds nothing":
                return c.Not(c.Exists("in_hand", c.HeldBy("in_hand", x)))


@dataclass(frozen=True, slots=True)
class SceneWords:
    """The words that a scene uses, by which a domain's names are understood; a new scene has none."""

    classes: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    affordances: frozenset[str] = frozenset()

    @classmethod
    def of(cls, graph: SceneGraph) -> SceneWords:
        """Return the words of a scene."""
        nodes = graph.nodes.values()
        return cls(
            frozenset(node.class_ for node in nodes),
            frozenset(state for node in nodes for state in node.states),
            frozenset(word for node in nodes for word in node.affordances),
        )


@dataclass(frozen=True, slots=True)
class DomainMapping:
    """The forms that a mapping file gives, by predicate and by type, and the type of the node that acts."""

    predicates: Mapping[str, FactForm] = field(default_factory=dict)
    types: Mapping[str, FactForm] = field(default_factory=dict)
    agent: str | None = None
    file: str = ""


EXAMPLES: Final[Mapping[str, FactForm]] = {
    "state open": FactForm("state", "open"),
    "state closed else open": FactForm("state", "closed", otherwise="open"),
    "agent state tired": FactForm("state", "tired", of_agent=True),
    "ON": FactForm("relation", "ON"),
    "HOLDS reverse": FactForm("relation", "HOLDS", reverse=True),
    "agent INSIDE": FactForm("relation", "INSIDE", of_agent=True),
    "class cup": FactForm("class", "cup"),
    "kind Place": FactForm("kind", "Place"),
    "affordance grabbable": FactForm("affordance", "grabbable"),
    "within": FactForm("within"),
    "agent within": FactForm("within", of_agent=True),
    "agent holds nothing": FactForm("holds nothing", of_agent=True),
    "holds nothing": FactForm("holds nothing"),
}
"""Every sort of text that a mapping file can give for a predicate, and its form."""


def read_mapping(path: Path) -> DomainMapping:
    """Return the mapping of a TOML file with `agent`, `[predicates]` and `[types]`. Raises DocumentError."""
    try:
        document = tomllib.loads(read_bytes(path, max_bytes=MAPPING_BYTES).decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise DocumentError(str(path), "the file", f"no valid TOML ({error}); mend it") from error
    problems: list[tuple[str, str]] = []
    for key in document.keys() - {"agent", "predicates", "types"}:
        hint = did_you_mean(key, ("agent", "predicates", "types"))
        problems.append((key, f"is no part of a mapping{hint}; it has agent, [predicates] and [types]"))
    forms: dict[str, dict[str, FactForm]] = {"predicates": {}, "types": {}}
    for part, found in forms.items():
        table = document.get(part, {})
        for name, text in table.items() if isinstance(table, dict) else ():
            try:
                found[name.lower()] = parse_form(text)
            except InvalidValue as error:
                problems.append((f"{part}.{name}", str(error)))
        if not isinstance(table, dict):
            problems.append((part, f"should be a table, written as [{part}]"))
    problems += _used_twice(forms["predicates"])
    problems += [
        (f"types.{name}", 'a type is a class, a kind or an affordance, such as "kind Place"')
        for name, form in forms["types"].items()
        if form.how not in {"class", "kind", "affordance"} or form.of_agent
    ]
    agent = document.get("agent")
    if agent is not None and not isinstance(agent, str):
        problems.append(("agent", "should be the name of a type"))
    if problems:
        (place, cause), *more = problems
        raise DocumentError(str(path), place, cause, more=more)
    return DomainMapping(forms["predicates"], forms["types"], agent.lower() if agent else None, str(path))


def parse_form(text: object) -> FactForm:
    """Return the form of one of the texts that EXAMPLES shows. Raises InvalidValue."""
    words = text.split() if isinstance(text, str) else []
    of_agent = words[:1] == ["agent"]
    match words[1:] if of_agent else words:
        case ["state", state]:
            return FactForm("state", state, of_agent)
        case ["state", state, "else", otherwise]:
            return FactForm("state", state, of_agent, otherwise=otherwise)
        case ["class" | "affordance" as how, word] if not of_agent:
            return FactForm("class" if how == "class" else "affordance", word)
        case ["kind", word] if not of_agent and word in KINDS:
            return FactForm("kind", word)
        case ["within"]:
            return FactForm("within", of_agent=of_agent)
        case ["holds", "nothing"]:
            return FactForm("holds nothing", of_agent=of_agent)
        case [type_]:
            return FactForm("relation", relation_type(type_), of_agent)
        case [type_, "reverse"] if not of_agent:
            return FactForm("relation", relation_type(type_), reverse=True)
    shapes = ", ".join(f'"{example}"' for example in EXAMPLES)
    msg = f"{text!r} is no single form; write one such as {shapes}"
    raise InvalidValue(msg)


def _used_twice(forms: Mapping[str, FactForm]) -> Iterable[tuple[str, str]]:
    first: dict[tuple[str, str, bool], str] = {}
    for name, form in forms.items():
        key = (form.how, form.word, form.of_agent)
        other = first.setdefault(key, name)
        if other != name and form.how in CHANGEABLE:
            yield f"predicates.{name}", f"is stored as {form.word!r}, which is {other} already; give each its own"
