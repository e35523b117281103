"""What a bundled view can't show stays believed, on the real database, however careless or sure its describer is."""

from __future__ import annotations

import pytest

from scenecypher.chat import OpenAIModel
from scenecypher.db.store.commit import Intent
from scenecypher.db.store.scene_store import SceneStore
from scenecypher.evaluation.views import ViewFile, belief_before_view, bundled_views, read_views
from scenecypher.planner.perception.footage import PictureSet
from scenecypher.planner.perception.look import commit_look
from scenecypher.planner.perception.naming import known_node
from scenecypher.planner.perception.vision import read_pictures
from tests.planner.actions.test_operators import put
from tests.scripted_model import MODEL_NAME, ScriptedModel

pytest.importorskip("minigrid", reason="needs `pip install 'scenecypher[papers]'`")

from tests.views.describers import Describer

HIDING = [file for file in read_views(bundled_views()) if file.view.hidden]
"""Views with things that they can not show."""


@pytest.mark.parametrize("kind", ["careless", "overconfident"])
@pytest.mark.parametrize("file", HIDING, ids=[file.name for file in HIDING])
def test_what_a_picture_can_not_show_stays_believed(kind: str, file: ViewFile, store: SceneStore) -> None:
    scene = put(store, belief_before_view(file.view), vocabulary="grasif")
    before = store.load(scene.name).graph
    known = known_node(before, file.view.asset.name, vocabulary="grasif")
    pictures = PictureSet(file.images(), file.view.conventions)
    with ScriptedModel(Describer(kind)) as server, OpenAIModel(base_url=server.base_url, model=MODEL_NAME) as model:
        reading = read_pictures(model, pictures, known, step=1)
    look = commit_look(store, scene, reading.observation, intent=Intent("observe", "see", f"{scene.name}/{kind}"))
    after = store.load(scene.name).graph
    for thing in file.view.kept:
        assert after.targets(thing.name, thing.relation) == (thing.related_to,), look.found.findings
    if look.version:
        store.undo(scene)
    assert store.load(scene.name).graph == before


def test_there_are_such_views() -> None:
    assert {file.view.set for file in HIDING} == {"blurred", "cut", "drift", "elsewhere", "shelves"}
    assert len(HIDING) == 15
