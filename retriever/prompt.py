"""The messages to the model: a system message, the question, and descriptions of failures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scenecypher.chat.model import Message
from scenecypher.retriever.library import Example
from scenecypher.retriever.linked_words import LinkedWords
from scenecypher.retriever.retrieval import ROWS_SHOWN

UNANSWERABLE: Final = "UNANSWERABLE:"
LOOKS: Final = """

VECTORS
Nodes have vectors of what they are like: similarity(n, 'something soft to sit on') is from 0 to 1, the higher the \
nearer, and 0 for a node without one. Use it for what no class, name or property says, and to sort, since no least \
value means "the same": MATCH (n:Entity) RETURN n.name ORDER BY similarity(n, 'something soft to sit on') DESC LIMIT \
3"""
PAST: Final = "PAST"
ASK_FOR_PAST: Final = f"""\
This scene graph has a past as well: what was where before, and what was done, when, why and by whom. If the question \
is about that ("who", "still", "no longer", "again", a verb in the past), reply with {PAST} alone; you are then shown \
how queries read it."""

THINGS: Final = """\
- A question about things in general is about furniture too: match (n:Entity), or no label, rather than (n:Object)."""
KINDS_OF_THINGS: Final = """\
- Objects are (n:Object) only, furniture and appliances (n:Asset), rooms (n:Place). Things in general, and "something" \
or "nothing" on or in a place, may be any of these: match (n:Entity), or no label."""

CODE_WRITER: Final = f"""\
You write Cypher for Neo4j that retrieves facts from the scene graph of one environment, such as a home: its places, \
furniture, objects and agents. You see the graph's schema, never the graph; the rows of your query are the answer.

Write one query that answers the question:
- It reads only, is one statement, and ends with RETURN. No CREATE, SET, MERGE, DELETE, procedures, LOAD CSV, APOC \
or $parameters.
- Use only the labels, relation types and properties of the schema, and copy values exactly as they stand there, \
upper and lower case included. Match what a thing is by its class, and one particular thing by its name.
- Mind the direction of relations: follow the patterns that occur. A pattern with the wrong direction finds nothing.
- states and affordances are lists: test them with 'open' IN n.states.
- Bound variable-length paths: -[:INSIDE|ON*1..4]->; the shortest path between two nodes is shortestPath or SHORTEST 1.
{THINGS}
- Use OPTIONAL MATCH for what may be missing, such as what an agent holds, so that the rest is still found.
- The most, the least, the nearest may be several: return all that tie, as in the examples, not LIMIT 1.
- Return the properties that answer the question, each under a telling name with AS, rather than whole nodes; \
DISTINCT where several paths lead to one thing; ORDER BY where order matters.
- Yes/no questions return a boolean with the evidence; counting returns the count.
- At most {ROWS_SHOWN} rows are shown: collect per thing, with collect(...), rather than return a row for each pair.

