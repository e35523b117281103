"""One way to write a file: a good earlier file is never replaced by a part of a new one."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Final

import pytest

from scenecypher.errors import InputError
from scenecypher.files import log_file, new_file, write_file, write_files
from tests.rooms import FOLDERS, ROOT
from tests.small_disk import fill, small_disk

ELSEWHERE: Final = {
    "scenecypher/files.py": "is the one way",
    "scenecypher/cli/__init__.py": "opens the null device in place of a closed stream",
    "scenecypher/cli/session.py": "GNU readline writes its history beside the file and renames it, itself",
    "planner/symbolic/engine.py": "writes an engine's input into a temporary folder",
    "planner/perception/picture.py": "encodes a picture in memory",
    "evaluation/reporting/figures.py": "encodes a figure in memory",
    "chat/model.py": "renames a span of a trace",
    "db/archive/file.py": "compresses into a file that it is given",
    "db/browser/views.py": "makes a zip in memory",
    "db/local/jars.py": "downloads into a draft folder; a file whose hash is right is moved whole",
    "importers/published_file.py": "downloads into a temporary folder; a file whose hash is right is moved whole",
    "scenecypher/testing.py": "spoils copies of a file in a temporary folder",
    "importers/virtualhome.py": "unpacks a wheel into a temporary folder, which is moved whole",
    "evaluation/running.py": "Inspect writes its log into a temporary folder",
    "importers/vectors_file.py": "makes a zip in a file that `new_file` opened",
    "scenecypher/ui/server.py": "keeps a file in a temporary folder while it is imported",
}
"""Modules that write elsewhere than to a user's file, or by somebody else's hand, and why."""
WRITES: Final = {
    *("write_text", "write_bytes", "savefig", "save", "fdopen", "NamedTemporaryFile", "mkstemp", "write_eval_log"),
    *("write_history_file", "copyfile", "copy2", "copytree", "move", "rename", "dump", "savez", "tofile", "to_csv"),
}
MAY_WRITE: Final = re.compile(rf"\b(?:open|ZipFile|GzipFile|replace|{'|'.join(WRITES)})\(")
MODES: Final = frozenset("wax+")


def test_no_other_module_opens_a_file_for_writing() -> None:
    """A second way to write: each module that has one can destroy what it writes over."""
    found = {
        str(file.relative_to(ROOT))
        for folder in FOLDERS.values()
        for file in folder.rglob("*.py")
        if (text := file.read_text("utf-8")) and MAY_WRITE.search(text) and any(_writes(ast.parse(text)))
    }
    assert found == {*ELSEWHERE}


def _writes(tree: ast.AST) -> Iterator[bool]:
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        modes = [it.value for it in (*call.args, *(key.value for key in call.keywords)) if isinstance(it, ast.Constant)]
        if name in {"open", "ZipFile", "GzipFile"}:
            yield isinstance(call.func, ast.Name) and len(call.args) > 1 and not isinstance(call.args[1], ast.Constant)
            yield any(isinstance(it, str) and len(it) <= 3 and {*it} & MODES for it in modes)
        elif name == "replace":  # of a path; a text has two arguments, a dataclass names its changes
            yield isinstance(call.func, ast.Attribute) and len(call.args) == 1 and not call.keywords
        else:
            yield name in WRITES


def test_a_full_disk_leaves_the_earlier_files_and_nothing_else(tmp_path: Path) -> None:
    """Half a file in place of a whole one; of several files that belong together, none is replaced alone."""
    with small_disk(tmp_path / "disk") as disk:
        first, second = disk / "first", disk / "second"
        write_files({first: "old", second: "old"})
        fill(disk, left=8_192)
        with pytest.raises(InputError, match=rf"{second}: can't be written \(No space left on device\); free some"):
            write_files({first: "new", second: "n" * 20_000})
        assert (first.read_text(), second.read_text()) == ("old", "old")
        assert sorted(file.name for file in disk.iterdir()) == ["filler", "first", "second"]
        write_file(second, "now" * 1_000)
        assert second.read_text() == "now" * 1_000


def test_a_log_keeps_whole_lines_on_a_full_disk(tmp_path: Path) -> None:
    """Half a line at the end of a log, after which nobody can read it or go on in it."""
    with small_disk(tmp_path / "disk") as disk:
        file = disk / "log"
        with log_file(file, is_new=True) as append:
            append("one\n")
            fill(disk, left=4_096)
            with pytest.raises(InputError, match=rf"{file}: can't be written"):
                append("x" * 20_000 + "\n")
            append("two\n")
        assert file.read_text() == "one\ntwo\n"
        with pytest.raises(InputError, match="File exists"), log_file(file, is_new=True):
            pass


def test_a_symbolic_link_and_the_mode_stay(tmp_path: Path) -> None:
    """A link that becomes a file of its own, and rights that are lost with the file that had them."""
    file, link, dangling = tmp_path / "real" / "file", tmp_path / "link", tmp_path / "dangling"
    write_file(file, "old", makes_folder=True)
    file.chmod(0o640)
    link.symlink_to(Path("real") / "file")
    dangling.symlink_to("none_yet")
    write_file(link, "new")
    assert link.is_symlink()
    assert (file.read_text(), file.stat().st_mode & 0o777) == ("new", 0o640)
    write_file(dangling, "made")
    assert (dangling.is_symlink(), (tmp_path / "none_yet").read_text()) == (True, "made")
    assert sorted(it.name for it in tmp_path.rglob("*")) == ["dangling", "file", "link", "none_yet", "real"]


def test_a_new_file_has_the_usual_mode_or_a_private_one(tmp_path: Path) -> None:
    (tmp_path / "touched").touch()
    write_file(tmp_path / "usual", "")
    write_file(tmp_path / "private", "", mode=0o600)
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("touched", "usual", "private")]
    assert modes == [modes[0], modes[0], 0o600]


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename asks for no right to write the file that it replaces."""
    file = tmp_path / "kept"
    file.write_text("old")
    file.chmod(0o444)
    if os.geteuid() == 0:
        monkeypatch.setattr(os, "access", lambda *_: False)  # root may write all files
    with pytest.raises(InputError, match="Permission denied"):
        write_file(file, "new")
    assert file.read_text() == "old"


