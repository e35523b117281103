"""A domain as data, how its predicates and types are stored in a scene, and the JSON that is stored with it."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import Formatter
from typing import Annotated, Any, Final, Literal, NamedTuple, TypeAlias, cast

from pydantic import AfterValidator, ConfigDict, Field, PlainSerializer, PlainValidator, RootModel

import scenecypher.db.condition as c
from scenecypher.db.condition.condition_json import TermForm
from scenecypher.db.graph.field_types import Form, Label, as_validator
from scenecypher.db.graph.graph_json import canonical_json
from scenecypher.db.graph.problems import validated
from scenecypher.db.graph.scene import InvalidValue, SceneGraph, relation_type
from scenecypher.db.graph.value import shown
from scenecypher.db.schema import KINDS, Declared
from scenecypher.errors import DocumentError
from scenecypher.importers.json_file import read_text
from scenecypher.importers.pddl.syntax import PddlFile

ACTING: Final = "agent"
"""The variable of the node that acts."""
CONTAINMENT: Final = ("INSIDE", "ON", "UNDER", "ATTACHED_TO")
MAPPING_BYTES: Final = 2**20

How: TypeAlias = Literal["state", "relation", "class", "kind", "affordance", "within", "holds nothing"]
CHANGEABLE: Final[frozenset[How]] = frozenset({"state", "relation"})
DERIVED: Final[frozenset[How]] = frozenset({"within", "holds nothing"})
"""Facts that follow from others: effects on them are left out."""
_CONDITIONS: Final[Mapping[How, Callable[..., c.Condition]]] = {
    "state": c.HasState,
    "class": c.HasClass,
    "kind": c.HasKind,
    "affordance": c.HasAffordance,
    "relation": c.Related,
    "within": lambda x, _, y: c.Within(x, y, CONTAINMENT),
    "holds nothing": lambda x, _: c.Not(c.Exists("in_hand", c.HeldBy("in_hand", x))),
}
NO_AGENT: Final = ""
"""The type of the node that acts where no object of the domain does."""
FORM_EXAMPLES: Final = (
    *("state open", "state closed else open", "agent state tired", "ON", "HOLDS reverse", "agent INSIDE", "class cup"),
    *("kind Place", "affordance grabbable", "within", "agent within", "agent holds nothing", "holds nothing"),
)
"""Every sort of text that a mapping file can give for a predicate."""
_FORM: Final = re.compile(
    r"(?P<of_agent>agent )?(?:state (?P<state>\S+)(?: else (?P<otherwise>\S+))?|(?P<derived>within|holds nothing)"
    r"|(?P<type>\S+))|(?P<of_type>class|affordance|kind) (?P<word>.+)|(?P<back>\S+) reverse"
)
_Words: TypeAlias = Annotated[str, Field(max_length=4_000)]
_Variable: TypeAlias = Annotated[str, Field(pattern=f"^{c.VARIABLE.pattern}$")]
_Condition: TypeAlias = Annotated[
    c.Condition,
    PlainValidator(as_validator(lambda it: c.condition_from_document(it, file="a condition"))),
    PlainSerializer(c.condition_document),
]
_Term: TypeAlias = Annotated[TermForm, PlainSerializer(lambda it: {"id": it.id} if isinstance(it, c.Id) else it)]
_EXACT: Final = ConfigDict(extra="forbid")


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
        return _CONDITIONS[self.how](x, self.word, *others)


@dataclass(frozen=True, slots=True)
class SceneWords:
    """The words that a scene uses, by which a domain's names are understood; a new scene has none.

    `ids` gives the node that each id and each name of one node stands for, in lower case.
    """

    classes: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    affordances: frozenset[str] = frozenset()
    ids: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, graph: SceneGraph) -> SceneWords:
        """Return the words of a scene."""
        nodes = graph.nodes.values()
        names = Counter(node.name.lower() for node in nodes)
        by_name = {node.name.lower(): node.id for node in nodes if names[node.name.lower()] == 1}
        return cls(
            frozenset(node.class_ for node in nodes),
            frozenset(state for node in nodes for state in node.states),
            frozenset(word for node in nodes for word in node.affordances),
            by_name | {node_id.lower(): node_id for node_id in graph.nodes},
        )


@dataclass(frozen=True, slots=True)
class DomainMapping:
    """The forms that a mapping file gives, by predicate and by type, and the type of the node that acts."""

    predicates: Mapping[str, FactForm] = field(default_factory=dict)
    types: Mapping[str, FactForm] = field(default_factory=dict)
    agent: str | None = None
    file: str = ""


def parse_form(text: object) -> FactForm:
    """Return the form of one of the texts that FORM_EXAMPLES shows. Raises InvalidValue."""
    found = _FORM.fullmatch(" ".join(text.split())) if isinstance(text, str) else None
    given: dict[str, str] = {key: it for key, it in found.groupdict().items() if it is not None} if found else {}
    match given:
        case {"of_type": "kind", "word": word} if word not in KINDS:
            pass
        case {"of_type": how, "word": word}:
            return FactForm(cast("How", how), word)
        case {"back": type_}:
            return FactForm("relation", relation_type(type_), reverse=True)
        case {"state": state}:
            return FactForm("state", state, "of_agent" in given, otherwise=given.get("otherwise"))
        case {"derived": how}:
            return FactForm(cast("How", how), of_agent="of_agent" in given)
        case {"type": type_}:
            return FactForm("relation", relation_type(type_), "of_agent" in given)
    shapes = ", ".join(f'"{example}"' for example in FORM_EXAMPLES)
    raise InvalidValue(f"{shown(text)} is no single form; write one such as {shapes}")


def type_form(text: object) -> FactForm:
    """Return the form of a type. Raises InvalidValue."""
    form = parse_form(text)
    if form.how not in {"class", "kind", "affordance"}:
        raise InvalidValue(f'{shown(text)} is no form of a type; write one such as "class cup", "kind Place"')
    return form


def form_text(form: FactForm) -> str:
    """Return the text of a form; `parse_form` gives the form back."""
    agent = ["agent"] if form.of_agent else []
    word = [form.word] if form.word else []
    match form.how:
        case "relation":
            return " ".join((*agent, *word, *(["reverse"] if form.reverse else [])))
        case how:
            return " ".join((*agent, how, *word, *(["else", form.otherwise] if form.otherwise else [])))


class _MappingForm(Form):
    """A mapping file."""

    agent: str | None = None
    predicates: dict[str, Annotated[FactForm, PlainValidator(as_validator(parse_form))]] = Field(default_factory=dict)
    types: dict[str, Annotated[FactForm, PlainValidator(as_validator(type_form))]] = Field(default_factory=dict)


def read_mapping(path: Path) -> DomainMapping:
    """Return the mapping of a TOML file with `agent`, `[predicates]` and `[types]`. Raises DocumentError."""
    try:
        document = tomllib.loads(read_text(path, max_bytes=MAPPING_BYTES))
    except tomllib.TOMLDecodeError as error:
        raise DocumentError(str(path), "the file", f"no valid TOML ({error}); mend it") from error
    form = validated(_MappingForm, document, str(path))
    predicates, types = ({name.lower(): it for name, it in table.items()} for table in (form.predicates, form.types))
    return DomainMapping(predicates, types, form.agent.lower() if form.agent else None, str(path))


def _message(words: str) -> str:
    """Return the words of a requirement if what stands in their braces are variables."""
    try:
        places = [(name, form, mark) for _, name, form, mark in Formatter().parse(words) if name is not None]
    except ValueError as error:
        raise InvalidValue(f"{words[:60]!r} has a brace that is no variable's ({error}); double it") from error
    for name, form, mark in places:
        if not c.VARIABLE.fullmatch(name) or form or mark:
            raise InvalidValue(f"{{{name[:60]}}} in {words[:60]!r} is no variable; write {{x}}")
    return words


_Message: TypeAlias = Annotated[_Words, AfterValidator(as_validator(_message))]
_FactForm: TypeAlias = Annotated[FactForm, PlainValidator(as_validator(parse_form)), PlainSerializer(form_text)]


@dataclass(frozen=True, slots=True)
class ActionParameter:
    """A parameter of an action, and the types that a node must be of one of; none for any node."""

    __pydantic_config__ = _EXACT

    name: _Variable
    types: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True)
class ActionRequirement:
    """One conjunct of a precondition; `words` are its PDDL text, with ``{x}`` for the node x.

    `of_type` says that it is the type of a parameter.
    """

    __pydantic_config__ = _EXACT

    condition: _Condition
    words: _Message
    of_type: bool = False


class EachNode(NamedTuple):
    """A variable that stands for each node of which a condition is true."""

    var: _Variable
    where: _Condition


_Each: TypeAlias = Annotated[EachNode, PlainSerializer(lambda it: {"var": it[0], "where": c.condition_document(it[1])})]


@dataclass(frozen=True, slots=True)
class ActionEffect:
    """A fact that begins or ends to hold where `when` is true, for `each` variable's nodes of which a condition is."""

    __pydantic_config__ = _EXACT

    form: _FactForm
    nodes: tuple[_Term, ...]
    holds: bool
    when: _Condition = c.ALWAYS
    each: tuple[_Each, ...] = ()


