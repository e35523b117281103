"""`scenecypher eval babyai-slm`: SG2's figure 5."""

from __future__ import annotations

from scenecypher.cli.evaluate_episodes import (
    Asked,
    Limit,
    Logs,
    Methods,
    ModelName,
    Record,
    Replies,
    Resume,
    Steps,
    Workers,
    played,
)
from scenecypher.cli.scenes import AsJson


def babyai_slm(
    *,
    model: ModelName = None,
    replies: Replies = None,
    record: Record = None,
    method: Methods = None,
    limit: Limit = 0,
    workers: Workers = 4,
    steps: Steps = 0,
    logs: Logs = None,
    resume: Resume = None,
    as_json: AsJson = False,
) -> None:
    """Play 20 of BabyAI's questions with a small model, as SG2 does."""
    told = Asked(model, replies, record, tuple(method or ()), limit, workers, steps, logs, resume, as_json)
    played("babyai_slm", {}, told)
