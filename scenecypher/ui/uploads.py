"""Files that are dropped on the page: each is stored for as long as its import takes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from scenecypher.errors import SceneCypherError
from scenecypher.ui.address import Address

if TYPE_CHECKING:
    from scenecypher.scenes import SceneDatabase

FILE_BYTES: Final = 500_000_000
TOO_LARGE: Final = f"a file of more than {FILE_BYTES // 1_000_000:,} MB: import it by `scenecypher import FILE`"
NAME: Final = 100
"""Letters of a file's name, from its end, that are kept: the ending says what it is."""


def uploading(database: SceneDatabase) -> Callable[[Request], Awaitable[Response]]:
    """Return an endpoint that imports the file in a request's body; it answers with the address of the home.

    The field `name` is the file's name. A file that can't be read is told as by `scenecypher import`, with status 400.
    """

    async def endpoint(request: Request) -> Response:
        name = Path(request.query_params.get("name", "")).name[-NAME:].lstrip(".") or "scene.json"
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
        return PlainTextResponse(Address(home.name).home())

    return endpoint