@dataclass(frozen=True, slots=True)
class DomainAction:
    """An action without the node that acts among its parameters."""

    __pydantic_config__ = _EXACT

    name: _Variable
    words: _Words
    parameters: tuple[ActionParameter, ...]
    requires: tuple[ActionRequirement, ...]
    effects: tuple[ActionEffect, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """A domain: the form of each predicate and type, its constants by name, its actions, and what was left out.

    `goal` is that of the problem whose scene the actions are for, if it has one. `others` are domains that the scene
    was given before. `notes` are not stored.
    """

    __pydantic_config__ = _EXACT

    name: Label
    predicates: Mapping[Label, _FactForm]
    types: Mapping[Label, tuple[_FactForm, ...]]
    constants: Mapping[Label, Label]
    actions: Annotated[tuple[DomainAction, ...], Field(min_length=1)]
    agent_types: Annotated[frozenset[Label], PlainSerializer(sorted)] = frozenset()
    notes: Annotated[tuple[str, ...], Field(exclude=True)] = ()
    goal: _Condition | None = None
    others: tuple[Domain, ...] = ()
    version: Literal[1] = 1

    @property
    def all_domains(self) -> tuple[Domain, ...]:
        """The domains of the scene, oldest first."""
        return (*self.others, self)

    @property
    def all_actions(self) -> tuple[DomainAction, ...]:
        """The actions of all domains of the scene."""
        return tuple(action for domain in self.all_domains for action in domain.actions)


class _Stored(RootModel[Domain]):
    """A stored domain."""


def domain_document(domain: Domain) -> dict[str, Any]:
    """Return a domain as JSON; `domain_from_document` gives the same domain back, without its notes."""
    document: dict[str, Any] = _Stored.model_construct(domain).model_dump(
        mode="json", exclude_none=True, exclude={"others"}
    )
    others = [domain_document(other) for other in domain.others]
    return document | ({"others": others} if others else {})


def domain_from_document(document: object, *, file: str) -> Domain:
    """Parse a JSON document. Raises DocumentError with every problem and its JSON path; `file` names it."""
    return validated(_Stored, document, file).root


def declaration_of(domain: Domain, source: PddlFile, also: Declared | None = None) -> Declared:
    """Return what a scene with the actions of a domain declares: its relations and actions, and `also`."""
    types = (form.word for form in domain.predicates.values() if form.how == "relation")
    known = also or Declared()
    actions = canonical_json(domain_document(domain))
    return replace(known, relation_types=(*known.relation_types, *types), actions=actions, domain=source.text)
