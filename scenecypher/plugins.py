"""Plug-ins: what installed packages bring, found by the entry points of a group."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from scenecypher.errors import InputError, did_you_mean

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plugins(Mapping[str, T]):
    """Values by name: `ours`, and those that installed packages bring as entry points of the group `group`.

    Each is a `type`; `what` names one in messages. A package's is loaded when it is looked up, and can't take the name
    of one of ours.
    """

    group: str
    what: str
    type: type[T]
    ours: Mapping[str, T]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names: ours first, then those of packages, sorted."""
        return iter(dict.fromkeys((*self.ours, *installed(self.group))))

    def __len__(self) -> int:
        """Return the number of names."""
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        """Check if a name is known, without loading anything."""
        return name in self.ours or name in installed(self.group)

    def __getitem__(self, name: str) -> T:
        """Return the value of a name. Raises KeyError; InputError for one that can't be read from its package."""
        if name in self.ours:
            return self.ours[name]
        for point in entry_points(group=self.group, name=name):
            return load(point, self.what, self.type)
        raise KeyError(name)

    def named(self, name: str) -> T:
        """Return the value of a name. Raises InputError for an unknown one, or one that can't be read."""
        if name not in self:
            hint, known = did_you_mean(name[:60], tuple(self)), ", ".join(self)
            raise InputError(f"there is no {self.what} {name[:60]!r}{hint}; choose one of {known}")
        return self[name]


def installed(group: str) -> tuple[str, ...]:
    """Return the names of a group's entry points, sorted."""
    return _installed(group, tuple(sys.path))


@cache
def _installed(group: str, _: tuple[str, ...]) -> tuple[str, ...]:
    """Search all installed packages, in some 15 ms: once for each `sys.path`."""
    return tuple(sorted({it.name for it in entry_points(group=group)}))


def load(point: EntryPoint, what: str, type_: type[T]) -> T:
    """Return the value that an entry point names, which must be a `type_`. Raises InputError."""
    try:
        found: Any = point.load()
    except Exception as error:
        raise unreadable(point, what, str(error)) from error
    if not isinstance(found, type_):
        raise unreadable(point, what, f"it is a {type(found).__name__}, no {type_.__name__}")
    return found


def unreadable(point: EntryPoint, what: str, why: str) -> InputError:
    """Return the error about an entry point whose value can't be used."""
    return InputError(f"the {what} {point.name!r} can't be read from {point.value}: {why}; mend that package")
