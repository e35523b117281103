"""Macros as data: actions that are carried out as several others, such as LookPlanGraph's `rearrange`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from scenecypher.errors import ActionRefused, did_you_mean
from scenecypher.planner.actions.operator import Parameter
from scenecypher.planner.actions.text import ActionCall, argument_count


@dataclass(frozen=True, slots=True)
class Macro:
    """An action that expands to several; one word among its arguments selects the expansion.

    It is written ``name(first, word, others)``. `expansions` gives the steps by that word, each an operator's name and
    the parameter that it takes; `aliases` are other spellings.
    """

    name: str
    parameters: tuple[Parameter, ...]
    word: str
    expansions: Mapping[str, tuple[tuple[str, str], ...]]
    words: str
    aliases: Mapping[str, str] = field(default_factory=dict)

    @property
    def signature(self) -> str:
        """The macro as it is typed: ``rearrange(x, relation, y)``."""
        first, *others = (parameter.name for parameter in self.parameters)
        return f"{self.name}({', '.join((first, self.word, *others))})"

    def steps(self, call: ActionCall) -> tuple[ActionCall, ...]:
        """Return the steps of `call`. Raises ActionRefused."""
        if len(call.arguments) != len(self.parameters) + 1:
            expected = f"it takes {len(self.parameters) + 1}, as in {self.signature}"
            raise ActionRefused(str(call), [f"{argument_count(call)}; {expected}"])
        first, word, *others = call.arguments
        word = self.aliases.get(word.casefold(), word.casefold())
        if word not in self.expansions:
            known = ", ".join(self.expansions)
            hint = did_you_mean(word[:60], tuple(self.expansions))
            raise ActionRefused(str(call), [f"{word[:60]!r} is no {self.word}{hint}; choose one of {known}"])
        nodes = dict(zip((parameter.name for parameter in self.parameters), (first, *others), strict=True))
        return tuple(ActionCall(name, (nodes[parameter],)) for name, parameter in self.expansions[word])
