"""How many samples a run was to have, and what one that was limited on purpose says of itself."""

from __future__ import annotations

from inspect_ai.log import EvalLog


def count_wanted_samples(log: EvalLog) -> int:
    """Of a run that was killed, too: the samples of its data set that were chosen."""
    return len(log.eval.dataset.sample_ids or ()) * (log.eval.config.epochs or 1)


def limit_notes(log: EvalLog) -> tuple[str, ...]:
    """A note where only some of the samples were wanted."""
    there, chosen = log.eval.dataset.samples or 0, len(log.eval.dataset.sample_ids or ())
    if chosen >= there:
        return ()
    return (f"LIMITED: only {chosen} of {there} samples were wanted (--limit); figures of the whole set differ.",)
