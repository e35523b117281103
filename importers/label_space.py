"""Hydra's label spaces: YAML files that name the numbers of semantic labels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

from scenecypher.db.graph.field_types import Label
from scenecypher.db.graph.problems import document_error, validated
from scenecypher.errors import DocumentError
from scenecypher.importers.json_file import read_document

NAMES: Final = "label_names"


class _Entry(BaseModel):
    model_config = ConfigDict(strict=True, extra="ignore")

    label: Annotated[int, Field(ge=0)]
    name: Label


class _LabelFile(BaseModel):
    label_names: list[_Entry]


@dataclass(frozen=True, slots=True)
class LabelSpace:
    """The names of labels in a file."""

    file: str
    names: Mapping[int, str]

    def refuse_missing(self, numbers: Mapping[int, int]) -> None:
        """Check that each label is named; `numbers` maps it to how many nodes have it. Raises DocumentError."""
        missing = {number: count for number, count in sorted(numbers.items()) if number not in self.names}
        causes = [
            f"label {number} has no name, and {count:,} node{'' if count == 1 else 's'} of the map ha"
            f"{'s' if count == 1 else 've'} it; add `- {{label: {number}, name: ...}}`"
            for number, count in missing.items()
        ]
        if causes:
            raise document_error(self.file, [(f"$.{NAMES}", cause) for cause in causes])


def read_labels(path: Path) -> LabelSpace:
    """Return the label space of a file such as `uhumans2_apartment_label_space.yaml`.

    Only `label_names` is read. Raises DocumentError with all its problems.
    """
    document = read_document(path)
    if not isinstance(document, dict) or not isinstance(document.get(NAMES), list):
        cause = f"no list {NAMES!r} is here, with lines such as `- {{label: 5, name: chair}}`"
        raise DocumentError(str(path), "$", f"{cause}; give a label space of Hydra")
    first: dict[int, int] = {}
    entries = validated(_LabelFile, document, str(path)).label_names
    repeated = [
        (f"$.{NAMES}[{index}]", f"label {it.label} has a name at {NAMES}[{first[it.label]}] already; keep one")
        for index, it in enumerate(entries)
        if first.setdefault(it.label, index) != index
    ]
    if repeated:
        raise document_error(str(path), repeated)
    return LabelSpace(str(path), {it.label: it.name for it in entries})
