"""The experiments `questions` and `memory`: the share of questions that a model answers right.

`inspect eval evaluation/questions.py@questions --model PROVIDER/NAME`, or `scenecypher eval questions`. Results are
right answers by kind and by data set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, TypeAlias, get_args

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, grouped, stderr
from inspect_ai.solver import TaskState

from scenecypher.chat.model import Model
from scenecypher.errors import InputError
from scenecypher.evaluation.attempts import measured_task
from scenecypher.evaluation.experiments import experiment_name
from scenecypher.evaluation.histories import ALL, DATA, KINDS, MEMORY, MEMORY_KINDS, GoldQuestion
from scenecypher.evaluation.histories import load_questions as question_set
from scenecypher.evaluation.marking import rows_contain, rows_equal, text_names
from scenecypher.evaluation.options import take_spread
from scenecypher.evaluation.published import data_columns
from scenecypher.evaluation.replies import (
    LIVE,
    REFERENCE,
    MeteredModel,
    ModelSource,
    ReferenceQueryModel,
    prompt_version,
)
from scenecypher.evaluation.result import Cell, ExperimentResult, Row, Table, TableSetting
from scenecypher.evaluation.run_result import LoggedSample, Run, share_cell
from scenecypher.evaluation.world_pool import WorldPool
from scenecypher.retriever.conversation import VerifierMode
from scenecypher.retriever.retrieval import Retrieval, retrieval_document
from scenecypher.retriever.retriever import Options, RetrievalMode, Retriever
from scenecypher.retriever.schema_text import SchemaForm, schema_text

VERSION: Final = 1
"""Version of questions, prompts and scoring; results of different versions are not comparable."""
FOUND: Final = "retrieval"
SCORER: Final = "execution_match"
BASELINE: Final = "text2cypher"

Baseline: TypeAlias = Literal["cypher", "text", "text2cypher"]


@task
def questions(
    *,
    data: str = ALL,
    replies: str = LIVE,
    record: str = "",
    attempts: int = 4,
    verifier: VerifierMode = "off",
    schema_form: SchemaForm = "compact",
    examples: int = 4,
    checks: bool = False,
    retrieval: Baseline = "cypher",
    limit: int = 0,
    seed: int | None = None,
) -> Task:
    """Return the task of questions about imported scenes; other arguments as in `scenecypher ask`.

    `data` is virtualhome, babyai, grasif or all; `replies` is live, reference or a cassette file. Live replies are
    appended to the new cassette `record`. `retrieval` may also be text2cypher, neo4j-graphrag's own retriever, which
    uses only the option `schema_form`. `limit` and `seed` as in `take_spread`. Raises InputError.
    """
    given = {
        "retrieval": (retrieval, Baseline),
        "verifier": (verifier, VerifierMode),
        "schema_form": (schema_form, SchemaForm),
    }
    for name, (value, kind) in given.items():
        if value not in get_args(kind):
            raise InputError(f"{name} can't be {value!r}; give {', '.join(get_args(kind))}")
    if retrieval == "text" and replies == REFERENCE:
        raise InputError("the reference queries are Cypher, and no answers in words; give --model or --replies")
    mode: RetrievalMode = "text" if retrieval == "text" else "cypher"
    options = Options(attempts, schema_form, examples=examples, verifier=verifier, checks=checks, retrieval=mode)
    ask = _ask_text2cypher if retrieval == BASELINE else _ask_retriever
    # By scene, whose schema begins the prompt: a server reuses its work on what it has just read.
    asked = sorted(take_spread(question_set(data), limit, seed), key=lambda question: question.scene)
    pool, source = WorldPool(), ModelSource.open(replies, record=record)

    def work(state: TaskState, model: Model) -> dict[str, Any]:
        metered = MeteredModel(model)
        found = retrieval_document(ask(options, pool, _question(state), metered))
        state.output.completion = found["answer"]
        return found | {"models": metered.models, "calls": len(metered.replies)}

    return measured_task(
        f"questions-{data}",
        [*map(_sample, asked)],
        work=work,
        judge=execution_match,
        found=FOUND,
        scored=SCORER,
        metrics=[accuracy(), stderr(), grouped(accuracy(), "kind", all=False)],
        version=VERSION,
        prompts=prompt_version(),
        replies=lambda _: source,
        reference=lambda state: ReferenceQueryModel(_question(state).cypher),
    )


@task
def memory(
    *,
    replies: str = LIVE,
    record: str = "",
    attempts: int = 4,
    examples: int = 4,
    limit: int = 0,
    seed: int | None = None,
) -> Task:
    """Return the task of questions about histories (`scenecypher.evaluation.histories`); arguments as in `questions`.

    Models see the histories' own clocks. Raises InputError.
    """
    return questions(
        data=MEMORY, replies=replies, record=record, attempts=attempts, examples=examples, limit=limit, seed=seed
    )


def execution_match(state: TaskState, found: dict[str, Any]) -> Score:
    """Score 1 if the rows hold the gold answer; an unanswerable question is right if refused or without rows."""
    question = _question(state)
    answered = found["outcome"] == "answered" and _is_answer(question, found)
    is_right = answered or (found["outcome"] == "unanswerable" and not question.rows)
    figures = {key: found[key] for key in ("outcome", "source", "models", "calls")} | {
        "attempts": len(found["attempts"]),
        "prompt_tokens": found["usage"]["prompt_tokens"],
        "completion_tokens": found["usage"]["completion_tokens"],
        "exact": is_right and rows_equal(question.rows, found["rows"]),
    }
    value = CORRECT if is_right else INCORRECT
    return Score(value=value, answer=found["answer"], explanation=found["cypher"], metadata=figures)


def _is_answer(question: GoldQuestion, found: dict[str, Any]) -> bool:
    """Compare the retrieval with the gold answer: its rows, or the words of a model that has read the graph."""
    if any("told" in attempt for attempt in found["attempts"]):
        return text_names(question.rows, found["answer"])
    return found["truncated"] is None and rows_contain(question.rows, found["rows"])


def _ask_retriever(options: Options, scenes: WorldPool, question: GoldQuestion, model: Model) -> Retrieval:
    opened, scene = scenes.question_scene(question.scene)
    return Retriever(model, opened.gate, opened.enumerator, options).ask(question.question, scene)


def _ask_text2cypher(options: Options, scenes: WorldPool, question: GoldQuestion, model: Model) -> Retrieval:
    from scenecypher.retriever.graphrag import ask_text2cypher

    opened, scene = scenes.question_scene(question.scene)
    occurring = opened.enumerator.of(scene)
    schema = schema_text(occurring, question.question, vocabulary=scene.vocabulary, form=options.form)
    address = opened.store.database.address
    return ask_text2cypher(address, model, question.question, scene=scene, schema=schema)


def _sample(question: GoldQuestion) -> Sample:
    return Sample(
        id=question.id,
        input=question.question,
        target=str(question.rows),
        metadata={"kind": question.kind, "data": question.data, "question": question.model_dump()},
    )


def _question(state: TaskState) -> GoldQuestion:
    return GoldQuestion.model_validate(state.metadata["question"])


TABLE: Final = "questions"
METHOD: Final = "text-to-cypher"
TITLES: Final = {"questions": "Questions about scene graphs", "memory": "Questions about what happened"}
"""Titles by experiment."""
COLUMNS: Final = data_columns("questions")
NOTE: Final = "An answer is right where some of its columns hold exactly the gold rows; intervals are Wilson's at 95%."
REFERENCES: Final = "The set's own reference queries were scored: this checks the set-up only, and measures no model."
GROUPS: Final = {"kind": (*KINDS, *MEMORY_KINDS), "data": (*DATA, MEMORY)}


def questions_result(log: EvalLog) -> ExperimentResult:
    """Return the result of one run's log; an unfinished run is marked as such."""
    run, name = Run.read(log, SCORER), experiment_name(log.eval.task)
    table = Table(
        key=TABLE,
        title="Questions",
        columns=COLUMNS,
        rows=tuple(_rows(run)),
        settings=tuple(
            TableSetting(name=name, value=str(value))
            for name, value in run.arguments.items()
            if name not in {"limit", "seed"} and value != ""
        ),
        notes=(NOTE,),
    )
    trials = [
        one.trial(
            table=TABLE,
            method=METHOD,
            options={"kind": str(one.metadata["kind"])},
            outcome=one.found.get("outcome", ""),
            success=one.value == CORRECT,
        )
        for one in run.samples
    ]
    notes = (*((REFERENCES,) if run.replies == ("reference",) else ()), *run.error_notes, *run.limit_notes)
    return run.result(name, TITLES[name], [table], trials, notes=notes)


