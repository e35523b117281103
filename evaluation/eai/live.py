"""The experiment `ssc`: models asked for the Embodied Agent Interface's tasks, greedily and by Self-Consistency.

`inspect eval evaluation/eai/live.py --model PROVIDER/NAME -T task_name=goal`, or `scenecypher eval ssc`. The table has
a row for each prompt and method, beside the paper's Tables 1 to 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import Score, mean
from inspect_ai.solver import TaskState

from scenecypher.chat.clean import clean_reply
from scenecypher.chat.model import Message, Model, Request
from scenecypher.errors import InputError
from scenecypher.evaluation.attempts import measured_task
from scenecypher.evaluation.eai.scoring import interrupted_judgement, percent_cell
from scenecypher.evaluation.eai.task_table import EAI_TASKS, EaiTask
from scenecypher.evaluation.measures import change_table
from scenecypher.evaluation.options import Names, select_names, split_names, take_spread
from scenecypher.evaluation.published import data_columns, data_table, published_rows, table_settings
from scenecypher.evaluation.replies import LIVE, MeteredModel, ModelSource
from scenecypher.evaluation.result import Cell, ExperimentResult, Row, Table, TableSetting, Trial
from scenecypher.evaluation.run_result import LoggedSample, Run, group_by
from scenecypher.evaluation.ssc.forms import vote_on_forms
from scenecypher.evaluation.ssc.prompts import PromptForm, Prompts, fetch_recordings, load_prompts, own_prompts_version
from scenecypher.settings import Settings

Method: TypeAlias = Literal["greedy", "ssc"]
SAMPLES: Final = 5
TEMPERATURE: Final = 0.7
"""Number of samples and temperature are the paper's (section 4)."""
VERSION: Final = 3
SCORER: Final = "judged"
PAPER_METHODS: Final = "greedy,ssc"
PAPER_PROMPTS: Final = "eai,paper-content"
Shown: TypeAlias = Mapping[str, Prompts]
"""Prompts by form."""


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
    (named,) = select_names("task of this experiment", [task_name], tuple(EAI_TASKS))
    chosen = EAI_TASKS[named]
    forms: tuple[PromptForm, ...] = select_names("prompt", prompt_forms, get_args(PromptForm))
    ways = [*_ways(select_names("method", methods, get_args(Method)), samples)]
    wheel = Path(recordings) if recordings else None
    if chosen.prompts_in_wheel and wheel is None:
        wheel = fetch_recordings(Settings().home.expanduser(), tell=lambda _: None)
    source = ModelSource.open(replies, record=record)
    shown: dict[str, Prompts] = {form: load_prompts(chosen, form, wheel=wheel) for form in forms}
    prompted = [it for it in chosen.scorer.task_ids() if any(it in prompts.texts for prompts in shown.values())]

    def work(state: TaskState, model: Model) -> dict[str, Any]:
        found = _run_method(chosen, shown, state.metadata, model)
        state.output.completion = found["output"] or ""
        return found

    return measured_task(
        f"ssc-{chosen.name}",
        [it for task_id in take_spread(prompted, limit, seed) for it in _samples(chosen, shown, task_id, ways)],
        work=work,
        judge=partial(_judge, chosen),
        found="got",
        scored=SCORER,
        metrics=[mean()],
        version=VERSION,
        prompts=own_prompts_version(forms),
        replies=lambda _: source,
    )


def _judge(of: EaiTask, state: TaskState, found: dict[str, Any]) -> Score:
    """Score the paper's measure (F1, or success); the task scorer's judgement is in the metadata."""
    output, figures = found["output"], {key: value for key, value in found.items() if key not in {"output", "replies"}}
    judgement = dict(of.scorer.score(str(state.metadata["task"]), output))
    fits = output is not None and found["valid"] > 0
    value = of.ssc_score(judgement)
    return Score(value=value, answer=output or "", metadata={"judgement": judgement, "fits": fits, **figures})


def _run_method(of: EaiTask, shown: Shown, metadata: Mapping[str, Any], model: Model) -> dict[str, Any]:
    """Return the output (None if no sample was valid), all samples in order, the counts of the vote, and the cost."""
    metered, is_greedy = MeteredModel(model), metadata["method"] == "greedy"
    messages = shown[metadata["prompt"]].messages(metadata["task"])
    temperatures = [0.0] if is_greedy else [TEMPERATURE] * metadata["samples"]
    samples = [_reply(metered, messages, temperature) for temperature in temperatures]
    forms = [of.form(one) for one in samples]
    found = vote_on_forms(forms)
    output = samples[0] if is_greedy else None if found.winner is None else samples[found.winner]
    return {
        "output": output,
        "replies": samples,
        "asked": len(samples),
        "valid": sum(form is not None for form in forms),
        "votes": 0 if is_greedy else found.votes,
        "forms": 0 if is_greedy else found.forms,
        **metered.cost,
    }


def _reply(metered: MeteredModel, messages: tuple[Message, ...], temperature: float) -> str:
    """Return a reply without thoughts and without an enclosing fence."""
    return clean_reply(metered.reply(Request(messages, temperature=temperature)).text)


def _ways(methods: Sequence[str], samples: int | Names) -> Iterator[tuple[str, int, str]]:
    """Yield each method with the number of its replies and the name of its row. Raises InputError."""
    sizes = split_names(str(samples) if isinstance(samples, int) else samples)
    for number in sizes:
        if not number.isdecimal() or not int(number):
            raise InputError(f"{number[:60]!r} samples can't be voted on; give 1 or more, several with commas")
    for method in methods:
        if method == "greedy":
            yield method, 1, method
        else:
            yield from ((method, int(it), f"{method}-{it}" if len(sizes) > 1 else method) for it in sizes)


