"""Classes of options in place of parameters."""

from __future__ import annotations

from inspect import signature
from typing import Annotated

from scenecypher.cli.options import ImportOptions, Timeouts, with_options


def test_the_fields_of_a_class_stand_for_its_parameter() -> None:
    """All of them, or those alone that the command names, at the parameter's place; the command gets the class."""
    got: list[object] = []

    @with_options
    def bring(
        path: str, *, how: ImportOptions, timeouts: Annotated[Timeouts, {"read_timeout_s"}], last: int = 1
    ) -> None:
        """Bring it."""
        got.extend((path, how, timeouts, last))

    fields = ("vocabulary", "agent", "place", "vectors", "replaces", "dry_run", "as_json")
    assert tuple(signature(bring).parameters) == ("path", *fields, "read_timeout_s", "last")
    assert (bring.__name__, bring.__doc__) == ("bring", "Bring it.")
    given = {**dict.fromkeys(fields), "replaces": True, "dry_run": False, "as_json": False}
    bring(path="home.json", read_timeout_s=2.0, last=3, **given)
    assert got == ["home.json", ImportOptions(replaces=True), Timeouts(read_timeout_s=2.0), 3]
