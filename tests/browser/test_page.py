"""`scenecypher ui` in Chromium, against the real server: what people do on it, and what must never happen there."""

from __future__ import annotations

import re
import signal
from dataclasses import replace
from pathlib import Path
from uuid import uuid4
from zipfile import ZipFile

import pytest
from playwright.sync_api import Locator, Page, expect

import scenecypher as sc
from scenecypher.cli.app import run_command_line
from scenecypher.cli.demo import INSTRUCTION, QUESTIONS
from scenecypher.db.graph.imported import ImportedScene
from scenecypher.db.graph.scene import SceneGraph
from scenecypher.db.local.jars import Pin, library_jar
from scenecypher.db.store.connection import Address
from scenecypher.db.store.runs import latest_runs
from scenecypher.planner.worlds.belief import find_or_create_belief
from scenecypher.ui.render import cytoscape, home_file
from tests.browser.chromium import Window
from tests.browser.demo_replies import REPLIES
from tests.browser.served import Entered, served
from tests.planner.actions.household_worlds import NODES, RELATIONS, SILENT
from tests.waiting import locked, until

AXE = Pin(
    "org.webjars.npm", "axe-core", "4.6.3", "", "c339ddad238886211644ff2b58f8c395bf42de4a1d7742c98af7aa01a9675ac3"
)
RUN_AXE = """async () => (await axe.run()).violations.flatMap((it) =>
    it.nodes.map((one) => `${it.id}: ${one.html}: ${one.failureSummary}`))"""
IS_TOO_WIDE = "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
CUP = "cup_2004"
MAP = Path(__file__).parents[1] / "data" / "dsg" / "apartment_dsg.json"
SEND = """(isStopped) => {
    const told = () => document.elementFromPoint(20, innerHeight - 5).closest("#waits")?.textContent;
    const seen = () => { console.log(told()); if (isStopped && told()?.startsWith("Waiting")) window.stop(); };
    new MutationObserver(seen).observe(document.getElementById("waits"), { childList: true });
    document.getElementById("bar").requestSubmit(document.querySelector('[formaction="/act"]'));
}"""
"""Send the form of an action, write what the notice at the foot of the window says on the console."""
HOSTILE = ("<script>document.body.remove()</script>", "x" * 500, "שלום\u200folleh")


@pytest.fixture(scope="module")
def axe() -> str:
    """Return the script that checks a page for what some people can't use."""
    jar = library_jar(AXE, tell=lambda _: None)
    with ZipFile(jar) as found:
        return found.read(f"META-INF/resources/webjars/axe-core/{AXE.version}/axe.min.js").decode()


@pytest.fixture(scope="module")
def played(database_of_pages: sc.SceneDatabase, demo: str) -> tuple[str, int]:
    """Return the name of a home with a belief in which a plan was carried out, and the number of its run."""
    store = database_of_pages.store
    home = database_of_pages.home(demo).at(0).copy(f"browser/played-{uuid4().hex[:8]}")
    home.plan(INSTRUCTION, model=sc.Scripted(REPLIES), fix=False)
    find_or_create_belief(store, home.info)
    return home.name, next(latest_runs(store.database, home.name)).number


def go(page: Page, address: str) -> None:
    answer = page.goto(address)
    assert answer is not None
    assert answer.ok, answer.text()


def fill_in(page: Page, label: str, text: str, button: str) -> None:
    form = page.locator("form", has=page.get_by_label(label, exact=True))
    form.get_by_label(label, exact=True).fill(text)
    form.get_by_role("button", name=button, exact=True).click()


def say(page: Page, text: str, button: str) -> None:
    bar = page.locator("#bar")
    bar.get_by_role("combobox").first.fill(text)
    bar.get_by_role("button", name=button, exact=True).click()


def option(page: Page, label: str) -> Locator:
    page.locator("#bar details:not([open]) summary").click()
    return page.get_by_label(label)


def row_of(page: Page, text: str) -> Locator:
    return page.get_by_role("row").filter(has_text=text)


