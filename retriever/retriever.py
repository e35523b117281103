"""The Retriever: a question, Cypher written by a model, the gate, rows, repair, and an answer."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias, assert_never

from scenecypher.chat.model import RETRY_TEMPERATURE, Message, Model, Request, traced
from scenecypher.db.gate import Answer, Gate
from scenecypher.db.schema import CORE_PROPERTIES, vocabulary_of
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.db.telemetry import Attributes, trace_steps
from scenecypher.errors import InputError, ModelUnavailable, QueryRefused, RejectedError, SceneCypherError
from scenecypher.meaning import NO_MEANING, Meaning
from scenecypher.retriever import prompt
from scenecypher.retriever.checks import CheckedAnswer, doubts
from scenecypher.retriever.conversation import (
    CUT_OFF,
    Conversation,
    ParsedReply,
    VerifierMode,
    asks_for_past,
    not_addressed_message,
    parse_reply,
    refusal_message,
    text_attempt,
    verify,
)
from scenecypher.retriever.empty_answers import causes, mistake_in, turned_arrows, unnamed_advice
from scenecypher.retriever.events import Attempted, Doubted, Hinted, Prompted, RetrievalEnded, RetrievalEvent, Verified
from scenecypher.retriever.graph_api import graph_text
from scenecypher.retriever.library import examples_for, has_furniture
from scenecypher.retriever.linked_words import linked_words
from scenecypher.retriever.outline import is_robot_map
from scenecypher.retriever.past_text import PastMode, is_about_past, past_examples, past_text
from scenecypher.retriever.retrieval import (
    Attempt,
    AttemptEnding,
    Declined,
    QueryExecuted,
    Rejected,
    Retrieval,
    SceneReader,
    TextAnswer,
)
from scenecypher.retriever.schema_text import SchemaForm, schema_text

RetrievalMode: TypeAlias = Literal["cypher", "text"]

NO_QUERY: Final = "the reply holds no query"
ASKED_FOR_PAST: Final = "the reply asks for the past and holds no query"
QUERY_TOKENS: Final = 800
"""Tokens of a reply with a query, four times as many after each that was cut off: queries have under 300, and a model
that does not end, or thinks first, has no other limit."""


@dataclass(frozen=True, slots=True)
class Options:
    """Settings of a retrieval: `attempts` bounds the queries written, `budget_tokens` the schema text.

    `verifier`: ``paper`` and ``hints`` ask the model if the rows answer the question, ``words`` has it put them into a
    sentence, ``off`` leaves it at the rows. `retrieval`:
    ``cypher`` shows the model the schema and lets it write queries; ``text`` shows it the whole graph and lets it
    answer in words (SG-RwR's ablation without code). `checks`: model-free checks of an answer's form, with one message
    about doubts. `assisted`, which no paper has: the prompt links the question's words to the scene's, arrows that no
    relation has are turned, an empty result is explained by what the scene lacks, and attempts after the first are
    asked for at a temperature above nought. `names`: names of nodes and places of agents in the schema text. `schema`:
    a schema text in place of the scene's. `past`: when the prompt has the part about the past.
    """

    attempts: int = 4
    form: SchemaForm = "compact"
    budget_tokens: int = 2_000
    examples: int = 4
    verifier: VerifierMode = "off"
    temperature: float | None = 0.0
    seed: int | None = None
    retrieval: RetrievalMode = "cypher"
    checks: bool = False
    assisted: bool = True
    names: bool = True
    schema: str = ""
    past: PastMode = "auto"

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise InputError(f"{self.attempts} attempts can't answer anything; allow at least 1")


@dataclass(frozen=True, slots=True)
class Retriever:
    """Answers to questions about scenes through queries that `model` writes. Stateless and thread-safe.

    `meaning` finds what a scene calls otherwise than a question does, and chooses examples.
    """

    model: Model
    gate: Gate
    enumerator: Enumerator
    options: Options = Options()
    meaning: Meaning = NO_MEANING

    def ask(self, question: str, scene: SceneInfo) -> Retrieval:
        """Return the answer, or the reason why there is none. Raises InputError for an empty question, ServiceError."""
        for event in self.stream(question, scene):
            if isinstance(event, RetrievalEnded):
                return event.retrieval
        raise AssertionError

    def ask_many(
        self, questions: Sequence[str], scene: SceneInfo, *, workers: int = 4
    ) -> tuple[Retrieval | SceneCypherError, ...]:
        """Return the answers in the questions' order, `workers` at a time; an error takes the place of its answer."""
        with ThreadPoolExecutor(max_workers=max(1, workers)) as pool:
            return tuple(pool.map(lambda question: self._ask_or_error(question, scene), questions))

    def _ask_or_error(self, question: str, scene: SceneInfo) -> Retrieval | SceneCypherError:
        try:
            return self.ask(question, scene)
        except SceneCypherError as error:
            return error

    def stream(self, question: str, scene: SceneInfo) -> Iterator[RetrievalEvent]:
        """Answer a question as a stream of events that ends with RetrievalEnded. Raises as `ask` does."""
        if not question.strip():
            raise InputError("the question is empty; ask something about the scene")
        about = {"gen_ai.operation.name": "retrieval", "scenecypher.scene": scene.name}
        return trace_steps("retrieval", about, self._steps(question, scene), attributes_of=_totals)

    def _steps(self, question: str, scene: SceneInfo) -> Iterator[RetrievalEvent]:
        occurring = self.enumerator.of(scene)
        shown, conversation = self._start(question, scene, occurring)
        yield Prompted(question, shown)
        continues = True
        while continues:
            conversation = conversation.with_attempt(self._attempt(conversation, scene))
            yield Attempted(conversation.last)
            if asks_for_past(conversation.last):
                messages = self._prompt(question, scene, occurring, shown, shows_past=True)
                conversation = replace(conversation, messages=messages)
                continue
            event, message = self._reaction(conversation, scene)
            if event is not None:
                yield event
            conversation = _next_conversation(conversation, event, message)
            continues = message is not None and conversation.tries < self.options.attempts
        yield RetrievalEnded(conversation.retrieval())

    def _schema(self, question: str, scene: SceneInfo, occurring: Enumerations) -> str:
        if self.options.schema:
            return self.options.schema
        shown = schema_text(
            occurring,
            question,
            vocabulary=scene.vocabulary,
            form=self.options.form,
            budget_tokens=self.options.budget_tokens,
            names=self.options.names,
        )
        return shown + prompt.LOOKS if self.gate.encoder(vocabulary_of(scene.declared)) else shown

    def _start(self, question: str, scene: SceneInfo, occurring: Enumerations) -> tuple[str, Conversation]:
        """Return the scene as shown to the model, and the conversation that begins with it."""
        if self.options.retrieval == "text":
            graph, version = graph_text(SceneReader(self.gate, self.enumerator, scene))
            return graph, Conversation(question, (prompt.text_reader(graph), prompt.asked(question)), read_at=version)
        schema = self._schema(question, scene, occurring)
        return schema, Conversation(question, self._prompt(question, scene, occurring, schema))

    def _prompt(
        self, question: str, scene: SceneInfo, occurring: Enumerations, schema: str, *, shows_past: bool = False
    ) -> tuple[Message, Message]:
        """Return the task with all that the model is shown, and the question."""
        count, meaning, actors = self.options.examples, self.meaning, self._actors(scene, occurring)
        if shows_past or self._shows_past(question, scene, occurring, actors):
            past = prompt.past_part(past_text(self.gate, scene))
            examples = past_examples(question, count, meaning)
        else:
            past = prompt.ASK_FOR_PAST if actors else ""
            is_map = is_robot_map(occurring)
            examples = examples_for(scene.vocabulary, question, count, occurring, is_map=is_map, meaning=meaning)
        words = linked_words(question, occurring, meaning) if self.options.assisted else None
        system = prompt.code_writer(schema, examples, words, past, has_furniture=has_furniture(occurring))
        return system, prompt.asked(question)

    def _actors(self, scene: SceneInfo, occurring: Enumerations) -> frozenset[str]:
        """Return who acted in a scene whose past the model may ask for; nobody where nothing was done.

        A robot's map is left to the poses that it holds.
        """
        is_offered = self.options.assisted and self.options.past == "auto" and not scene.is_past_copy
        return self.enumerator.actors(scene) if is_offered and not is_robot_map(occurring) else frozenset()

    def _shows_past(self, question: str, scene: SceneInfo, occurring: Enumerations, actors: frozenset[str]) -> bool:
        """Check if the prompt has the past at once: always, or where the question's words tell of it."""
        if self.options.past == "always":
            return not scene.is_past_copy
        agents = (f"{it.name} {it.class_}" for it in occurring.agents)
        return bool(actors) and is_about_past(question, actors, agents)

    def _request(self, *messages: Message, after: int = 0, max_tokens: int | None = None) -> Request:
        """Return a request; each attempt `after` the first has a higher temperature than the one before."""
        temperature = self.options.temperature
        if self.options.assisted and temperature is not None:
            temperature = max(temperature, min(1.0, after * RETRY_TEMPERATURE))
        return Request(messages, temperature=temperature, seed=self.options.seed, max_tokens=max_tokens)

    def _attempt(self, conversation: Conversation, scene: SceneInfo) -> Attempt:
        """Ask the model once, and run its query, arrows turned where they must be, unless it is a repeated one."""
        limit = QUERY_TOKENS * 4**conversation.cut_off if conversation.read_at is None else None
        request = self._request(*conversation.messages, after=conversation.tries, max_tokens=limit)
        reply = traced(self.model).reply(request)
        if conversation.read_at is not None:
            return text_attempt(conversation, reply, read_at=conversation.read_at)
        found, occurring = parse_reply(reply), self.enumerator.of(scene)
        turned: tuple[str, ...] = ()
        if self.options.assisted:
            cypher, turned = turned_arrows(found.cypher, occurring, vocabulary_of(scene.declared))
            found = replace(found, cypher=cypher)
        before = conversation.earlier_query(found.cypher) if found.cypher else None
        started = time.perf_counter()
        ending = before.ending if before else self._ending(conversation, found, scene, occurring)
        return Attempt(
            number=len(conversation.attempts) + 1,
            cypher=found.cypher,
            ending=ending,
            usage=reply.usage,
            source=reply.source,
            seconds=time.perf_counter() - started,
            repeats=before.number if before else None,
            turned=turned,
        )

    def _ending(
        self, conversation: Conversation, found: ParsedReply, scene: SceneInfo, occurring: Enumerations
    ) -> AttemptEnding:
        if found.reason is not None:
            return Declined(found.reason)
        if found.wants_past and prompt.ASK_FOR_PAST in conversation.messages[0].text:
            return Rejected("past", ASKED_FOR_PAST)
        if not found.cypher:
            return Rejected("cut_off", CUT_OFF) if found.cut_off else Rejected("no_query", NO_QUERY)
        schema = vocabulary_of(scene.declared)
        if self.options.assisted and (mistake := mistake_in(found.cypher, occurring, schema)):
            return Rejected("mistake", mistake)
        try:
            return QueryExecuted(SceneReader(self.gate, self.enumerator, scene).run(found.cypher))
        except RejectedError as error:
            return Rejected(error.code if isinstance(error, QueryRefused) else "rejected", str(error))

    def _reaction(self, conversation: Conversation, scene: SceneInfo) -> tuple[RetrievalEvent | None, Message | None]:
        """Return the event about the last attempt and the message to the model, None at the end."""
        question = conversation.question
        match conversation.last.ending:
            case Declined():
                return None, None
            case Rejected() as refusal:
                return None, self._refused(conversation, refusal, scene)
            case TextAnswer():
                return self._verdict(conversation)
            case QueryExecuted(answer):
                found = self._causes(conversation, answer, scene)
                if found:
                    return Hinted(conversation.last.number, found), prompt.found_nothing(question, found)
                doubted = self._doubts(conversation, answer, scene)
                if doubted:
                    return Doubted(conversation.last.number, doubted), prompt.doubted(question, doubted)
                return self._verdict(conversation)
            case _ as never:
                assert_never(never)

    def _refused(self, conversation: Conversation, refusal: Rejected, scene: SceneInfo) -> Message:
        if refusal.code == "property" and self.options.assisted:
            return refusal_message(conversation, f"{refusal.message} {_properties(self.enumerator.of(scene))}")
        if refusal.code == "failed" and self.options.assisted:
            advice = unnamed_advice(conversation.last.cypher, refusal.message, self.enumerator.of(scene))
            return refusal_message(conversation, advice or refusal.message)
        return refusal_message(conversation, refusal.message)

    def _causes(self, conversation: Conversation, answer: Answer, scene: SceneInfo) -> tuple[str, ...]:
        is_last = len(conversation.attempts) >= self.options.attempts
        if not self.options.assisted or conversation.hinted or is_last or not answer.is_empty:
            return ()
        cypher, occurring, schema = conversation.last.cypher, self.enumerator.of(scene), vocabulary_of(scene.declared)
        return causes(cypher, occurring, self.meaning, schema, corrections_only=answer.says_no)

    def _doubts(self, conversation: Conversation, answer: Answer, scene: SceneInfo) -> tuple[str, ...]:
        is_last = len(conversation.attempts) >= self.options.attempts
        if conversation.doubted or is_last or not self.options.checks:
            return ()
        occurring = self.enumerator.of(scene)
        return doubts(CheckedAnswer(conversation.question, conversation.last.cypher, answer, occurring))

    def _verdict(self, conversation: Conversation) -> tuple[Verified | None, Message | None]:
        if self.options.verifier == "off" or (self.options.verifier == "words" and conversation.read_at is not None):
            return None, None
        try:
            verdict = verify(
                traced(self.model),
                conversation.question,
                conversation.results,
                mode=self.options.verifier,
                request=self._request(*conversation.messages),
            )
        except ModelUnavailable:
            if self.options.verifier == "words":  # the rows are the answer, which only stays without words
                return None, None
            raise
        if verdict.addressed is not False or conversation.last.repeats is not None:
            return verdict, None
        return verdict, not_addressed_message(conversation, verdict.text)


def _properties(occurring: Enumerations) -> str:
    """Return the properties that occur in a scene, and what to reply if none of them is asked for."""
    names = ", ".join((*CORE_PROPERTIES, *(use.name for use in occurring.properties)))
    no_answer = f"if none of them holds the answer, reply with {prompt.UNANSWERABLE} and the reason."
    return f"The properties here are {names}; {no_answer}"


def _totals(event: RetrievalEvent) -> Attributes:
    """Return the totals at the end of a stream, by the GenAI conventions."""
    if not isinstance(event, RetrievalEnded):
        return {}
    found = event.retrieval
    return {
        "gen_ai.usage.input_tokens": found.usage.prompt_tokens,
        "gen_ai.usage.output_tokens": found.usage.completion_tokens,
        "scenecypher.outcome": found.outcome,
        "scenecypher.attempts": len(found.attempts),
        "scenecypher.query.seconds": sum(attempt.seconds for attempt in found.attempts),
    }


def _next_conversation(
    conversation: Conversation, event: RetrievalEvent | None, message: Message | None
) -> Conversation:
    judged = conversation.with_verdict(event) if isinstance(event, Verified) else conversation
    return (
        judged.with_message(message, hinted=isinstance(event, Hinted), doubted=isinstance(event, Doubted))
        if message
        else judged
    )
