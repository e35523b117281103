"""`python -m tests.browser.limits`: how long people wait on the page, in Chromium, beside the promised limits."""

from __future__ import annotations

import sys
from statistics import median
from time import perf_counter
from typing import Final

from playwright.sync_api import Page

import scenecypher as sc
from benchmarks.home import make_home
from scenecypher.db.graph.imported import ImportedScene
from tests.browser.chromium import find_chromium, opened, started
from tests.browser.screenshots import SIZE, connected
from tests.browser.served import Entered, entered, served
from tests.server import environment_of, throwaway_server

PAINT_MS: Final = {283: 300, 20_000: 800}
STEP_MS, SCRUB_MS, FRAME_MS = 150, 100, 1_000 / 60
PAINTED: Final = "() => performance.getEntriesByName('first-contentful-paint')[0].startTime"
ZOOMED: Final = """() => new Promise((done) => {
    const canvas = document.getElementById("map"), times = [];
    const frame = (time) => {
        times.push(time);
        if (times.length > 90) { done(times.slice(1).map((it, number) => it - times[number])); return; }
        canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: times.length < 45 ? -30 : 30, cancelable: true }));
        requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
})"""
SCRUBBED: Final = """async (version) => {
    const slider = document.getElementById("version"), canvas = document.getElementById("map");
    const began = performance.now();
    slider.value = version;
    slider.dispatchEvent(new Event("input"));
    while (canvas.dataset.version !== String(version)) await new Promise((done) => setTimeout(done, 2));
    return performance.now() - began;
}"""


def main() -> int:
    """Print each time beside its limit; return how many are above theirs."""
    executable = find_chromium()
    assert executable is not None, "there is no Chromium here; install it (apt install chromium)"
    above = 0
    with (
        throwaway_server() as address,
        connected(address) as database,
        served(environment_of(address)) as server,
        started(executable) as browser,
    ):
        site = entered(server)
        for nodes, limit in PAINT_MS.items():
            graph = make_home(nodes, relations=5_700 if nodes < 1_000 else 4 * nodes)
            home = database.import_scene(ImportedScene(f"limits/{nodes}", graph, "virtualhome"), replace=True)
            for number in range(6):
                home.act(f"{'walk'}({sorted(it.id for it in graph.nodes.values() if it.kind == 'Place')[number % 2]})")
            with opened(browser, viewport=SIZE) as window:
                site.enter(window)
                for what, found, most in _times(window.page, site, home, limit):
                    above += found > most
                    sys.stdout.write(f"{nodes:>6,} nodes, {what}: {found:.0f} ms (limit {most:.0f})\n")
            database.delete(home.name)
    return above


def _times(page: Page, site: Entered, home: sc.Home, limit: float) -> list[tuple[str, float, float]]:
    paints = []
    for _ in range(5):
        page.goto(site.at("/home", scene=home.name))
        page.locator("#map[data-drawn]").wait_for()
        paints.append(page.evaluate(PAINTED))
    frames = page.evaluate(ZOOMED)
    scrubs = [page.evaluate(SCRUBBED, version) for version in (5, 4, 3, 2, 1, 0, 6)]
    page.goto(site.at("/home", scene=home.name))
    page.locator("#map[data-drawn]").wait_for()
    page.wait_for_timeout(1_000)
    steps = []
    for _ in range(5):
        version = home.undo().version
        began = perf_counter()
        page.locator(f"#map[data-version='{version}']").wait_for()
        steps.append(1_000 * (perf_counter() - began))
        page.wait_for_timeout(600)
    return [
        ("first paint", median(paints), limit),
        ("a frame while zooming", median(frames), FRAME_MS + 1),
        ("a version on the line", median(scrubs), SCRUB_MS),
        ("what another did", median(steps), STEP_MS),
    ]


if __name__ == "__main__":
    sys.exit(main())
