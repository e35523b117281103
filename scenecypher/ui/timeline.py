"""The line below a home's map: its versions by who made them, its runs as spans, and what was refused in them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from scenecypher.db.store.history import read_heads
from scenecypher.db.store.runs import latest_runs, read_lines
from scenecypher.ui.run_view import frames_of

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.runs import RunInfo
    from scenecypher.db.store.scene_store import SceneStore

VERSIONS: Final = 5_000
RUNS: Final = 20
"""The latest versions and runs that the line shows."""


def timeline_of(store: SceneStore, scene: SceneInfo) -> dict[str, Any]:
    """Return the latest versions, runs and refusals of a scene as a document for the page's script.

    A version is its number, who made it, what it did and when; a run its number, instruction, state, and the versions
    before its first action and after its last; a refusal the version that it was at, its words, run and frame.
    """
    events = read_heads(store.database, scene.key, after=max(0, scene.version - VERSIONS))
    runs = [it for it in islice(latest_runs(store.database, scene.name), RUNS) if it.scene == scene.key]
    refused = [
        [frame.version, f"{frame.text}: {'; '.join(frame.lines)}", run.number, place]
        for run in runs
        for place, frame in enumerate(frames_of(read_lines(store.database, run.number)))
        if frame.kind == "refused"
    ]
    return {
        "newest": scene.version,
        "events": [[number, it.actor, it.action, it.at.isoformat()] for number, it in events],
        "runs": [
            [it.number, it.instruction or it.command, it.state, it.version, _last_version(it, scene)] for it in runs
        ],
        "refused": refused,
    }


def _last_version(run: RunInfo, scene: SceneInfo) -> int:
    """Return the version after a run's last action; the scene's while it goes on, its first if it changed nothing."""
    return run.last_version or (scene.version if run.state == "running" else run.version)