def test_an_evening_in_the_demo_home(window: Window, pages: Entered, home: sc.Home) -> None:
    page = window.page
    go(page, pages.at("/", q=home.name))
    page.get_by_role("link", name=home.name).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(home.name)
    page.get_by_label("Find").fill(CUP)
    expect(page.get_by_role("status")).to_have_text("1 found")
    expect(page.locator(".found")).to_contain_text(CUP)
    say(page, QUESTIONS[0], "Ask")
    expect(page.locator("#answer tbody")).to_contain_text(CUP)
    page.get_by_role("button", name="Run").click()
    expect(page.locator("#answer tbody")).to_contain_text(CUP)
    expect(page.locator("li.object.found").filter(has=page.get_by_role("link", name=CUP))).to_be_visible()

    say(page, INSTRUCTION, "Plan")
    expect(page.get_by_role("status")).to_have_text("done")
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()
    refused = page.locator(".frame.refused")
    expect(refused).to_contain_text("microwave_297 is not closed: there is nothing to open")
    refused.get_by_role("link", name="as it was then").click()
    expect(page.locator("li.found")).to_contain_text("microwave_297")
    expect(page.locator(".bad")).to_contain_text("was refused: microwave_297 is not closed: there is nothing to open")

    go(page, pages.at("/home", scene=home.name))
    page.get_by_label("Version", exact=True).evaluate(
        "it => { it.value = 2; it.dispatchEvent(new Event('input')); it.dispatchEvent(new Event('change')) }"
    )
    expect(page.locator("header")).to_contain_text(re.compile(r"version 2 of \d"))
    expect(page.locator("li.object.changed").filter(has=page.get_by_role("link", name=CUP))).to_be_visible()
    fill_in(page, "Copy version 2 to", f"{home.name}-2", "Copy")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{home.name}-2")
    say(page, "walk(microwave_297)", "Act")
    expect(page.locator("main")).to_contain_text("walk(microwave_297) by person")
    window.allow("409")
    say(page, f"put_in({CUP}, microwave_297)", "Act")
    expect(page.get_by_role("alert")).to_contain_text("microwave_297 is closed: open(microwave_297) first")
    expect(page.get_by_role("combobox").first).to_have_value(f"put_in({CUP}, microwave_297)")
    page.get_by_role("button", name="open(microwave_297) first").click()
    expect(page.locator("main")).to_contain_text("open(microwave_297) by person")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="Undo").click()
    expect(row_of(page, "undo 1: walk(microwave_297)")).to_be_visible()
    page.get_by_role("button", name="Redo").click()
    expect(row_of(page, "redo 1")).to_be_visible()


def test_a_plan_waits_while_a_person_acts(window: Window, pages: Entered, home: sc.Home) -> None:
    page = window.page
    go(page, pages.at("/home", scene=home.name))
    option(page, "wait before each step").check()
    say(page, INSTRUCTION, "Plan")
    state, frames = page.get_by_role("status"), page.locator(".frame")
    expect(state).to_have_text("paused")
    expect(frames).to_have_count(0)
    page.get_by_role("button", name="Step").click()
    expect(frames).to_have_count(2)
    expect(frames.first).to_contain_text("asked")
    fill_in(page, "Act in between", "open(microwave_297)", "Act")
    window.allow("409")
    expect(page.get_by_role("alert")).to_contain_text("is not close to")
    page.go_back()
    fill_in(page, "Act in between", "walk(microwave_297)", "Act")
    fill_in(page, "Act in between", "open(microwave_297)", "Act")
    expect(state).to_have_text("paused")
    assert [event.actor for event in home.history()] == ["person", "person"]
    page.get_by_role("button", name="Go on").click()
    expect(state).to_have_text("done")
    assert [event.action for event in home.history()][-1] == "switch_on(microwave_297)"
    expect(page.get_by_role("button", name="Pause")).to_be_hidden()


