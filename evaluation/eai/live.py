"""The experiment `ssc`: a model does the Embodied Agent Interface's tasks, greedily and by Structured Self-Consistency.

`inspect eval evaluation/eai/live.py --model PROVIDER/NAME -T task_name=goal`, or `scenecypher eval ssc`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, get_args

from anyio import to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import Score, Scorer, Target, mean, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from scenecypher.chat.clean import clean_reply
from scenecypher.chat.model import Message, Model, Request
from scenecypher.errors import InputError, did_you_mean
from scenecypher.evaluation.eai.bench import Bench, Nobody
from scenecypher.evaluation.eai.recordings import TASKS, TaskName, fetched
from scenecypher.evaluation.eai.scoring import Judgement, scorer_of
from scenecypher.evaluation.eai.scoring import Scorer as OutputScorer
from scenecypher.evaluation.heard import Heard
from scenecypher.evaluation.inspect_model import InspectModel
from scenecypher.evaluation.options import Names, listed
from scenecypher.evaluation.prompt_version import NOTED
from scenecypher.evaluation.replies import LIVE, Replies
from scenecypher.evaluation.ssc.methods import METHODS, Asking, Got, Method
from scenecypher.evaluation.ssc.prompts import PromptForm, prompts, prompts_version
from scenecypher.evaluation.ssc.voting import SAMPLES
from scenecypher.settings import Settings

VERSION: Final = 2
GOT: Final = "got"
PAPER_METHODS: Final = "greedy,ssc"
PAPER_PROMPTS: Final = "eai,structured"
CARRIED_OUT: Final = ("executed", "correct", "goal_missed", True)
"""What a judgement's ``outcome`` or ``plan`` is where a simulator carried the output out."""


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
) -> Task:
    """One task of the four, in a row for each method and prompt; lists have commas.

    Several numbers of `samples` make a row each of what votes, with replies of its own.
    `replies` is live or a cassette's file; live ones are appended to the new cassette `record`. `recordings` is the
    wheel that the prompts of goal interpretation are in, fetched once where it is not given. Raises InputError.
    """
    name: TaskName = _one(task_name, TASKS)
    forms = tuple(_one(form, get_args(PromptForm)) for form in listed(prompt_forms))
    ways = tuple(_one(method, tuple(METHODS)) for method in listed(methods))
    sizes = tuple(map(_size, listed(str(samples) if isinstance(samples, int) else samples)))
    wheel = _wheel(recordings) if name == "goal" else None
    shown = {form: prompts(name, form, wheel=wheel) for form in forms}
    bench = Bench(name, task_scorer(name), shown, Replies(replies, record=record))
    return Task(
        dataset=MemoryDataset(list(_samples(bench, ways, sizes)), name=f"ssc-{name}"),
        solver=answer(bench),
        scorer=judged(bench),
        version=VERSION,
        metadata={NOTED: prompts_version()},
        fail_on_error=False,
    )


@solver
def answer(bench: Bench) -> Solver:
    """Ask as the sample's row says, in a worker thread; all that was answered is in the sample's metadata."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the method asks itself
        live = InspectModel(get_model()) if bench.replies.is_live else None
        model = bench.replies.of(str(state.sample_id), live, reference=Nobody())
        state.metadata[GOT] = await to_thread.run_sync(partial(_asked, bench, state.metadata, model))
        state.output.completion = state.metadata[GOT]["output"] or ""
        return state

    return solve


@scorer(metrics=[mean()])
def judged(bench: Bench) -> Scorer:
    """Whether the output fits the schema; its judgement by the task's scorer is in the metadata."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - the task's scorer knows the gold
        got, task_id = state.metadata[GOT], str(state.metadata["task"])
        judgement = await to_thread.run_sync(partial(bench.scorer.score, task_id, got["output"]))
        said = {key: value for key, value in got.items() if key not in {"output", "replies"}}
        return Score(
            value=float(got["output"] is not None and got["valid"] > 0),
            answer=got["output"] or "",
            metadata={"judgement": dict(judgement), **said},
        )

    return score


def task_scorer(task: TaskName) -> OutputScorer:
    """The scorer of a task; of transition modelling one that plans with all outputs, which the filter asks for."""
    options = {"planned": None} if task == "transition" else {}
    return scorer_of(task, **options)


def row_of(form: str, method: str) -> str:
    """A row's key."""
    return f"{form}/{method}"


def _asked(bench: Bench, metadata: Mapping[str, Any], model: Model) -> dict[str, Any]:
    heard = Heard(model)
    messages = bench.prompts[metadata["prompt"]].messages(metadata["task"])
    asking = Asking(
        bench.task,
        partial(_reply, heard, messages),
        metadata["samples"],
        lambda output: carried_out(bench.scorer.score(metadata["task"], output)),
    )
    method: Method = metadata["method"]
    got = METHODS[method](asking)
    return _document(got) | {"tokens": heard.usage.total_tokens, "source": heard.source, "model": heard.model_name}


def carried_out(judgement: Judgement) -> bool:
    """Whether a simulator (the database, or Fast Downward) carried the output out; goals have none, and always pass."""
    known = [judgement[key] for key in ("outcome", "plan") if key in judgement]
    return any(one in CARRIED_OUT for one in known) if known else True


def _reply(heard: Heard, messages: tuple[Message, ...], temperature: float) -> str:
    """Without thoughts, and without a fence around all of it."""
    return clean_reply(heard.reply(Request(messages, temperature=temperature)).text)


def _document(got: Got) -> dict[str, Any]:
    return {
        "output": got.output,
        "replies": list(got.samples),
        "asked": len(got.samples),
        "valid": got.valid,
        "votes": got.votes,
        "forms": got.forms,
    }


def _samples(bench: Bench, methods: Sequence[Method], sizes: Sequence[int]) -> Iterator[Sample]:
    """Task by task, so that a limit leaves rows equal."""
    ways = [(method, size) for method in methods for size in (sizes if method != "greedy" else (1,))]
    for task_id in bench.scorer.task_ids():
        for form, shown in bench.prompts.items():
            for method, size in ways if task_id in shown.texts else ():
                metadata = {"task": task_id, "prompt": form, "method": method, "samples": size}
                row = row_of(form, method) + (f"-{size}" if len(sizes) > 1 and method != "greedy" else "")
                yield Sample(id=f"{task_id}/{row}", input=task_id, target="", metadata=metadata)


def _wheel(given: str) -> Path:
    return Path(given) if given else fetched(Settings().home.expanduser(), tell=lambda _: None)


def _size(number: str) -> int:
    if not number.isdecimal() or not int(number):
        raise InputError(f"{number[:60]!r} samples can't be voted on; give 1 or more, several with commas")
    return int(number)


def _one(name: str, known: tuple[Any, ...]) -> Any:
    if name not in known:
        hint = did_you_mean(name[:60], known) or f"; there are {', '.join(known)}"
        raise InputError(f"there is no {name[:60]!r} here{hint}")
    return name
