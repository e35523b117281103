"""Tasks whose samples are work in a worker thread, tried again if the database or the model service failed.

Inspect's model is adapted to our model interface, for methods that run in worker threads.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import count
from json import dumps, loads
from typing import Any, Final, Self, TypeAlias, TypeVar

from anyio import from_thread, sleep, to_thread
from inspect_ai import Task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import (
    CachePolicy,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
    Content,
    ContentImage,
    ContentText,
    GenerateConfig,
    ModelOutput,
    ResponseSchema,
    StopReason,
    get_model,
)
from inspect_ai.model import Model as Generator
from inspect_ai.scorer import Score, Scorer, Target, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import JSONSchema
from tenacity import RetryError

from scenecypher.chat.model import Finish, Message, Model, Reply, Request, Usage
from scenecypher.errors import ModelUnavailable, SceneCypherError, ServiceError
from scenecypher.evaluation.progress import current_run
from scenecypher.evaluation.replies import METADATA_KEY, REFERENCE, ModelSource
from scenecypher.evaluation.run_result import ATTEMPTS
from scenecypher.planner.sessions.setup import NoModel
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


def may_pass(error: BaseException) -> bool:
    """Check that an error is a temporary failure of a service; of other errors the cause is checked, too."""
    if isinstance(error, SceneCypherError):
        return isinstance(error, ServiceError) and error.retryable
    status = getattr(error, "status_code", None)
    is_failed = isinstance(status, int) and (status >= 500 or status in OVERLOADED)
    if is_failed or isinstance(error, ConnectionError | TimeoutError) or type(error).__name__ in CONNECTION_ERRORS:
        return True
    return error.__cause__ is not None and may_pass(error.__cause__)


Work: TypeAlias = Callable[[TaskState, Model], Any]
"""What is found for a sample, as plain JSON values."""
Judge: TypeAlias = Callable[[TaskState, Any], Score]
"""The score of a sample, by what was found."""


def measured_task(
    name: str,
    samples: list[Sample],
    *,
    work: Work,
    judge: Judge,
    found: str,
    scored: str,
    metrics: Any,
    version: int,
    prompts: str = "",
    replies: Callable[[TaskState], ModelSource] = lambda _: ModelSource(REFERENCE),
    reference: Callable[[TaskState], Model] = lambda _: NoModel(),
) -> Task:
    """Return the task in which `work` is done for each sample and `judge` scores it, both in worker threads.

    What was found is kept in the sample's metadata, by the key `found`; `scored` is the scorer's name in logs. Results
    of different versions, and of different `prompts`, are not comparable. A sample is asked for by its `replies`, or
    by `reference` if these are no model's; a live reply is asked for once in a run.
    """

    @solver(name="work")
    def working() -> Solver:
        async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the work calls the model
            source, other = replies(state), reference(state)
            live = InspectModel(get_model(), run=current_run()) if source.is_live else None

            def once() -> Any:
                with source.model_for(str(state.sample_id), live, reference=other) as model:
                    return work(state, model)

            state.metadata[found] = await attempt(state, once)
            return state

        return solve

    @scorer(metrics=metrics, name=scored)
    def judging() -> Scorer:
        async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the judge knows the gold
            return await attempt(state, partial(judge, state, state.metadata[found]))

        return score

    return Task(
        dataset=MemoryDataset(samples, name=name),
        solver=working(),
        scorer=judging(),
        version=version,
        metadata={METADATA_KEY: prompts},
        fail_on_error=False,
    )


PROGRAMS: Final = ("mockllm/", "oracle/")
"""Prefixes of providers whose models are programs."""
FINISHES: Final[Mapping[StopReason, Finish]] = {
    "max_tokens": "length",
    "model_length": "length",
    "tool_calls": "tool_call",
    "content_filter": "filtered",
}


TURNS: Final[Mapping[str, Callable[..., ChatMessage]]] = {
    "system": ChatMessageSystem,
    "user": ChatMessageUser,
    "assistant": ChatMessageAssistant,
}
CACHED_FOR: Final = "4W"
"""How long the replies of a run stay in Inspect's cache, in its notation: four weeks."""


