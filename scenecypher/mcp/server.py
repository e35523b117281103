"""The protocol's server: the table of tools, each scene's schema and tree as resources, a prompt; and its front door.

No state is kept between calls but of those that wait for a person's answer. Tools run in threads, since the database's
driver waits; the event loop only speaks.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version as installed
from queue import Empty, Queue
from threading import Event, Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar
from uuid import uuid4

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import Server, ServerRequestContext
from mcp.server.session import ServerSession
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from scenecypher.errors import ReplyRejected, SceneCypherError, ServiceError
from scenecypher.mcp.prompts import INSTRUCTIONS, PROMPTS, prompt_text
from scenecypher.mcp.watching import RESOURCE_KINDS, Watch, place_of, uri_of
from scenecypher.planner.actions.ruled import Answer, AskBack
from scenecypher.tools.calling import arguments_schema, call_tool, result_schema, tool_named
from scenecypher.tools.desk import Desk, Homes, OnlyScene
from scenecypher.tools.table import Tool, tools_served

if TYPE_CHECKING:
    from scenecypher.db.store.catalog import SceneInfo
    from scenecypher.home import Home
    from scenecypher.readable import ReadableHome
    from scenecypher.scenes import SceneDatabase

Context: TypeAlias = ServerRequestContext[Any, Any]
Report: TypeAlias = Callable[[str], None]
T = TypeVar("T")
SCENES_ON_PAGE: Final = 100
THREADS: Final = 16
"""Calls that run at once; further ones wait for their turn."""
WAITING: Final = 8
"""Calls that wait for a person's answer at once; further ones ask nobody."""
ANSWER_S: Final = 600
"""Longest wait for an answer; then the question counts as declined."""
ANSWER: Final = "answer"
"""The field of a question's form, and the key of the request in a result that asks."""
ANY: Final = "any of them"


