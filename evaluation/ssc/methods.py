"""How an output is got from a model: greedily, by Structured Self-Consistency, and by our variants of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from scenecypher.evaluation.eai.recordings import TaskName
from scenecypher.evaluation.ssc.forms import FORMS
from scenecypher.evaluation.ssc.merging import merged
from scenecypher.evaluation.ssc.voting import TEMPERATURE, is_decided, vote_on

Method: TypeAlias = Literal["greedy", "ssc", "ssc-merge", "ssc-early", "ssc-filter"]
Ask: TypeAlias = Callable[[float], str]
"""One reply at a temperature."""
Runs: TypeAlias = Callable[[str], bool]
"""Whether a simulator carries an output out."""


@dataclass(frozen=True, slots=True)
class Got:
    """The output (None where no sample was valid), all samples as they came, and how the vote went."""

    output: str | None
    samples: tuple[str, ...]
    valid: int
    votes: int = 0
    forms: int = 0


@dataclass(frozen=True, slots=True)
class Asking:
    """What a method needs: the task, a way to ask, the number of samples, and a simulator."""

    task: TaskName
    ask: Ask
    samples: int
    runs: Runs


def greedy(asking: Asking) -> Got:
    """One reply at temperature 0, valid or not: the paper's baseline."""
    reply = asking.ask(0.0)
    return Got(reply, (reply,), int(FORMS[asking.task](reply) is not None))


def ssc(asking: Asking) -> Got:
    """Algorithm 1."""
    return _voted(asking.task, [asking.ask(TEMPERATURE) for _ in range(asking.samples)])


def ssc_early(asking: Asking) -> Got:
    """The same answer, without the samples that can't change it."""
    samples: list[str] = []
    while len(samples) < asking.samples:
        samples.append(asking.ask(TEMPERATURE))
        if is_decided([FORMS[asking.task](one) for one in samples], asking.samples):
            break
    return _voted(asking.task, samples)


def ssc_filter(asking: Asking) -> Got:
    """A vote among the samples that the simulator carries out; among all valid ones where it carries out none."""
    samples = [asking.ask(TEMPERATURE) for _ in range(asking.samples)]
    ran = [one for one in samples if FORMS[asking.task](one) is not None and asking.runs(one)]
    found = _voted(asking.task, ran or samples)
    return Got(found.output, tuple(samples), _voted(asking.task, samples).valid, found.votes, found.forms)


def ssc_merge(asking: Asking) -> Got:
    """What more than half of the valid samples say, element by element, or the most central sequence."""
    samples = [asking.ask(TEMPERATURE) for _ in range(asking.samples)]
    found = _voted(asking.task, samples)
    return Got(merged(asking.task, samples), tuple(samples), found.valid, found.votes, found.forms)


METHODS: Final[Mapping[Method, Callable[[Asking], Got]]] = {
    "greedy": greedy,
    "ssc": ssc,
    "ssc-merge": ssc_merge,
    "ssc-early": ssc_early,
    "ssc-filter": ssc_filter,
}
OURS: Final = frozenset({"ssc-merge", "ssc-early", "ssc-filter"})
"""Those that the paper does not have."""


def _voted(task: TaskName, samples: Sequence[str]) -> Got:
    found = vote_on([FORMS[task](one) for one in samples])
    output = None if found.winner is None else samples[found.winner]
    return Got(output, tuple(samples), found.valid, found.votes, found.forms)
