"""Inspect's viewer and its list of logs can read our folder of logs."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final
from urllib.error import URLError
from urllib.parse import quote
from urllib.request import urlopen

import pytest

from scenecypher.cli.app import run_command_line as command
from scenecypher.evaluation.histories import load_questions
from tests.scripted_model import ScriptedModel, Stall

INSPECT: Final = ("-m", "inspect_ai")
IDS: Final = [one.id for one in load_questions("babyai")[:2]]
WAIT_S: Final = 120


@pytest.fixture
def logs(server_settings: Path, monkeypatch: pytest.MonkeyPatch, forks: Path) -> Path:
    """Return a folder of logs of two runs: one that finished, and one that a person stopped."""
    assert command(["eval", "questions", "--data", "babyai", "--sample-ids", ",".join(IDS)]) == 0
    monkeypatch.setenv("OPENAI_API_KEY", "scripted")
    with ScriptedModel(lambda _: Stall()) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        words = ["eval", "augmentation", "--model", "scripted", "--limit", "1"]
        run = subprocess.Popen([forks / "scenecypher", *words], stderr=subprocess.PIPE)
        until = monotonic() + WAIT_S
        while not server.requests and run.poll() is None and monotonic() < until:
            sleep(0.05)
        run.send_signal(signal.SIGINT)
        err = run.communicate(timeout=WAIT_S)[1]
        assert run.returncode == 130, err
    return server_settings / "logs"


def listed(forks: Path, *words: str) -> list[Path]:
    """Return the logs that `inspect log list` prints."""
    found = subprocess.run(
        [forks / "python", *INSPECT, "log", "list", "--log-dir", "logs", "--json", *words],
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=True,
    )
    return sorted(Path(one["name"]) for one in json.loads(found.stdout))


@contextmanager
def viewer(forks: Path, folder: Path) -> Iterator[str]:
    """Start the viewer on loopback; yield the address of its API."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = ["view", "start", "--host", "127.0.0.1", "--port", str(port), "--log-dir", str(folder)]
    line, nowhere = [str(forks / "python"), *INSPECT, *words], subprocess.DEVNULL
    process = subprocess.Popen(line, stdout=nowhere, stderr=nowhere)
    api = f"http://127.0.0.1:{port}/api"
    try:
        wait_for(api, process)
        yield api
    finally:
        process.terminate()
        process.wait(WAIT_S)


def wait_for(api: str, process: subprocess.Popen[bytes]) -> None:
    until = monotonic() + WAIT_S
    while process.poll() is None and monotonic() < until:
        try:
            get(f"{api}/log-dir")
        except URLError:
            sleep(0.1)
        else:
            return
    raise AssertionError(f"the viewer did not start (exit code {process.poll()})")


def get(address: str) -> Any:
    """Return the JSON of an answer. Raises HTTPError if its status is not 200."""
    with urlopen(address, timeout=WAIT_S) as answer:  # noqa: S310 - the address is ours
        assert answer.status == 200
        return json.loads(answer.read())


def test_the_viewer_shows_a_finished_and_a_stopped_run(logs: Path, forks: Path) -> None:
    written = {file.name: file for file in logs.glob("*.eval")}
    with viewer(forks, logs) as api:
        for route in ("logs", "log-files"):
            assert {Path(one["name"]).name for one in get(f"{api}/{route}")["files"]} == written.keys()
        names = [one["name"] for one in get(f"{api}/logs")["files"]]
        headers = get(f"{api}/log-headers?{'&'.join(f'file={quote(name)}' for name in names)}")
        statuses = {one["eval"]["task"].rpartition("/")[2]: one["status"] for one in headers}
        assert statuses == {"questions": "success", "augmentation": "cancelled"}
        for name in names:
            assert get(f"{api}/log-size/{quote(name)}") == written[Path(name).name].stat().st_size
        (played,) = [name for name in names if "questions" in name]
        assert [one["id"] for one in get(f"{api}/logs/{quote(played)}")["samples"]] == IDS


def test_inspect_lists_our_logs_by_status(logs: Path, forks: Path) -> None:
    files = sorted(Path("logs") / file.name for file in logs.iterdir())
    assert len(files) == 2, "nothing else is in the folder of logs"
    assert listed(forks) == files
    assert [listed(forks, "--status", status) for status in ("success", "cancelled", "started", "error")] == [
        [file for file in files if "questions" in file.name],
        [file for file in files if "augmentation" in file.name],
        [],
        [],
    ]
