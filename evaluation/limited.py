"""What a run that was limited on purpose says of itself."""

from __future__ import annotations

from inspect_ai.log import EvalLog


def limited(log: EvalLog) -> tuple[str, ...]:
    """A note where only some of the samples were wanted."""
    there, wanted = log.eval.dataset.samples, log.results.total_samples if log.results else 0
    if log.eval.config.limit is None or there is None or wanted >= there:
        return ()
    return (f"LIMITED: only {wanted} of {there} samples were wanted (--limit); figures of the whole set differ.",)
