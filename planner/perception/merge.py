"""Merge of an observation into the belief, as one Delta with findings (new, confirmed, moved, absent, changed).

LookPlanGraph, sections IV-B and IV-D: objects that are believed at the observed place but not seen are removed from it,
and seen objects are added; everything that was not observed stays unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from scenecypher.db.graph.delta import Delta, apply, diff
from scenecypher.db.graph.scene import GraphView, SceneGraph
from scenecypher.db.vocabulary import conventions_of
from scenecypher.errors import UnknownReference, did_you_mean
from scenecypher.planner.perception.findings import Finding, MergeResult, partial_words, unseen_words
from scenecypher.planner.perception.matching import match_sightings
from scenecypher.planner.perception.observation import Extent, Observation
from scenecypher.planner.perception.observation_draft import ObservationDraft
from scenecypher.planner.perception.placing import placements


def merge(belief: GraphView, observation: Observation, *, vocabulary: str) -> MergeResult:
    """Merge an observation into `belief`. Raises UnknownReference if it lacks the observed node."""
    of = belief.nodes.get(observation.of)
    if of is None:
        msg = f"no node {observation.of!r} is in the belief{did_you_mean(observation.of, tuple(belief.nodes))}"
        raise UnknownReference(msg)
    if not observation.extent.is_usable:
        return MergeResult(Delta(), (Finding("unseen", of.id, unseen_words(observation.extent)),))
    placed = placements(observation, belief, vocabulary=vocabulary)
    known = match_sightings(belief, observation, placed, containment=conventions_of(vocabulary).containment)
    draft = ObservationDraft(belief, vocabulary, observation, known)
    if not observation.extent.is_whole:
        draft.findings.append(Finding("partial", of.id, partial_words(observation.extent)))
    draft.merge_own_states(of)
    for placement in placed:
        draft.merge_sighting(placement)
    draft.merge_unplaced({placement.number for placement in placed})
    draft.merge_absences()
    return MergeResult(
        draft.delta(), tuple(draft.findings), tuple(draft.unplaced), len(draft.believed), tuple(draft.vanished)
    )


def merge_checked(belief: GraphView, observation: Observation, *, vocabulary: str, accept: bool) -> MergeResult:
    """Merge an observation, but nothing of it if it contradicts most of the belief, unless `accept`.

    Raises UnknownReference as `merge` does.
    """
    found = merge(belief, observation, vocabulary=vocabulary)
    if accept or not found.most_vanished:
        return found
    return merge(belief, replace(observation, extent=doubted_extent(found)), vocabulary=vocabulary)


def doubted_extent(found: MergeResult) -> Extent:
    """Return the extent of an observation from which most of what is believed there has vanished."""
    vanished = ", ".join(found.vanished)
    return Extent("doubted", why=f"{len(found.vanished)} of {found.believed} were not seen: {vanished}")


def merge_all(belief: SceneGraph, observations: Iterable[Observation], *, vocabulary: str) -> MergeResult:
    """Merge several observations, such as those of one picture, into one Delta. Raises UnknownReference."""
    after, findings = belief, list[Finding]()
    for observation in observations:
        found = merge(after, observation, vocabulary=vocabulary)
        after = apply(after, found.delta)
        findings += found.findings
    return MergeResult(diff(belief, after), tuple(findings))