class Front:
    """The homes that a server shows: all of a database, or those of the scene `only`. Safe to share between threads."""

    def __init__(self, connect: Callable[[], SceneDatabase], *, only: str | None = None) -> None:
        self._connect, self._only = connect, only
        self._lock = Lock()
        self._database: SceneDatabase | None = None

    def home(self, name: str) -> Home:
        """Return the home of a scene. Raises SceneNotFound, DatabaseUnavailable, InputError."""
        return self._homes().home(name)

    def home_at(self, name: str) -> ReadableHome:
        """Return the home of a scene, as it is or as it was. Raises as `home` does."""
        return self._homes().home_at(name)

    def scenes(self) -> list[SceneInfo]:
        """Return the facts of all scenes. Raises DatabaseUnavailable, InputError."""
        return self._homes().scenes()

    def _homes(self) -> Homes:
        """Return the homes; the first call connects, and the next one does so again if it failed.

        A local server that does not run any more is started again.
        """
        with self._lock:
            if self._database is not None and not self._database.store.database.ensure_running():
                self._database.close()
                self._database = None
            if self._database is None:
                self._database = self._connect()
        return self._database if self._only is None else OnlyScene(self._database, self._only)

    def close(self) -> None:
        """Close the connections, if there are any."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None


@dataclass(slots=True)
class _Call:
    """A call under way in a thread: what it reports and asks, its result, and the answers that it waits for."""

    heard: MemoryObjectReceiveStream[str | AskBack]
    working: asyncio.Future[types.CallToolResult]
    stopped: Event
    answers: Queue[str | None]
    done: int = 0


class HomeServer:
    """The handlers of the protocol's requests, and the threads in which they work.

    With `read_only` tools that change anything do not exist. `can_push` says whether the transport keeps a channel to
    clients of the protocol before 2026-07-28, which are told of changes without asking. `ending` is set by `close`.
    """

    def __init__(self, front: Front, *, read_only: bool = False, can_push: bool = True) -> None:
        self.front = front
        self._tools = tools_served(read_only=read_only)
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="tool")
        self._watch = Watch(self._version_of)
        self._can_push = can_push
        self._waiting: dict[str, _Call] = {}
        self.ending = Event()

    def server(self) -> Server[None]:
        """Return the server, to be run over a transport."""
        watch = self._watch
        return Server(
            "scenecypher",
            title="SceneCypher",
            version=installed("scenecypher"),
            instructions=INSTRUCTIONS,
            lifespan=self._running,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_subscriptions_listen=watch.listen,
            on_subscribe_resource=watch.subscribe if self._can_push else None,
            on_unsubscribe_resource=watch.unsubscribe if self._can_push else None,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )

    def close(self) -> None:
        """Let the calls under way end their present step, which may commit, and close the database's connections."""
        self.ending.set()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self.front.close()

    @asynccontextmanager
    async def _running(self, _: Server[None]) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            group.start_soon(self._watch.run)
            yield
            group.cancel_scope.cancel()

    # --- tools

    async def _list_tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[_described(name, tool) for name, tool in self._tools.items()])

    async def _call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """Return a tool's result; what it refuses, and what fails, is an error of the tool, in words.

        A question to the person at the client is a result too, since 2026-07-28: the call is repeated with the answer.
        """
        if params.request_state is not None:
            return await self._followed(context, self._answered(params))
        try:
            tool_named(self._tools, params.name)
        except ReplyRejected as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        self._waiting = {token: it for token, it in self._waiting.items() if not it.working.done()}
        given, is_heard = params.arguments or {}, len(self._waiting) < WAITING and _hears_questions(context.session)

        def call(report: Report, is_stopped: Callable[[], bool], ask: Answer) -> types.CallToolResult:
            desk = Desk(self.front, report, is_stopped, ask if is_heard else None)
            try:
                found = call_tool(self._tools, params.name, given, desk)
            except SceneCypherError as error:
                return types.CallToolResult(content=[types.TextContent(text=str(error))], is_error=True)
            content: list[types.ContentBlock] = [types.TextContent(text=found.text())]
            return types.CallToolResult(content=content, structured_content=found.model_dump(mode="json"))

        return await self._followed(context, self._begun(call))

    def _begun(self, call: Callable[[Report, Callable[[], bool], Answer], types.CallToolResult]) -> _Call:
        """Begin a call in a thread, which reports lines and asks questions."""
        loop, stopped, answers = asyncio.get_running_loop(), Event(), Queue[str | None]()
        lines, heard = anyio.create_memory_object_stream[str | AskBack](float("inf"))

        def report(line: str | AskBack) -> None:
            with suppress(RuntimeError):  # the loop is closed: nobody is left to hear of it
                loop.call_soon_threadsafe(_put, lines, line)

        def is_stopped() -> bool:
            return stopped.is_set() or self.ending.is_set()

        def ask(question: AskBack) -> str | None:
            report(question)
            for _ in range(ANSWER_S):
                with suppress(Empty):
                    return answers.get(timeout=1)
                if is_stopped():
                    break
            return None

        working = loop.run_in_executor(self._threads, call, report, is_stopped, ask)
        working.add_done_callback(lambda _: lines.close())
        return _Call(heard, working, stopped, answers)

    async def _followed(self, context: Context, call: _Call) -> types.CallToolResult | types.InputRequiredResult:
        """Return what a call returns; what it reports is sent on as progress, what it asks to the person at the client.

        A call that is cancelled goes on to the end of its step.
        """
        is_waiting = False
        try:
            async for item in call.heard:
                if isinstance(item, str):
                    call.done += 1
                    await context.session.report_progress(call.done, None, item)
                elif is_waiting := context.session.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    token = uuid4().hex
                    self._waiting[token] = call
                    form = types.ElicitRequestFormParams(message=item.question, requested_schema=_form(item))
                    requests: types.InputRequests = {ANSWER: types.ElicitRequest(params=form)}
                    return types.InputRequiredResult(input_requests=requests, request_state=token)
                else:
                    schema, asked_in = _form(item), context.request_id
                    call.answers.put(_said(await context.session.elicit_form(item.question, schema, asked_in)))
            return await call.working
        finally:
            if not is_waiting:
                call.stopped.set()
                call.working.cancel()
                call.heard.close()

    def _answered(self, params: types.CallToolRequestParams) -> _Call:
        """Return the call that waits for an answer, which it has now. Raises MCPError if none does."""
        call = self._waiting.pop(params.request_state or "", None)
        if call is None:
            raise MCPError(types.INVALID_PARAMS, "no call waits for this answer any more; call the tool anew")
        call.answers.put(_said((params.input_responses or {}).get(ANSWER)))
        return call

    # --- resources

    async def _list_resources(
        self, _: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        cursor = params.cursor if params is not None else None
        start = int(cursor) if cursor is not None and cursor.isdecimal() else 0
        infos = await self._asked(self.front.scenes)
        names = [it.name for it in infos[start : start + SCENES_ON_PAGE]]
        more = start + SCENES_ON_PAGE
        resources = [
            types.Resource(name=f"{kind} of {name}", uri=uri_of(name, kind), description=words, mime_type="text/plain")
            for name in names
            for kind, words in RESOURCE_KINDS.items()
        ]
        return types.ListResourcesResult(resources=resources, next_cursor=str(more) if more < len(infos) else None)

    async def _list_templates(
        self, _: Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        templates = [
            types.ResourceTemplate(
                name=kind, uri_template=uri_of(None, kind), description=words, mime_type="text/plain"
            )
            for kind, words in RESOURCE_KINDS.items()
        ]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def _read_resource(self, _: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        place = place_of(str(params.uri))
        text = await self._asked(
            lambda: call_tool(self._tools, place.kind, {"scene": place.scene}, Desk(self.front)).text()
        )
        content = types.TextResourceContents(uri=str(params.uri), mime_type="text/plain", text=text)
        return types.ReadResourceResult(contents=[content])

    async def _version_of(self, scene: str) -> int:
        """Return a scene's version. Raises MCPError if there is no such scene."""
        return await self._asked(lambda: self.front.home_at(scene).info.version)

    async def _asked(self, ask: Callable[[], T]) -> T:
        """Return what `ask` returns, from a thread; an error is one of the protocol's, in words."""
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._threads, ask)
        except SceneCypherError as error:
            code = types.INTERNAL_ERROR if isinstance(error, ServiceError) else types.INVALID_PARAMS
            raise MCPError(code, str(error)) from error

    # --- prompts

    async def _list_prompts(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=[*PROMPTS.values()])

    async def _get_prompt(self, _: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        try:
            text = prompt_text(params.name, params.arguments or {}, self._tools)
        except SceneCypherError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from None
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=PROMPTS[params.name].description, messages=[message])


def _described(name: str, tool: Tool) -> types.Tool:
    """Return a tool as the protocol lists it; what changes anything may overwrite, and counts as destructive."""
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=not tool.changes,
        destructive_hint=tool.changes,
        idempotent_hint=tool.repeatable,
        open_world_hint=False,
    )
    return types.Tool(
        name=name,
        title=tool.title,
        description=tool.description,
        input_schema=arguments_schema(tool),
        output_schema=result_schema(tool),
        annotations=hints,
    )


def _put(lines: MemoryObjectSendStream[str | AskBack], line: str | AskBack) -> None:
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):  # the call was cancelled
        lines.send_nowait(line)


def _hears_questions(session: ServerSession) -> bool:
    """Check if a client shows forms to a person, and can be asked now."""
    declared = session.client_capabilities
    elicits = None if declared is None else declared.elicitation
    shows_forms = elicits is not None and (elicits.form is not None or elicits.url is None)
    return shows_forms and (session.protocol_version in MODERN_PROTOCOL_VERSIONS or session.can_send_request)


def _form(question: AskBack) -> dict[str, Any]:
    """Return the form of a question: one of its choices, or a word."""
    field: dict[str, Any] = {"type": "string", "title": "Answer"}
    if question.choices:
        field["enum"] = [*question.choices, *([ANY] if question.nodes else [])]
    return {"type": "object", "properties": {ANSWER: field}, "required": [ANSWER]}


def _said(result: object) -> str | None:
    """Return what was answered, "" for any; None if the person declined."""
    if not isinstance(result, types.ElicitResult) or result.action != "accept":
        return None
    said = str((result.content or {}).get(ANSWER) or "")
    return "" if said == ANY else said
