"""The notebooks in `examples/` run from top to bottom: the code of their cells in one process, without Jupyter."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.rooms import ROOT
from tests.scripted_agent import MODELS, takes_the_cup
from tests.scripted_model import ScriptedModel

NOTEBOOKS: Final = sorted((ROOT / "examples").glob("*.ipynb"))


@pytest.mark.parametrize("file", NOTEBOOKS, ids=lambda file: file.stem)
@pytest.mark.timeout(600)
def test_a_notebook(file: Path, user_env: dict[str, str], tmp_path: Path, forks: Path) -> None:
    document = json.loads(file.read_text("utf-8"))
    assert document["nbformat"] == 4
    cells = [cell for cell in document["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] or cell["execution_count"] for cell in cells), "outputs stay out of the repository"
    code = "\n\n".join("".join(cell["source"]) for cell in cells)
    with ScriptedModel(takes_the_cup, models=MODELS) as server:
        env = {**user_env, "OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "scripted"}
        run = subprocess.run(
            [forks / "python", "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
    assert run.returncode == 0, run.stdout + run.stderr


def test_there_are_three() -> None:
    assert len(NOTEBOOKS) == 3
