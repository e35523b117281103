"""How many files of ours an action, a query, a question and a plan enter: what who follows one has to open."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import FrameType
from typing import Any, Final

from benchmarks.acting import OBJECT, TABLE, action_loop, home_to_act_in
from benchmarks.asking import QUESTION, ROOM_QUERY
from benchmarks.comparison import Measurement
from scenecypher.chat.scripted import Scripted, ScriptedReply
from scenecypher.db.gate import Gate
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.enumerate import Enumerator
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.prompts.replies import format_sections
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from scenecypher.retriever.retrieval import SceneReader
from scenecypher.retriever.retriever import Retriever

ROOT: Final = Path(__file__).resolve().parent.parent
OURS: Final = ("scenecypher", "chat", "db", "importers", "planner", "retriever")


def entered(database: Database) -> Iterator[Measurement]:
    """Count the files that are entered once what is kept is there, beside the most that each may enter."""
    store = SceneStore(database)
    with home_to_act_in(store) as info:
        gate, enumerator = Gate(database), Enumerator(store.replicas)
        act, reader = action_loop(store, info), SceneReader(gate, enumerator, info)
        texts = (ROOM_QUERY + f" AS room_{number}" for number in count())
        asker = Retriever(Scripted([ScriptedReply((), ROOM_QUERY)]), gate, enumerator)
        calls: tuple[tuple[str, Callable[[], object], int], ...] = (
            ("an action in a session", act, 25),
            ("a new query", lambda: reader.query(next(texts)), 22),
            ("a question", lambda: asker.ask(QUESTION, info), 45),
            ("a plan by sg2", plan_by_sg2(store, gate, info), 60),
        )
        for what, call, limit in calls:
            call()
            call()
            found = files_entered(call)
            yield Measurement(f"files of ours entered: {what} ({limit})", float(len(found)), float(limit), 1.0, "files")


def plan_by_sg2(store: SceneStore, gate: Gate, info: SceneInfo) -> Callable[[], object]:
    """Return a function that plans by sg2 and acts: a query, its answer, and a solution of two actions."""
    asks = format_sections(explanation="to find it", mode="QUERY", content=QUESTION)
    solution = f"[grab({OBJECT}), put_on({OBJECT}, {TABLE})]"
    solves = format_sections(explanation="it is known", mode="SOLUTION", content=solution)
    rules = (("Task: ",), asks), (("The Retriever's answer:",), solves), ((), ROOM_QUERY)
    model = Scripted([ScriptedReply(when, reply) for when, reply in rules])
    setting = SessionSetting(store, gate, info, f"put {OBJECT} on {TABLE}", "sg2", model=model)
    return lambda: [*prepare_session(setting, recipe_named("sg2")).run()]


def files_entered(call: Callable[[], object]) -> set[str]:
    """Return the files of the project, from its root, of which a function ran within `call`, in new threads too."""
    found: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            found.add(frame.f_code.co_filename)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    places = (Path(it).resolve() for it in found if not it.startswith("<"))
    ours = {str(it.relative_to(ROOT)) for it in places if it.is_relative_to(ROOT)}
    return {it for it in ours if it.split("/")[0] in OURS}
