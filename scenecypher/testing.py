"""Conformance checks for what others bring (formats of files, vocabularies, planning methods), to be run under pytest.

Each check raises AssertionError that says what was found. Random choices follow a seed, so that a failure comes again.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from scenecypher.chat.model import Model, Reply, Request, Usage
from scenecypher.db.graph.delta import apply, invert
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.invariants import broken_rules
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.graph.scene_document import scene_document, scene_from_document
from scenecypher.errors import ActionRefused, DocumentError, InputError
from scenecypher.importers.detect import FileFormat, SceneFile
from scenecypher.planner.actions.execution import simulate
from scenecypher.planner.actions.operator import AGENT, Operator
from scenecypher.planner.vocabularies.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scenecypher.db.store.scene_store import SceneStore
    from scenecypher.planner.sessions.events import Event
    from scenecypher.planner.sessions.method import Recipe

TRIES: Final = 200
VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    0,
    -1,
    2**70,
    0.5,
    float("nan"),
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    {"a": {}},
)
"""Values that take the place of a part of a document."""


def check_format(file_format: FileFormat, good: Path, *, tries: int = TRIES, seed: int = 0) -> ImportedScene:
    """Check a format of files by a good file of it, and `tries` spoilt copies; return the scene of the good one.

    The file is read twice to equal scenes, which an own document gives back. A spoilt copy is read, or refused by an
    InputError; a DocumentError names the file, and a place and a cause for each problem.
    """
    scene = _read(file_format, good)
    if good.suffix not in file_format.suffixes:
        assert file_format.is_one(json.loads(good.read_bytes())), f"{good} is none of its own documents by `is_one`"
    assert _read(file_format, good) == scene, f"{good} is read to another scene the second time"
    assert [*broken_rules(scene.graph, scene.vocabulary)] == [], "its scene breaks the rules of its vocabulary"
    back = scene_from_document(json.loads(json.dumps(scene_document(scene))), file=str(good))
    assert back.graph == scene.graph, "its scene is another one after it is written and read as a document"
    text, chance = good.read_bytes(), random.Random(seed)
    with TemporaryDirectory(prefix="scenecypher-") as folder:
        spoilt = Path(folder, good.name)
        for number in range(tries):
            spoilt.write_bytes(_spoilt(text, chance))
            _check_told(file_format, spoilt, f"spoilt copy {number} of seed {seed}")
    return scene


def check_vocabulary(vocabulary: Vocabulary, graph: SceneGraph, *, tries: int = 2_000, seed: int = 0) -> dict[str, int]:
    """Check a vocabulary by `tries` random calls of its actions on a scene with an agent; return those done, by action.

    An action is refused with reasons, or changes the scene: then its inverse gives the scene back, and rules that held
    before still hold. Names of actions in words, planning and looks are those of its operators. Raises AssertionError,
    too, if no action could be done.
    """
    _check_names(vocabulary)
    chance, done = random.Random(seed), dict[str, int]()
    agent, nodes = graph.by_kind["Agent"][0], sorted(graph.nodes)
    kept = not [*broken_rules(graph, vocabulary.name)]
    for _ in range(tries):
        operator = vocabulary.operators[chance.choice(sorted(vocabulary.operators))]
        arguments = {AGENT: agent, **{it.name: chance.choice(nodes) for it in operator.parameters}}
        after = _after(operator, graph, arguments)
        if after is None:
            continue
        done[operator.name] = done.get(operator.name, 0) + 1
        if kept:
            faults = [*broken_rules(after, vocabulary.name)]
            assert faults == [], f"{operator.name} with {arguments} leaves a scene that breaks the rules: {faults[:1]}"
        graph = after
    assert done, f"none of {tries} random calls could be done; give a scene that fits the actions"
    return done


@dataclass(frozen=True, slots=True)
class Trial:
    """What a method did in a trial: the events of its session, and the prompts that it sent."""

    events: tuple[Event, ...]
    prompts: tuple[Request, ...]


def check_method(
    recipe: Recipe,
    store: SceneStore,
    *,
    instruction: str = "bring the cup to the bedroom",
    replies: Sequence[str] = (),
    steps: int = 8,
) -> Trial:
    """Check a method by a session in a home of its own in a real database; the model's `replies` are said in turn.

    The session ends within `steps` decisions, its last event is its only end, a refusal changes nothing, and what was
    done is in the scene's history. Replies that are used up are empty ones. The home is deleted at the end.
    """
    from scenecypher.db.gate import Gate
    from scenecypher.importers.homes import small_home
    from scenecypher.planner.sessions.budget import Budget
    from scenecypher.planner.sessions.events import Acted, Finished, Refused
    from scenecypher.planner.sessions.setup import SessionSetting, prepare_session

    model, home = _InTurn(replies), small_home()
    name = f"test/method-{uuid4().hex[:10]}"
    store.put(ImportedScene(name, home.graph, vocabulary=home.vocabulary))
    try:
        scene = store.find(name)
        budget = Budget(steps=steps)
        setting = SessionSetting(store, Gate(store.database), scene, instruction, "trial", model=model, budget=budget)
        events: list[Event] = []
        for event in prepare_session(setting, recipe).run():
            version = store.find(name).version
            acted = sum(isinstance(one, Acted) for one in (*events, event))
            assert not isinstance(event, Refused) or version == acted, f"a refused action changed the scene: {event}"
            events.append(event)
        assert isinstance(events[-1], Finished), f"the session ends with {events[-1]}"
        assert sum(isinstance(event, Finished) for event in events) == 1, "the session ends twice"
        assert events[-1].steps <= steps, f"{events[-1].steps} decisions, where {steps} are allowed"
        assert len(store.history(scene)) == events[-1].actions, "what was done is not what the history has"
    finally:
        store.delete(name)
    return Trial(tuple(events), tuple(model.requests))


class _InTurn(Model):
    """A model that says given replies in turn, then nothing, and keeps what it was asked."""

    def __init__(self, replies: Sequence[str]) -> None:
        self.replies, self.requests = list(replies), list[Request]()

    def reply(self, request: Request) -> Reply:
        """Return the next reply."""
        self.requests.append(request)
        return Reply(self.replies.pop(0) if self.replies else "", Usage(), "replies in turn", source="scripted")


def _read(file_format: FileFormat, path: Path) -> ImportedScene:
    """Return the scene of a file, whose JSON is read before if it is no other kind of file. Raises InputError."""
    from scenecypher.importers.json_file import read_json

    document = None if path.suffix in file_format.suffixes else read_json(path)
    if isinstance(document, dict):
        file_format.is_one(document)  # whose errors would end the search for a file's format
    return file_format.read(SceneFile(path, None, document))


def _check_told(file_format: FileFormat, path: Path, which: str) -> None:
    try:
        _read(file_format, path)
    except DocumentError as error:
        assert path.name in error.file, f"the error about the {which} names the file {error.file!r}"
        assert all(place and cause for place, cause in error.problems), (
            f"a problem of the {which} has no place or cause"
        )
    except InputError as error:
        assert str(error), f"the error about the {which} says nothing"
    except Exception as error:
        raise AssertionError(f"the {which} ended in {type(error).__name__}: {error}") from error


def _spoilt(content: bytes, chance: random.Random) -> bytes:
    """Return a file's content with a few parts dropped, doubled or replaced: of its document if it is JSON."""
    try:
        document: Any = {"": json.loads(content)}
    except ValueError:
        return _spoilt_lines(content, chance)
    if chance.random() < 0.1:
        return content[: chance.randrange(len(content))]
    for _ in range(chance.randint(1, 3)):
        within, key = chance.choice([*_places(document)])
        match chance.choice(("drop", "double", "replace")):
            case "drop" if key != "":
                del within[key]
            case "double" if isinstance(within, list):
                within.append(copy.deepcopy(within[int(key)]))
            case _:
                within[key] = copy.deepcopy(chance.choice(VALUES))
    return json.dumps(document[""]).encode()


