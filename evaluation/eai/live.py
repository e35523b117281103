"""The experiment `ssc`: the Embodied Agent Interface's tasks, decoded greedily and by Structured Self-Consistency.

`inspect eval evaluation/eai/live.py --model PROVIDER/NAME -T task_name=goal`, or `scenecypher eval ssc`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from scenecypher.chat.clean import clean_reply
from scenecypher.chat.model import Message, Model, Request
from scenecypher.errors import InputError, did_you_mean
from scenecypher.evaluation.attempts import attempt, attempt_asking
from scenecypher.evaluation.eai.scoring import Judgement
from scenecypher.evaluation.eai.task_table import EAI_TASKS
from scenecypher.evaluation.options import Names, split_names, take_spread
from scenecypher.evaluation.prompt_version import METADATA_KEY
from scenecypher.evaluation.replies import LIVE, MeteredModel, ModelSource
from scenecypher.evaluation.ssc.prompts import (
    PromptForm,
    SscConfig,
    fetch_recordings,
    load_prompts,
    own_prompts_version,
)
from scenecypher.evaluation.ssc.voting import SAMPLES, TEMPERATURE, is_decided, vote_on_forms
from scenecypher.planner.sessions.setup import NoModel
from scenecypher.settings import Settings

Method: TypeAlias = Literal["greedy", "ssc", "ssc-early", "ssc-filter"]
"""Greedy decoding, SSC, SSC without samples that can't change the answer, SSC over what the simulator executes."""
PAPER: Final = frozenset({"greedy", "ssc"})
"""Methods of the paper; logs also have others, some of which are gone."""


VERSION: Final = 3
OUTPUT: Final = "got"
PAPER_METHODS: Final = "greedy,ssc"
PAPER_PROMPTS: Final = "eai,paper-content"
EXECUTED: Final = ("executed", "correct", "goal_missed", True)
"""Values of a judgement's ``outcome`` or ``plan`` that mean that a simulator executed the output."""


@task
def ssc(
    *,
    task_name: str = "goal",
    methods: Names = PAPER_METHODS,
    prompt_forms: Names = PAPER_PROMPTS,
    samples: int | Names = SAMPLES,
    replies: str = LIVE,
    record: str = "",
    recordings: str = "",
    limit: int = 0,
    seed: int | None = None,
) -> Task:
    """Return one of the four tasks, with a row for each method and prompt; lists are separated by commas.

    Several numbers of `samples` make one row each of the voting methods, with replies of its own. `replies` is live or
    a cassette file; live replies are appended to the new cassette `record`. `recordings` is the wheel that contains the
    prompts of goal interpretation; by default it is downloaded once. `limit` and `seed` choose tasks as `take_spread`
    does, each with all its rows. Raises InputError.
    """
    chosen = EAI_TASKS[_check_name(task_name, tuple(EAI_TASKS))]
    forms = tuple(_check_name(form, get_args(PromptForm)) for form in split_names(prompt_forms))
    chosen_methods = tuple(_check_name(method, get_args(Method)) for method in split_names(methods))
    sizes = tuple(map(_size, split_names(str(samples) if isinstance(samples, int) else samples)))
    wheel = _wheel(recordings) if chosen.prompts_in_wheel else None
    prompts_by_form = {form: load_prompts(chosen, form, wheel=wheel) for form in forms}
    bench = SscConfig(chosen, chosen.make_scorer(), prompts_by_form, ModelSource(replies, record=record))
    return Task(
        dataset=MemoryDataset(
            [
                sample
                for task_id in take_spread(_prompted(bench), limit, seed)
                for sample in _samples(bench, task_id, chosen_methods, sizes)
            ],
            name=f"ssc-{chosen.name}",
        ),
        solver=ask_model(bench),
        scorer=judge_sample(bench),
        version=VERSION,
        metadata={METADATA_KEY: own_prompts_version(forms)},
        fail_on_error=False,
    )


