"""The README's moving picture: a terminal and the page of one home, where commands and a person change it."""

from __future__ import annotations

import html
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from textwrap import wrap
from threading import Semaphore, Thread
from time import monotonic
from typing import Final, TextIO

from PIL import Image
from playwright.sync_api import Browser, Page

import scenecypher as sc
from scenecypher.cli.demo import INSTRUCTION, QUESTIONS, recorded_replies
from tests.browser.chromium import opened
from tests.browser.served import Entered, demo_model, entered, environment, served

WIDTH, PAGE, TERMINAL = 1_000, 620, 190
"""Pixels: what GitHub shows a README's picture at, about, so that words stay legible."""
ROWS, COLUMNS = 10, 122
"""The last lines that the terminal shows, and its width in letters."""
SHORT_MS, HOLD_MS, LONG_MS = 90, 900, 3_000
"""How long a picture stands while things move, after a step, and where there is something to read."""
STEP_S: Final = 60.0
"""Longest wait for a step; pictures have the time that they are given, however slow the machine is."""
ANSWER: Final = sc.ScriptedReply(
    (), "cup_2004 is in bathroom_1, on bathroom_counter_41.", system=("Answer the question in one sentence",)
)
SCREEN: Final = """<body style="margin:0;background:#16181c;color:#e6e6e6;font:13px/17px 'DejaVu Sans Mono',monospace">
<pre style="margin:0;padding:9px 14px;white-space:pre-wrap">{lines}</pre></body>"""


@dataclass(slots=True)
class Pace:
    """Lets a model's replies through one by one: a step of a plan is filmed before the next is decided."""

    _allowed: Semaphore = field(default_factory=lambda: Semaphore(0))
    _asked: Semaphore = field(default_factory=lambda: Semaphore(0))

    def wait(self, prompt: str) -> None:
        """Hold the reply to a prompt for a decision back until it is let through."""
        if "decide." in prompt:
            self._asked.release()
            self._allowed.acquire(timeout=STEP_S)

    def let_through(self, process: subprocess.Popen[str]) -> None:
        """Let a reply through; wait for the next request, or for the end of what sends them."""
        self._allowed.release()
        self.await_request(process)

    def await_request(self, process: subprocess.Popen[str]) -> None:
        """Wait until a reply is asked for, or the process ends."""
        until = monotonic() + STEP_S
        while process.poll() is None and monotonic() < until:
            if self._asked.acquire(timeout=0.05):
                return


@dataclass(slots=True)
class Film:
    """Pictures with their times; `lines` is what the terminal shows."""

    page: Page
    terminal: Page
    lines: list[str] = field(default_factory=list)
    pictures: list[Image.Image] = field(default_factory=list)
    times: list[int] = field(default_factory=list)

    def show(self, milliseconds: int) -> None:
        """Add what page and terminal look like now; what looks as before stands longer."""
        rows = [html.escape(row) for it in self.lines for row in wrap(it, COLUMNS, drop_whitespace=False)][-ROWS:]
        self.terminal.set_content(SCREEN.format(lines="\n".join(rows)))
        picture = Image.new("RGB", (WIDTH, TERMINAL + PAGE))
        for page, top in ((self.terminal, 0), (self.page, TERMINAL)):
            with Image.open(BytesIO(page.screenshot())) as shot:
                picture.paste(shot.convert("RGB"), (0, top))
        if self.pictures and picture.tobytes() == self.pictures[-1].tobytes():
            self.times[-1] += milliseconds
            return
        self.pictures.append(picture)
        self.times.append(milliseconds)

    def follow(self, milliseconds: int = HOLD_MS) -> None:
        """Add how the page gets to what was done, and what it then looks like."""
        for _ in range(4):
            self.show(SHORT_MS)
        self.page.wait_for_timeout(700)
        self.show(milliseconds)

    def type(self, command: str) -> None:
        """Type a command into the terminal."""
        self.lines.append("$ ")
        for end in (len(command) // 2, len(command)):
            self.lines[-1] = f"$ {command[:end]}▌"
            self.show(250)
        self.lines[-1] = f"$ {command}"

    def run(self, env: Mapping[str, str], pace: Pace | None, *words: str) -> None:
        """Run `scenecypher` with these words; with a pace, film each step."""
        self.type(" ".join(("scenecypher", *(f'"{it}"' if set(it) & set(" (") else it for it in words))))
        command = [sys.executable, "-m", "scenecypher", *words]
        with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
            assert process.stdout
            reader = Thread(target=_read, args=(process.stdout, self.lines), daemon=True)
            reader.start()
            if pace:
                pace.await_request(process)
            while pace and process.poll() is None:
                pace.let_through(process)
                self.follow()
            reader.join()
        self.follow(LONG_MS)

    def save(self, file: Path) -> None:
        """Write an animated WebP."""
        first, *rest = self.pictures
        first.save(file, save_all=True, append_images=rest, duration=self.times, loop=0, lossless=True, method=4)
        sys.stderr.write(f"wrote {file}, {file.stat().st_size:,} bytes, {len(self.pictures)} pictures\n")


def make_film(file: Path, browser: Browser, user_env: Mapping[str, str], home: sc.Home) -> None:
    """Film a home at its first version: a question, an action, a plan with a refusal, and the way back in time."""
    pace = Pace()
    with (
        demo_model(ANSWER, *recorded_replies(), before=pace.wait) as model,
        served(env := environment(user_env, model)) as server,
        opened(browser, viewport={"width": WIDTH, "height": PAGE}, color_scheme="light") as window,
        opened(browser, viewport={"width": WIDTH, "height": TERMINAL}) as other,
    ):
        site = entered(server)
        site.enter(window)
        window.context.set_default_timeout(1_000 * STEP_S)
        film = Film(window.page, other.page)
        for _ in _scenes(film, site, home, env, pace):
            film.page.wait_for_timeout(600)
    film.save(file)


def _scenes(film: Film, site: Entered, home: sc.Home, env: Mapping[str, str], pace: Pace) -> Iterator[None]:
    page = film.page
    page.goto(site.at("/home", scene=home.name))
    page.locator("#strip[data-versions]").wait_for(state="attached")
    yield
    film.lines.append(f"$ scenecypher ui {home.name}")
    film.show(1_200)
    page.locator("#search").fill(QUESTIONS[0])
    film.show(HOLD_MS)
    page.locator("#search").press("Enter")
    page.locator("#answer table").wait_for()
    yield
    film.show(LONG_MS)
    page.goto(site.at("/home", scene=home.name))
    page.locator("#strip[data-versions]").wait_for(state="attached")
    page.get_by_role("button", name="Show all").click()
    yield
    film.run(env, None, "act", home.name, "open(microwave_297)")
    film.run(env, None, "act", home.name, "walk(microwave_297)")
    film.run(env, pace, "plan", home.name, INSTRUCTION, "--no-fix")
    slider, newest = page.locator("#version"), home.info.version
    for version in (*range(newest - 1, -1, -1), newest):
        slider.evaluate("(it, to) => { it.value = to; it.dispatchEvent(new Event('input')); }", version)
        page.locator(f"#map[data-version='{version}']").wait_for()
        for _ in range(3):
            film.show(SHORT_MS)
        film.show(SHORT_MS * 4)
    yield
    film.show(LONG_MS)


def _read(stream: TextIO, lines: list[str]) -> None:
    lines += (line.rstrip() for line in stream)