@dataclass(frozen=True, slots=True)
class InspectModel:
    """Service that asks Inspect's model, or the one that a request names, with Inspect's retries, cache and log.

    With the id of a `run`, each reply is stored in Inspect's cache for the run, the sample and the request (the n-th
    equal one), so that a sample that is tried again, also by a resumed run, does not ask for it again.

    `reply` must be called in a worker thread started by `anyio.to_thread`. Exceptions that remain after Inspect's
    retries propagate, and Inspect records them as the sample's error.
    """

    generator: Generator
    run: str = ""
    sample: str = ""
    _counts: Counter[Request] = field(default_factory=Counter)

    def session(self, name: str) -> Self:
        """Return the model for one attempt at the sample of this name; the requests of each attempt count from 1."""
        return replace(self, sample=name, _counts=Counter())

    def reply(self, request: Request) -> Reply:
        """Ask once. Raises ModelUnavailable if Inspect reports that the model failed."""
        return from_thread.run(self._reply, request)

    async def _reply(self, request: Request) -> Reply:
        generator = self.generator if request.model is None else get_model(request.model)
        turns = [_turn(message) for message in request.messages]
        try:
            output = await generator.generate(turns, config=_config(request, self._cache(request)))
        except RetryError as error:  # says nothing of the last failure, which is its cause
            raise error.__cause__ or error from None
        if output.error or not output.choices:
            raise ModelUnavailable(
                f"model {generator} gave no answer ({output.error or 'no choice'}); try again, or choose another"
            )
        return Reply(
            output.completion,
            _usage(output),
            output.model,
            source="scripted" if str(generator).startswith(PROGRAMS) else "live",
            finish=FINISHES.get(output.stop_reason, "stop"),
        )

    def _cache(self, request: Request) -> CachePolicy | bool | None:
        """Return the cache's setting; without a run, samples never come from a cache that the user turned on."""
        if not self.run:
            return False if request.temperature else None
        self._counts[request] += 1
        scopes = {"run": self.run, "sample": self.sample, "number": str(self._counts[request])}
        return CachePolicy(expiry=CACHED_FOR, scopes=scopes)


def _turn(message: Message) -> ChatMessage:
    pictures: list[Content] = [ContentImage(image=image.data_url) for image in message.images]
    content: str | list[Content] = [ContentText(text=message.text), *pictures] if pictures else message.text
    return TURNS[message.role](content=content)


def _config(request: Request, cache: CachePolicy | bool | None) -> GenerateConfig:  # noqa: FBT001 - as Inspect has it
    return GenerateConfig(
        temperature=request.temperature,
        seed=request.seed,
        max_tokens=request.max_tokens,
        cache=cache,
        response_schema=None if request.schema is None else _form(dumps(request.schema)),
    )


class _Form(ResponseSchema):
    """Immutable schema: Inspect copies a request's settings five times, and its log would count each copy apart."""

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        return self


@lru_cache(maxsize=64)
def _form(schema: str) -> ResponseSchema:
    """Return a JSON schema in Inspect's form, with references replaced by what they name."""
    read = loads(schema)
    return _Form(name="reply", json_schema=JSONSchema.model_validate(_inlined(read, read)), strict=True)


def _inlined(node: Any, root: Mapping[str, Any]) -> Any:
    if isinstance(node, list):
        return [_inlined(item, root) for item in node]
    if not isinstance(node, Mapping):
        return node
    if "$ref" in node:
        return _inlined(root["$defs"][str(node["$ref"]).rpartition("/")[2]], root)
    return {key: _inlined(value, root) for key, value in node.items() if key != "$defs"}


def _usage(output: ModelOutput) -> Usage:
    counted = output.usage
    if counted is None:
        return Usage()
    cached = (counted.input_tokens_cache_read or 0) + (counted.input_tokens_cache_write or 0)
    return Usage(counted.input_tokens + cached, counted.output_tokens)