@solver(name="answer")
def ask_model(bench: SscConfig) -> Solver:
    """Run the method of the sample's row in a worker thread and store its output in the sample's metadata."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the method calls the model
        run = partial(_run_method, bench, state.metadata)
        state.metadata[OUTPUT] = await attempt_asking(state, bench.replies, run, reference=NoModel())
        state.output.completion = state.metadata[OUTPUT]["output"] or ""
        return state

    return solve


@scorer(metrics=[mean()], name="judged")
def judge_sample(bench: SscConfig) -> Scorer:
    """Score the paper's measure (F1, or success); the task scorer's judgement is in the metadata."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the task's scorer knows the gold
        output, task_id = state.metadata[OUTPUT], str(state.metadata["task"])
        judgement = await attempt(state, partial(bench.scorer.score, task_id, output["output"]))
        figures = {key: value for key, value in output.items() if key not in {"output", "replies"}}
        fits = output["output"] is not None and output["valid"] > 0
        return Score(
            value=bench.task.ssc_score(bench.scorer, judgement),
            answer=output["output"] or "",
            metadata={"judgement": dict(judgement), "fits": fits, **figures},
        )

    return score


def _run_method(bench: SscConfig, metadata: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Return the output (None if no sample was valid), all samples in order, the counts of the vote, and the cost."""
    metered, form = MeteredModel(model), bench.task.form
    ask = partial(_reply, metered, bench.prompts[metadata["prompt"]].messages(metadata["task"]))
    method: Method = metadata["method"]
    is_greedy, wanted = method == "greedy", metadata["samples"]
    samples = [ask(0.0)] if is_greedy else []
    while len(samples) < wanted and not (method == "ssc-early" and is_decided([*map(form, samples)], wanted)):
        samples.append(ask(TEMPERATURE))
    voters = _executable(bench, metadata["task"], samples) if method == "ssc-filter" else samples
    found = vote_on_forms([*map(form, voters)])
    output = samples[0] if is_greedy else None if found.winner is None else voters[found.winner]
    return {
        "output": output,
        "replies": samples,
        "asked": len(samples),
        "valid": sum(form(one) is not None for one in samples),
        "votes": 0 if is_greedy else found.votes,
        "forms": 0 if is_greedy else found.forms,
        "tokens": metered.usage.total_tokens,
        "source": metered.source,
        "model": metered.model_name,
    }


def _executable(bench: SscConfig, task_id: str, samples: Sequence[str]) -> Sequence[str]:
    """Return the valid samples that the simulator executes; all if it executes none."""
    valid = [one for one in samples if bench.task.form(one) is not None]
    return [one for one in valid if was_executed(bench.scorer.score(task_id, one))] or samples


def was_executed(judgement: Judgement) -> bool:
    """Check that a simulator (the database, or Fast Downward) executed the output; goals have none, and always pass."""
    known = [judgement[key] for key in ("outcome", "plan") if key in judgement]
    return any(one in EXECUTED for one in known) if known else True


def _reply(metered: MeteredModel, messages: tuple[Message, ...], temperature: float) -> str:
    """Return a reply without thoughts and without an enclosing fence."""
    return clean_reply(metered.reply(Request(messages, temperature=temperature)).text)


def _prompted(bench: SscConfig) -> Iterator[str]:
    """Yield the tasks that have a prompt."""
    return (one for one in bench.scorer.task_ids() if any(one in shown.texts for shown in bench.prompts.values()))


def _samples(bench: SscConfig, task_id: str, methods: Sequence[Method], sizes: Sequence[int]) -> Iterator[Sample]:
    """Yield a task's samples, one for each prompt, method and number of replies."""
    ways = [(method, size) for method in methods for size in (sizes if method != "greedy" else (1,))]
    for form, shown in bench.prompts.items():
        for method, size in ways if task_id in shown.texts else ():
            metadata = {"task": task_id, "prompt": form, "method": method, "samples": size}
            row = f"{form}/{method}" + (f"-{size}" if len(sizes) > 1 and method != "greedy" else "")
            yield Sample(id=f"{task_id}/{row}", input=task_id, target=bench.task.target(task_id), metadata=metadata)


def _wheel(given: str) -> Path:
    return Path(given) if given else fetch_recordings(Settings().home.expanduser(), tell=lambda _: None)


def _size(number: str) -> int:
    if not number.isdecimal() or not int(number):
        raise InputError(f"{number[:60]!r} samples can't be voted on; give 1 or more, several with commas")
    return int(number)


def _check_name(name: str, known: tuple[Any, ...]) -> Any:
    if name not in known:
        hint = did_you_mean(name[:60], known) or f"; there are {', '.join(known)}"
        raise InputError(f"{name[:60]!r} is unknown{hint}")
    return name