def test_a_plan_without_a_model_is_stopped(window: Window, pages: Entered, database_of_pages: sc.SceneDatabase) -> None:
    home = database_of_pages.import_scene(ImportedScene("browser/silent", SILENT, "household"))
    page = window.page
    go(page, pages.at("/home", scene=home.name))
    option(page, "by").select_option("symbolic")
    page.get_by_label("these are facts that shall hold").check()
    page.get_by_label("wait before each step").check()
    say(page, "cup INSIDE fridge", "Plan")
    page.get_by_role("button", name="Step").click()
    expect(page.locator(".frame.acted")).to_have_count(1)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("status")).to_have_text("stopped")
    assert home.info.version == 1
    database_of_pages.delete(home.name)


def test_relations_are_drawn(window: Window, pages: Entered, home: sc.Home) -> None:
    page = window.page
    go(page, pages.at("/node", scene=home.name, id=CUP))
    expect(page.locator(f"[data-drawn='{CUP}'] canvas")).not_to_have_count(0)
    expect(page.get_by_role("img", name="The relations below as a drawing")).to_be_visible()


def test_a_file_draws_the_relations_of_what_is_chosen(
    chromium: Window, home: sc.Home, database_of_pages: sc.SceneDatabase, tmp_path: Path
) -> None:
    store, file = database_of_pages.store, tmp_path / "home.html"
    library = cytoscape(lambda _: None)
    assert "Permission is hereby granted, free of charge" in library
    file.write_text(home_file(store.load(home.name), home.name, library=library), encoding="utf-8")
    chromium.page.goto(file.as_uri())
    chromium.page.get_by_role("button", name=CUP, exact=True).press("Enter")
    expect(chromium.page.locator(f"[data-drawn='{CUP}'] canvas")).not_to_have_count(0)
    chromium.page.get_by_label("Find").fill("fridge")
    expect(chromium.page.get_by_role("status")).to_have_text(re.compile(r"\d+ found"))


