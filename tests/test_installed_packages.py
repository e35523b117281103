"""Packages of somebody else's, built as wheels, installed in an environment, used on the command line."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final
from uuid import uuid4

import pytest

from scenecypher.cli.app import run_command_line
from scenecypher.errors import InputError
from scenecypher.planner.vocabularies.vocabulary import operators_of
from tests.evaluation.conftest import IGNORED, collect_streams
from tests.test_packaging import built, run

__all__ = ["collect_streams"]

pytestmark = [pytest.mark.filterwarnings(warning) for warning in IGNORED]

VOCABULARY: Final = '''\
"""What a robot can do among trees."""

from scenecypher.db.condition import HasState, Not
from scenecypher.db.vocabulary import Conventions
from scenecypher.planner.actions.operator import Become, Operator, Parameter, Requirement
from scenecypher.planner.vocabularies.vocabulary import Planning, Vocabulary, Words

WATER = Operator(
    "water",
    (Parameter("x", "a tree"),),
    (Requirement(Not(HasState("x", "wet")), "{x} is wet already", "already"),),
    (Become("x", "wet", instead_of="dry"),),
    "water a tree",
)
VOCABULARY = Vocabulary(
    name="orchard",
    about="A robot that waters trees.",
    conventions=Conventions(containment=("INSIDE",), one_parent=True, notes=(), texts=__name__),
    operators={"water": WATER},
    words=Words(environment="The environment is an orchard."),
    planning=Planning(keeps_one_parent=True),
)
'''
ORCHARD: Final = {
    "directed": True,
    "nodes": [
        {"id": "meadow", "kind": "room"},
        {"id": "apple_tree", "kind": "Asset", "states": ["dry"]},
        {"id": "robot", "kind": "Agent"},
    ],
    "edges": [
        {"source": "apple_tree", "target": "meadow", "relation": "in"},
        {"source": "robot", "target": "meadow", "relation": "in"},
    ],
}


TOYS: Final = {
    "methods": {"polite": "POLITE", "broken": "NOTHING"},
    "importers": {"rooms": "ROOMS"},
    "experiments": {"greetings": "GREETINGS", "sulking": "NOTHING"},
}
"""What the package of toys brings: of each kind the names, and where they are."""
TOY_ROBOTS: Final = '''\
"""A method that greets the cup, a format of lines such as `cup in kitchen`, and an experiment."""

from typing import Annotated

import typer

from scenecypher.chat.model import Usage
from scenecypher.cli.evaluate_run import Choices, Experiment
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.errors import DocumentError
from scenecypher.evaluation.experiments import ExperimentParts
from scenecypher.importers.detect import FileFormat
from scenecypher.planner.sessions.method import Act, Done
from scenecypher.planner.sessions.method import Ablation, Recipe

CURT = Ablation("curt", "it says less")


class Polite:
    """Method that goes to the cup and is done."""

    def __init__(self, said):
        self.said = said

    def decide(self, memory):
        return (Done(self.said) if memory.turns else Act("go_to(cup)", "to greet it")), Usage()


def read(file):
    nodes, relations = {"robot": Node("robot", "Agent", "robot", "robot")}, []
    for number, line in enumerate(file.path.read_text(encoding="utf-8").splitlines(), 1):
        words = line.split(" in ")
        if len(words) != 2:
            raise DocumentError(str(file.path), f"line {number}", f"{line[:40]!r} is not THING in ROOM")
        thing, room = words
        nodes[thing] = Node(thing, "Object", thing, thing)
        nodes[room] = Node(room, "Place", room, room)
        relations += [Relation(thing, "INSIDE", room), Relation("robot", "INSIDE", room)]
    return ImportedScene(file.name_after("rooms/"), SceneGraph.of([*nodes.values()], relations))


def polite(context):
    return Polite("greeted" if CURT in context.ablations else "it was greeted well")


POLITE = Recipe(polite, "greets the cup", extent="nothing", model=False, ablations=(CURT,))
ROOMS = FileFormat("lines of things and rooms", read, suffixes=(".rooms",))


def make(choices: Choices, *, word: Annotated[str, typer.Option("--word", help="What is said.")] = "hello"):
    """Greet robots and listen."""
    from toy_robots.greetings import greetings

    return greetings(word=word, limit=choices.limit)


def parts():
    from toy_robots.greetings import greetings, result

    return ExperimentParts(greetings, result)


GREETINGS = Experiment(make, parts, needs_database=False)
'''
TOY_EXPERIMENT: Final = '''\
"""An experiment in which two robots are greeted, and one answers."""

from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer
from inspect_ai.solver import solver

from scenecypher.evaluation.options import take_spread
from scenecypher.evaluation.result import Column, Row, Table
from scenecypher.evaluation.run_result import Run, share_cell

ROBOTS = ("polite", "sulking")


@task
def greetings(*, word="hello", limit=0):
    samples = [Sample(id=name, input=word) for name in take_spread(ROBOTS, limit)]
    return Task(dataset=samples, solver=answering(), scorer=answered(), name="greetings")


@solver
def answering():
    async def solve(state, generate):
        state.output.completion = state.input_text if state.sample_id == "polite" else ""
        return state

    return solve


@scorer(metrics=[accuracy()], name="answered")
def answered():
    async def score(state, target):
        word = state.output.completion
        return Score(value=CORRECT if word else INCORRECT, metadata={"word": word})

    return score


def result(log):
    run = Run.read(log, "answered")
    cell = share_cell(sum(one.value == CORRECT for one in run.samples), len(run.samples))
    row = run.row(Row(method="robots", cells={"answered": cell}), run.samples)
    column = Column(key="answered", heading="answered")
    table = Table(key="greetings", title="Greetings", columns=(column,), rows=(row,))
    return run.result("greetings", "Greetings of robots", [table], [], notes=run.limit_notes)
'''


def project_text(package: str, brought: Mapping[str, Mapping[str, str]]) -> str:
    """Return a `pyproject.toml` of a package and its entry points."""
    lines = ["[build-system]", 'requires = ["hatchling"]', 'build-backend = "hatchling.build"']
    lines += ["[project]", f'name = "{package.replace("_", "-")}"', 'version = "1.0"']
    for kind, places in brought.items():
        lines += [f'[project.entry-points."scenecypher.{kind}"]']
        lines += [f'{name} = "{package}:{place}"' for name, place in places.items()]
    return "\n".join(lines)


def installed(folder: Path, package: str, brought: Mapping[str, Mapping[str, str]], **modules: str) -> Path:
    """Build a wheel of one package, and return the folder of packages into which it is installed."""
    source = folder / "project"
    (source / package).mkdir(parents=True)
    (source / "pyproject.toml").write_text(project_text(package, brought), encoding="utf-8")
    for name, text in modules.items():
        (source / package / f"{name}.py").write_text(text, encoding="utf-8")
    wheel, site = built("wheel", source=source, folder=folder / "dist"), folder / "site"
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index")
    run(*pip, "--target", str(site), str(wheel), cwd=folder)
    return site


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder into which the package of a method, a format and an experiment is installed."""
    folder = tmp_path_factory.mktemp("toys")
    return installed(folder, "toy_robots", TOYS, __init__=TOY_ROBOTS, greetings=TOY_EXPERIMENT)