def _rows(run: Run) -> Iterator[Row]:
    """Yield a row for each kind and each data set that has questions, then that of all."""
    for option, names in GROUPS.items():
        groups = {name: [one for one in run.samples if one.metadata[option] == name] for name in names}
        yield from (run.row(_row(group, {option: name}), group) for name, group in groups.items() if group)
    yield run.row(_row(run.samples, {}), run.samples)


def _row(group: Sequence[LoggedSample], options: dict[str, str]) -> Row:
    count, exact = len(group), sum(bool(one.found.get("exact")) for one in group)
    calls = [int(one.found["calls"]) for one in group if "calls" in one.found]  # earlier logs don't have them
    cells = {
        "right": share_cell(sum(one.value == CORRECT for one in group), count),
        "exact": Cell(value=exact / max(1, count), n=count, count=exact),
        "questions": Cell(value=count),
        "refused": Cell(value=sum(one.found.get("outcome") == "refused" for one in group)),
        "attempts": Cell(value=sum(int(one.found.get("attempts", 0)) for one in group) / max(1, count)),
        "calls": Cell(value=sum(calls) / len(calls) if calls else None),
        "tokens": Cell(value=sum(one.tokens for one in group) / max(1, count)),
    }
    return Row(method=METHOD, label="" if options else "all", options=options, cells=cells, kind="ours")
