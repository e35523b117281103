"""A person is asked what is meant where a goal fits several things that differ and the instruction does not choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import pytest

import scenecypher.db.condition as c
from scenecypher.chat import OpenAIModel
from scenecypher.db.gate import Gate
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.db.graph.value import Properties
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.errors import InputError
from scenecypher.planner.actions.ruled import AskBack
from scenecypher.planner.methods import recipe_named
from scenecypher.planner.methods.ours.asking_back import chosen, unclear
from scenecypher.planner.sessions.events import Answered, Asked, Event, Finished, Remembered
from scenecypher.planner.sessions.method import AskingBack
from scenecypher.planner.sessions.recording import RunRecorder
from scenecypher.planner.sessions.resuming import resume_session
from scenecypher.planner.sessions.setup import SessionSetting, prepare_session
from tests.planner.actions.test_operators import put
from tests.planner.methods.test_goal_matches import HOME, reply
from tests.scripted_model import MODEL_NAME, ScriptedModel

pytest.importorskip("up_fast_downward", reason="needs `pip install 'scenecypher[pddl]'`")

FOUR: Final = SceneGraph.of(
    (
        *HOME.nodes.values(),
        Node("cup-3", "Object", "cup-3", "cup", ("dirty",), ("pick_up",)),
        Node("cup-4", "Object", "cup-4", "cup", (), ("pick_up",)),
        *(Node(it, "Asset", it, "shelf", (), ("put_on",)) for it in ("shelf-1", "shelf-2")),
    ),
    HOME.relations
    | {Relation("cup-3", "ON", "table-1"), Relation("cup-4", "ON", "desk-1"), Relation("shelf-1", "INSIDE", "kitchen")}
    | {Relation("shelf-2", "INSIDE", "office")},
)
"""Four cups in two rooms, one of them dirty, and a shelf in each."""
INTO_THE_BOX: Final = reply("x: one cup", "x INSIDE box-1")


@dataclass(slots=True)
class Person:
    """Answers questions in turn, and keeps them."""

    answers: Sequence[str | None]
    asked: list[AskBack] = field(default_factory=list)

    def __call__(self, question: AskBack) -> str | None:
        self.asked.append(question)
        return self.answers[len(self.asked) - 1]


@dataclass(frozen=True, slots=True)
class Asking:
    """A session with a person: its events, the scene's graph at its end, and the requests to the model."""

    events: Sequence[Event]
    graph: SceneGraph
    requests: Sequence[str]

    @property
    def end(self) -> Finished:
        assert isinstance(self.events[-1], Finished)
        return self.events[-1]

    def inside(self, of: str = "box-1") -> set[str]:
        return {*self.graph.sources(of, "INSIDE", "ON")}


def asking(
    store: SceneStore,
    said: str,
    script: Sequence[str],
    person: Callable[[AskBack], str | None] | None,
    *,
    mode: AskingBack | None = None,
    method: str = "goal-then-plan",
) -> Asking:
    scene = put(store, FOUR, vocabulary="grasif")
    with ScriptedModel(script) as server, _model(server) as model:
        setting = SessionSetting(
            *(store, Gate(store.database), scene, said, method), model=model, answer=person, asking=mode
        )
        events = [*prepare_session(setting, recipe_named(method)).run()]
    requests = ["\n".join(it["content"] for it in one["messages"]) for one in server.requests]
    return Asking(events, store.load(scene.name).graph, requests)


def _model(server: ScriptedModel) -> OpenAIModel:
    return OpenAIModel(model=MODEL_NAME, base_url=server.base_url, api_key="none", retries=0)


def only(kind: type[Event], events: Iterable[Event]) -> list[Event]:
    return [it for it in events if isinstance(it, kind)]


def test_of_four_cups_the_one_that_a_person_chooses_is_taken(store: SceneStore) -> None:
    """Kind: a model's first guess is carried out, though the instruction fits four cups in two rooms."""
    person = Person(["cup-2, cup-4: in office, ontop desk-1"])
    played = asking(store, "Put the cup into the box.", [INTO_THE_BOX], person)
    (question,) = person.asked
    assert question.question == "Which cup is meant (1 of 4)?"
    assert question.choices == (
        "cup-1: in kitchen, ontop table-1",
        "cup-2, cup-4: in office, ontop desk-1",
        "cup-3: in kitchen, ontop table-1, dirty",
    )
    assert (played.end.outcome, played.end.goal) == ("done", "met")
    assert len(played.inside() & {"cup-2", "cup-4"}) == 1
    assert not played.inside() & {"cup-1", "cup-3"}
    assert len(played.requests) == 1, "the model is not asked to guess"
    (asked,), (answered,) = only(Asked, played.events), only(Answered, played.events)
    assert isinstance(asked, Asked)
    assert isinstance(answered, Answered)
    assert (asked.to_person, asked.choices, answered.tool) == (True, question.choices, "person")