SCENECYPHER: Final = (sys.executable, "-m", "scenecypher")
FORKED: Final = "import sys; sys.path.insert(0, sys.argv.pop(1)); from scenecypher.cli import main; main()"


def use(site: Path, user_env: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the environment of a user who has the packages of `site`."""
    for key, value in user_env.items():
        monkeypatch.setenv(key, value)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(site), os.environ.get("PYTHONPATH", ""))))


def test_a_built_and_installed_package_brings_its_actions(
    user_env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forks: Path
) -> None:
    name = f"orchard-{uuid4().hex[:8]}"
    (tmp_path / f"{name}.json").write_text(json.dumps(ORCHARD), encoding="utf-8")
    site = installed(tmp_path, "orchard_actions", {"vocabularies": {"orchard": "VOCABULARY"}}, __init__=VOCABULARY)
    use(site, user_env, monkeypatch)
    forked, scene = (str(forks / "python"), "-c", FORKED, str(site)), f"networkx/{name}"
    run(*SCENECYPHER, "import", "networkx", f"{name}.json", "--vocabulary", "orchard", cwd=tmp_path)
    try:
        assert run(*forked, "act", scene, "--list", cwd=tmp_path) == "water(x): water a tree (x: a tree)\n"
        assert "done" in run(*forked, "act", scene, "water(apple_tree)", cwd=tmp_path)
        rows = run(*forked, "query", scene, "MATCH (t:Asset) RETURN t.states", "--json", cwd=tmp_path)
        assert json.loads(rows)["rows"] == [[["wet"]]]
        with pytest.raises(InputError, match="no vocabulary is called 'orchard'"):
            operators_of("orchard")
    finally:
        run(*forked, "scenes", "delete", scene, "--yes", cwd=tmp_path)


def test_an_installed_package_brings_a_method_and_a_format(
    toys: Path, user_env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, forks: Path
) -> None:
    name = f"toys-{uuid4().hex[:8]}"
    (tmp_path / f"{name}.rooms").write_text("cup in kitchen\n", encoding="utf-8")
    (tmp_path / "odd.rooms").write_text("cup in kitchen\nnothing\n", encoding="utf-8")
    use(toys, user_env, monkeypatch)
    forked, scene = (str(forks / "python"), "-c", FORKED, str(toys)), f"rooms/{name}"
    assert f"{scene}: created, 3 nodes" in run(*SCENECYPHER, "import", f"{name}.rooms", cwd=tmp_path)
    try:
        with pytest.raises(AssertionError, match=r"odd\.rooms: line 2: 'nothing' is not THING in ROOM"):
            run(*forked, "import", "odd.rooms", cwd=tmp_path)
        assert "polite: greets the cup" in run(*forked, "methods", "polite", cwd=tmp_path)
        played = run(*forked, "plan", scene, "greet the cup", "--method", "polite", cwd=tmp_path)
        assert "go_to(cup)" in played
        assert "it was greeted well" in played
        curt = ("plan", scene, "greet the cup", "--method", "polite", "--ablation")
        assert "it was greeted" not in run(*forked, *curt, "curt", cwd=tmp_path)
        with pytest.raises(AssertionError, match="; it has curt"):
            run(*forked, *curt, "curd", cwd=tmp_path)
        told = "the method 'broken' can't be read from toy_robots:NOTHING: .*; mend that package"
        with pytest.raises(AssertionError, match=told):
            run(*forked, "plan", scene, "greet the cup", "--method", "broken", cwd=tmp_path)
    finally:
        run(*forked, "scenes", "delete", scene, "--yes", cwd=tmp_path)


def test_an_installed_package_brings_an_experiment(
    toys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An experiment of a package that is not in the help, can't be run or resumed, or whose log has no result."""
    monkeypatch.syspath_prepend(toys)
    monkeypatch.chdir(tmp_path)

    def evaluate(*words: str, code: int = 0) -> str:
        assert run_command_line(["eval", *words]) == code
        told = capsys.readouterr()
        return told.out if code == 0 else told.err

    listed = " ".join(evaluate("--help").replace("│", " ").split())
    assert "Greet robots and listen." in listed
    assert "can't be read from toy_robots:NOTHING" in listed
    assert "--word" in evaluate("greetings", "--help")
    found = json.loads(evaluate("greetings", "--word", "hi", "--json"))
    (row,) = found["tables"][0]["rows"]
    assert row["cells"]["answered"]["value"] == 0.5
    assert found["provenance"]["arguments"]["word"] == "hi"
    resumed = json.loads(evaluate("greetings", "--resume", found["provenance"]["log"], "--json"))
    assert resumed["tables"] == found["tables"]
    for result in (tmp_path / "logs-results").iterdir():
        result.unlink()
    assert "Greetings of robots" in evaluate("leaderboard"), "made from the log"
    told = " ".join(evaluate("sulking", "--limit", "1", code=2).split())
    assert "the experiment 'sulking' can't be read from toy_robots:NOTHING: " in told
    assert told.endswith("mend that package")
