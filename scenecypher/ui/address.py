"""Addresses of the pages about one scene at one version."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlencode


@dataclass(frozen=True, slots=True)
class Address:
    """The pages about a scene; `version` is None for the scene as it is now."""

    scene: str
    version: int | None = None

    def home(self, **fields: object) -> str:
        """Return the address of the home, at this version unless `fields` name another."""
        return self._of("/home", **fields)

    def newest(self) -> Address:
        """Return the address of the scene as it is now."""
        return Address(self.scene)

    def node(self, node: str) -> str:
        """Return the address of all that is known of a node."""
        return self._of("/node", id=node)

    def map(self, found: Iterable[str]) -> str:
        """Return the address of what the map draws, with nodes that stand out."""
        return self._of("/map", found=",".join(found))

    def timeline(self) -> str:
        """Return the address of the versions and runs, for the line below the map."""
        return self._of("/timeline")

    def live(self) -> str:
        """Return the address that tells of each new version."""
        return self._of("/live")

    def thumbnail(self) -> str:
        """Return the address of the home as a small picture."""
        return self._of("/thumbnail")

    def inspect(self, node: str) -> str:
        """Return the address of what a node is and what can be done with it, a part of a page."""
        return self._of("/inspect", id=node)

    def room(self, node: str) -> str:
        """Return the address of the things in a room, a part of a page."""
        return self._of("/room", id=node)

    def runs(self) -> str:
        """Return the address of what was carried out and asked here."""
        return self._of("/runs")

    def belief(self) -> str:
        """Return the address of the belief beside its world."""
        return self._of("/belief")

    def _of(self, path: str, **fields: object) -> str:
        version = {} if self.version is None else {"version": self.version}
        return f"{path}?{urlencode({'scene': self.scene, **version, **fields}, doseq=True)}"
