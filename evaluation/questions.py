"""The experiment `questions`: how many of the set's questions a model answers right. An Inspect task.

`inspect eval evaluation/questions.py --model PROVIDER/NAME`, or `scenecypher eval questions`.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Final, get_args

from anyio import to_thread
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import get_model
from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Score,
    Scorer,
    Target,
    accuracy,
    grouped,
    scorer,
    stderr,
)
from inspect_ai.solver import Generate, Solver, TaskState, solver

from chat.model import Model
from evaluation.inspect_model import InspectModel
from evaluation.matching import equals, holds
from evaluation.question_set import ALL, Question
from evaluation.question_set import questions as question_set
from evaluation.replies import LIVE, Reference, Replies
from evaluation.scenes import Scenes
from retriever.retrieval import Retrieval, retrieval_document
from retriever.retriever import Options, Retriever
from retriever.schema_text import FORMS, Form
from retriever.verifier import VerifierMode
from scenecypher.errors import InputError

VERSION: Final = 1
"""Of questions, prompts and scoring together: results of different versions are not compared."""
FOUND: Final = "retrieval"


@task
def questions(
    *,
    data: str = ALL,
    replies: str = LIVE,
    record: str = "",
    attempts: int = 4,
    verifier: VerifierMode = "off",
    schema_form: Form = "compact",
    examples: int = 4,
    checks: bool = False,
) -> Task:
    """Questions about imported scenes; the other arguments are those of `scenecypher ask`.

    `data` is virtualhome, babyai, grasif or all; `replies` is live, reference or a cassette's file; live ones are
    appended to the new cassette `record`. Raises InputError.
    """
    _check("verifier", verifier, get_args(VerifierMode))
    _check("schema_form", schema_form, tuple(FORMS))
    options = Options(attempts, schema_form, examples=examples, verifier=verifier, checks=checks)
    return Task(
        dataset=MemoryDataset([_sample(question) for question in question_set(data)], name=f"questions-{data}"),
        solver=ask_scene(options, Replies(replies, record=record)),
        scorer=execution_match(),
        version=VERSION,
    )


@solver
def ask_scene(options: Options, replies: Replies) -> Solver:
    """Ask the sample's scene in a worker thread; all that came of it is in the sample's metadata."""
    scenes = Scenes()

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the retriever asks itself
        question = _question(state)
        live = InspectModel(get_model()) if replies.is_live else None
        model = replies.of(question.id, live, reference=Reference(question.cypher))
        found = await to_thread.run_sync(partial(_asked, scenes, options, question, model))
        state.metadata[FOUND] = retrieval_document(found)
        state.output.completion = found.answer
        return state

    return solve


@scorer(metrics=[accuracy(), stderr(), grouped(accuracy(), "kind", all=False)])
def execution_match() -> Scorer:
    """Whether the rows hold the gold answer; for what can't be answered, whether that is said, or nothing found."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - gold rows are in the metadata
        question, found = _question(state), state.metadata[FOUND]
        rows = found["rows"]
        is_right = {
            "answered": found["truncated"] is None and holds(question.rows, rows),
            "unanswerable": not question.rows,
            "refused": False,
        }[found["outcome"]]
        return Score(
            value=CORRECT if is_right else INCORRECT,
            answer=found["answer"],
            explanation=found["cypher"],
            metadata=_figures(found) | {"exact": is_right and equals(question.rows, rows)},
        )

    return score


def _asked(scenes: Scenes, options: Options, question: Question, model: Model) -> Retrieval:
    with scenes.opened(question.scene) as (opened, scene):
        return Retriever(model, opened.gate, opened.enumerator, options).ask(question.question, scene)


def _figures(found: dict[str, Any]) -> dict[str, Any]:
    return {
        "outcome": found["outcome"],
        "source": found["source"],
        "attempts": len(found["attempts"]),
        "prompt_tokens": found["usage"]["prompt_tokens"],
        "completion_tokens": found["usage"]["completion_tokens"],
    }


def _sample(question: Question) -> Sample:
    return Sample(
        id=question.id,
        input=question.question,
        target=str(question.rows),
        metadata={"kind": question.kind, "data": question.data, "question": question.model_dump()},
    )


def _question(state: TaskState) -> Question:
    return Question.model_validate(state.metadata["question"])


def _check(name: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise InputError(f"{name} can't be {value!r}; give {', '.join(known)}")
