"""Commands in forks of one process that has imported them: new processes without seconds of start each.

`python -m tests.forking SOCKET` is that process. `forked_commands` writes two programs, `scenecypher` and `python`, for
a shell to find first; each sends its words, folder, environment and streams to the socket, hands signals on, and ends
as its fork does. A killed program's fork is killed. How a command starts by itself is what other tests see.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Final, NoReturn

import scenecypher
from scenecypher.cli import main
from scenecypher.cli.app import _command
from scenecypher.errors import InputError

CLIENT: Final = """#!{python} -IS
import array, json, os, signal, socket, sys
server = socket.socket(socket.AF_UNIX)
server.connect({path!r})
words = json.dumps([{kind!r}, sys.argv, os.getcwd(), dict(os.environ)]).encode()
streams = array.array("i", (0, 1, 2))
both = {{signal.SIGINT, signal.SIGTERM}}
signal.pthread_sigmask(signal.SIG_BLOCK, both)  # until they can be handed on: the fork may speak before
server.sendmsg([len(words).to_bytes(4, "big")], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, streams)])
server.sendall(words)
fork = int.from_bytes(server.recv(4), "big")
if not fork:
    os._exit({lost})
for one in both:
    signal.signal(one, lambda number, _: os.kill(fork, number))
signal.pthread_sigmask(signal.SIG_UNBLOCK, both)
code = server.recv(2)
if not code:
    os._exit({lost})
status = int.from_bytes(code, "big", signed=True)
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status % 256)
"""
KINDS: Final = ("scenecypher", "python")
LIBRARIES: Final = ("openai", "inspect_ai.model", "inspect_ai.log", "inspect_ai._cli.main", "uvicorn")
"""What commands import besides our own modules, where it takes long."""
READY: Final = "ready"
LOST: Final = 70
"""The exit code of a client whose fork was killed."""


@contextmanager
def forked_commands() -> Iterator[Path]:
    """Start the process; yield a folder with the programs `scenecypher` and `python`."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/socket"
        for kind in KINDS:
            program = Path(folder, kind)
            program.write_text(CLIENT.format(python=sys.executable, path=path, kind=kind, lost=LOST), encoding="utf-8")
            program.chmod(0o755)
        with subprocess.Popen(
            [sys.executable, "-m", "tests.forking", path],
            cwd=Path(__file__).parent.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                assert process.stdout is not None
                assert process.stdout.readline().strip() == READY
                yield Path(folder)
            finally:
                process.kill()


def serve(path: str) -> None:
    """Serve clients at a socket, one fork each, until this process is killed."""
    import_all()
    _command()  # made once, it is in every fork
    gc.collect()
    gc.freeze()  # a fork that searched all this for garbage would copy it, too
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        sys.stdout.write(READY + "\n")
        sys.stdout.flush()
        while True:
            client, _ = server.accept()
            if os.fork() == 0:
                server.close()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                _answer(client)
            client.close()


def import_all() -> None:
    """Import what commands import; what needs a library that is not installed is left out."""
    names = [module.name for module in pkgutil.walk_packages(scenecypher.__path__, "scenecypher.")]
    for name in (*names, *LIBRARIES):
        if not name.endswith("__main__"):
            import_if_installed(name)


def import_if_installed(name: str) -> None:
    """Import a module; do nothing if a library that it needs is missing, which some of ours tell as an InputError."""
    with suppress(ImportError, InputError):
        importlib.import_module(name)


def _answer(client: socket.socket) -> NoReturn:
    """Run a client's command in a fork; tell the client the fork's id and how it ended, or kill it when it has gone."""
    size, streams, _, _ = socket.recv_fds(client, 4, 3)
    with client.makefile("rb") as words:
        kind, argv, folder, environment = json.loads(words.read(int.from_bytes(size, "big")))
    child = os.fork()
    if child == 0:
        client.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        os._exit(_run(kind, argv))
    for stream in streams:
        os.close(stream)
    with suppress(BrokenPipeError):
        client.sendall(child.to_bytes(4, "big"))
    ended = os.pidfd_open(child)
    if ended not in select.select([ended, client.fileno()], [], [])[0]:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    with suppress(BrokenPipeError):
        client.sendall(_as_bytes(os.waitstatus_to_exitcode(status)))
    os._exit(0)


def _as_bytes(code: int) -> bytes:
    """Return an exit code, or the negative number of the signal that ended a process."""
    return (code if code < 0 else code % 256).to_bytes(2, "big", signed=True)


def _run(kind: str, argv: Sequence[str]) -> int:
    """Run a command as a process of its own would; return its exit code."""
    code: int | str | None = 0
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        if kind == "scenecypher":
            sys.argv[:] = argv
            main()
        else:
            _run_python(argv[1:])
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - as the interpreter ends
        traceback.print_exc()
        code = 1
    if isinstance(code, str):
        sys.stderr.write(code + "\n")
        code = 1
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    return code or 0


def _run_python(words: Sequence[str]) -> None:
    """Run ``-c CODE``, ``-m MODULE`` or a file, with the words after it."""
    option, rest = words[0], words[1:]
    if option == "-c":
        sys.argv[:] = ["-c", *rest[1:]]
        sys.path.insert(0, "")
        exec(compile(rest[0], "<string>", "exec"), vars(sys.modules["__main__"]))  # noqa: S102
    elif option == "-m":
        sys.argv[:] = rest
        sys.path.insert(0, "")
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    else:
        sys.argv[:] = words
        sys.path.insert(0, str(Path(option).parent))
        runpy.run_path(option, run_name="__main__")


if __name__ == "__main__":
    serve(sys.argv[1])
