"""Whether the packages that `scenecypher` stands on are really ours: a stray `db.py` beside a script would hide one."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from scenecypher.errors import InputError

ROOMS: Final = ("db", "chat", "importers", "retriever", "planner", "evaluation")


class ShadowedPackage(InputError, ImportError):
    """Python finds another module where one of our packages should be."""

    def __init__(self, name: str, found: str) -> None:
        super().__init__(
            f"SceneCypher's package {name!r} is hidden by {found}: rename that file or folder, "
            "or start Python from another folder"
        )
        self.name, self.path = name, found


def check_rooms() -> None:
    """Refuse to go on with a stranger's module; `ShadowedPackage` names it.

    Without this, the first import of a submodule fails with "'db' is not a package", far from the cause.
    """
    house = Path(__file__).resolve().parent.parent
    for name in ROOMS:
        spec = find_spec(name)
        if spec and spec.origin and not Path(spec.origin).resolve().is_relative_to(house / name):
            raise ShadowedPackage(name, spec.origin)
