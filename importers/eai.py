"""The location of VirtualHome's tasks: in `eai-eval` if it is installed, else in its wheel, fetched for its data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from zipfile import ZipFile

from platformdirs import user_cache_path

from scenecypher.errors import InputError, did_you_mean
from scenecypher.importers.published_file import PublishedFile
from scenecypher.waiting import waiting_for

PACKAGE: Final = "virtualhome_eval"
"""The package of `eai-eval` that has the data."""
WHEEL: Final = PublishedFile(
    "eai-eval==1.0.5",
    "eai_eval-1.0.5-py3-none-any.whl",
    "fe09f2a84cfb2451e111d02a2fa57e18797e747b73de23cb036d0d4e6502099f",
    "VirtualHome's recorded homes (27 MB, and 400 MB unpacked)",
    "connect to the network and repeat the command, or give a PATH",
)
REPAIR: Final = "install eai-eval 1.0.5 again, or uninstall it, so that its data is fetched"
DATASET: Final = Path("dataset/programs_processed_precond_nograb_morepreconds")
GOALS: Final = Path("resources/virtualhome/task_state_LTL_formula_accurate.json")
_TASK_ID: Final = re.compile(r"\d+_\d+")


def package_folder() -> Path:
    """Return the folder of `virtualhome_eval`, fetched on first use. Raises InputError, ServiceError without it."""
    spec = find_spec(PACKAGE)
    for folder in map(Path, spec.submodule_search_locations or () if spec else ()):
        if (folder / DATASET).is_dir():
            return folder
    return _fetched(user_cache_path("scenecypher") / "eai-eval-1.0.5")


def _fetched(kept: Path) -> Path:
    """Return the data in the folder `kept`: an unpacked wheel is moved there whole, and the wheel itself let go."""
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with waiting_for(WHEEL.holds), TemporaryDirectory(dir=kept.parent) as draft:
            # pip tells what it downloads, and the command line what is waited for.
            with ZipFile(WHEEL.fetch(Path(draft), tell=lambda _: None)) as archive:
                data = (name for name in archive.namelist() if name.startswith(PACKAGE) and not name.endswith(".py"))
                archive.extractall(Path(draft) / "data", data)
            if not kept.is_dir():  # else another process was faster
                (Path(draft) / "data").replace(kept)
    return kept / PACKAGE


def package_name() -> str:
    """Return name and version of the package, for a scene's `source`."""
    try:
        return f"eai-eval {version('eai-eval')}"
    except PackageNotFoundError:
        return WHEEL.requirement.replace("==", " ")


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
