"""The experiment `questions`: how many of the set's questions a model answers right. An Inspect task.

`inspect eval evaluation/questions.py --model PROVIDER/NAME`, or `scenecypher eval questions`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Literal, TypeAlias, get_args

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

from scenecypher.chat.model import Model
from scenecypher.errors import InputError
from scenecypher.evaluation.heard import Heard
from scenecypher.evaluation.inspect_model import InspectModel
from scenecypher.evaluation.matching import equals, holds, told
from scenecypher.evaluation.prompt_version import NOTED, prompt_version
from scenecypher.evaluation.question_set import ALL, Question
from scenecypher.evaluation.question_set import questions as question_set
from scenecypher.evaluation.replies import LIVE, REFERENCE, Reference, Replies
from scenecypher.evaluation.scenes import Scenes
from scenecypher.retriever.retrieval import Retrieval, retrieval_document
from scenecypher.retriever.retriever import Options, RetrievalMode, Retriever
from scenecypher.retriever.schema_text import FORMS, SchemaForm, schema_text
from scenecypher.retriever.verifier import VerifierMode

VERSION: Final = 1
"""Of questions, prompts and scoring together: results of different versions are not compared."""
FOUND: Final = "retrieval"
MODEL: Final = "replied_by"
BASELINE: Final = "text2cypher"

Way: TypeAlias = Literal["cypher", "text", "text2cypher"]
Ask: TypeAlias = Callable[[Scenes, Question, Model], Retrieval]


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
    retrieval: Way = "cypher",
) -> Task:
    """Questions about imported scenes; the other arguments are those of `scenecypher ask`.

    `data` is virtualhome, babyai, grasif or all; `replies` is live, reference or a cassette's file; live ones are
    appended to the new cassette `record`. `retrieval` may also be text2cypher, neo4j-graphrag's own retriever: of the
    other options it has `schema_form` alone. Raises InputError.
    """
    _check("retrieval", retrieval, get_args(Way))
    if retrieval == "text" and replies == REFERENCE:
        raise InputError("the reference queries are Cypher, and no answers in words; give --model or --replies")
    _check("verifier", verifier, get_args(VerifierMode))
    _check("schema_form", schema_form, tuple(FORMS))
    mode: RetrievalMode = "text" if retrieval == "text" else "cypher"
    options = Options(attempts, schema_form, examples=examples, verifier=verifier, checks=checks, retrieval=mode)
    ask = _asked_baseline if retrieval == BASELINE else _asked
    return Task(
        dataset=MemoryDataset([_sample(question) for question in question_set(data)], name=f"questions-{data}"),
        solver=ask_scene(partial(ask, options), Replies(replies, record=record)),
        scorer=execution_match(),
        version=VERSION,
        metadata={NOTED: prompt_version()},
        fail_on_error=False,
    )


@solver
def ask_scene(ask: Ask, replies: Replies) -> Solver:
    """Ask the sample's scene in a worker thread; all that came of it is in the sample's metadata."""
    scenes = Scenes()

    async def solve(state: TaskState, generate: Generate) -> TaskState:  # noqa: ARG001 - the retriever asks itself
        question = _question(state)
        live = InspectModel(get_model()) if replies.is_live else None
        model = replies.of(question.id, live, reference=Reference(question.cypher))
        heard = Heard(model)
        found = await to_thread.run_sync(partial(ask, scenes, question, heard))
        state.metadata[FOUND] = retrieval_document(found)
        state.metadata[MODEL] = heard.model_name
        state.output.completion = found.answer
        return state

    return solve


@scorer(metrics=[accuracy(), stderr(), grouped(accuracy(), "kind", all=False)])
def execution_match() -> Scorer:
    """Whether the rows hold the gold answer; for what can't be answered, whether that is said, or nothing found."""

    async def score(state: TaskState, target: Target) -> Score:  # noqa: ARG001 - gold rows are in the metadata
        question, found = _question(state), state.metadata[FOUND]
        is_right = {
            "answered": _is_answer(question, found),
            "unanswerable": not question.rows,
            "refused": False,
        }[found["outcome"]]
        return Score(
            value=CORRECT if is_right else INCORRECT,
            answer=found["answer"],
            explanation=found["cypher"],
            metadata=_figures(found)
            | {"model": state.metadata[MODEL], "exact": is_right and equals(question.rows, found["rows"])},
        )

    return score


def _is_answer(question: Question, found: dict[str, Any]) -> bool:
    """Whether what was found is the gold answer: by its rows, or by the words of a model that has read the graph."""
    if any("told" in attempt for attempt in found["attempts"]):
        return told(question.rows, found["answer"])
    return found["truncated"] is None and holds(question.rows, found["rows"])


def _asked(options: Options, scenes: Scenes, question: Question, model: Model) -> Retrieval:
    with scenes.opened(question.scene) as (opened, scene):
        return Retriever(model, opened.gate, opened.enumerator, options).ask(question.question, scene)


def _asked_baseline(options: Options, scenes: Scenes, question: Question, model: Model) -> Retrieval:
    from scenecypher.retriever.graphrag import ask_text2cypher

    with scenes.opened(question.scene) as (opened, scene):
        occurring = opened.enumerator.of(scene)
        schema = schema_text(occurring, question.question, vocabulary=scene.vocabulary, form=options.form)
        address = opened.store.database.address
        return ask_text2cypher(address, model, question.question, scene=scene, schema=schema)


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
