"""A look at a node, merged into a belief as one commit."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace

from scenecypher.db.graph.change import SetProperty
from scenecypher.db.graph.delta import Delta
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.commit import Intent, SceneVersion
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import RejectedError
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.perception.findings import MergeResult
from scenecypher.planner.perception.merge import merge_checked
from scenecypher.planner.perception.observation import Observation


@dataclass(frozen=True, slots=True)
class CommittedLook:
    """Result of a look: the findings, and the belief's `version`, which is the former one if nothing changed."""

    found: MergeResult
    version: int

    @property
    def is_merged(self) -> bool:
        """Return True if the place was seen, and the observation was merged."""
        return not any(finding.kind == "unseen" for finding in self.found.findings)


def commit_look(
    store: SceneStore,
    belief: SceneInfo,
    observation: Observation,
    *,
    intent: Intent,
    accept: bool = False,
    meaning: Meaning = NO_MEANING,
) -> CommittedLook:
    """Merge an observation into the belief as it is now; its step is the version that it leads to.

    Without `accept`, an observation that contradicts most of the belief is not merged. What changes nothing takes no
    version: a look that confirms what was seen at the present version changes nothing. Raises UnknownReference.
    """
    looks: list[CommittedLook] = []

    def decide(at: SceneVersion) -> Delta:
        seen = replace(observation, step=at.version + 1)
        found = merge_checked(at.graph, seen, vocabulary=belief.vocabulary, accept=accept, meaning=meaning)
        if _is_noop(found.delta, at.version):
            looks.append(CommittedLook(replace(found, delta=Delta()), at.version))
            raise Unchanged("nothing changed")
        looks.append(CommittedLook(found, at.version + 1))
        return found.delta

    with suppress(Unchanged):
        store.change(belief, decide, intent=intent)
    return looks[-1]


def _is_noop(delta: Delta, version: int) -> bool:
    """Check if a Delta says no more than that things seen at this version were seen again."""
    return all(
        isinstance(change, SetProperty) and change.key == "last_seen" and change.before == version
        for change in delta.changes
    )


def only_renews(delta: Delta) -> bool:
    """Check if a Delta says no more than that things were seen again, later, as they were."""
    return all(isinstance(change, SetProperty) and change.key == "last_seen" for change in delta.changes)


class Unchanged(RejectedError):
    """Raised to roll back a commit that would change nothing; never leaves what commits a look.

    As a refusal, it is decided again if what is kept in memory was older.
    """
