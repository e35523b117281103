"""Adapters to neo4j-graphrag: our Retriever as one of its retrievers, and its Text2CypherRetriever as a baseline."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from neo4j import Driver, GraphDatabase, Record
from neo4j.exceptions import Neo4jError

from scenecypher.chat.graphrag import ModelLLM
from scenecypher.chat.model import Model, Reply, Request
from scenecypher.db.gate import Answer
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Address
from scenecypher.db.store.values import json_value
from scenecypher.errors import InputError, ModelUnavailable
from scenecypher.retriever.retrieval import Attempt, QueryExecuted, Rejected, Retrieval, rows_text
from scenecypher.retriever.retriever import Retriever
from scenecypher.retriever.tool import DESCRIPTION, NAME

try:
    from neo4j_graphrag.exceptions import LLMGenerationError, Text2CypherRetrievalError
    from neo4j_graphrag.retrievers import Text2CypherRetriever
    from neo4j_graphrag.retrievers.base import Retriever as GraphragRetriever
    from neo4j_graphrag.tool import Tool
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem
except ImportError as error:
    raise InputError(f"neo4j-graphrag is missing ({error}): run `pip install 'scenecypher[agents]'`") from error

PARAMETERS: Final = {"query_text": "one question in plain words, such as: Which room is the cup in?"}


class SceneRetriever(GraphragRetriever):
    """A retriever of one scene for `GraphRAG(retriever, llm)` and `ToolsRetriever`; see `as_tool`.

    Each row is an item whose content is its JSON; without rows (a verifier's summary, an answer in words) the answer is
    the only item. The base class is not initialised, since it would connect to a server.
    """

    VERIFY_NEO4J_VERSION = False

    def __init__(self, retriever: Retriever, scene: SceneInfo) -> None:
        self._retriever, self._scene = retriever, scene

    def get_search_results(self, query_text: str) -> RawSearchResult:
        """Return the rows that answer a question, with answer, Cypher, attempts and tokens as metadata.

        Raises Text2CypherRetrievalError if no query was accepted, and as Retriever.ask does.
        """
        found = self._ask(query_text)
        if found.outcome == "refused":
            raise Text2CypherRetrievalError(found.answer)
        return RawSearchResult(records=_records(found), metadata=_metadata(found))

    def _ask(self, question: str) -> Retrieval:
        return self._retriever.ask(question, self._scene)

    def default_record_formatter(self, record: Record) -> RetrieverResultItem:
        """Return the row as JSON."""
        return RetrieverResultItem(content=json.dumps(dict(record), ensure_ascii=False))

    def as_tool(self) -> Tool:
        """Return the retriever as a tool for the library's agents."""
        return self.convert_to_tool(NAME, DESCRIPTION, PARAMETERS)


def text2cypher(
    driver: Driver, model: Model, *, schema: str, examples: Sequence[str] = (), database: str = "neo4j"
) -> Text2CypherRetriever:
    """Return the baseline: the library's own retriever with our model, which reads the whole database.

    `schema` is the text shown to the model; the library's own needs a plugin on the server. An example is a text such
    as ``USER INPUT: '…' QUERY: MATCH …``.
    """
    return Text2CypherRetriever(
        driver, ModelLLM(model), neo4j_schema=schema, examples=[*examples], neo4j_database=database
    )


WHERE: Final = """
This database holds other scenes too: every node has the property scene, and those of this scene have scene = '{key}'.
Match nodes such as (n:Object {{scene: '{key}'}}).\
"""


def ask_text2cypher(address: Address, model: Model, question: str, *, scene: SceneInfo, schema: str) -> Retrieval:
    """Ask the baseline about one scene: one query, sent as written, with no limit on its reads.

    `schema` is followed by instructions to tell the scene's nodes from others. Raises ModelUnavailable.
    """
    metered = _MeteredModel(model)
    auth = (address.username, address.password) if address.password else None
    with GraphDatabase.driver(address.uri, auth=auth) as driver:
        shown = schema + WHERE.format(key=scene.key)
        retriever = text2cypher(driver, metered, schema=shown, database=address.database)
        started = time.perf_counter()
        try:
            found = retriever.get_search_results(question)
        except LLMGenerationError as error:
            raise ModelUnavailable(f"{error}; look at the model's service") from error
        except (Text2CypherRetrievalError, Neo4jError) as error:
            return _refused(question, metered.replies[-1], str(error))
        seconds = time.perf_counter() - started
    columns = tuple(found.records[0].keys()) if found.records else ()
    rows = [[json_value(value) for value in record.values()] for record in found.records]
    answer = Answer(columns, rows, None, scene.version, seconds)
    return _answered(question, metered.replies[-1], str((found.metadata or {}).get("cypher", "")), answer)


@dataclass(frozen=True, slots=True)
class _MeteredModel:
    """A model that keeps its replies, whose tokens and source the library does not pass on."""

    model: Model
    replies: list[Reply] = field(default_factory=list)

    def reply(self, request: Request) -> Reply:
        self.replies.append(self.model.reply(request))
        return self.replies[-1]


def _answered(question: str, reply: Reply, cypher: str, answer: Answer) -> Retrieval:
    attempt = Attempt(1, cypher, QueryExecuted(answer), reply.usage, reply.source, answer.seconds)
    return Retrieval(
        question,
        "answered",
        rows_text(answer),
        (attempt,),
        reply.usage,
        cypher,
        answer.columns,
        tuple(map(tuple, answer.rows)),
        answer.version,
    )


def _refused(question: str, reply: Reply, why: str) -> Retrieval:
    attempt = Attempt(1, reply.text, Rejected("failed", why), reply.usage, reply.source)
    return Retrieval(question, "refused", why, (attempt,), reply.usage)


def _records(found: Retrieval) -> list[Record]:
    if found.outcome == "answered" and (found.addressed or not found.rows):
        return [_record({"answer": found.answer})]
    return [_record(dict(zip(found.columns, row, strict=True))) for row in found.rows]


def _record(values: dict[str, Any]) -> Record:
    return Record(values)  # type: ignore[no-untyped-call]


def _metadata(found: Retrieval) -> dict[str, Any]:
    return {
        "cypher": found.cypher,
        "outcome": found.outcome,
        "answer": found.answer,
        "scene_version": found.version,
        "truncated": found.truncated,
        "attempts": len(found.attempts),
        "prompt_tokens": found.usage.prompt_tokens,
        "completion_tokens": found.usage.completion_tokens,
    }
