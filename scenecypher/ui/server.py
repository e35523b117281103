"""The page's server: homes, their versions, nodes, questions and actions, by the front door; and dropped files."""

from __future__ import annotations

from asyncio import sleep
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from scenecypher.errors import SceneCypherError, SceneNotFound
from scenecypher.planner.actions.ruled import APPROVED, LEFT
from scenecypher.planner.actions.simulator import PERSON
from scenecypher.ui.guard import BODY_BYTES
from scenecypher.ui.pages import Pages
from scenecypher.ui.plans import BUTTONS, Button, PagePlans
from scenecypher.ui.render import Address, Fields, number, render, required, static_text
from scenecypher.waiting import waits

if TYPE_CHECKING:
    from scenecypher.home import Home, PlanOptions
    from scenecypher.scenes import SceneDatabase

Answer: TypeAlias = Callable[[Fields], Response | str]
REFUSED, BAD_INPUT, NOT_FOUND = 409, 400, 404
LOOK_S: Final = 0.05
"""Time between two looks for the steps of runs and the versions of homes."""
READ_ONLY: Final = "this page is for looking only: it was started with --read-only"
FILE_BYTES: Final = 500_000_000
TOO_LARGE: Final = f"a file of more than {FILE_BYTES // 1_000_000:,} MB: import it by `scenecypher import FILE`"
NAME: Final = 60
"""Printable letters of a file's name, from its end, that are kept: the ending says what it is."""


@dataclass(frozen=True, slots=True)
class Changes:
    """What a page changes: actions, undo, redo and copies, which answer with the home as it is then; and plans.

    What is done with a plan answers with its run's film.
    """

    database: SceneDatabase
    plans: PagePlans

    def act(self, fields: Fields) -> Response:
        """Carry out an action; shows the `run` in between whose steps it was done. Raises ActionRefused.

        The field `approved` is the question to which the person who sends it said yes.
        """
        approved, run = fields.get("approved"), number(fields, "run")
        steps = self._home(fields).act(
            required(fields, "text"),
            fix="fix" in fields,
            ask=(lambda it: APPROVED if it.question == approved else LEFT) if approved else None,
        )
        return _shown(fields, steps[-1].version) if run is None else _film(run)

    def undo(self, fields: Fields) -> Response:
        """Undo the latest action that holds. Raises NothingToUndo, RuleBroken without the field `approved`."""
        return _shown(fields, self._home(fields).undo(approved_by=PERSON if "approved" in fields else "").version)

    def redo(self, fields: Fields) -> Response:
        """Take the latest undo back. Raises NothingToRedo, RuleBroken without the field `approved`."""
        return _shown(fields, self._home(fields).redo(approved_by=PERSON if "approved" in fields else "").version)

    def fork(self, fields: Fields) -> Response:
        """Copy the scene at a version to a new name. Raises InputError for a name that is taken."""
        scene, version = required(fields, "scene"), number(fields, "version")
        now = self.database.store.find(scene).version
        source = scene if version in {None, now} else f"{scene}@{version}"
        copy = self.database.store.copy(source, required(fields, "name"))
        return RedirectResponse(Address(copy.name).to("home"), status_code=303)

    def plan(self, fields: Fields) -> Response:
        """Start a plan for a text: an instruction, or facts that shall hold. Raises InputError, ModelUnavailable."""
        scene, task = required(fields, "scene"), required(fields, "text")
        options: PlanOptions = {"method": fields.get("method", "stepwise")}
        instruction = None if "goal" in fields else task
        if instruction is None:
            options["goal"] = task
        return _film(self.plans.start(scene, paused="paused" in fields, options=options, instruction=instruction))

    def answer(self, fields: Fields) -> Response:
        """Answer what a plan asks. Raises InputError."""
        run = number(fields, "number") or 0
        self.plans.answer(run, fields.get("question", ""), fields.get("answer", ""))
        return _film(run)

    def press(self, button: Button, fields: Fields) -> Response:
        """Press a button of a run. Raises InputError."""
        run = number(fields, "number") or 0
        self.plans.press(run, button)
        return _film(run)

    def _home(self, fields: Fields) -> Home:
        return self.database.home(required(fields, "scene"))


def application(database: SceneDatabase, *, read_only: bool = False, library: str = "") -> Starlette:
    """Return the pages of a database; without changes if `read_only`. It is to be run behind a `Guard`.

    Its `state.is_ending` is asked by what watches runs: set it to a function that tells when the server is to end.

    `library` is the text of cytoscape, by which it draws relations. Plans that its pages have started stop where its
    lifespan ends.
    """
    started = PagePlans(database)
    pages = Pages(database, started, read_only=read_only, draws=bool(library))
    changes = Changes(database, started)
    seen: Mapping[str, Answer] = {
        "/": pages.fleet,
        "/run/film": pages.film,
        **_by_name(pages.home, pages.room, pages.node, pages.inspect, pages.map, pages.timeline, pages.thumbnail),
        **_by_name(pages.belief, pages.runs, pages.run),
    }
    asked: Mapping[str, Answer] = _by_name(pages.ask, pages.query)
    changed: Mapping[str, Answer] = {
        **_by_name(changes.act, changes.undo, changes.redo, changes.fork, changes.plan),
        "/run/answer": changes.answer,
        **{f"/run/{it}": partial(changes.press, it) for it in BUTTONS},
    }
    scripts = {it: static_text(it) for it in ("home.js", "bar.js", "map.js", "time.js", "drawing.js")} | {
        "cytoscape.js": library
    }
    icon = _static(static_text("icon.svg"), "image/svg+xml")
    if read_only:
        changed = dict.fromkeys(changed, lambda _: _message("Refused", READ_ONLY, REFUSED))

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(started.close)

    app = Starlette(
        routes=[
            *(Route(path, _endpoint(answer, pages), methods=["GET"]) for path, answer in seen.items()),
            *(Route(path, _endpoint(answer, pages), methods=["POST"]) for path, answer in {**asked, **changed}.items()),
            Route("/run/steps", _watched(pages.steps)),
            Route("/live", _watched(pages.live)),
            Route("/waiting", _waiting),
            *([] if read_only else [Route("/import", uploading(database), methods=["POST"])]),
            *(Route(f"/static/{name}", _static(text, "text/javascript")) for name, text in scripts.items()),
            Route("/static/home.css", _static(static_text("home.css"), "text/css")),
            *(Route(path, icon) for path in ("/static/icon.svg", "/favicon.ico")),
        ],
        exception_handlers={HTTPException: _no_page},
        lifespan=lifespan,
    )
    app.state.is_ending, app.state.under_way = lambda: False, 0
    return app


