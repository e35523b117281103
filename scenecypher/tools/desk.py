"""What a tool works with: the scenes that it may see, and who hears of its progress."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

from scenecypher.errors import SceneNotFound

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.home import Home
    from scenecypher.planner.actions.ruled import Answer
    from scenecypher.readable import ReadableHome


T = TypeVar("T")


class Homes(Protocol):
    """Homes by their names."""

    def home(self, name: str) -> Home:
        """Return the home of a scene. Raises SceneNotFound."""
        ...

    def home_at(self, name: str) -> ReadableHome:
        """Return the home of this very name, or else what ``NAME@VERSION`` or ``NAME@TIME`` means.

        Raises SceneNotFound; InputError for a version or a time that the scene does not have.
        """
        ...

    def scenes(self) -> list[SceneInfo]:
        """Return the facts of all scenes, by name."""
        ...


@dataclass(frozen=True, slots=True)
class OnlyScene:
    """The homes of one scene: its world and the belief about it. Others do not exist."""

    homes: Homes
    name: str

    def home(self, name: str) -> Home:
        """Return one of the scene's homes. Raises SceneNotFound, and InputError for an earlier state."""
        from scenecypher.db.store.catalog import read_only_error, split_at

        parts = split_at(name)
        if parts and parts[0] in self._names():
            raise read_only_error(name)
        return self._found(name, name, self.homes.home)

    def home_at(self, name: str) -> ReadableHome:
        """Return one of the scene's homes, as it is or as it was. Raises SceneNotFound, InputError."""
        from scenecypher.db.store.catalog import split_at

        parts = split_at(name)
        found = self._found(name, parts[0] if parts else name, self.homes.home_at)
        return self._found(name, found.name, lambda _: found)

    def scenes(self) -> list[SceneInfo]:
        """Return the facts of the scene, and of the belief about it if there is one."""
        return [it for it in self.homes.scenes() if it.name in self._names()]

    def _found(self, name: str, stem: str, find: Callable[[str], T]) -> T:
        """Return a home if `stem` is a name of the scene. Raises SceneNotFound, which suggests this scene alone."""
        if stem in self._names():
            with suppress(SceneNotFound):
                return find(name)
        raise SceneNotFound(name, (self.name,))

    def _names(self) -> tuple[str, str]:
        from scenecypher.planner.worlds.belief import belief_name

        return self.name, belief_name(self.name)


@dataclass(frozen=True, slots=True)
class OneHome:
    """A home that is there already, as the only one."""

    only: Home

    def home(self, name: str) -> Home:
        """Return the home. Raises SceneNotFound for another name."""
        if name != self.only.name:
            raise SceneNotFound(name, (self.only.name,))
        return self.only

    def home_at(self, name: str) -> ReadableHome:
        """Return the home, as it is or as it was. Raises SceneNotFound, InputError."""
        from scenecypher.db.store.catalog import split_at

        parts = None if name == self.only.name else split_at(name)
        return self.home(name) if parts is None else self.home(parts[0]).at(parts[1])

    def scenes(self) -> list[SceneInfo]:
        """Return the facts of the home."""
        return [self.only.info]


@dataclass(frozen=True, slots=True)
class Desk:
    """The scenes of a tool call; `report` hears of each step, and `is_stopped` is asked between two of them.

    `ask` asks a person; None: nobody is there.
    """

    homes: Homes
    report: Callable[[str], None] = lambda _: None
    is_stopped: Callable[[], bool] = lambda: False
    ask: Answer | None = None
