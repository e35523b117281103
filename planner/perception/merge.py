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
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.planner.perception.findings import (
    MAX_NEW,
    Finding,
    MergeResult,
    disputed_words,
    partial_words,
    unseen_words,
)
from scenecypher.planner.perception.matching import match_sightings
from scenecypher.planner.perception.observation import Observation
from scenecypher.planner.perception.observation_draft import ObservationDraft
from scenecypher.planner.perception.placing import placements


def merge(
    belief: GraphView,
    observation: Observation,
    *,
    vocabulary: str,
    accept: bool = False,
    meaning: Meaning = NO_MEANING,
) -> MergeResult:
    """Merge an observation into `belief`. Raises UnknownReference if it lacks the observed node.

    With `accept`, what a look at the whole does not show is absent, however often it was seen there before. By
    `meaning` a couch that is seen is the sofa that is believed there.
    """
    of = belief.nodes.get(observation.of)
    if of is None:
        msg = f"no node {observation.of!r} is in the belief{did_you_mean(observation.of, tuple(belief.nodes))}"
        raise UnknownReference(msg)
    if not observation.extent.is_usable:
        return MergeResult(Delta(), (Finding("unseen", of.id, unseen_words(observation.extent)),))
    placed = placements(observation, belief, vocabulary=vocabulary)
    containment = conventions_of(vocabulary).containment
    known = match_sightings(belief, observation, placed, containment=containment, meaning=meaning)
    new = sum(placement.number not in known.nodes for placement in placed)
    is_crowded = observation.extent.kind == "disputed" and new > MAX_NEW
    draft = ObservationDraft(belief, vocabulary, observation, known, is_crowded=is_crowded, is_accepted=accept)
    match observation.extent.kind:
        case "part":
            draft.findings.append(Finding("partial", of.id, partial_words(observation.extent)))
        case "disputed":
            draft.findings.append(Finding("doubted", of.id, disputed_words(observation.extent)))
    draft.findings += [Finding("doubted", of.id, note) for note in observation.notes]
    draft.merge_own_states(of)
    for placement in placed:
        draft.merge_sighting(placement)
    draft.merge_unplaced({placement.number for placement in placed})
    draft.merge_absences()
    return MergeResult(
        draft.delta(),
        tuple(draft.findings),
        tuple(draft.unplaced),
        len(draft.believed),
        tuple(draft.vanished),
        recognised=len(draft.recognised),
        new=draft.new,
    )


def merge_checked(
    belief: GraphView, observation: Observation, *, vocabulary: str, accept: bool, meaning: Meaning = NO_MEANING
) -> MergeResult:
    """Merge an observation, but only what was seen if it contradicts most of the belief, unless `accept`.

    Raises UnknownReference as `merge` does.
    """
    found = merge(belief, observation, vocabulary=vocabulary, accept=accept, meaning=meaning)
    if accept or found.doubtful_extent is None:
        return found
    return merge(belief, replace(observation, extent=found.doubtful_extent), vocabulary=vocabulary, meaning=meaning)


def merge_all(belief: SceneGraph, observations: Iterable[Observation], *, vocabulary: str) -> MergeResult:
    """Merge several observations, such as those of one picture, into one Delta. Raises UnknownReference."""
    after, findings = belief, list[Finding]()
    for observation in observations:
        found = merge(after, observation, vocabulary=vocabulary)
        after = apply(after, found.delta)
        findings += found.findings
    return MergeResult(diff(belief, after), tuple(findings))
