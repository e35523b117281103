"""Number of samples that a run should have, and the note of a run limited on purpose."""

from __future__ import annotations

from inspect_ai.log import EvalLog


def count_wanted_samples(log: EvalLog) -> int:
    """Count the samples selected for a run, also if it was killed."""
    return len(log.eval.dataset.sample_ids or ()) * (log.eval.config.epochs or 1)


def limit_notes(log: EvalLog) -> tuple[str, ...]:
    """Return a note if only some of the samples were selected."""
    total, chosen = log.eval.dataset.samples or 0, len(log.eval.dataset.sample_ids or ())
    if chosen >= total:
        return ()
    return (f"LIMITED: only {chosen} of {total} samples were wanted (--limit); figures of the whole set differ.",)
