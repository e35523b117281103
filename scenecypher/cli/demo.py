"""`scenecypher demo`: a real home in a real database, asked, changed, planned on and undone."""

from __future__ import annotations

import json
import sys
from contextlib import suppress
from importlib.resources import files
from typing import TYPE_CHECKING, Annotated, Final

from rich.rule import Rule

from scenecypher.cli.context import open_database, output, say, tell
from scenecypher.cli.options import option
from scenecypher.cli.serve import ui
from scenecypher.errors import InputError, ServiceError

if TYPE_CHECKING:
    from scenecypher.chat import ScriptedReply
    from scenecypher.chat.model import Model
    from scenecypher.db.graph.imported import ImportedScene
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.scenes import SceneDatabase
    from scenecypher.settings import Settings

QUESTIONS: Final = (
    "Which room is the cup in, and what does it stand on?",
    "How many lights are switched on in each room?",
    "What in the same room as the microwave is closed and can be opened?",
)
INSTRUCTION: Final = "Put the cup into the microwave and switch it on."
PROVENANCE: Final = (
    "recorded on 2026-11-25 from a strong language model that this demo asked through the OpenAI protocol"
)
SCENE = "demo"
TASK = "963_2"
VOCABULARY = "virtualhome_ext"
"""The vocabulary in which the cup is carried along; with `virtualhome` it would stay INSIDE the room it came from."""
SCHEMA_TOKENS = 800
QUESTION = "What is on the kitchen counter?"


def recorded_replies() -> tuple[ScriptedReply, ...]:
    """Return the replies as they were, each to prompts that end as the one that it answered."""
    from scenecypher.chat import ScriptedReply

    text = (files("scenecypher.cli") / "demo_replies.jsonl").read_text(encoding="utf-8")
    exchanges = map(json.loads, text.splitlines())
    return tuple(ScriptedReply((it["user"].splitlines()[-1],), it["reply"]) for it in exchanges)


def demo(*, keep: Annotated[bool, option("--keep", "Leave the task's changes in the scene.")] = False) -> None:
    """See it all once, in about a minute: import, ask, act with a refusal on the way, history, undo, the page."""
    from scenecypher.settings import Settings

    with open_database(model=_recorded_model(Settings())) as db:
        _import(db.store)
        info = db.store.find(SCENE)
        _show_schema(db, info)
        _ask(db, info)
        _plan(db)
        _show_history_and_undo(db.store, info, keep=keep)
        _show_next_steps(db.settings)
    if sys.stdout.isatty():
        say("\nThe page of this home, with the plan as a run; Ctrl-C ends it:")
        with suppress(KeyboardInterrupt):
            ui(SCENE)


def _recorded_model(settings: Settings) -> Model | None:
    """Return the recorded replies if no model is configured."""
    if settings.live_model:
        output().print(f"[bold]Live model:[/] {settings.model}; what it writes may differ from run to run.")
        return None
    from scenecypher.chat import Scripted

    output().print(
        f"[bold yellow]No model is configured: the model's replies below are replayed, word for word, {PROVENANCE}.[/] "
        "The database, the gate, the actions and the history are real."
    )
    return Scripted(recorded_replies(), source="recorded")


def _import(store: SceneStore) -> None:
    _title("1. A home, imported into Neo4j")
    scene = _home()
    done = store.put(scene, actor="demo")
    output().print(
        f"{scene.source}\nscene [bold]{SCENE}[/]: {done.outcome}, {done.nodes:,} nodes, {done.relations:,} relations"
    )


def _home() -> ImportedScene:
    from dataclasses import replace

    from scenecypher.importers.homes import small_home
    from scenecypher.importers.virtualhome import packaged_scene

    try:
        scene = packaged_scene(TASK)
    except (InputError, ServiceError):
        tell("VirtualHome's data can't be fetched, which a later demo tries again: a small home of our own stands in")
        scene = small_home()
    return replace(scene, name=SCENE, vocabulary=VOCABULARY)


def _show_schema(db: SceneDatabase, info: SceneInfo) -> None:
    from scenecypher.retriever.schema_text import schema_text

    _title("2. What a model is shown: the schema, never the graph")
    say(schema_text(db.enumerator.of(info), "", vocabulary=info.vocabulary, budget_tokens=SCHEMA_TOKENS), style="dim")


def _ask(db: SceneDatabase, info: SceneInfo) -> None:
    from scenecypher.cli.query import final_retrieval, show_retrieval
    from scenecypher.retriever.retriever import Retriever

    _title("3. Three questions: the model writes Cypher, the gate scopes it")
    retriever = Retriever(db.model(), db.gate, db.enumerator)
    for question in QUESTIONS:
        output().print(f"\n[bold]{question}[/]")
        show_retrieval(final_retrieval(retriever.stream(question, info), told=say))


def _plan(db: SceneDatabase) -> None:
    from scenecypher.cli.history import show_events
    from scenecypher.planner.sessions.budget import Budget

    _title("4. A task: each action is checked, and is one transaction")
    output().print(f"[bold]{INSTRUCTION}[/]\n")
    show_events(db.home(SCENE).plan_events(INSTRUCTION, budget=Budget(20), fix=False))


def _show_history_and_undo(store: SceneStore, info: SceneInfo, *, keep: bool) -> None:
    from scenecypher.cli.history import print_history

    _title("5. The history, and the way back")
    print_history(store.history(info, after=info.version))
    if keep or store.find(SCENE).version == info.version:
        return
    done = store.undo(info, to=info.version)
    count = len(done.delta)
    say(f"\nundone: {count} changes in one commit; the scene is as it was, at version {done.version}")


def _show_next_steps(settings: Settings) -> None:
    _title("Now you")
    where = f"the server at {settings.neo4j_uri}" if settings.neo4j_uri else "scenecypher db browser"
    rows = [
        ("see it as a page", f"scenecypher ui {SCENE}"),
        ("see the plan again", "scenecypher runs show"),
        ("look at it in Neo4j Browser", where),
        ("  and there, for example", "MATCH (n:Entity)-[r:INSIDE|ON]->(m) RETURN * LIMIT 200"),
        ("act on it", f'scenecypher act {SCENE} "walk(cup_2004)"'),
        ("plug in a model", "export OPENAI_API_KEY=..., or for a server of your own"),
        ("", "export OPENAI_BASE_URL=... SCENECYPHER_MODEL=..."),
        ("  and then", f'scenecypher ask {SCENE} "{QUESTION}"'),
        ("stop the database", "scenecypher db stop  (its data stays)"),
    ]
    for what, how in rows:
        say(f"{what:30}{how}")


def _title(text: str) -> None:
    output().print()
    output().print(Rule(text, align="left"))