def _by_name(*answers: Answer) -> Mapping[str, Answer]:
    """Return answers by their addresses, which are their names."""
    return {f"/{it.__name__}": it for it in answers}


def _endpoint(answer: Answer, pages: Pages) -> Callable[[Request], object]:
    """Return an endpoint that answers in a thread: the driver's calls wait."""

    async def endpoint(request: Request) -> Response:
        fields = _fields(request)
        request.app.state.under_way += 1
        try:
            if request.method == "POST":
                fields = await _posted(request)
            sent_from = pages if request.method == "POST" and "run" not in fields else None
            return await run_in_threadpool(_answered, answer, fields, sent_from)
        finally:
            request.app.state.under_way -= 1

    return endpoint


async def _waiting(request: Request) -> Response:
    """Tell what answers wait for, or that they are under way; without a thread, since they may have all of them."""
    told = f"Waiting for {'; '.join(found)}…" if (found := waits()) else "Working…"
    return PlainTextResponse(told if request.app.state.under_way else "")


def _fields(request: Request) -> dict[str, str]:
    """Return the fields of an address; those given more than once with commas."""
    return {key: ",".join(request.query_params.getlist(key)) for key in request.query_params}


def _watched(look: Callable[[Fields], tuple[str, bool]]) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that tells a browser what `look` finds, at each change (server-sent events).

    It ends where `look` says that nothing will change any more.
    """

    async def endpoint(request: Request) -> Response:
        fields = _fields(request)

        async def told() -> AsyncIterator[str]:
            known, is_running = "", True
            while is_running and not request.app.state.is_ending() and not await request.is_disconnected():
                try:
                    now, is_running = await run_in_threadpool(look, fields)
                except SceneCypherError as error:
                    yield f"event: trouble\ndata: {' '.join(str(error).split())}\n\n"
                    break
                if now != known:
                    known = now
                    yield f"data: {now}\n\n"
                await sleep(LOOK_S)
            if not is_running:  # else the browser asks again
                yield "event: end\ndata: \n\n"

        return StreamingResponse(told(), media_type="text/event-stream")

    return endpoint


async def _posted(request: Request) -> dict[str, str]:
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > BODY_BYTES:
            raise HTTPException(413)
    try:
        return {key: values[-1] for key, values in parse_qs(body.decode(), errors="strict").items()}
    except ValueError:
        raise HTTPException(400) from None


def _answered(answer: Answer, fields: Fields, sent_from: Pages | None) -> Response:
    """Return an answer; a refusal of what a home's form asked for is told on its page, beside what was typed."""
    try:
        found = answer(fields)
    except SceneCypherError as error:
        status = NOT_FOUND if isinstance(error, SceneNotFound) else REFUSED if error.exit_code == 1 else BAD_INPUT
        if sent_from and "scene" in fields and status != NOT_FOUND:
            with suppress(SceneCypherError):  # the home itself can't be read: the first error is told alone
                return HTMLResponse(sent_from.refused(fields, error), status)
        back = Address(fields["scene"]).to("home") if "scene" in fields and status != NOT_FOUND else "/"
        return _message("Refused" if status == REFUSED else "Error", str(error), status, back)
    return found if isinstance(found, Response) else HTMLResponse(found)


def _message(title: str, text: str, status: int, back: str = "/") -> Response:
    return HTMLResponse(render("message.html", title=title, text=text, bad=True, back=back), status)


def _no_page(_: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    text = "There is no such page; the list of homes has them all." if status == NOT_FOUND else str(error)
    return _message("No page", text, status)


def _static(text: str, kind: str) -> Callable[[Request], Response]:
    return lambda _: Response(text, media_type=kind)


def _film(run: int) -> Response:
    return RedirectResponse(f"/run?number={run}", status_code=303)


def _shown(fields: Fields, version: int) -> Response:
    return RedirectResponse(Address(required(fields, "scene")).to("home", version=version), status_code=303)


def uploading(database: SceneDatabase) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that imports the file in a request's body; it answers with the address of the home.

    The field `name` is the file's name. A file that can't be read is told as by `scenecypher import`, with status 400.
    """

    async def endpoint(request: Request) -> Response:
        given = filter(str.isprintable, Path(request.query_params.get("name", "")).name)
        name = "".join(given)[-NAME:].lstrip(".") or "scene.json"
        with TemporaryDirectory() as folder:
            file, size = Path(folder) / name, 0
            with file.open("wb") as written:
                async for part in request.stream():
                    size += len(part)
                    if size > FILE_BYTES:
                        return PlainTextResponse(TOO_LARGE, 413)
                    written.write(part)
            try:
                home = await run_in_threadpool(database.import_file, file)
            except SceneCypherError as error:
                return PlainTextResponse(str(error).replace(str(file), name), 400)
        return PlainTextResponse(Address(home.name).to("home"))

    return endpoint
