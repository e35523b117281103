"""Resources, the schema and the tree of each scene by URI, and subscriptions: changes are told once a second."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import quote, unquote

import anyio
import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError

RESOURCE_KINDS: Final[Mapping[str, str]] = {
    "schema": "What occurs in the scene: kinds of nodes, classes, states, relations.",
    "tree": "Rooms, furniture and things: what is where.",
}
"""Each is what the tool of this name returns for a whole scene."""
BASE: Final = "scenecypher://scenes/"
Context: TypeAlias = ServerRequestContext[Any, Any]
POLL_S: Final = 1.0
SUBSCRIBED: Final = 1_000
"""Resources at most that are subscribed to at a time."""


@dataclass(frozen=True, slots=True)
class Place:
    """The scene and the kind of a resource."""

    scene: str
    kind: str


def uri_of(scene: str | None, kind: str) -> str:
    """Return a resource's URI; for None the template of all scenes."""
    return f"{BASE}{'{scene}' if scene is None else quote(scene, safe='')}/{kind}"


def place_of(uri: str) -> Place:
    """Return what a URI names. Raises MCPError for any other."""
    scene, _, kind = uri.removeprefix(BASE).rpartition("/")
    if not uri.startswith(BASE) or not scene or kind not in RESOURCE_KINDS:
        forms = " or ".join(uri_of(None, it) for it in RESOURCE_KINDS)
        raise MCPError(types.INVALID_PARAMS, f"there is no resource {uri[:200]!r}; it has the form {forms}")
    return Place(unquote(scene), kind)


class Watch:
    """The subscribed resources, by both ways that the protocol's versions know, and the versions last seen.

    `version_of` returns the version of a scene, and raises MCPError if there is none or the database is away.
    """

    def __init__(self, version_of: Callable[[str], Awaitable[int]]) -> None:
        self._version_of = version_of
        self._bus = InMemorySubscriptionBus()
        self._handler = ListenHandler(self._bus)
        self._listening: Counter[str] = Counter()
        self._sessions: dict[str, ServerSession] = {}
        self._seen: dict[str, int | None] = {}

    async def run(self) -> None:
        """Tell of changes, for ever; without subscriptions nothing is read."""
        while True:
            await anyio.sleep(POLL_S)
            for scene in {place_of(uri).scene for uri in self._uris()}:
                now = await self._version(scene)
                if self._seen.get(scene) != now:
                    self._seen[scene] = now
                    await self._tell(scene)

    async def listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        """Serve one stream of changes. Raises MCPError for what is no resource."""
        uris = params.notifications.resource_subscriptions or []
        await self._begin(uris)
        self._listening.update(uris)
        try:
            return await self._handler(context, params)
        finally:
            self._listening -= Counter(uris)
            self._forget()

    async def subscribe(self, context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
        """Subscribe a client of the protocol before 2026-07-28. Raises MCPError for what is no resource."""
        await self._begin([str(params.uri)])
        self._sessions[str(params.uri)] = context.session
        return types.EmptyResult()

    async def unsubscribe(self, _: Context, params: types.UnsubscribeRequestParams) -> types.EmptyResult:
        """End such a subscription."""
        self._sessions.pop(str(params.uri), None)
        self._forget()
        return types.EmptyResult()

    def _uris(self) -> set[str]:
        return {*self._listening, *self._sessions}

    async def _begin(self, uris: Iterable[str]) -> None:
        """Note the versions that the subscriber knows: changes since now are told."""
        if len(self._uris().union(uris)) > SUBSCRIBED:
            raise MCPError(types.INVALID_PARAMS, f"subscribe to {SUBSCRIBED:,} resources at most")
        scenes = {place_of(uri).scene for uri in uris}
        for scene in scenes - self._seen.keys():
            self._seen[scene] = await self._version_of(scene)

    async def _version(self, scene: str) -> int | None:
        """Return a scene's version; None if it was deleted, the last one seen if the database is away."""
        try:
            return await self._version_of(scene)
        except MCPError as error:
            return self._seen.get(scene) if error.code == types.INTERNAL_ERROR else None

    async def _tell(self, scene: str) -> None:
        for uri in sorted(it for it in self._uris() if place_of(it).scene == scene):
            await self._bus.publish(ResourceUpdated(uri=uri))
            if uri in self._sessions:
                await self._sessions[uri].send_resource_updated(uri)

    def _forget(self) -> None:
        """Forget the versions of scenes that nobody is subscribed to."""
        wanted = {place_of(uri).scene for uri in self._uris()}
        self._seen = {scene: version for scene, version in self._seen.items() if scene in wanted}