def test_a_file_plays_the_last_versions(
    chromium: Window, played: tuple[str, int], page_env: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "evening.html"
    for name, value in page_env.items():
        monkeypatch.setenv(name, value)
    assert run_command_line(("scenes", "show", played[0], "--html", str(file), "--versions", "3")) == 0
    page, canvas = chromium.page, chromium.page.locator("#map")
    page.goto(file.as_uri())
    slider = page.get_by_label("Version", exact=True)
    newest = int(slider.get_attribute("max") or 0)
    assert slider.get_attribute("min") == str(newest - 3)
    page.get_by_role("button", name="Play the versions").click()
    expect(canvas).to_have_attribute("data-version", str(newest - 2))
    expect(page.locator("#told")).to_contain_text(" by stepwise")
    expect(canvas).to_have_attribute("data-version", str(newest))


def test_a_thing_is_chosen_on_the_map_and_something_done_with_it(window: Window, pages: Entered, home: sc.Home) -> None:
    page, inspector = window.page, window.page.locator("#inspector")
    go(page, pages.at("/home", scene=home.name))
    page.get_by_role("button", name="Zoom in").click()
    page.get_by_role("button", name="Show all").click()
    click_on(page, "microwave_297")
    expect(page.locator("#map")).to_have_attribute("data-chosen", "microwave_297")
    expect(inspector).to_contain_text("closed")
    inspector.locator("summary").click()
    expect(inspector.get_by_role("listitem").filter(has_text="open(microwave_297)")).to_contain_text("walk")
    inspector.get_by_role("link", name="kitchen_counter", exact=False).first.click()
    expect(page.locator("#map")).not_to_have_attribute("data-chosen", "microwave_297")
    click_on(page, "microwave_297")
    inspector.get_by_role("button", name="walk(microwave_297)").click()
    expect(page.locator("main")).to_contain_text("walk(microwave_297) by person")
    click_on(page, "microwave_297")
    inspector.get_by_role("button", name="open(microwave_297)").click()
    expect(page.locator("main")).to_contain_text("open(microwave_297) by person")


def click_on(page: Page, node: str) -> None:
    page.wait_for_timeout(400)  # a flight of the map takes a quarter of a second
    x, y = place_of(page, node)
    page.locator("#map").click(position={"x": x, "y": y})


def place_of(page: Page, node: str) -> tuple[float, float]:
    x, y = page.locator("#map").evaluate("(it, id) => it.placeOf(id)", node)
    return x, y


def test_versions_are_played_and_scrubbed_in_place(window: Window, pages: Entered, played: tuple[str, int]) -> None:
    """A version that costs a page: what moved between two of them is not seen to move."""
    page, canvas = window.page, window.page.locator("#map")
    page.clock.install()
    go(page, pages.at("/home", scene=played[0], version=0))
    expect(page.locator("#strip")).not_to_have_attribute("data-versions", "0")
    before, newest = place_of(page, CUP), int(page.locator("#version").get_attribute("max") or 0)
    page.get_by_role("button", name="Play the versions").click()
    for _ in range(newest):
        page.clock.fast_forward(1_000)
    expect(canvas).to_have_attribute("data-version", str(newest))
    expect(page.locator("#facts")).to_contain_text(f"version {newest}, ")
    page.clock.fast_forward(500)
    assert place_of(page, CUP) != before
    page.get_by_label("Version", exact=True).press("ArrowLeft")
    expect(canvas).to_have_attribute("data-version", str(newest - 1))
    expect(page.locator("#side")).to_contain_text(f"Version {newest - 1}, ")
    assert f"version={newest - 1}" in page.url
    page.get_by_role("link", name="now", exact=True).click()
    expect(page.locator("#side")).to_contain_text(f"Copy version {newest} to")


PAINTED = """async () => {
    for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
    return document.getElementById("map").toDataURL();
}"""


def painted(page: Page) -> str:
    page.clock.fast_forward(2_000)  # what has changed glows for 1.5 s
    picture: str = page.evaluate(PAINTED)
    return picture


def test_a_version_is_painted_the_same_by_whatever_way_it_is_reached(
    window: Window, pages: Entered, played: tuple[str, int]
) -> None:
    """Things that moved are painted over a picture of the rest: what they left, bore or hid must not stay there."""
    page, canvas, slider = window.page, window.page.locator("#map"), window.page.get_by_label("Version", exact=True)
    page.clock.install()
    go(page, pages.at("/home", scene=played[0]))
    canvas.and_(page.locator("[data-drawn]")).wait_for()
    newest = int(slider.get_attribute("max") or 0)
    for version in (newest - 1, newest - 2, 0, 2, 1, newest):
        slider.evaluate("(it, to) => { it.value = to; it.dispatchEvent(new Event('input')); }", version)
        expect(canvas).to_have_attribute("data-version", str(version))
    scrubbed = painted(page)
    slider.evaluate("it => { it.value = 0; it.dispatchEvent(new Event('input')); }")
    expect(canvas).to_have_attribute("data-version", "0")
    assert painted(page) != scrubbed
    slider.evaluate("(it, to) => { it.value = to; it.dispatchEvent(new Event('input')); }", newest)
    expect(canvas).to_have_attribute("data-version", str(newest))
    page.evaluate("async () => { const map = document.getElementById('map'); map.width = 1; await map.again(); }")
    assert painted(page) == scrubbed


def test_beside_a_run_the_map_is_at_the_step_that_is_chosen(
    window: Window, pages: Entered, played: tuple[str, int]
) -> None:
    page = window.page
    go(page, pages.at("/run", number=played[1]))
    page.locator("#map[data-drawn]").wait_for()
    grabbed = page.locator(".frame.acted").filter(has_text=f"grab({CUP})")
    version = grabbed.get_attribute("data-version")
    grabbed.click()
    expect(page.locator("#map")).to_have_attribute("data-version", str(version))
    expect(page.locator("#step")).to_contain_text(f"grab({CUP})")


def test_what_another_does_appears_by_itself(window: Window, pages: Entered, home: sc.Home) -> None:
    page = window.page
    go(page, pages.at("/home", scene=home.name))
    page.locator("#map[data-drawn]").wait_for()
    page.wait_for_timeout(300)
    home.act("walk(microwave_297)", actor="Ben")
    expect(page.locator("#map")).to_have_attribute("data-version", "1")
    expect(page.locator("#facts")).to_contain_text("version 1, ")
    expect(row_of(page, "walk(microwave_297)")).to_contain_text("Ben")
    page.get_by_label("Version", exact=True).press("ArrowLeft")
    expect(page.locator("#map")).to_have_attribute("data-version", "0")
    home.act("open(microwave_297)", actor="Ben")
    expect(page.get_by_label("Version", exact=True)).to_have_attribute("max", "2")
    expect(page.locator("#map")).to_have_attribute("data-version", "0")


def test_the_bar_shows_what_enter_does_and_completes_words(window: Window, pages: Entered, home: sc.Home) -> None:
    page, bar = window.page, window.page.locator("#bar")
    go(page, pages.at("/home", scene=home.name))
    page.locator("#map[data-drawn]").wait_for()
    page.keyboard.press("/")
    field = page.locator("#search")
    expect(field).to_be_focused()
    for text, meant in (
        ("Where is the cup?", "Ask"),
        ("cup", "Find"),
        ("open(microwave_297)", "Act"),
        ("Bring me some tea", "Plan"),
        ("MATCH (n) RETURN n.id", "Cypher"),
    ):
        field.fill(text)
        expect(bar.locator(".meant")).to_have_text(meant)
    field.fill("")
    field.press_sequentially("wal")
    field.press("ArrowDown")
    field.press("Enter")
    expect(field).to_have_value("walk(")
    field.press_sequentially("microw")
    page.get_by_role("option", name="microwave_297").click()
    field.press_sequentially(")")
    field.press("Enter")
    expect(page.locator("main")).to_contain_text("walk(microwave_297) by person")


def test_a_belief_is_a_layer_and_a_map_is_seen_in_space(
    window: Window, pages: Entered, played: tuple[str, int], database_of_pages: sc.SceneDatabase
) -> None:
    page = window.page
    go(page, pages.at("/home", scene=played[0]))
    page.get_by_label("belief", exact=True).check()
    expect(page.locator("#map")).not_to_have_attribute("data-belief", "0")
    mapped = database_of_pages.import_file(MAP, name="browser/map", replace=True)
    go(page, pages.at("/home", scene=mapped.name))
    flat = int(page.locator("#map[data-drawn]").get_attribute("data-drawn") or 0)
    page.get_by_label("lattice").uncheck()
    expect(page.locator("#map")).not_to_have_attribute("data-drawn", str(flat))
    on_the_floor = place_of(page, "O(0)")
    page.get_by_label("3D").check()
    page.wait_for_timeout(400)
    assert place_of(page, "O(0)") != on_the_floor
    expect(page.locator("#map")).to_have_attribute("data-drawn", "9")
    click_on(page, "O(0)")
    expect(page.locator("#map")).to_have_attribute("data-chosen", "O(0)")
    database_of_pages.delete(mapped.name)


def test_a_file_is_imported_by_the_page(
    window: Window, pages: Entered, database_of_pages: sc.SceneDatabase, tmp_path: Path
) -> None:
    page = window.page
    (tmp_path / "dropped.json").write_text('{"nodes": [{"id": "hall", "kind": "room"}], "links": []}', encoding="utf-8")
    (tmp_path / "broken.json").write_text('{"nodes": [', encoding="utf-8")
    go(page, pages.at("/"))
    window.allow("400")
    page.get_by_label("Import a file").set_input_files(tmp_path / "broken.json")
    expect(page.get_by_role("status")).to_contain_text("broken.json: line 1, column 12")
    page.get_by_label("Import a file").set_input_files(tmp_path / "dropped.json")
    expect(page.get_by_role("heading", level=1)).to_have_text("networkx/dropped")
    database_of_pages.delete("networkx/dropped")


def test_hostile_names_are_text(window: Window, pages: Entered, database_of_pages: sc.SceneDatabase) -> None:
    nodes = [*(replace(node, name=name) for node, name in zip(NODES, HOSTILE, strict=False)), *NODES[len(HOSTILE) :]]
    scene = ImportedScene("browser/<script>alert(1)</script>", SceneGraph.of(nodes, RELATIONS), "household")
    home = database_of_pages.import_scene(scene)
    page = window.page
    for path, fields in (
        ("/", {"q": "script"}),
        ("/home", {"scene": home.name}),
        ("/node", {"scene": home.name, "id": "kitchen"}),
        ("/node", {"scene": home.name, "id": "table"}),
        ("/runs", {"scene": home.name}),
    ):
        go(page, pages.at(path, **fields))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert not page.evaluate(IS_TOO_WIDE), path
    go(page, pages.at("/home", scene=home.name))
    for name in HOSTILE:
        expect(page.get_by_text(name, exact=True).first).to_be_visible()
    database_of_pages.delete(home.name)


@pytest.mark.parametrize("chromium", [{"viewport": {"width": 1_000, "height": 620}}], indirect=True)
def test_a_map_that_is_shown_whole_stays_whole(window: Window, pages: Entered, home: sc.Home) -> None:
    """The line of versions comes with the first version: the lowest room was cut off by it."""
    page = window.page
    go(page, pages.at("/home", scene=home.name))
    page.get_by_role("button", name="Show all").click()
    page.wait_for_timeout(400)
    home.act("walk(microwave_297)")
    expect(page.locator("#version")).to_be_visible()
    page.wait_for_timeout(400)
    assert place_of(page, "curtain_408")[1] < page.locator("#map").evaluate("it => it.clientHeight") * 0.95


IS_BROKEN = """(it) => [...it.querySelectorAll("th, td")].some((cell) => {
    const range = document.createRange();
    return [...cell.childNodes].some((text) => [...(text.textContent || "").matchAll(/\\w+/g)].some((word) => {
        if (text.nodeType !== Node.TEXT_NODE) return false;
        range.setStart(text, word.index);
        range.setEnd(text, word.index + word[0].length);
        return range.getClientRects().length > 1;
    }));
})"""


@pytest.mark.parametrize(
    "chromium", [{"viewport": {"width": 400, "height": 800}}, {}], ids=["phone", "wide"], indirect=True
)
def test_words_in_tables_are_whole(window: Window, pages: Entered, played: tuple[str, int]) -> None:
    """The heads of the list of runs were a letter a line on a phone, and ids in rows were cut in two."""
    page = window.page
    go(page, pages.at("/run", number=played[1]))
    assert not page.locator(".film table").first.evaluate(IS_BROKEN)
    go(page, pages.at("/runs"))
    assert not page.locator("thead").evaluate(IS_BROKEN)


def test_a_scene_that_is_not_there_leads_to_those_that_are(window: Window, pages: Entered) -> None:
    window.allow("404")
    page = window.page
    page.goto(pages.at("/home", scene="no such scene"))
    page.get_by_role("link", name="Back to the list of homes").click()
    page.get_by_label("Find").fill("no such scene")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="Show all").click()
    expect(page.locator(".homes li")).not_to_have_count(0)


