"""How an output is got from a model: greedily, by Structured Self-Consistency, and by our variants of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from scenecypher.evaluation.eai.recordings import TaskName
from scenecypher.evaluation.ssc.forms import FORMS
from scenecypher.evaluation.ssc.merging import merge_samples
from scenecypher.evaluation.ssc.voting import TEMPERATURE, is_decided, vote_on_forms

Method: TypeAlias = Literal["greedy", "ssc", "ssc-merge", "ssc-early", "ssc-filter"]
AskAtTemperature: TypeAlias = Callable[[float], str]
"""One reply at a temperature."""
IsExecutable: TypeAlias = Callable[[str], bool]
"""Whether a simulator carries an output out."""


@dataclass(frozen=True, slots=True)
class MethodOutput:
    """The output (None where no sample was valid), all samples as they came, and how the vote went."""

    output: str | None
    samples: tuple[str, ...]
    valid: int
    votes: int = 0
    forms: int = 0


@dataclass(frozen=True, slots=True)
class SamplingRequest:
    """What a method needs: the task, a way to ask, the number of samples, and a simulator."""

    task: TaskName
    ask: AskAtTemperature
    samples: int
    is_executable: IsExecutable


def greedy(request: SamplingRequest) -> MethodOutput:
    """One reply at temperature 0, valid or not: the paper's baseline."""
    reply = request.ask(0.0)
    return MethodOutput(reply, (reply,), int(FORMS[request.task](reply) is not None))


def ssc_vote(request: SamplingRequest) -> MethodOutput:
    """Algorithm 1."""
    return _vote(request.task, [request.ask(TEMPERATURE) for _ in range(request.samples)])


def ssc_early(request: SamplingRequest) -> MethodOutput:
    """The same answer, without the samples that can't change it."""
    samples: list[str] = []
    while len(samples) < request.samples:
        samples.append(request.ask(TEMPERATURE))
        if is_decided([FORMS[request.task](one) for one in samples], request.samples):
            break
    return _vote(request.task, samples)


def ssc_filter(request: SamplingRequest) -> MethodOutput:
    """A vote among the samples that the simulator carries out; among all valid ones where it carries out none."""
    samples = [request.ask(TEMPERATURE) for _ in range(request.samples)]
    executable = [one for one in samples if FORMS[request.task](one) is not None and request.is_executable(one)]
    found = _vote(request.task, executable or samples)
    return MethodOutput(found.output, tuple(samples), _vote(request.task, samples).valid, found.votes, found.forms)


def ssc_merge(request: SamplingRequest) -> MethodOutput:
    """What more than half of the valid samples say, element by element, or the most central sequence."""
    samples = [request.ask(TEMPERATURE) for _ in range(request.samples)]
    found = _vote(request.task, samples)
    return MethodOutput(merge_samples(request.task, samples), tuple(samples), found.valid, found.votes, found.forms)


METHODS: Final[Mapping[Method, Callable[[SamplingRequest], MethodOutput]]] = {
    "greedy": greedy,
    "ssc": ssc_vote,
    "ssc-merge": ssc_merge,
    "ssc-early": ssc_early,
    "ssc-filter": ssc_filter,
}
OURS: Final = frozenset({"ssc-merge", "ssc-early", "ssc-filter"})
"""Those that the paper does not have."""


def _vote(task: TaskName, samples: Sequence[str]) -> MethodOutput:
    found = vote_on_forms([FORMS[task](one) for one in samples])
    output = None if found.winner is None else samples[found.winner]
    return MethodOutput(output, tuple(samples), found.valid, found.votes, found.forms)
