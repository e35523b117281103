"""Methods to get an output from a model: greedy decoding, Structured Self-Consistency, and our variants."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, TypeAlias

from scenecypher.evaluation.eai.scoring import OutputScorer
from scenecypher.evaluation.eai.task_table import EaiTask
from scenecypher.evaluation.replies import ModelSource
from scenecypher.evaluation.ssc.prompts import Prompts
from scenecypher.evaluation.ssc.voting import TEMPERATURE, is_decided, vote_on_forms

Method: TypeAlias = Literal["greedy", "ssc", "ssc-early", "ssc-filter"]
AskAtTemperature: TypeAlias = Callable[[float], str]
"""Function that returns one reply at a temperature."""
IsExecutable: TypeAlias = Callable[[str], bool]
"""Predicate: a simulator executes the output."""


@dataclass(frozen=True, slots=True)
class SscConfig:
    """Scorer of outputs, prompts by form, and source of replies, shared by all samples of the experiment `ssc`."""

    name: ClassVar[str] = "Bench"
    """Name of this type in Inspect's logs."""

    task: EaiTask
    scorer: OutputScorer
    prompts: Mapping[str, Prompts]
    replies: ModelSource


@dataclass(frozen=True, slots=True)
class MethodOutput:
    """Output (None if no sample was valid), all samples in order, and the counts of the vote."""

    output: str | None
    samples: tuple[str, ...]
    valid: int
    votes: int = 0
    forms: int = 0


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    """Input of a method: the task, a function to ask, the number of samples, and a simulator."""

    task: EaiTask
    ask: AskAtTemperature
    samples: int
    is_executable: IsExecutable


def greedy(request: SamplingRequest) -> MethodOutput:
    """Return one reply at temperature 0, valid or not: the paper's baseline."""
    reply = request.ask(0.0)
    return MethodOutput(reply, (reply,), int(request.task.form(reply) is not None))


def ssc_vote(request: SamplingRequest) -> MethodOutput:
    """Vote by the paper's Algorithm 1."""
    return _vote(request.task, [request.ask(TEMPERATURE) for _ in range(request.samples)])


def ssc_early(request: SamplingRequest) -> MethodOutput:
    """Vote without the samples that can't change the answer."""
    samples: list[str] = []
    while len(samples) < request.samples:
        samples.append(request.ask(TEMPERATURE))
        if is_decided([request.task.form(one) for one in samples], request.samples):
            break
    return _vote(request.task, samples)


def ssc_filter(request: SamplingRequest) -> MethodOutput:
    """Vote over the samples that the simulator executes; over all valid ones if it executes none."""
    samples = [request.ask(TEMPERATURE) for _ in range(request.samples)]
    executable = [one for one in samples if request.task.form(one) is not None and request.is_executable(one)]
    found = _vote(request.task, executable or samples)
    return MethodOutput(found.output, tuple(samples), _vote(request.task, samples).valid, found.votes, found.forms)


METHODS: Final[Mapping[Method, Callable[[SamplingRequest], MethodOutput]]] = {
    "greedy": greedy,
    "ssc": ssc_vote,
    "ssc-early": ssc_early,
    "ssc-filter": ssc_filter,
}
PAPER: Final = frozenset({"greedy", "ssc"})
"""Methods of the paper; logs also have others, some of which are gone."""


def _vote(task: EaiTask, samples: Sequence[str]) -> MethodOutput:
    found = vote_on_forms([task.form(one) for one in samples])
    output = None if found.winner is None else samples[found.winner]
    return MethodOutput(output, tuple(samples), found.valid, found.votes, found.forms)