PAGES: tuple[tuple[str, dict[str, object]], ...] = (
    ("/", {}),
    ("/home", {}),
    ("/home", {"version": 1}),
    ("/node", {"id": CUP}),
    ("/runs", {}),
    ("/run", {}),
    ("/belief", {}),
)


@pytest.mark.parametrize(
    "chromium",
    [
        {"color_scheme": "light", "viewport": {"width": 360, "height": 740}},
        {"color_scheme": "dark"},
    ],
    ids=["light, on a phone", "dark"],
    indirect=True,
)
def test_every_page_can_be_read_by_everybody(window: Window, pages: Entered, played: tuple[str, int], axe: str) -> None:
    scene, run = played
    page = window.page
    for path, fields in PAGES:
        given = {"number": run} if path == "/run" else {} if path == "/" else {"scene": scene, **fields}
        go(page, pages.at(path, **given))
        page.evaluate(axe)
        assert (path, page.evaluate(RUN_AXE)) == (path, [])
        assert (path, page.evaluate(IS_TOO_WIDE)) == (path, False)


def test_the_keyboard_alone_finds_and_acts(window: Window, pages: Entered, home: sc.Home) -> None:
    page = window.page
    go(page, pages.at("/home", scene=home.name))
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="to the content")).to_be_focused()
    expect(page.get_by_role("link", name="to the content")).to_be_in_viewport()
    focused = page.locator(":focus")
    for _ in range(60):
        if focused.get_attribute("id") == "search":
            break
        page.keyboard.press("Tab")
    page.keyboard.type("walk(cup_2004)")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_contain_text("walk(cup_2004) by person")
    room = page.locator("details.room").first
    room.locator("summary").press("Enter")
    expect(room).not_to_have_attribute("open", "")