def _spoilt_lines(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    ways: tuple[Callable[[], list[bytes]], ...] = (
        lambda: lines[: chance.randrange(len(lines) + 1)],
        lambda: [*lines, *lines],
        lambda: chance.sample(lines, len(lines)),
        lambda: [line[: chance.randrange(len(line) + 1)] if chance.random() < 0.3 else line for line in lines],
        lambda: [bytes(chance.randrange(256) if chance.random() < 0.02 else it for it in b"".join(lines))],
    )
    return b"".join(chance.choice(ways)())


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each place in a document: the list or map, and the index or key."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])


def _check_names(vocabulary: Vocabulary) -> None:
    known = {*vocabulary.operators, *vocabulary.macros}
    wrong = [key for key, operator in vocabulary.operators.items() if key != operator.name]
    assert wrong == [], f"actions stand under other names than their own: {wrong}"
    told = {*(vocabulary.words.stepwise or ()), *(vocabulary.words.whole or ()), *vocabulary.looking.revealing}
    assert told <= known, f"words and looks name actions that there are not: {sorted(told - known)}"


def _after(operator: Operator, graph: SceneGraph, arguments: dict[str, str]) -> SceneGraph | None:
    """Return the scene after an action, None if it is refused."""
    what = f"{operator.name}({', '.join(arguments.values())})"
    try:
        delta = simulate(operator, graph, arguments, action=what)
    except ActionRefused as refusal:
        assert str(refusal), f"{what} is refused without a reason"
        return None
    after = apply(graph, delta)
    assert apply(after, invert(delta)) == graph, f"{what}, undone, leaves another scene"
    return after
