"""Our Retriever as one of neo4j-graphrag's, and its Text2CypherRetriever as a baseline beside ours."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from neo4j import Driver, Record

from chat.graphrag import ModelLLM
from chat.model import Model
from db.catalog import SceneInfo
from retriever.retrieval import Retrieval
from retriever.retriever import Retriever
from retriever.tool import DOES, NAME
from scenecypher.errors import InputError

try:
    from neo4j_graphrag.exceptions import Text2CypherRetrievalError
    from neo4j_graphrag.retrievers import Text2CypherRetriever
    from neo4j_graphrag.retrievers.base import Retriever as GraphragRetriever
    from neo4j_graphrag.tool import Tool
    from neo4j_graphrag.types import RawSearchResult, RetrieverResultItem
except ImportError as error:
    raise InputError(f"neo4j-graphrag is missing ({error}): run `pip install 'scenecypher[graphrag]'`") from error

ASKS: Final = {"query_text": "one question in plain words, such as: Which room is the cup in?"}


class SceneRetriever(GraphragRetriever):
    """Questions about one scene, for `GraphRAG(retriever, llm)` and `ToolsRetriever`; see `as_tool`.

    A row is an item whose content is its JSON; where there are none (a verifier's summary, an answer in words), the
    answer is the one item. The base class would connect to a server by itself, so it is not initialised.
    """

    VERIFY_NEO4J_VERSION = False

    def __init__(self, retriever: Retriever, scene: SceneInfo) -> None:
        self._retriever, self._scene = retriever, scene

    def get_search_results(self, query_text: str) -> RawSearchResult:
        """The rows that answer a question, with answer, Cypher, attempts and tokens as metadata.

        Raises Text2CypherRetrievalError where no query was accepted, and what Retriever.ask does.
        """
        found = self._retriever.ask(query_text, self._scene)
        if found.outcome == "refused":
            raise Text2CypherRetrievalError(found.answer)
        return RawSearchResult(records=_records(found), metadata=_metadata(found))

    def default_record_formatter(self, record: Record) -> RetrieverResultItem:
        """The row as JSON."""
        return RetrieverResultItem(content=json.dumps(dict(record), ensure_ascii=False))

    def as_tool(self) -> Tool:
        """A tool of the library's agents."""
        return self.convert_to_tool(NAME, DOES, ASKS)


def text2cypher(
    driver: Driver, model: Model, *, schema: str, examples: Sequence[str] = (), database: str = "neo4j"
) -> Text2CypherRetriever:
    """The library's own retriever with our model: the baseline. It reads the whole database, whatever scenes it holds.

    `schema` is the text shown to the model; the library's own needs a plugin on the server. An example is a text such
    as ``USER INPUT: '…' QUERY: MATCH …``.
    """
    return Text2CypherRetriever(
        driver, ModelLLM(model), neo4j_schema=schema, examples=[*examples], neo4j_database=database
    )


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