def test_an_id_is_an_answer_nothing_is_any_and_none_stops(store: SceneStore) -> None:
    said = "Put the cup into the box."
    assert asking(store, said, [INTO_THE_BOX], Person(["cup-3"])).inside() >= {"cup-3"}
    left_open = asking(store, said, [INTO_THE_BOX], Person([""]))
    assert (left_open.end.goal, len(left_open.inside() & {*FOUR.by_class["cup"]})) == ("met", 1)
    stopped = asking(store, said, [INTO_THE_BOX], Person([None]))
    assert (stopped.end.outcome, stopped.graph) == ("given_up", FOUR)
    assert "Which cup is meant" in stopped.end.reason
    with pytest.raises(InputError, match="'sofa' is no choice"):
        asking(store, said, [INTO_THE_BOX], Person(["sofa"]))


def test_two_of_four_are_chosen_one_by_one(store: SceneStore) -> None:
    """Kind: a choice of several that takes the first of them and guesses the rest."""
    person = Person(["cup-3", "cup-2"])
    played = asking(store, "Put two cups into the box.", [reply("x: 2 cup", "x INSIDE box-1")], person)
    assert [it.question for it in person.asked] == ["Which cup is meant (2 of 4)?", "And which else (1 more)?"]
    assert "cup-3" in played.inside()
    assert len(played.inside() & {"cup-2", "cup-4"}) == 1
    assert "cup-1" not in played.inside()


def test_the_thing_and_the_place_are_asked_for_in_turn(store: SceneStore) -> None:
    person = Person(["cup-3", "shelf-2"])
    played = asking(store, "Put the cup onto the shelf.", [reply("x: one cup", "x ON shelf")], person)
    assert [it.question for it in person.asked] == ["Which cup is meant (1 of 4)?", "Which shelf is meant (1 of 2)?"]
    assert (played.end.goal, "cup-3" in played.inside("shelf-2")) == ("met", True)


@pytest.mark.parametrize(
    ("said", "goal", "mode", "questions"),
    [
        ("Put the cup into the box.", INTO_THE_BOX, "never", 0),
        ("Put any cup into the box.", INTO_THE_BOX, None, 0),
        ("Put one of the cups into the box.", INTO_THE_BOX, None, 0),
        ("Put a cup into the box, no matter which.", INTO_THE_BOX, None, 0),
        ("Put any cup into the box.", INTO_THE_BOX, "always", 1),
        ("Put all cups into the box.", reply("all cup INSIDE box-1"), "always", 0),
        ("Put the dirty cup into the box.", reply("x: one cup where x is dirty", "x INSIDE box-1"), None, 0),
        ("Put cup-4 into the box.", reply("cup-4 INSIDE box-1"), None, 0),
    ],
)
def test_what_the_instruction_chooses_is_not_asked(
    store: SceneStore, said: str, goal: str, mode: AskingBack | None, questions: int
) -> None:
    person = Person([""])
    played = asking(store, said, [goal] * 2, person, mode=mode)
    assert (len(person.asked), played.end.goal) == (questions, "met")


def test_nobody_there_is_never_asked(store: SceneStore) -> None:
    played = asking(store, "Put the cup into the box.", [INTO_THE_BOX] * 2, None, mode="always")
    assert (only(Asked, played.events), played.end.goal, len(played.requests)) == ([], "met", 2)


def test_a_model_that_overlooks_what_the_instruction_says_is_shown_it_before_a_person(store: SceneStore) -> None:
    """Kind: people are asked what they have said already."""
    person, better = Person([]), reply("x: one cup where x is dirty", "x INSIDE box-1")
    played = asking(store, "Put the dirty cup into the box.", [INTO_THE_BOX, better], person)
    assert (person.asked, "cup-3" in played.inside()) == ([], True)


