"""Selection of an experiment's parts and tasks by its options."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import TypeAlias, TypeVar

from scenecypher.errors import InputError, did_you_mean

S = TypeVar("S", bound=str)
T = TypeVar("T")
Names: TypeAlias = str | Sequence[str]
"""Names separated by commas, or a list, since Inspect's command line makes a list of values with commas."""


def take_spread(items: Iterable[T], limit: int, seed: int | None = None) -> list[T]:
    """Return `limit` items in order, evenly spread since neighbours are alike, or drawn by `seed`; all if it is 0."""
    found = list(items)
    if not limit or limit >= len(found):
        return found
    if seed is not None:
        return [found[at] for at in sorted(Random(seed).sample(range(len(found)), limit))]  # noqa: S311 - no secret
    return [found[at * len(found) // limit] for at in range(limit)]


def take_of_each(items: Iterable[T], limit: int, seed: int | None = None, *, kind: Callable[[T], str]) -> list[T]:
    """Return `limit` items in order, as many of each kind as of the others, those of a kind as by `take_spread`."""
    found = list(items)
    if not limit or limit >= len(found):
        return found
    kinds: dict[str, list[int]] = {}
    for at, item in enumerate(found):
        kinds.setdefault(kind(item), []).append(at)
    shares = Counter[str]()
    while left := limit - shares.total():
        having = [name for name in sorted(kinds) if shares[name] < len(kinds[name])]
        shares.update(take_spread(having, left, seed))
    return [found[at] for at in sorted(at for name in shares for at in take_spread(kinds[name], shares[name], seed))]


def split_names(names: Names) -> list[str]:
    """Return the single names."""
    words = names.split(",") if isinstance(names, str) else map(str, names)
    return [word.strip() for word in words if word.strip()]


def select_names(what: str, names: Names, known: Sequence[S]) -> tuple[S, ...]:
    """Return the selected `names`, or all. Raises InputError for unknown names and for none at all."""
    if names == "all":
        return tuple(known)
    words = split_names(names) or [""]
    by_name: dict[str, S] = {one: one for one in known}
    for name in words:
        if name not in by_name:
            hint = did_you_mean(name[:60], (*known, "all")) or f"; choose all or some of {', '.join(known)}"
            raise InputError(f"{name[:60]!r} is not a {what}{hint}")
    return tuple(by_name[name] for name in words)
