"""From a picture of a table to the belief about it: two stages over HTTP, and the merge."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from scenecypher.chat import Model, OpenAIModel
from scenecypher.db.graph.delta import apply, invert
from scenecypher.db.graph.scene import Node, Relation, SceneGraph
from scenecypher.errors import ReplyRejected, UnknownReference
from scenecypher.planner.methods import METHODS
from scenecypher.planner.perception.draft import MergeResult
from scenecypher.planner.perception.merge import merge
from scenecypher.planner.perception.naming import KnownNode, known_node, meaning_of_name
from scenecypher.planner.perception.observation import CONFIDENCE
from scenecypher.planner.perception.picture import encode_png
from scenecypher.planner.perception.vision import ImageReading, SeenThing, VisionObserver, read_image
from scenecypher.planner.worlds.belief import initial_belief
from tests.pictures import table
from tests.planner.actions.grasif_worlds import home
from tests.scripted_model import MODEL_NAME, Say, Script, ScriptedModel
from tests.scripted_vision import GridReader

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")

PICTURE = table(["red ball"])


def with_things(*things: tuple[str, str]) -> SceneGraph:
    """Return the home's belief with more things on its table, given by ids and classes."""
    nodes = [Node(id_, "Object", id_, class_, affordances=("pick_up",)) for id_, class_ in things]
    on = [Relation(node.id, "ON", "table-1") for node in nodes]
    return initial_belief(SceneGraph.of([*home().nodes.values(), *nodes], [*home().relations, *on]))


@contextmanager
def scripted(script: Script) -> Iterator[tuple[Model, ScriptedModel]]:
    with ScriptedModel(script) as server, OpenAIModel(base_url=server.base_url, model=MODEL_NAME) as model:
        yield model, server


def known(belief: SceneGraph, of: str = "table-1", vocabulary: str = "grasif") -> KnownNode:
    return known_node(belief, of, vocabulary=vocabulary)


def said(*things: dict[str, Any]) -> str:
    plain = {"count": 1, "relation": "ontop_of", "related_to": "table-1", "states": [], "confidence": None}
    extent = {"extent": "whole", "part": None, "reason": None}
    return json.dumps(extent | {"objects": [plain | thing for thing in things]})


def looked(belief: SceneGraph, *things: dict[str, Any], of: str = "table-1") -> tuple[MergeResult, ImageReading]:
    with scripted(lambda asked: said(*things) if "response_format" in asked else "So it looks.") as (model, _server):
        reading = read_image(model, PICTURE, known(belief, of), step=4)
    found = merge(belief, reading.observation, vocabulary="grasif")
    assert apply(apply(belief, found.delta), invert(found.delta)) == belief
    return found, reading


def kinds_and_nodes(found: MergeResult) -> list[tuple[str, str]]:
    return [(finding.kind, finding.node) for finding in found.findings]


@pytest.mark.parametrize(
    ("shown", "findings"),
    [
        (3, ["confirmed", "confirmed", "new", "absent"]),
        (2, ["confirmed", "confirmed", "absent"]),
        (1, ["doubted", "confirmed", "doubted", "doubted"]),
    ],
)
def test_things_alike_in_a_real_picture_are_counted(shown: int, findings: list[str]) -> None:
    belief = with_things(("red ball-1", "red ball"), ("red ball-2", "red ball"))
    reader = GridReader(at="table-1")
    with scripted(reader) as (model, server):
        reading = read_image(model, table(["red ball"] * shown), known(belief), step=4)
    found = merge(belief, reading.observation, vocabulary="grasif")
    assert [finding.kind for finding in found.findings] == findings, "the cup was there, and is gone"
    after = apply(belief, found.delta)
    looks = 1 if shown > 1 else 2
    assert len(after.sources("table-1", "ON")) == (shown if looks == 1 else 3)
    assert len(server.requests) == 2 * looks, "one picture, one text"
    assert reading.usage.total_tokens == 36 * looks


def test_the_prompts_have_what_is_known_and_the_picture_goes_once() -> None:
    belief = with_things(("bowl-1", "bowl"))
    with scripted(["A cup.", said({"name": "cup-1"})]) as (model, server):
        observer = VisionObserver(model, _Fixed(), lambda of: known(belief, of))
        observer.observe("table-1", step=1)
    first, second = (request["messages"] for request in server.requests)
    text, picture = first[0]["content"]
    assert "apple-1, bowl-1, box-1, cup-1, pen-1" in text["text"]
    assert "Seen there earlier: none. Expected there, though not seen yet: bowl-1, cup-1." in text["text"]
    assert picture["image_url"]["url"] == PICTURE.data_url
    assert "A cup." in second[0]["content"]
    assert "table-1" in second[0]["content"]
    assert server.requests[1]["response_format"]["json_schema"]["strict"] is True
    assert observer.usage.total_tokens == 36


def test_a_method_that_is_shown_no_priors_has_them_in_no_picture_prompt() -> None:
    """Prompts for pictures that tell ReAct and No Priors of earlier objects, which the paper leaves out."""
    belief = with_things(("bowl-1", "bowl"), ("jug-1", "jug"))
    seen = known_node(belief, "table-1", vocabulary="grasif", tells_earlier=False)
    with scripted(["Nothing is there.", said()]) as (model, server):
        VisionObserver(model, _Fixed(), lambda _: seen).observe("table-1", step=1)
    text = server.requests[0]["messages"][0]["content"][0]["text"]
    assert text.endswith("use it: apple-1, bowl-1, box-1, cup-1, jug-1, pen-1.\nTell only what you see.")
    assert "earlier" not in text
    assert len(server.requests) == 2, "nor is it asked again about what has vanished"
    assert not METHODS["react-alfworld"].priors
    assert not METHODS["lookplangraph"].without("lookplangraph", ("no-priors",)).priors


