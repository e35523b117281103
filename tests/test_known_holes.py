"""No version with a published vulnerability is allowed or pinned, of the packages that read what strangers send."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Final

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT: Final = Path(__file__).resolve().parent.parent
FLOORS: Final = {
    "aiohttp": ("3.13.3", "CVE-2025-69223: a small compressed body fills the memory"),
    "filelock": ("3.20.1", "CVE-2025-68146: a symbolic link truncates a file of somebody else"),
    "h11": ("0.16.0", "CVE-2025-43859: requests smuggled in chunked bodies"),
    "jinja2": ("3.1.6", "CVE-2025-27516: a template leaves the sandbox"),
    "pillow": (
        "13.0.0",
        "CVE-2023-4863 (WebP), CVE-2026-25990 (PSD), CVE-2026-96639 (frames): writes outside the image",
    ),
    "requests": ("2.32.4", "CVE-2024-47081: credentials sent to another host"),
    "starlette": ("0.49.1", "CVE-2025-62727: a Range header costs square time"),
    "urllib3": ("2.6.0", "CVE-2025-66471: a small compressed answer fills the memory"),
}
"""Lowest version without a published vulnerability, and the newest advisories below it."""


def pinned() -> dict[str, Version]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    rows = [Requirement(line) for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(row.name): Version(next(iter(row.specifier)).version) for row in rows}


def allowed() -> dict[str, Version]:
    """Return the lower bound of each of our own requirements."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    texts = [*project["dependencies"], *(text for extra in project["optional-dependencies"].values() for text in extra)]
    rows = [Requirement(text) for text in texts]
    lowest = ((row, [it.version for it in row.specifier if it.operator in {">=", "=="}]) for row in rows)
    return {canonicalize_name(row.name): Version(versions[0]) for row, versions in lowest if versions}


@pytest.mark.parametrize("name", FLOORS)
def test_no_vulnerable_version_is_pinned_or_allowed(name: str) -> None:
    """An old pin or lower bound installs a library with a known hole."""
    floor, advisory = FLOORS[name]
    assert pinned()[name] >= Version(floor), advisory
    assert allowed().get(name, Version(floor)) >= Version(floor), advisory
