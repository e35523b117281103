"""A program that plays the papers' example with several methods and prints all messages to the model.

``python -m tests.planner.methods.print_prompts URI PASSWORD``
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from scenecypher.chat.model import Reply, Request, Usage
from scenecypher.db.gate import Gate
from scenecypher.db.store.connection import Address, Database
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.methods.lookplangraph import system_prompt
from scenecypher.planner.staging import SessionSetting, prepare_session
from tests.planner.actions.test_operators import put
from tests.planner.methods.coffee import COFFEE, INSTRUCTION, STEPS

SEARCH: dict[str, object] = {"chain_of_thought": [], "reasoning": "", "mode": "exploring", "plan": None}
SAYPLAN = (
    json.dumps(SEARCH | {"command": {"command_name": "expand_node", "node_name": "kitchen-1"}}),
    json.dumps(SEARCH | {"mode": "planning", "command": None, "plan": ["go_to(kitchen-1)"]}),
)
SCRIPTS = {
    "lookplangraph": STEPS,
    "sayplan": SAYPLAN,
    "llm-as-p": ('{"plan": []}',),
    "zero-shot": ("Solution: []",),
    "sg2": (
        "[Explanation]\nso\n\n[Mode]\nQUERY\n\n[Content]\nWhich objects are there?",
        "MATCH (o:Object) RETURN o.id AS id, o.states AS states ORDER BY id",
        "There are several.",
        "[Explanation]\nso\n\n[Mode]\nSOLUTION\n\n[Content]\n[]",
    ),
    "sg-rwr": (
        "[Explanation]\nso\n\n[Query]\nWhich assets are there?",
        "```cypher\nMATCH (o:Asset) RETURN o.id AS id, o.states AS states ORDER BY id\n```",
        "[Summary]\nThere are several.\n\nINFO RETRIEVED",
        "[Summary]\nso\n\n[Actions]\n[]\n\nTASK TERMINATE",
    ),
    "react-alfworld": ("> think: so", "> go_to(kitchen-1)", "> go_to(table-1)", "> done()"),
    "react-sg2": ("Thought: ?\nAction: expand(kitchen-1)", "Thought: so\nAction: finish([])"),
}


class RecordingModel:
    """A model with scripted replies that records its messages."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = iter(lines)
        self.said: list[str] = []

    def reply(self, request: Request) -> Reply:
        self.said += [message.text for message in request.messages]
        return Reply(next(self._lines), Usage(), "noting", source="scripted")


def main(uri: str, password: str) -> None:
    """Print all messages."""
    database = Database(Address(uri, "neo4j", password))
    store = SceneStore(database)
    said = [system_prompt(vocabulary) for vocabulary in ("grasif", "babyai", "virtualhome")]
    for method, lines in SCRIPTS.items():
        scene, model = put(store, COFFEE, vocabulary="grasif"), RecordingModel(lines)
        setting = SessionSetting(store, Gate(database), scene, INSTRUCTION, method, model=model)
        assert [*prepare_session(setting, recipe_named(method)).run()]
        said += model.said
    sys.stdout.write("\n".join(said))
    database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
