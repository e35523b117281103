"""A home as one reads it, now or at an earlier version: its graph, tree, queries and questions; and as HTML."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Final, Protocol

from scenecypher.chat.model import Model, model_name
from scenecypher.db.gate import Gate
from scenecypher.db.graph.delta import Delta, diff
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.store.catalog import SceneInfo, original_of
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.enumerations import Enumerations
from scenecypher.db.store.reference import resolve_reference
from scenecypher.db.store.runs import RunCommand
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.db.store.values import JsonValue
from scenecypher.floorplan.figure import figure_of
from scenecypher.floorplan.home_view import view_of
from scenecypher.floorplan.layout import drawing_of
from scenecypher.meaning import Meaning
from scenecypher.planner.sessions.recording import RunRecorder, keep_answer
from scenecypher.planner.sessions.reporting import question_began
from scenecypher.retriever.retrieval import Retrieval, SceneReader, cell_text
from scenecypher.retriever.retriever import Options, Retriever
from scenecypher.retriever.schema_text import schema_text
from scenecypher.settings import Settings
from scenecypher.tree import SceneTree, node_lines
from scenecypher.wording import counted

ROWS_SHOWN: Final = 100
CHILDREN_SHOWN: Final = 100
"""Things shown in one place; what is left out is counted."""
DEPTH: Final = 6
DRAWN: Final = 1_500


def table_html(
    columns: Sequence[str], rows: Sequence[Sequence[JsonValue]], *, truncated: str | None, hints: Sequence[str]
) -> str:
    """Return a table of the first rows, how many there are, and the hints; `truncated` says why there are no more."""
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    shown = ("".join(f"<td>{escape(cell_text(cell))}</td>" for cell in row) for row in rows[:ROWS_SHOWN])
    body = "".join(f"<tr>{cells}</tr>" for cells in shown)
    count = counted(len(rows), "row") + (f", {truncated}" if truncated else "")
    if len(rows) > ROWS_SHOWN:
        count += f"; the first {ROWS_SHOWN} are shown"
    notes = "".join(f"<p>{escape(note)}</p>" for note in (count, *hints))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"


def home_html(title: str, graph: SceneGraph) -> str:
    """Return counts by kind, the home from above, and a tree of its rooms, bare walls and floors left off.

    Homes of more than DRAWN nodes have no picture.
    """
    kinds = Counter(node.kind for node in graph.nodes.values())
    counts = ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items()))
    tree = SceneTree(graph, shell=False)
    rooms = "".join(f"<li>{_item(tree, room)}</li>" for room in tree.roots())
    rest = f"<p>left off: {escape(tree.left_off_text())}</p>" if tree.left_off else ""
    plan = (
        f'<div style="overflow:auto">{figure_of(drawing_of(graph, view_of(graph)), title)}</div>' if graph.nodes else ""
    )
    picture = plan if len(graph.nodes) <= DRAWN else ""
    return f"<p><b>{escape(title)}</b>: {escape(counts)}</p>{picture}<ul>{rooms}</ul>{rest}"


def _item(tree: SceneTree, node_id: str, depth: int = 0) -> str:
    """Return a node with all that is in and on it, as a list item's inside."""
    children = tree.children(node_id)
    node = tree.graph.nodes[node_id]
    label = escape(node.name) + (f" <small>[{escape(', '.join(node.states))}]</small>" if node.states else "")
    if not children or depth == DEPTH:
        return label
    shown = "".join(f"<li>{_item(tree, child, depth + 1)}</li>" for child in children[:CHILDREN_SHOWN])
    more = len(children) - CHILDREN_SHOWN
    rest = f"<li>and {more:,} more</li>" if more > 0 else ""
    return f"<details><summary>{label} ({len(children):,})</summary><ul>{shown}{rest}</ul></details>"