def test_all_that_a_picture_may_change_is_one_delta() -> None:
    belief = with_things(("bowl-1", "bowl"))
    found, _reading = looked(
        belief,
        {"name": "bowl-1"},
        {"name": "apple-1", "relation": "inside_of", "related_to": "bowl-1"},
        {"name": "box-1", "states": ["open"]},
        {"name": "forks", "count": 2},
        {"name": "pen-1", "relation": None, "related_to": None},
        {"name": "table-1", "relation": None, "related_to": None},
    )
    assert sorted(kinds_and_nodes(found)) == [
        ("absent", "cup-1"),
        ("changed", "box-1"),
        ("confirmed", "bowl-1"),
        ("moved", "apple-1"),
        ("moved", "box-1"),
        ("new", "fork-1"),
        ("new", "fork-2"),
        ("unplaced", "pen-1"),
    ]
    after = apply(belief, found.delta)
    assert after.targets("apple-1") == ("bowl-1",)
    assert after.nodes["box-1"].states == ("open",), "closed is ruled out"
    assert after.nodes["box-1"].properties["confidence"] == CONFIDENCE
    assert after.nodes["box-1"].properties["last_seen"] == 4


def test_states_that_a_picture_does_not_tell_are_kept() -> None:
    node = replace(home().nodes["fridge-1"], states=("closed", "clean", "on"))
    nodes = [*(it for it in home().nodes.values() if it.id != "fridge-1"), node]
    belief = initial_belief(SceneGraph.of(nodes, home().relations))
    itself = {"name": "fridge-1", "relation": None, "related_to": None, "states": ["open", "turned_off"]}
    found, _reading = looked(belief, itself, of="fridge-1")
    assert apply(belief, found.delta).nodes["fridge-1"].states == ("clean", "off", "open")
    assert ("absent", "box-1") in kinds_and_nodes(found), "an open fridge shows what is in it"
    found, reading = looked(belief, itself | {"states": []}, of="fridge-1")
    assert kinds_and_nodes(found) == [], "a closed one does not"
    assert reading.observation.covers == ("ON",)


def test_furniture_in_the_picture_is_not_on_the_table() -> None:
    found, _reading = looked(initial_belief(home()), {"name": "cup-1"}, {"name": "lamp-1"})
    assert kinds_and_nodes(found) == [("confirmed", "cup-1"), ("unplaced", "lamp-1")]


@pytest.mark.parametrize(
    ("name", "class_"), [("Apple-7", "apple"), ("cup_3", "cup"), ("cups", "cup"), ("boxes", "box"), ("fork 2", "fork")]
)
def test_names_tell_classes(name: str, class_: str) -> None:
    assert meaning_of_name(name, known(initial_belief(home()))).class_ == class_


@pytest.mark.parametrize(
    ("name", "class_"),
    [
        *(("forks", "fork"), ("glass", "glass"), ("wine glasses", "wine_glass"), ("dishes", "dish")),
        *(("cherries", "cherry"), ("leaves", "leaf"), ("cactus", "cactus"), ("pizza boxes", "pizza_box")),
    ],
)
def test_a_new_class_of_several_things_is_in_the_singular(name: str, class_: str) -> None:
    assert meaning_of_name(name, known(initial_belief(home())), plural=True).class_ == class_


@pytest.mark.parametrize(
    ("name", "id_"), [("cafe\u0301", "caf\u00e9-1"), ("a\nred\tvase", "red_vase-1"), ("vase\0", "vase-1")]
)
def test_names_are_such_as_a_graph_can_hold(name: str, id_: str) -> None:
    found, _ = looked(with_things(), {"name": name}, {"name": "spoon", "related_to": name})
    assert [it.node for it in found.findings if it.kind == "new"] == [id_, "spoon-1"]
    with pytest.raises(ValidationError, match="give the name of a thing"):
        SeenThing(name="\u2028 \0", count=1, relation=None, related_to=None, states=[], confidence=None)


def test_babyai_s_names_tell_colours() -> None:
    what = meaning_of_name("red key", known(initial_belief(home()), vocabulary="babyai"))
    assert (what.class_, dict(what.traits)) == ("key", {"color": "red"})


@pytest.mark.parametrize("reply", ["", Say(None, message={"refusal": "I can't see"}), "<think>hm</think>"])
def test_a_model_that_says_nothing_is_told_as_that(reply: str | Say) -> None:
    with (
        scripted([reply]) as (model, _server),
        pytest.raises(ReplyRejected, match="choose a model that takes pictures"),
    ):
        read_image(model, PICTURE, known(initial_belief(home())), step=1)


def test_a_form_that_is_never_right_is_given_up() -> None:
    with scripted(["A cup.", "no", "{}", "[]"]) as (model, server), pytest.raises(ReplyRejected, match="3 attempts"):
        read_image(model, PICTURE, known(initial_belief(home())), step=1)
    assert len(server.requests) == 4


def test_what_is_not_known_is_not_looked_at() -> None:
    with pytest.raises(UnknownReference, match="did you mean 'table-1'"):
        known(initial_belief(home()), "tabel-1")


def test_a_png_is_what_was_drawn() -> None:
    from io import BytesIO

    import pygame

    image = encode_png(bytes(range(18)), width=3, height=2)
    surface = pygame.image.load(BytesIO(image.data))
    assert (surface.get_size(), surface.get_at((2, 1))[:3]) == ((3, 2), (15, 16, 17))


class _Fixed:
    def picture(self, of: str) -> Any:  # noqa: ARG002
        return PICTURE
