"""Retriever: a question, Cypher written by a model, the gate, rows, repair, and an answer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, assert_never

from scenecypher.chat.model import Message, Model, Request
from scenecypher.chat.traced import Traced
from scenecypher.db.gate import Answer, Gate
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.db.telemetry import Attributes, trace_steps
from scenecypher.errors import InputError, QueryRefused, RejectedError, SceneCypherError
from scenecypher.retriever import prompt
from scenecypher.retriever.checks import Checked, doubts
from scenecypher.retriever.events import Attempted, Doubted, Event, Hinted, Prompted, Retrieved, Verified
from scenecypher.retriever.graph_text import graph_text
from scenecypher.retriever.hints import causes
from scenecypher.retriever.library import examples_for
from scenecypher.retriever.reader import SceneReader
from scenecypher.retriever.reply import CUT_OFF, Written, again, attempt_in_words, not_addressed, written
from scenecypher.retriever.retrieval import Attempt, Declined, Ending, Ran, Rejected, Retrieval, Told
from scenecypher.retriever.schema_text import Form, schema_text
from scenecypher.retriever.talk import Talk
from scenecypher.retriever.verifier import VerifierMode, verify

RetrievalMode: TypeAlias = Literal["cypher", "text"]

BARREN: Final = (None, False, "", 0)
"""What cells hold, besides empty lists, where a query found nothing."""
NO_QUERY: Final = "the reply holds no query"


@dataclass(frozen=True, slots=True)
class Options:
    """How a question is asked: `attempts` bounds the queries written, `budget_tokens` the schema text.

    `verifier`: ``paper`` and ``hints`` ask the model whether the rows answer the question, ``off`` does not.
    `retrieval`: ``cypher`` shows the model the schema and lets it write queries; ``text`` shows it the whole graph and
    lets it answer in words (SG-RwR's ablation without code). `checks`: whether the form of an answer is checked without
    a model first, and a doubt told once. `names`: whether the schema text has names of nodes, and where the agents are.
    """

    attempts: int = 4
    form: Form = "compact"
    budget_tokens: int = 2_000
    examples: int = 4
    verifier: VerifierMode = "off"
    temperature: float | None = 0.0
    seed: int | None = None
    retrieval: RetrievalMode = "cypher"
    checks: bool = False
    names: bool = True

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise InputError(f"{self.attempts} attempts can't answer anything; allow at least 1")


@dataclass(frozen=True, slots=True)
class Retriever:
    """Answers questions about scenes through queries that `model` writes. Stateless: for use from many threads."""

    model: Model
    gate: Gate
    enumerator: Enumerator
    options: Options = Options()

    def ask(self, question: str, scene: SceneInfo) -> Retrieval:
        """The answer, or why there is none. Raises InputError for an empty question, and ServiceError."""
        for event in self.stream(question, scene):
            if isinstance(event, Retrieved):
                return event.retrieval
        raise AssertionError

    def ask_many(
        self, questions: Sequence[str], scene: SceneInfo, *, workers: int = 4
    ) -> tuple[Retrieval | SceneCypherError, ...]:
        """The answers in the questions' order, `workers` at a time; where one failed, its error in its place."""
        with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
            return tuple(pool.map(lambda question: self._tried(question, scene), questions))

    def _tried(self, question: str, scene: SceneInfo) -> Retrieval | SceneCypherError:
        try:
            return self.ask(question, scene)
        except SceneCypherError as error:
            return error

    def stream(self, question: str, scene: SceneInfo) -> Iterator[Event]:
        """The same step by step; the last event is Retrieved."""
        if not question.strip():
            raise InputError("the question is empty; ask something about the scene")
        about = {"gen_ai.operation.name": "retrieval", "scenecypher.scene": scene.name}
        return trace_steps("retrieval", about, self._steps(question, scene), attributes_of=_totals)

    def _steps(self, question: str, scene: SceneInfo) -> Iterator[Event]:
        occurring = self.enumerator.of(scene)
        shown, talk = self._opening(question, scene, occurring)
        yield Prompted(question, shown)
        goes_on = True
        while goes_on:
            talk = talk.tried(self._attempt(talk, scene))
            yield Attempted(talk.last)
            event, said = self._reaction(talk, self.enumerator.of(scene))
            if event is not None:
                yield event
            talk = _after(talk, event, said)
            goes_on = said is not None and len(talk.attempts) < self.options.attempts
        yield Retrieved(talk.retrieval())

    def _schema(self, question: str, scene: SceneInfo, occurring: Enumerations) -> str:
        return schema_text(
            occurring,
            question,
            vocabulary=scene.vocabulary,
            form=self.options.form,
            budget_tokens=self.options.budget_tokens,
            names=self.options.names,
        )

    def _opening(self, question: str, scene: SceneInfo, occurring: Enumerations) -> tuple[str, Talk]:
        """What the model is shown of the scene, and the talk that begins with it."""
        if self.options.retrieval == "text":
            graph, version = graph_text(SceneReader(self.gate, self.enumerator, scene))
            return graph, Talk(question, (prompt.text_reader(graph), prompt.asked(question)), read_at=version)
        schema = self._schema(question, scene, occurring)
        examples = examples_for(scene.vocabulary, question, self.options.examples)
        return schema, Talk(question, (prompt.code_writer(schema, examples), prompt.asked(question)))

    def _request(self, *messages: Message) -> Request:
        return Request(messages, temperature=self.options.temperature, seed=self.options.seed)

    def _attempt(self, talk: Talk, scene: SceneInfo) -> Attempt:
        """Ask the model once, and run what it wrote unless it wrote that before."""
        reply = Traced(self.model).reply(self._request(*talk.messages))
        if talk.read_at is not None:
            return attempt_in_words(talk, reply, read_at=talk.read_at)
        found = written(reply)
        before = talk.earlier(found.cypher) if found.reason is None else None
        begun = time.perf_counter()
        ending = before.ending if before else self._ending(found, scene, is_cut_off=reply.finish == "length")
        return Attempt(
            number=len(talk.attempts) + 1,
            cypher=found.cypher,
            ending=ending,
            usage=reply.usage,
            source=reply.source,
            seconds=time.perf_counter() - begun,
            repeats=before.number if before else None,
        )

    def _ending(self, found: Written, scene: SceneInfo, *, is_cut_off: bool) -> Ending:
        if found.reason is not None:
            return Declined(found.reason)
        if not found.cypher:
            return Rejected("no_query", CUT_OFF if is_cut_off else NO_QUERY)
        try:
            return Ran(SceneReader(self.gate, self.enumerator, scene).run(found.cypher))
        except RejectedError as error:
            return Rejected(error.code if isinstance(error, QueryRefused) else "rejected", str(error))

    def _reaction(self, talk: Talk, occurring: Enumerations) -> tuple[Event | None, Message | None]:
        """What is noticed about the last attempt, and what the model is told; nothing where the end is reached."""
        match talk.last.ending:
            case Declined():
                return None, None
            case Rejected(_, message):
                return None, None if talk.last.repeats is not None else again(talk, message)
            case Told():
                return self._verdict(talk)
            case Ran(answer):
                found = self._causes(talk, answer, occurring)
                if found:
                    return Hinted(talk.last.number, found), prompt.found_nothing(talk.question, found)
                doubted = self._doubts(talk, answer, occurring)
                if doubted:
                    return Doubted(talk.last.number, doubted), prompt.doubted(talk.question, doubted)
                return self._verdict(talk)
            case _ as never:
                assert_never(never)

    def _causes(self, talk: Talk, answer: Answer, occurring: Enumerations) -> tuple[str, ...]:
        is_last = len(talk.attempts) >= self.options.attempts
        return () if talk.hinted or is_last or not is_barren(answer) else causes(talk.last.cypher, occurring)

    def _doubts(self, talk: Talk, answer: Answer, occurring: Enumerations) -> tuple[str, ...]:
        is_last = len(talk.attempts) >= self.options.attempts
        is_settled = talk.doubted or is_last or not self.options.checks
        return () if is_settled else doubts(Checked(talk.question, talk.last.cypher, answer, occurring))

    def _verdict(self, talk: Talk) -> tuple[Verified | None, Message | None]:
        if self.options.verifier == "off":
            return None, None
        verdict = verify(
            Traced(self.model),
            talk.question,
            talk.results,
            mode=self.options.verifier,
            request=self._request(*talk.messages),
        )
        if verdict.addressed or talk.last.repeats is not None:
            return verdict, None
        return verdict, not_addressed(talk, verdict.text)


def is_barren(answer: Answer) -> bool:
    """Whether an answer holds nothing: no rows, or only nulls, zeros, falsehoods and empty lists."""
    return all(
        cell == [] or any(cell is none or cell == none for none in BARREN) for row in answer.rows for cell in row
    )


def _totals(event: Event) -> Attributes:
    """What the end of a stream says of all of it, in the words of the GenAI conventions."""
    if not isinstance(event, Retrieved):
        return {}
    found = event.retrieval
    return {
        "gen_ai.usage.input_tokens": found.usage.prompt_tokens,
        "gen_ai.usage.output_tokens": found.usage.completion_tokens,
        "scenecypher.outcome": found.outcome,
        "scenecypher.attempts": len(found.attempts),
        "scenecypher.query.seconds": sum(attempt.seconds for attempt in found.attempts),
    }


def _after(talk: Talk, event: Event | None, said: Message | None) -> Talk:
    judged = talk.judged(event) if isinstance(event, Verified) else talk
    return judged.told(said, hinted=isinstance(event, Hinted), doubted=isinstance(event, Doubted)) if said else judged
