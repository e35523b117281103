"""Attempts of a sample: work in a worker thread, tried again if the database or the model service failed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final, TypeVar

from anyio import sleep, to_thread
from inspect_ai.model import get_model
from inspect_ai.solver import TaskState

from scenecypher.chat.model import Model
from scenecypher.errors import SceneCypherError, ServiceError
from scenecypher.evaluation.inspect_model import InspectModel
from scenecypher.evaluation.progress import current_run
from scenecypher.evaluation.replies import ModelSource
from scenecypher.evaluation.run_result import ATTEMPTS
from scenecypher.settings import Settings

T = TypeVar("T")
PAUSE_S: Final = 1.0
"""Seconds before the second attempt; before the third twice as long."""
OVERLOADED: Final = frozenset({408, 409, 429})
CONNECTION_ERRORS: Final = frozenset({"APIConnectionError", "APITimeoutError", "ConnectError", "ReadTimeout"})
"""Errors of clients of model services, by their names: each service has a client of its own."""


async def attempt(state: TaskState, work: Callable[[], T]) -> T:
    """Run `work` in a worker thread, up to SCENECYPHER_SAMPLE_RETRIES times more if a service failed.

    Each attempt leases its own copy. A refusal, a spent budget and a reply that can't be read are outcomes, not
    failures, and a request that the service rejects is not sent again.
    """
    retries = Settings().sample_retries
    for number in count(1):
        state.metadata[ATTEMPTS] = max(number, state.metadata.get(ATTEMPTS, 1))
        try:
            return await to_thread.run_sync(work, abandon_on_cancel=True)
        except Exception as error:
            if number > retries or not may_pass(error):
                raise
        await sleep(number * PAUSE_S)
    raise AssertionError


async def attempt_asking(state: TaskState, replies: ModelSource, work: Callable[[Model], T], *, reference: Model) -> T:
    """Run `work` as `attempt` does, each time with the sample's model; a live reply is asked for once in a run.

    The model is `reference` if there are no other `replies`.
    """
    live = InspectModel(get_model(), run=current_run()) if replies.is_live else None

    def once() -> T:
        with replies.model_for(str(state.sample_id), live, reference=reference) as model:
            return work(model)

    return await attempt(state, once)


def may_pass(error: BaseException) -> bool:
    """Check that an error is a temporary failure of a service; of other errors the cause is checked, too."""
    if isinstance(error, SceneCypherError):
        return isinstance(error, ServiceError) and error.retryable
    status = getattr(error, "status_code", None)
    is_failed = isinstance(status, int) and (status >= 500 or status in OVERLOADED)
    if is_failed or isinstance(error, ConnectionError | TimeoutError) or type(error).__name__ in CONNECTION_ERRORS:
        return True
    return error.__cause__ is not None and may_pass(error.__cause__)