Reply with the query alone, in a ```cypher block. If nothing in the schema could hold the answer, reply with \
"{UNANSWERABLE} " and the reason instead."""

TEXT_READER: Final = f"""\
You answer questions about the scene graph of one environment, such as a home: its places, furniture, objects and \
agents. The whole graph is below, as text: a line a node, then a line a link. Reason in words about what it says, step \
by step where that helps, and answer from it alone, citing the names and ids that the answer rests on.

If the graph does not hold the answer, reply with "{UNANSWERABLE} " and the reason instead."""

WORDER: Final = """\
You put the result of a query into words. You are given a question about a scene graph, the Cypher query that was \
written for it, and its rows. Answer the question in one sentence, or in as few as it takes, from the rows alone; name \
the values that the answer rests on. If the rows do not answer the question, say what they do show."""

VERIFIER: Final = """\
You check the work of a query writer. You are given a question about a scene graph and the results of the queries \
written for it so far. If the results answer the question, or a part of it, reply with a summary for the asker: short, \
complete, and citing the values of the rows it rests on. An empty result can be an answer too: that there is none."""
VERIFIER_ENDS: Final = {
    "paper": "If they do not address the question, reply with NOT ADDRESSED and nothing else.",
    "hints": "If they do not address the question, reply with NOT ADDRESSED: and what is missing, in one sentence.",
}
NOT_ADDRESSED: Final = "NOT ADDRESSED"


def code_writer(
    schema: str,
    examples: Sequence[Example],
    words: LinkedWords | None = None,
    past: str = "",
    *,
    has_furniture: bool = True,
) -> Message:
    """Return the system message: the task, the schema, a part about the past, worked examples, the question's words.

    Without `words`, not even an empty tuple, the task is that of the papers' methods; with them, it speaks of furniture
    only where there is some. What changes from question to
    question stands last, so that a server reuses its work on what stands before.
    """
    kinds = f"{KINDS_OF_THINGS}\n" if has_furniture else ""
    task = CODE_WRITER if words is None else CODE_WRITER.replace(f"{THINGS}\n", kinds)
    parts = [task, f"The schema of this scene graph:\n\n{schema}"]
    if past:
        parts.append(past)
    if examples:
        parts.append(worked(examples))
    if words:
        meant = "\n".join(f"{word}: {links}" for word, links in words)
        parts.append(f"Words of the question, and what this scene has for them:\n\n{meant}")
    return Message("system", "\n\n".join(parts))


def past_part(past: str) -> str:
    """Return the part of a system message that shows the schema of the past."""
    return f"The past of this scene graph, which queries may read too:\n\n{past}"


def worked(examples: Sequence[Example]) -> str:
    """Return worked examples as a part of a message."""
    listed = "\n\n".join(f"Question: {one.question}\n```cypher\n{one.cypher}\n```" for one in examples)
    return f"Worked examples:\n\n{listed}"


def text_reader(graph: str) -> Message:
    """Return the system message of a model that reads the graph itself."""
    return Message("system", f"{TEXT_READER}\n\nThe scene graph:\n\n{graph}")


def asked(question: str) -> Message:
    """Return the question as a message."""
    return Message("user", f"Question: {question}")


def retry(question: str, problem: str) -> Message:
    """Return the problem of the last reply, and the question again."""
    return Message(
        "user",
        f"{problem}\n\nWrite the query again, in a ```cypher block, mending this; do not repeat an earlier query.\n"
        f"Question: {question}",
    )


def write_otherwise(question: str, problem: str) -> Message:
    """Return the question anew, with what was refused twice."""
    return Message(
        "user",
        f"A query for this question was refused twice: {problem}\n\nWrite another one, built in another way.\n"
        f"Question: {question}",
    )


def retry_in_words(question: str, problem: str) -> Message:
    """Return the problem of the last answer in words, and the question again."""
    return Message("user", f"{problem}\n\nAnswer again from the graph, mending this.\nQuestion: {question}")


def found_nothing(question: str, causes: Sequence[str]) -> Message:
    """Return the causes of a query's empty result, and the question again."""
    listed = "\n".join(f"- {cause}" for cause in causes)
    return Message(
        "user",
        f"The query ran but found nothing. In this scene:\n{listed}\n\n"
        "If one of these is a mistake in your query, write it again, in a ```cypher block. "
        f"If nothing is the right answer, repeat the same query.\nQuestion: {question}",
    )


def doubted(question: str, doubts: Sequence[str]) -> Message:
    """Return the doubts about an answer, and the question again."""
    listed = "\n".join(f"- {doubt}" for doubt in doubts)
    return Message(
        "user",
        f"The query ran, but its answer seems wrong:\n{listed}\n\n"
        "If this is a mistake in your query, write it again, in a ```cypher block. "
        f"If the answer is right, repeat the same query.\nQuestion: {question}",
    )


def verify(question: str, results: Sequence[str], *, mode: str) -> tuple[Message, Message]:
    """Return the two messages that ask for a verdict, or in the mode ``words`` for the answer alone."""
    shown = "\n\n".join(f"Result {number}:\n{text}" for number, text in enumerate(results, 1))
    system = WORDER if mode == "words" else f"{VERIFIER}\n{VERIFIER_ENDS[mode]}"
    return Message("system", system), Message("user", f"Question: {question}\n\n{shown}")
