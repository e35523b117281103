"""A new user's evening at the command line: a home written by hand, a PDDL domain, a robot's map.

Each is imported, seen as a tree, asked, acted in with a refusal, planned in by an engine and a model, and undone, each
command in a process of its own (a fork). `pytest tests/scenecypher/test_evening.py -s` prints the seconds of each.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Final

import pytest

from scenecypher.db.store.scene_store import SceneStore
from tests.scenecypher.cli.test_household import HOME
from tests.scripted_model import MODEL_NAME, ScriptedModel

pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")

ROOT: Final = Path(__file__).parents[2]
APARTMENT: Final = ROOT / "tests" / "data" / "dsg" / "apartment_dsg.json"


@dataclass
class Evening:
    """A user's terminal: a folder, an environment, and a model that answers from a script."""

    forks: Path
    folder: Path
    env: dict[str, str]
    model: ScriptedModel
    replies: list[str]
    seconds: list[tuple[str, float]] = field(default_factory=list)

    def types(self, *words: str, says: tuple[str, ...] = (), exits: int = 0) -> str:
        """Run a command, for which the model says `says`; return what it prints."""
        self.replies[:] = says
        began = perf_counter()
        done = subprocess.run(
            [self.forks / "scenecypher", *words],
            cwd=self.folder,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        self.seconds.append((" ".join(("scenecypher", *words)), perf_counter() - began))
        assert done.returncode == exits, (words, done.stdout, done.stderr)
        assert not self.replies, f"the model was not asked for {self.replies}"
        return done.stdout + done.stderr

    def table(self) -> str:
        """Return the seconds of each command."""
        rows = [f"{seconds:6.2f} s  {words}" for words, seconds in self.seconds]
        return "\n".join((*rows, f"{sum(it for _, it in self.seconds):6.2f} s  in all"))


@pytest.fixture
def evening(forks: Path, user_env: dict[str, str], tmp_path: Path, store: SceneStore) -> Iterator[Evening]:
    before = {info.name for info in store.scenes()}
    replies: list[str] = []
    with ScriptedModel(lambda _: replies.pop(0)) as model:
        env = {**user_env, "OPENAI_BASE_URL": model.base_url, "SCENECYPHER_MODEL": MODEL_NAME, "COLUMNS": "160"}
        yield Evening(forks, tmp_path, env, model, replies)
    for info in store.scenes():
        if info.name not in before:
            store.delete(info.name)


def solution(plan: str) -> str:
    """Return a reply of SG2's Task Planner."""
    return f"[Explanation]\nIt is short.\n\n[Mode]\nSOLUTION\n\n[Content]\n[{plan}]"


def query(question: str) -> str:
    return f"[Explanation]\nI must know.\n\n[Mode]\nQUERY\n\n[Content]\n{question}"


def test_an_evening(evening: Evening) -> None:
    a_home_written_by_hand(evening)
    a_pddl_domain(evening)
    a_robots_map(evening)
    sys.stdout.write(f"\n{evening.table()}\n")


def a_home_written_by_hand(evening: Evening) -> None:
    (evening.folder / "flat.json").write_text(json.dumps(HOME), encoding="utf-8")
    types, name = evening.types, "networkx/flat"
    assert f"{name}: created" in types("import", "networkx", "flat.json", "--agent", "robot", "--in", "hall")
    assert "milk" in types("scenes", "tree", name)
    on_the_table = "MATCH (o:Object)-[:ON]->(:Asset {name: 'table'}) RETURN o.name AS thing"
    assert "mug" in types("ask", name, "What is on the table?", says=(on_the_table,))
    refused = types("act", name, "pick_up(milk)", exits=1)
    assert "milk is not in the agent's room: go_to(kitchen) first" in refused
    assert "milk is inside fridge, which is closed" in refused
    assert "done" in types("act", name, "put_on(milk, shelf)", "--fix")
    assert "done" in types("plan", name, "--goal", "mug IN fridge; fridge is closed", "--method", "symbolic")
    back = solution("pick_up(milk), put_on(milk, table)")
    assert "done" in types("plan", name, "Put the milk on the table.", "--method", "sg2", "--fix", says=(back,))
    assert "milk" in types("history", name, "milk")
    types("undo", name, "--to", "0")
    assert types("scenes", "diff", name, "--since", "0", "--json").strip() == "[]"


def a_pddl_domain(evening: Evening) -> None:
    text = (ROOT / "docs" / "own-actions.md").read_text(encoding="utf-8")
    for file in ("bar", "evening"):
        found = re.search(rf"cat > {file}\.pddl <<'END_OF_FILE'\n(.*?)END_OF_FILE\n", text, re.DOTALL)
        assert found is not None
        (evening.folder / f"{file}.pddl").write_text(found[1], encoding="utf-8")
    types, name = evening.types, "pddl/evening"
    assert f"{name}: created" in types("import", "pddl", "evening.pddl", "--domain", "bar.pddl")
    assert "sideboard" in types("scenes", "tree", name)
    glasses = "MATCH (g {class: 'glass'})-[:ON]->(s) RETURN g.name AS glass, s.name AS shelf"
    assert "counter" in types("ask", name, "Which glass is on which shelf?", says=(glasses,))
    assert "(clean blue) does not hold" in types("act", name, "take(blue, counter, hall)", exits=1)
    assert "done" in types("plan", name, "--method", "symbolic")
    types("undo", name, "--to", "0")
    dirty = (
        "MATCH (g {class: 'glass'})-[:ON]->(s) WHERE NOT 'clean' IN g.states RETURN g.name AS glass, s.name AS shelf"
    )
    wash = solution("wash(hall), take(blue, counter, hall)")
    said = (query("Which glass is dirty, and where?"), f"```cypher\n{dirty}\n```", "blue, on counter, in hall.", wash)
    assert "done" in types("plan", name, "Take a clean blue glass.", "--method", "sg2", says=said)
    types("undo", name, "--to", "0")
    assert types("scenes", "diff", name, "--since", "0", "--json").strip() == "[]"


def a_robots_map(evening: Evening) -> None:
    labels = [{"label": number, "name": name} for number, name in ((5, "chair"), (11, "lamp"), (16, "cup"))]
    rows = "".join(f"  - {{label: {it['label']}, name: {it['name']}}}\n" for it in labels)
    (evening.folder / "labels.yaml").write_text(f"label_names:\n{rows}", encoding="utf-8")
    types, name = evening.types, "dsg/apartment_dsg"
    assert f"{name}: created" in types("import", "dsg", str(APARTMENT), "--labels", "labels.yaml")
    assert "inside: O(24)" in types("scenes", "tree", name)
    lamps = "MATCH (l:Object {class: 'lamp'}) RETURN count(l) AS lamps"
    assert "2" in types("ask", name, "How many lamps are there?", says=(lamps,))
    assert "done" in types("act", name, 'pick_up("O(24)")')
    assert "holds O(24), and has one hand" in types("act", name, 'pick_up("O(33)")', exits=1)
    assert "done" in types("plan", name, "--goal", "O(24) IN R(0)", "--method", "symbolic")
    other = solution('pick_up("O(33)"), put_in("O(33)", "R(0)")')
    assert "done" in types("plan", name, "Bring the other cup there, too.", "--method", "sg2", says=(other,))
    assert "put_in" in types("history", name, "O(33)")
    types("undo", name, "--to", "0")
    assert types("scenes", "diff", name, "--since", "0", "--json").strip() == "[]"
