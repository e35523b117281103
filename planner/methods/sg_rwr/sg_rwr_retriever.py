"""SG-RwR's Retriever: writes queries, checks their results itself, and sums up (sections 2.4 and 2.5, Table 5).

There is no Verifier: a reply with ``INFO RETRIEVED`` ends it, any other is a query to run. Ours: it writes Cypher
instead of Python over NetworkX, and has `MAX_QUERIES` attempts, while the paper iterates until a program runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from scenecypher.chat.clean import clean_cypher
from scenecypher.chat.model import Message, Model, Usage
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.errors import RejectedError, ReplyRejected
from scenecypher.planner.prompts.replies import ask_in_text, format_sections, parse_sections
from scenecypher.planner.prompts.texts import environment_explanation
from scenecypher.planner.sessions.recipe import SceneAccess
from scenecypher.retriever.reader import SceneReader
from scenecypher.retriever.retrieval import ROWS_SHOWN, Retrieval, rows_text
from scenecypher.retriever.schema_text import schema_text

MAX_QUERIES: Final = 6
END_MARK: Final = "INFO RETRIEVED"

SYSTEM: Final = """\
You retrieve information from the graph of an environment: asked a question in words, you write queries in Cypher, the \
language of Neo4j, and look at their results. You know the schema of the graph, not the graph.

The environment:
{environment}

The schema of the scene graph:
{schema}

Guidance:
- Write one query a reply, in a ```cypher block. It only reads, is one statement, and ends with RETURN.
- Use only labels, relation types and properties of the schema, and mind the direction of relations.
- At most {rows} rows are shown of a result: collect per thing, with collect(...), rather than return a row for each \
pair, and count where the number is enough.
- Always return the id of each node, besides what was asked for.
- The result of the query is sent back to you, or the error. Check it: if it is not what was asked for, write the \
query again. A result without rows can be the answer, too.
- When the information is retrieved, sum it up and end in this form:
[Summary]
The information that was asked for, with ids; or that the graph does not hold it.

INFO RETRIEVED"""


@dataclass(frozen=True, slots=True)
class SummarizingRetriever:
    """Retriever that answers questions by queries that its `model` writes and checks; `schema` replaces the scene's."""

    model: Model
    reader: SceneReader
    schema: str = ""

    def ask(self, question: str, scene: SceneInfo) -> Retrieval:
        """Return the summary, with the last query that ran. Raises RejectedError if replies are unusable."""
        messages, usage = self._opening(question, scene), Usage()
        cypher: str | None = None
        for _ in range(MAX_QUERIES + 1):
            reply, usage = ask_in_text(self.model, messages, _read, spent=usage)
            if isinstance(reply, Summary):
                return Retrieval(question, "answered", reply.text, (), usage, cypher=cypher)
            result, has_run = self._run(reply)
            cypher = reply if has_run else cypher
            messages = (*messages, Message("assistant", f"```cypher\n{reply}\n```"), Message("user", result))
        return Retrieval(question, "refused", f"nothing was found in {MAX_QUERIES} queries; ask for less", (), usage)

    def _opening(self, question: str, scene: SceneInfo) -> tuple[Message, ...]:
        occurring = self.reader.enumerator.of(scene)
        schema = self.schema or schema_text(occurring, question, vocabulary=scene.vocabulary, names=False)
        system = SYSTEM.format(environment=environment_explanation(scene.vocabulary), schema=schema, rows=ROWS_SHOWN)
        return Message("system", system), Message("user", format_sections(query=question))

    def _run(self, cypher: str) -> tuple[str, bool]:
        try:
            return f"The result of the query:\n{rows_text(self.reader.run(cypher))}", True
        except RejectedError as rejected:
            return f"The query failed: {rejected}\nWrite it again, mending this.", False


@dataclass(frozen=True, slots=True)
class Summary:
    """The retrieved information, in words."""

    text: str


def summarizing_retriever(access: SceneAccess) -> SummarizingRetriever:
    """Return the Retriever of a session."""
    return SummarizingRetriever(access.model, access.reader, access.schema)


def _read(text: str) -> Summary | str:
    """Parse a reply into the final summary or a query. Raises ReplyRejected."""
    if END_MARK in text:
        said = text.replace(END_MARK, "").strip()
        summary = parse_sections(said).get("summary", said)
        if not summary:
            raise ReplyRejected(f"the summary is empty; give it before {END_MARK}")
        return Summary(summary)
    cypher = clean_cypher(text)
    if not cypher:
        raise ReplyRejected(f"it holds neither a query in a ```cypher block nor {END_MARK}; give one of them")
    return cypher