def test_a_thing_that_is_not_there_is_asked_for_by_its_word(store: SceneStore) -> None:
    """Kind: something else is taken in silence for a thing that is not there."""
    person = Person(["pen"])
    script = [reply("vase INSIDE box-1"), reply("pen INSIDE box-1")]
    played = asking(store, "Put the vase into the box.", script, person)
    assert person.asked == [AskBack("There is no vase here: what is meant?")]
    assert "The answer: pen." in played.requests[1]
    assert (played.end.goal, "pen-1" in played.inside()) == ("met", True)


def test_a_belief_is_asked_about_too(store: SceneStore) -> None:
    person = Person(["cup-3"])
    played = asking(store, "Put the cup into the box.", [INTO_THE_BOX], person, method="explore-then-plan")
    assert (len(person.asked), played.end.goal, "cup-3" in played.inside()) == (1, "met", True)


def test_a_resumed_session_does_not_ask_again(store: SceneStore) -> None:
    """Kind: an answer that is lost with the process that heard it."""
    scene = put(store, FOUR, vocabulary="grasif")
    person, goal = Person(["cup-3"]), "Put the cup into the box."
    with ScriptedModel([INTO_THE_BOX]) as server, _model(server) as model:
        setting = SessionSetting(
            *(store, Gate(store.database), scene, goal, "goal-then-plan"), model=model, answer=person
        )
        recorder, recipe = RunRecorder(store.database, scene, "plan"), recipe_named("goal-then-plan")
        turns = 0
        for event in recorder.kept(prepare_session(setting, recipe).run()):
            turns += isinstance(event, Remembered)
            if turns == 2:
                break
        assert recorder.number is not None
        silent = Person([])
        rest = [*resume_session(replace(setting, answer=silent), recipe, recorder.number)]
    assert (silent.asked, isinstance(rest[-1], Finished)) == ([], True)
    assert store.load(scene.name).graph.has("cup-3", "INSIDE", "box-1")


def test_a_question_is_stored_while_its_answer_is_waited_for(store: SceneStore) -> None:
    """Kind: who looks at a run that waits for a person sees nothing to answer."""
    from scenecypher.db.store.runs import read_lines

    scene, seen = put(store, FOUR, vocabulary="grasif"), list[str]()
    recorder = RunRecorder(store.database, scene, "plan")

    def person(question: AskBack) -> str:
        assert recorder.number is not None
        seen.extend(read_lines(store.database, recorder.number))
        return ""

    with ScriptedModel([INTO_THE_BOX]) as server, _model(server) as model:
        setting = SessionSetting(
            *(store, Gate(store.database), scene, "Put the cup into the box.", "goal-then-plan"),
            model=model,
            answer=person,
        )
        for _ in recorder.kept(prepare_session(setting, recipe_named("goal-then-plan")).run()):
            pass
    assert "Which cup is meant" in seen[-1]


def test_a_choice_narrows_the_goal_and_nothing_else() -> None:
    goal = c.And((c.Exists("x", c.And((c.HasClass("x", "cup"), c.Related("x", "INSIDE", c.Id("box-1"))))),))
    narrow = chosen(goal, "x", [("cup-1", "cup-3")], 1)
    for inside in ("cup-1", "cup-2", "cup-3"):
        graph = SceneGraph.of(FOUR.nodes.values(), {Relation(inside, "INSIDE", "box-1")})
        assert c.evaluate(goal, graph, {})
        assert c.evaluate(narrow, graph, {}) is (inside != "cup-2")
    assert chosen(goal, "y", [("cup-1",)], 1) == goal


def test_many_choices_end_with_the_others() -> None:
    cups = [
        Node(f"mug-{n}", "Object", f"mug-{n}", "mug", (), ("pick_up",), Properties({"color": f"c{n:02}"}))
        for n in range(30)
    ]
    graph = SceneGraph.of((*HOME.nodes.values(), *cups), HOME.relations)
    goal = c.Exists("x", c.And((c.HasClass("x", "mug"), c.Related("x", "INSIDE", c.Id("box-1")))))
    question = unclear(goal, graph, "grasif", "Put the mug into the box.")
    assert question is not None
    assert len(question.choices) == 20
    assert question.choices[-1].endswith(" others")
    assert sorted(node for nodes in question.nodes for node in nodes) == sorted(graph.by_class["mug"])