def test_a_long_name_is_no_longer_while_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / ("é" * 127)
    write_file(file, "whole")
    assert file.read_text() == "whole"


def test_pipes_devices_and_our_own_output_are_written_straight(tmp_path: Path) -> None:
    """A rename that turns a device, a pipe or the file of a redirected output into another file."""
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    read = list[str]()
    reader = threading.Thread(target=lambda: read.append(fifo.read_text()))
    reader.start()
    write_file(fifo, "through")
    reader.join(10)
    assert read == ["through"]
    assert fifo.is_fifo()
    write_file(Path(os.devnull), "nowhere")
    assert Path(os.devnull).is_char_device()
    code = "from pathlib import Path; from scenecypher.files import write_file; write_file(Path('/dev/stdout'), 'b')"
    piped = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert piped.stdout == "b"
    out = tmp_path / "out"
    with out.open("wb") as redirected:
        redirected.write(b"a")
        redirected.flush()
        subprocess.run([sys.executable, "-c", code], stdout=redirected, check=True)
        redirected.write(b"c")
    assert out.read_text() == "abc"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_or_an_interrupt_leaves_what_was_there(tmp_path: Path, error: type[BaseException]) -> None:
    file = tmp_path / "file"
    file.write_text("old")
    with pytest.raises(error), new_file(file) as opened:
        _write_half(opened, error)
    assert ([*tmp_path.iterdir()], file.read_text()) == ([file], "old")


def _write_half(file: IO[bytes], error: type[BaseException]) -> None:
    file.write(b"half")
    raise error