class Services(Protocol):
    """What a home needs of the database that it is in."""

    store: SceneStore
    settings: Settings
    enumerator: Enumerator
    meaning: Meaning

    @property
    def gate(self) -> Gate:
        """The gate to the database."""
        ...

    def reader_of(self, info: SceneInfo) -> SceneReader:
        """Return the gated reader of a scene as it was found."""
        ...

    def model(self, chosen: Model | str | None = None) -> Model:
        """Return the model for the `model` argument of a method, None for the usual model."""
        ...


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The rows of a query at one version of the scene; `truncated` says why there are no more, if there are.

    `hints` say what in the query matches nothing, if the answer is empty or a slip does not empty it.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[JsonValue, ...], ...]
    truncated: str | None
    version: int
    seconds: float
    hints: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[tuple[JsonValue, ...]]:
        return iter(self.rows)

    def _repr_html_(self) -> str:
        """Return a table, for notebooks."""
        return table_html(self.columns, self.rows, truncated=self.truncated, hints=self.hints)


class ReadableHome(ABC):
    """A scene to be read, by its name. Every method raises SceneNotFound once it is deleted, and ServiceError."""

    def __init__(self, services: Services, name: str) -> None:
        self.name, self._services = name, services

    @property
    @abstractmethod
    def info(self) -> SceneInfo:
        """The facts of the scene: vocabulary, role, version, counts at its import."""

    @property
    @abstractmethod
    def graph(self) -> SceneGraph:
        """The whole scene at one version."""

    @abstractmethod
    def _found(self) -> SceneInfo:
        """Return the scene that queries read."""

    def tree(self, of: str | None = None, *, everything: bool = False) -> str:
        """Return rooms, furniture and things as text, a line each: what is where, what is held, states in brackets.

        `of` is a room or thing by its id, name or class, with what is in and on it. Walls and floors with nothing in or
        on them are left off, unless `everything` is asked for. Raises UnknownReference.
        """
        graph = self.graph
        node = None if of is None else resolve_reference(graph, of)
        return "\n".join(SceneTree(graph, shell=everything).lines(node))

    def look(self, of: str) -> str:
        """Return all that is known of a room or thing as text: states, what can be done, relations, what it contains.

        `of` is its id, name or class. Raises UnknownReference.
        """
        graph = self.graph
        node = resolve_reference(graph, of)
        below = [*SceneTree(graph, shell=False).lines(node)][1:]
        return "\n".join([*node_lines(graph, node), *(["contains:", *below] if below else [])])

    @property
    def schema(self) -> str:
        """The text that a model is shown of the scene: what occurs in it, never the graph."""
        return schema_text(self.occurring, "", vocabulary=self.info.vocabulary)

    @property
    def occurring(self) -> Enumerations:
        """What occurs in the scene, counted."""
        return self._services.enumerator.of(self._found())

    def query(self, cypher: str) -> QueryResult:
        """Run a reading query. It reads this scene only, changes nothing and has a bounded cost.

        `hints` of the result say what in the query the scene does not have. Raises QueryRefused, with a hint how to
        repair the query.
        """
        answer = self._services.reader_of(self._found()).query(cypher)
        rows = tuple(tuple(row) for row in answer.rows)
        return QueryResult(tuple(answer.columns), rows, answer.truncated, answer.version, answer.seconds, answer.hints)

    def ask(self, question: str, *, model: Model | str | None = None, options: Options | None = None) -> Retrieval:
        """Ask a question in words: a model writes Cypher, the gate scopes it, the database answers.

        Returns the answer in a sentence with its rows, its Cypher and all attempts; `options` with the verifier ``off``
        save the call for the sentence. Raises InputError for an empty question, ModelUnavailable.
        """
        services = self._services
        chosen = options or Options(verifier="words")
        asked, info = services.model(model), self._found()
        retriever = Retriever(asked, services.gate, services.enumerator, chosen, services.meaning)
        began = question_began(question, original_of(info), model_name(asked))
        return keep_answer(self._recorder(original_of(info), "ask"), began, lambda: retriever.ask(question, info))

    def diff(self, other: ReadableHome | SceneGraph) -> Delta:
        """Return the changes that lead from this home, as it is now or was at its version, to `other`."""
        return diff(self.graph, other if isinstance(other, SceneGraph) else other.graph)

    def _recorder(self, scene: SceneInfo, command: RunCommand) -> RunRecorder:
        services = self._services
        return RunRecorder(services.store.database, scene, command, is_on=services.settings.record_runs)