def _samples(of: EaiTask, shown: Shown, task_id: str, ways: Sequence[tuple[str, int, str]]) -> Iterator[Sample]:
    """Yield a task's samples, one for each prompt, method and number of replies."""
    for form, prompts in shown.items():
        for method, size, row in ways if task_id in prompts.texts else ():
            metadata = {"task": task_id, "prompt": form, "method": method, "samples": size}
            id_, target = f"{task_id}/{form}/{row}", of.target(task_id)
            yield Sample(id=id_, input=task_id, target=target, metadata=metadata)


SAMPLED: Final = "temperature of samples"
GREEDY: Final = "temperature of greedy decoding"
TABLES: Final = data_table("ssc/tables")
CHANGES: Final[Mapping[str, tuple[str, Sequence[str]]]] = TABLES["changes"]
"""Titles and columns of the changes that the paper prints, by its tables."""
COLUMNS: Final = data_columns("ssc")
RowKey: TypeAlias = tuple[str, str, int]
"""Prompt, method, and number of replies that are voted on."""


def ssc_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; failed samples are counted as failures."""
    run = Run.read(log, SCORER)
    of = EAI_TASKS[run.arguments.get("task_name", "goal")]
    paper, number, published = published_rows("ssc", of.name)
    methods = {one.metadata["method"] for one in run.samples}
    unused = GREEDY if "greedy" not in methods else "" if methods - {"greedy"} else SAMPLED
    asked = TableSetting(name="samples asked for", value=str(run.arguments.get("samples", "")))
    table = Table(
        key=of.name,
        title=of.title,
        columns=(*of.ssc_columns, *COLUMNS),
        rows=tuple(_rows(of, run)),
        published=published,
        paper=paper,
        paper_table=number,
        settings=(*(one for one in table_settings("ssc") if one.name != unused), asked),
        notes=tuple(TABLES["notes"]),
    )
    return run.result(
        "ssc",
        "Structured Self-Consistency on the Embodied Agent Interface's tasks",
        [table],
        _trials(of, run),
        notes=(*run.error_notes, *run.limit_notes),
        derived=_changes(table),
        temperature=TEMPERATURE if methods - {"greedy"} else 0.0,
    )


def _changes(table: Table) -> Iterator[Table]:
    """Yield the tables of SSC's changes over greedy decoding, if both were run."""
    for number, (title, columns) in CHANGES.items():
        named = f"{table.title}: {title}"
        found = change_table(table, of="ssc", over="greedy", columns=columns, title=named, number=number)
        if found.columns and found.rows:
            yield found


def _row_key(one: LoggedSample) -> RowKey:
    return one.metadata["prompt"], one.metadata["method"], int(one.metadata.get("samples", SAMPLES))


def _rows(of: EaiTask, run: Run) -> Iterator[Row]:
    """Yield a row for each prompt, method and number of replies."""
    for key, group in group_by(run.samples, _row_key).items():
        form, method, size = key
        options = _options(key)
        row = Row(
            method=method,
            label=f"{TABLES['prompts'].get(form, f'{form} prompt')}, {TABLES['methods'].get(method, method)}"
            + (f", N = {size}" if "samples" in options else ""),
            options=options,
            kind="paper" if form == "eai" and method in get_args(Method) and "samples" not in options else "ours",
            cells=_cells(of, group),
            note=TABLES["prompt_notes"].get(form, ""),
        )
        endings = (f"/{form}/{method}", f"/{form}/{method}-{size}")
        yield run.row(row, group, untried=sum(id_.endswith(endings) for id_ in run.untried))


def _options(key: RowKey) -> dict[str, str]:
    """Return the prompt, and the number of replies that are voted on if it is not the paper's."""
    form, method, size = key
    return {"prompt": form} | ({"samples": str(size)} if method != "greedy" and size != SAMPLES else {})


def _cells(of: EaiTask, group: Sequence[LoggedSample]) -> dict[str, Cell]:
    lost = {one.id: interrupted_judgement(of.scorer, one.metadata["task"]) for one in group if one.failed}
    judged = [lost.get(one.id) or one.found["judgement"] for one in group]
    asked, valid = (sum(int(one.found.get(key, 0)) for one in group) for key in ("asked", "valid"))
    tokens, count = sum(one.tokens for one in group), len(group)
    return {
        **of.ssc_cells(judged),
        "svr": percent_cell(sum(bool(one.found.get("fits", one.value)) for one in group if not one.failed), count),
        "svr_samples": percent_cell(valid, asked),
        "asked": Cell(value=asked / count, n=count),
        "tokens": Cell(value=tokens / count, n=count),
        "tasks": Cell(value=count),
    }


def _trials(of: EaiTask, run: Run) -> Iterator[Trial]:
    for one in run.samples:
        outcome, success = ("", False) if one.failed else of.scorer.outcome(one.found["judgement"])
        yield one.trial(
            table=of.name,
            id=one.metadata["task"],
            method=one.metadata["method"],
            options=_options(_row_key(one)),
            outcome=outcome,
            success=success,
            figures={key: float(one.found[key]) for key in ("asked", "valid", "votes", "forms") if key in one.found},
        )