def test_two_tabs_watch_one_run(window: Window, pages: Entered, home: sc.Home) -> None:
    first, second = window.page, window.context.new_page()
    go(first, pages.at("/home", scene=home.name))
    option(first, "wait before each step").check()
    say(first, INSTRUCTION, "Plan")
    go(second, first.url)
    second.get_by_role("button", name="Step").click()
    expect(first.locator(".frame")).to_have_count(2)
    first.get_by_role("button", name="Stop").click()
    for tab in (first, second):
        expect(tab.get_by_role("status")).to_have_text("stopped")


@pytest.mark.parametrize("is_stopped", [False, True])
def test_a_page_says_what_its_answer_waits_for(
    window: Window, pages: Entered, home: sc.Home, address: Address, *, is_stopped: bool
) -> None:
    """A wait without words: nothing was seen of an action that waits. The notice goes with the page or the wait."""
    page, notice, told = window.page, window.page.locator("#waits"), list[str]()
    page.on("console", lambda it: told.append(it.text))

    def is_told() -> bool:
        page.wait_for_timeout(20)  # events come in while Playwright waits
        return told[-1:] == ["Waiting for the database…"]

    go(page, pages.at("/home", scene=home.name))
    page.get_by_role("combobox").first.fill("walk(cup_2004)")
    expect(notice).to_have_text("")
    with locked(address, home.info.key):
        page.evaluate(SEND, is_stopped)  # until the answer is there, Playwright asks nothing more of a page
        until(is_told, within_s=20)
    if not is_stopped:
        expect(page.locator("main")).to_contain_text("walk(cup_2004) by person")
        expect(notice).to_have_text("")
        page.go_back()
    expect(page.get_by_role("combobox").first).to_be_visible()
    expect(notice).to_have_text("")


def test_a_token_counts_once_and_a_server_that_has_gone_is_told(
    chromium: Window, page_env: dict[str, str], home: sc.Home, database_of_pages: sc.SceneDatabase
) -> None:
    chromium.allow("status of 403", "ERR_CONNECTION_REFUSED", "ERR_CONNECTION_RESET", "ERR_INCOMPLETE_CHUNKED")
    page = chromium.page
    with served(page_env) as server:
        page.goto(server.at("/", token="wrong"))
        expect(page.locator("body")).to_contain_text("its token counts once")
        page.goto(server.address)
        expect(page.get_by_role("heading", level=1)).to_have_text("Homes")
        assert "token" not in page.url
        go(page, server.at("/home", scene=home.name))
        option(page, "wait before each step").check()
        say(page, INSTRUCTION, "Plan")
        expect(page.get_by_role("status")).to_have_text("paused")
        page.wait_for_load_state()
        server.process.send_signal(signal.SIGINT)
        expect(page.get_by_role("alert")).to_contain_text("The server does not answer")
        _, told = server.process.communicate(timeout=60)
        assert "Traceback" not in told
    assert next(latest_runs(database_of_pages.store.database, home.name)).state == "stopped"
