"""Operators as pure data: what an action is done with, what it needs, what it changes, and words for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from scenecypher.db.condition import Condition, Same
from scenecypher.db.graph.value import Value, checked, property_name

AGENT: Final = "agent"
"""The variable that stands for the node that acts."""

Fault: TypeAlias = Literal["missing", "affordance", "already"]
"""Why an action is refused: something has to be done first, it can never be done with this, or it is so already."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """What an action is done with; `words` say what it is, for prompts."""

    name: str
    words: str


@dataclass(frozen=True, slots=True)
class Choose:
    """Binds `var` to the first node, by id, of the first alternative that any node meets; else it stays unbound."""

    var: str
    among: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """An action that makes a requirement hold; `choose` binds what of its `arguments` is not bound yet."""

    action: str
    arguments: tuple[str, ...]
    choose: tuple[Choose, ...] = ()


@dataclass(frozen=True, slots=True)
class Requirement:
    """A part of a precondition; `message` says what is wrong where it does not hold, ``{x}`` being the node x.

    `repair` is what to do about it: advice to a model, and what a correction by rule inserts. Without one there is
    no rule. Where each of `once` held at some earlier time, the action is not lacking a step: it comes in wrong order.
    """

    condition: Condition
    message: str
    fault: Fault = "missing"
    repair: Repair | None = None
    held_earlier: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class Become:
    """`x` comes to be in `state`, and leaves the state `instead_of`."""

    x: str
    state: str
    instead_of: str | None = None


@dataclass(frozen=True, slots=True)
class Cease:
    """`x` is in `state` no longer."""

    x: str
    state: str


@dataclass(frozen=True, slots=True)
class Assign:
    """The property `key` of `x` comes to have `value`."""

    x: str
    key: str
    value: Value

    def __post_init__(self) -> None:
        property_name(self.key)
        object.__setattr__(self, "value", checked(self.value, self.key))


@dataclass(frozen=True, slots=True)
class Forget:
    """The property `key` of `x` is unknown from now on."""

    x: str
    key: str

    def __post_init__(self) -> None:
        property_name(self.key)


@dataclass(frozen=True, slots=True)
class Relate:
    """`source` comes to have the relation to `target`, and `target` to `source` where it is `mutual`."""

    source: str
    type: str
    target: str
    mutual: bool = False


@dataclass(frozen=True, slots=True)
class Unrelate:
    """`x` loses its relations of `types` to and from `other`; to and from everything where that is None.

    Where it is `directed`, only those that lead from `x`.
    """

    x: str
    types: tuple[str, ...]
    other: str | None = None
    directed: bool = False


@dataclass(frozen=True, slots=True)
class ForEach:
    """`effects` for every node that, as `var`, makes `where` true."""

    var: str
    where: Condition
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class When:
    """`effects` where `condition` holds, else those of `otherwise`."""

    condition: Condition
    effects: tuple[Effect, ...]
    otherwise: tuple[Effect, ...] = ()


Effect: TypeAlias = Become | Cease | Assign | Forget | Relate | Unrelate | ForEach | When
"""All conditions are read before anything changes; what is both lost and gained is there in the end (as in PDDL).

Of two values for one property the last one counts. An effect on a variable that is unbound does nothing.
"""


@dataclass(frozen=True, slots=True)
class Operator:
    """One action. `choose` binds variables, in order, before `requires` and `effects` are read."""

    name: str
    parameters: tuple[Parameter, ...]
    requires: tuple[Requirement, ...]
    effects: tuple[Effect, ...]
    words: str
    choose: tuple[Choose, ...] = field(default=())

    @property
    def signature(self) -> str:
        """As it is typed: ``put_on(object, surface)``."""
        return f"{self.name}({', '.join(parameter.name for parameter in self.parameters)})"


def is_bound(var: str) -> Condition:
    """Whether `var` stands for a node."""
    return Same(var, var)
