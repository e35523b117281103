"""Tables of a folder of GraSIF's own files: its tasks are pairs of an initial and a goal graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from scenecypher.evaluation.assignments import AssignmentCache
from scenecypher.evaluation.experiment import TablePlan
from scenecypher.evaluation.options import take_spread
from scenecypher.evaluation.task_pictures import pictured_tasks
from scenecypher.importers.grasif_folder import GraphPair, read_pairs
from scenecypher.planner.worlds.perturbation import Perturbation


def folder_tasks(
    folder: str, like: TablePlan, *, paper: str, limit: int, seed: int | None
) -> tuple[list[TablePlan], AssignmentCache]:
    """Return a table `like` this one for each of GraSIF's subsets in a folder, and the tasks. Raises InputError.

    `paper` is the key of the published tables, before the subset's name; tasks of no subset have a table without one.
    If `like` has pictures, only their tasks are in the tables.
    """
    pairs = read_pairs(Path(folder))
    if shown := like.common.pictures:
        found = pictured_tasks(Path(shown), [pair.task.id for pair in pairs])
        pairs = tuple(pair for pair in pairs if pair.task.id in found)
    chosen = {
        subset: take_spread([pair for pair in pairs if pair.subset == subset], limit, seed)
        for subset in dict.fromkeys(pair.subset for pair in pairs)
    }
    tables = [_table(like, Path(folder), subset or "", found, paper) for subset, found in chosen.items()]
    return tables, _cache([pair for found in chosen.values() for pair in found])


def _table(like: TablePlan, folder: Path, subset: str, pairs: Sequence[GraphPair], paper: str) -> TablePlan:
    key = subset or folder.resolve().name
    return replace(
        like,
        key=key,
        title=f"GraSIF's own files in {folder.resolve().name}{subset and f', {subset}'}",
        tasks=tuple(pair.task.id for pair in pairs),
        common=like.common.model_copy(update={"group": key}),
        published=("lookplangraph", f"{paper}{subset}") if paper and subset else ("", ""),
    )


def _cache(pairs: Sequence[GraphPair]) -> AssignmentCache:
    scenes = {pair.task.id: pair.scene for pair in pairs}
    return AssignmentCache(
        (pair.task for pair in pairs),
        scenes=lambda task: scenes[task.id],
        ends={pair.task.id: pair.end for pair in pairs},
        moved={pair.task.id: Perturbation((), pair.moved) for pair in pairs if pair.moved is not None},
    )
