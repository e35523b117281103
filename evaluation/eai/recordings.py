"""Recorded outputs of 15 models for the Embodied Agent Interface: a PyPI wheel, downloaded once and read as a zip."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from scenecypher.errors import InputError, ServiceError, did_you_mean
from scenecypher.evaluation.eai.task_table import EAI_TASKS

PACKAGE: Final = "virtualhome_eval==0.1.1"
WHEEL: Final = "virtualhome_eval-0.1.1-py3-none-any.whl"
SHA256: Final = "a4e244f423edfc0da2ec7b7daf48f2fca8af00afe6f2af07b8f1e53d8c79de37"

ENDING: Final = "_outputs.json"
MAX_FILE_BYTES: Final = 8 * 2**20
"""Ten times the largest file of the wheel."""
MAX_FILES: Final = 1_000
"""Models that one task may have."""
MAX_OUTPUTS: Final = 100_000
SCENE_PREFIX: Final = "scene_1_"
"""Prefix of a task's id in sub-goal decomposition."""
DOWNLOAD_S: Final = 1_800
BY_HAND: Final = f"run `pip download --no-deps {PACKAGE}`, and give the file with --recordings WHEEL"


@dataclass(frozen=True, slots=True)
class RecordedOutput:
    """Model's output for one task, such as ``27_2``; `output` is the unchanged text."""

    task_id: str
    output: str


Recordings: TypeAlias = Mapping[str, tuple[RecordedOutput, ...]]
"""Outputs by model, sorted by name; the outputs in the order of the file."""


class _Row(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    identifier: str = Field(pattern=r"^(?:scene_1_)?[0-9]{1,9}_[0-9]{1,9}$")
    llm_output: str


_ROWS: Final = TypeAdapter(list[_Row])


def read_recordings(task: str, wheel: Path) -> Recordings:
    """Return all outputs for one task, from the wheel or any zip of its layout. Raises InputError."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            return {model: _outputs(archive, name) for model, name in _members(archive, task)}
    except (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError) as error:
        raise InputError(f"{wheel} can't be read as a zip ({error}); {BY_HAND}") from error


def recorded_model_names(wheel: Path) -> tuple[str, ...]:
    """Return every model that has outputs for any task, sorted. Raises InputError."""
    found = {model for task in EAI_TASKS for model in read_recordings(task, wheel)}
    if not found:
        raise InputError(f"{wheel} holds no recorded outputs; {BY_HAND}")
    return tuple(sorted(found))


def check_model(model: str, known: tuple[str, ...]) -> str:
    """Return a recorded model's name. Raises InputError with the nearest names if it is unknown."""
    if model not in known:
        hint = did_you_mean(model[:60], known) or f"; there are {', '.join(known)}"
        raise InputError(f"no outputs of {model[:60]!r} are recorded{hint}")
    return model


def fetch_recordings(home: Path, *, tell: Callable[[str], None]) -> Path:
    """Return the wheel in the folder `home`, downloading it with pip if needed. Raises InputError, ServiceError."""
    kept = home / "recordings" / WHEEL
    if kept.is_file():
        if sha256_of(kept) == SHA256:
            return kept
        tell(f"{kept} is not the published file; downloading it again")
    tell(f"downloading the recorded outputs ({PACKAGE}, 27 MB) with pip, once, into {kept.parent}…")
    kept.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with TemporaryDirectory(dir=kept.parent) as folder:
        _download(Path(folder))
        found = Path(folder) / WHEEL
        if not found.is_file() or sha256_of(found) != SHA256:
            raise InputError(f"the download is not {WHEEL} as published: check pip's index settings, or {BY_HAND}")
        found.replace(kept)
    return kept


def recordings_origin(wheel: Path) -> str:
    """Return the origin of outputs for reports: the published wheel, or another file and its hash."""
    found = sha256_of(wheel)
    return PACKAGE if found == SHA256 else f"{wheel.name} (sha256 {found[:16]}…, not {PACKAGE})"


def sha256_of(path: Path) -> str:
    """Return the file's SHA-256 in hexadecimal. Raises InputError if it can't be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} can't be read ({error.strerror}); {BY_HAND}") from error


def _download(folder: Path) -> None:
    """Download with this Python's pip, its output on standard error; nothing is unpacked, built or run."""
    if find_spec("pip") is None:
        raise InputError(f"this Python has no pip, which downloads the recorded outputs; {BY_HAND}")
    asked = ("--no-deps", "--only-binary", ":all:", "--disable-pip-version-check", "--no-input", "--dest", str(folder))
    command = [sys.executable, "-m", "pip", "download", *asked, PACKAGE]
    try:
        done = subprocess.run(command, check=False, stdout=sys.stderr, timeout=DOWNLOAD_S)  # noqa: S603
    except subprocess.TimeoutExpired as error:
        raise ServiceError(
            f"pip did not download {PACKAGE} within {DOWNLOAD_S} s; {BY_HAND}", retryable=True
        ) from error
    if done.returncode:
        raise ServiceError(f"pip could not download {PACKAGE} for the reason above; try again, or {BY_HAND}")


def _members(archive: zipfile.ZipFile, task: str) -> list[tuple[str, str]]:
    """Return the model and the name of each file of outputs of one task."""
    folder = f"virtualhome_eval/llm_response/{EAI_TASKS[task].folder}/"
    found = [name for name in archive.namelist() if name.startswith(folder) and name.endswith(ENDING)]
    pairs = sorted((name.removeprefix(folder).removesuffix(ENDING), name) for name in set(found))
    if len(pairs) > MAX_FILES:
        raise InputError(f"{archive.filename} has outputs of over {MAX_FILES:,} models; {BY_HAND}")
    return [(model, name) for model, name in pairs if "/" not in model]


def _outputs(archive: zipfile.ZipFile, name: str) -> tuple[RecordedOutput, ...]:
    with archive.open(name) as member:
        raw = member.read(MAX_FILE_BYTES + 1)  # the size in the zip's directory is not trusted
    if len(raw) > MAX_FILE_BYTES:
        raise InputError(f"{archive.filename}: {name} has over {MAX_FILE_BYTES:,} bytes; {BY_HAND}")
    try:
        rows = _ROWS.validate_json(raw)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "$"
        raise InputError(f"{archive.filename}: {name}: {place}: {first['msg']}; {BY_HAND}") from error
    return _distinct(rows, f"{archive.filename}: {name}")


def _distinct(rows: list[_Row], where: str) -> tuple[RecordedOutput, ...]:
    found = {row.identifier.removeprefix(SCENE_PREFIX): row.llm_output for row in rows}
    if len(found) != len(rows) or len(rows) > MAX_OUTPUTS:
        raise InputError(f"{where}: a task has more than one output; {BY_HAND}")
    return tuple(RecordedOutput(task_id, output) for task_id, output in found.items())
