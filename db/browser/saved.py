"""The saved queries of Neo4j Browser: a zip of `.cypher` files, which Browser takes as favourites."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Mapping
from typing import Final, LiteralString

from scenecypher.db.browser.views import VIEWS, of_scene, view_query

FOLDER: Final = "SceneCypher"

# Nodes of the past and of the present know their scene by its key, and each other by id: no relation leads from the one
# to the other, nor to the Scene node, which every action locks.
FOLLOWING: Final[Mapping[str, LiteralString]] = {
    "Which scene is a node of? Click the node, copy its property scene into the quotes": """
MATCH (of:Scene {key: 'SCENE'}) RETURN of.name AS scene, of.role AS role, of.version AS version""",
    "Which node of today is it, that an event changed? Put its name into the quotes": """
MATCH (p:PastNode {scene: s.key, name: 'NAME'})
OPTIONAL MATCH (n:Entity {scene: s.key, id: p.id})
RETURN p, n""",
    "What happened to this thing, and who did it? Put its name into the quotes": """
MATCH happened = (event:PastEvent)-[:CHANGED]->(p:PastNode {scene: s.key, name: 'NAME'})
OPTIONAL MATCH why = (event)<-[:LED_TO]-(:Step)<-[:HAS_STEP]-(:Run)
RETURN happened, why""",
    "Where was this thing, from when until when? Put its name into the quotes": """
MATCH (:PastNode {scene: s.key, name: 'NAME'})<-[:ABOUT]-(f:PastFact)-[:TARGET]->(where:PastNode)
RETURN f.relation AS how, where.name AS where, f.since AS since, f.until AS until, f.since_at AS from, f.until_at AS to
ORDER BY since""",
    "What was refused, and why?": """
MATCH (run:Run {scene_name: s.name})-[:HAS_STEP]->(step:Step {kind: 'refused'})
RETURN run.number AS run, run.instruction AS asked, step.action AS action, step.reasons AS why
ORDER BY run DESC, step.number""",
}
"""More queries of one scene `s`, by what they answer."""


def saved_queries(scene: str) -> bytes:
    """Return a zip of all queries of one scene; the first line of each is the name that Browser shows."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number, (title, query) in enumerate(titled_queries(scene), start=1):
            archive.writestr(f"{FOLDER}/{number:02}.cypher", f"// {title}\n{query}\n")
    return file.getvalue()


def titled_queries(scene: str) -> Iterator[tuple[str, str]]:
    """Yield all queries of one scene as (title, query)."""
    for name, view in VIEWS.items():
        yield view.question, view_query(name, scene)
    for title, query in FOLLOWING.items():
        yield title, f"{of_scene(scene)}{query}"
