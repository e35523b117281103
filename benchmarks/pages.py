"""`scenecypher ui` in Chromium: time to the first paint of a home, small and large, and of a run's step."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from statistics import median
from time import time
from typing import Any, Final

from playwright.sync_api import Page

from benchmarks.comparison import Measurement
from scenecypher.chat.model import Usage
from scenecypher.db.graph.scene import Node, Point, Relation, SceneGraph
from scenecypher.db.graph.value import Properties
from scenecypher.db.store import publish
from scenecypher.db.store.catalog import SceneInfo
from scenecypher.db.store.connection import Database
from scenecypher.db.store.publish import Header
from scenecypher.importers.virtualhome import packaged_scene
from scenecypher.planner.events import Began, Remembered, Thought
from scenecypher.planner.recording import RunRecorder
from tests.browser.chromium import find_chromium, opened, started
from tests.browser.served import Entered, entered, served
from tests.server import environment_of

NODES, CLASSES, ROOMS = 20_000, 1_300, 40
WARM_UP, ROUNDS, STEPS = 5, 15, 15
SMALL_MS, LARGE_MS, STEP_MS = 500.0, 1_500.0, 300.0
"""The times that are allowed, on an idle machine."""
PAINTED: Final = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime"
WATCH: Final = """() => {
    const film = document.querySelector('[data-film]');
    window.shown = [];
    new MutationObserver(() => {
        const count = film.querySelectorAll('.frame').length;
        requestAnimationFrame(() => { window.shown[count] ??= Date.now(); });
    }).observe(film, { childList: true, subtree: true });
}"""


def pages(database: Database) -> Iterator[Measurement]:
    """Compare the page's times with those that are allowed: first paints of two homes, and a step after its commit."""
    executable = find_chromium()
    assert executable, "this benchmark needs Chromium"
    small = publish.publish(database, packaged_scene("963_2").graph, Header("pages/small", "virtualhome"))
    large = publish.publish(database, large_home(), Header("pages/large", "household"))
    with served(environment_of(database.address)) as server, started(executable) as browser, opened(browser) as window:
        page, site = window.page, entered(server)
        site.enter(window)
        for info, allowed in ((small, SMALL_MS), (large, LARGE_MS)):
            paints = [_first_paint_ms(page, site, info) for _ in range(WARM_UP + ROUNDS)]
            what = f"first paint of a home of {info.nodes:,} nodes (allowed)"
            yield Measurement(what, median(paints[WARM_UP:]), allowed, 1.0)
        delays = _step_delays_ms(page, site, RunRecorder(database, small, "plan"))
        yield Measurement("a step on the page after its commit (allowed)", median(delays), STEP_MS, 1.0)
        yield Measurement("the latest of them (allowed)", max(delays), STEP_MS, 1.0)
        assert not window.faults, window.faults


def large_home(*, seed: int = 0) -> SceneGraph:
    """Return rooms, and furniture and things of many classes in them, each at a position."""
    random = Random(seed)  # noqa: S311 - no secret

    def at() -> Properties:
        return Properties({"center": Point(random.random() * 50, random.random() * 50, 1.0)})

    rooms = [Node(f"room_{it}", "Place", f"room_{it}", "room", (), (), at()) for it in range(ROOMS)]
    things, relations = list[Node](), list[Relation]()
    for number in range(NODES - ROOMS):
        name, is_fixed = f"thing_{number}", number % 3 == 0
        kind = "Asset" if is_fixed else "Object"
        things.append(Node(name, kind, name, f"class_{number % CLASSES}", ("clean",), (), at()))
        relations.append(Relation(name, "INSIDE", f"room_{number % ROOMS}"))
        if not is_fixed and number > 3 * ROOMS:
            below = number - 3 * ROOMS + (-number % 3)
            relations.append(Relation(name, "ON", f"thing_{below}"))
    return SceneGraph.of([*rooms, *things], relations)


def _first_paint_ms(page: Page, site: Entered, info: SceneInfo) -> float:
    page.goto(site.at("/home", scene=info.name))
    painted: Any = page.wait_for_function(PAINTED).json_value()
    return float(painted)


def _step_delays_ms(page: Page, site: Entered, recorder: RunRecorder) -> list[float]:
    """Keep a run as another process would, and return how long after its commit each step is shown."""
    recorder.add(Began("pages/small", "stepwise", (), "Watch me."))
    page.goto(site.at("/run", number=recorder.number))
    page.evaluate(WATCH)
    delays = list[float]()
    for step in range(1, STEPS + 1):
        recorder.add(Thought(step, "A step."))
        recorder.add(Remembered(step, None, "", (), refused=False, infeasible=0, usage=Usage()))
        committed = 1_000 * time()
        shown: Any = page.wait_for_function("count => window.shown[count]", arg=step).json_value()
        delays.append(float(shown) - committed)
    recorder.end("done")
    return delays
