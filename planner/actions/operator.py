"""Operators as pure data: parameters, preconditions, effects, and words for a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from scenecypher.db.condition import Condition, Exists, HeldBy, Not, Same
from scenecypher.db.graph.value import Value, checked, property_name

AGENT: Final = "agent"
"""The variable of the acting node."""

Fault: TypeAlias = Literal["missing", "affordance", "already"]
"""The reason of a refusal: a step is missing, this node never allows the action, or the effect holds already."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an action; `words` describe it in prompts."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Choose:
    """Bind `var` to the lowest id that meets the first satisfiable alternative of `among`; else leave it unbound."""

    var: str
    among: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """An action that makes a requirement hold; `choose` binds those of its `arguments` that are still unbound.

    With `tells_choices`, a refusal names it with the nodes to choose from.
    """

    action: str
    arguments: tuple[str, ...]
    choose: tuple[Choose, ...] = ()
    tells_choices: bool = False


@dataclass(frozen=True, slots=True)
class Requirement:
    """One conjunct of a precondition; `message` says what is wrong if it is false, with ``{x}`` for the node x.

    `repair` is the advice to a model and the action that rule-based correction inserts; None means that no rule exists.
    If each condition of `held_earlier` held at some earlier time, the mistake is a wrong order, not a missing step.
    """

    condition: Condition
    message: str
    fault: Fault = "missing"
    repair: Repair | None = None
    held_earlier: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Become:
    """Add `state` to `x` and remove the state `instead_of`."""

    x: str
    state: str
    instead_of: str | None = None


@dataclass(frozen=True, slots=True)
class Cease:
    """Remove `state` from `x`."""

    x: str
    state: str


@dataclass(frozen=True, slots=True)
class Assign:
    """Set the property `key` of `x` to `value`."""

    x: str
    key: str
    value: Value

    def __post_init__(self) -> None:
        property_name(self.key)
        object.__setattr__(self, "value", checked(self.value, self.key))


@dataclass(frozen=True, slots=True)
class Forget:
    """Remove the property `key` of `x`: its value is unknown from now on."""

    x: str
    key: str

    def __post_init__(self) -> None:
        property_name(self.key)


@dataclass(frozen=True, slots=True)
class Relate:
    """Add the relation from `source` to `target`; if `mutual`, also the relation back."""

    source: str
    type: str
    target: str
    mutual: bool = False


@dataclass(frozen=True, slots=True)
class Unrelate:
    """Remove the relations of `types` between `x` and `other`; None stands for any node.

    If `directed`, remove only relations that start at `x`.
    """

    x: str
    types: tuple[str, ...]
    other: str | None = None
    directed: bool = False


@dataclass(frozen=True, slots=True)
class ForEach:
    """Apply `effects` for every node that makes `where` true when bound to `var`."""

    var: str
    where: Condition
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class When:
    """Apply `effects` if `condition` holds, else `otherwise`."""

    condition: Condition
    effects: tuple[Effect, ...]
    otherwise: tuple[Effect, ...] = ()


Effect: TypeAlias = Become | Cease | Assign | Forget | Relate | Unrelate | ForEach | When
"""All conditions are evaluated before any change; a fact that is both removed and added remains (as in PDDL).

If a property is set twice, the last value counts. An effect on an unbound variable is a no-op.
"""


@dataclass(frozen=True, slots=True)
class Operator:
    """One action. `choose` binds variables, in order, before `requires` and `effects` are evaluated."""

    name: str
    parameters: tuple[Parameter, ...]
    requires: tuple[Requirement, ...]
    effects: tuple[Effect, ...]
    words: str
    choose: tuple[Choose, ...] = field(default=())

    @property
    def signature(self) -> str:
        """The action as it is typed: ``put_on(object, surface)``."""
        return f"{self.name}({', '.join(parameter.name for parameter in self.parameters)})"


def is_bound(var: str) -> Condition:
    """Return the condition that `var` is bound to a node."""
    return Same(var, var)


def asks_empty_hand(condition: Condition) -> bool:
    """Return whether a condition says that the agent holds nothing."""
    match condition:
        case Not(Exists(var, HeldBy(x, holder))):
            return x == var and holder == AGENT
    return False


def nested_effects(effects: Iterable[Effect]) -> Iterator[Effect]:
    """Yield the effects and, after each, those within it."""
    for effect in effects:
        yield effect
        if isinstance(effect, When):
            yield from nested_effects((*effect.effects, *effect.otherwise))
        elif isinstance(effect, ForEach):
            yield from nested_effects(effect.effects)
