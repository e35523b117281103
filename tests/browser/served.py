"""`scenecypher ui` as a process of its own, with the demo's script as its model service."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

from scenecypher.chat.scripted import ScriptedReply
from tests.browser.chromium import Window
from tests.browser.demo_replies import REPLIES
from tests.scripted_model import MODEL_NAME, Fail, ScriptedModel, Step

OPEN: Final = "open "


@dataclass(frozen=True, slots=True)
class Served:
    """A running page: its address with the token, and its process."""

    address: str
    process: subprocess.Popen[str]

    def at(self, path: str, **fields: object) -> str:
        """Return the address of a page."""
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}{path}" + (f"?{urlencode(fields)}" if fields else "")


@dataclass(frozen=True, slots=True)
class Entered:
    """A running page whose token is exchanged already: each window is given the cookie."""

    served: Served
    cookie: str

    def enter(self, window: Window) -> None:
        """Give a window the cookie."""
        name, value = self.cookie.split("=", 1)
        window.context.add_cookies([{"name": name, "value": value, "url": self.served.at("/"), "sameSite": "Strict"}])

    def at(self, path: str, **fields: object) -> str:
        """Return the address of a page."""
        return self.served.at(path, **fields)


@contextmanager
def served(env: Mapping[str, str], *options: str, forks: Path | None = None) -> Iterator[Served]:
    """Run `scenecypher ui` for the block, as a program of `forks` if they are given."""
    program = [sys.executable, "-m", "scenecypher"] if forks is None else [str(forks / "scenecypher")]
    command = [*program, "ui", *options]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            line = process.stdout.readline()
            if not line.startswith(OPEN):
                process.kill()
                raise AssertionError(line + process.communicate()[1])
            yield Served(line.removeprefix(OPEN).strip(), process)
        finally:
            process.kill()


def entered(page: Served) -> Entered:
    """Exchange a page's token for the cookie."""
    with urlopen(page.address) as answer:  # noqa: S310 - an address of this machine
        return Entered(page, answer.headers["set-cookie"].partition(";")[0])


@contextmanager
def demo_model(*more: ScriptedReply, before: Callable[[str], None] = lambda _: None) -> Iterator[ScriptedModel]:
    """Serve a model that answers by the demo's script, and by `more` before it; `before` is told each prompt first."""
    rules = (*more, *REPLIES)

    def answer(body: dict[str, Any]) -> Step:
        last = {message["role"]: str(message["content"]) for message in body["messages"]}
        user, system = last.get("user", ""), last.get("system", "")
        before(user)
        for rule in rules:
            if all(it in user for it in rule.when) and all(it in system for it in rule.system):
                return rule.reply
        return Fail(400, f"no reply is scripted for {user[-200:]!r}")

    with ScriptedModel(answer) as model:
        yield model


def environment(user_env: Mapping[str, str], model: ScriptedModel) -> dict[str, str]:
    """Return the environment of a page that asks this model."""
    return {
        **user_env,
        "OPENAI_BASE_URL": model.base_url,
        "OPENAI_API_KEY": "scripted",
        "SCENECYPHER_MODEL": MODEL_NAME,
    }
