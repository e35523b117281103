"""`python -m tests.prompts` renders all prompts anew, `--tokens` counts instead what each method's episode costs."""

from __future__ import annotations

import sys
from shutil import rmtree

from scenecypher.db.store.connection import Database
from scenecypher.db.store.scene_store import SceneStore
from tests.prompts.episodes import WORLDS, play, variants
from tests.prompts.rendering import FOLDER, all_files
from tests.server import throwaway_server

CHARACTERS_PER_TOKEN = 4


def update() -> None:
    """Write all files anew."""
    with throwaway_server() as address:
        database = Database(address)
        found = [file for world in WORLDS for file in all_files(SceneStore(database), world.vocabulary).items()]
        database.close()
    rmtree(FOLDER, ignore_errors=True)
    for name, text in found:
        file = FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def count() -> None:
    """Print the tokens of each method's episode in each vocabulary: calls, and a quarter of the characters sent."""
    with throwaway_server() as address:
        database = Database(address)
        for method, ablations in variants():
            cells = []
            for world in WORLDS:
                asked = play(SceneStore(database), world, method, ablations)
                texts = [] if isinstance(asked, str) else [m.text for one in asked for m in one.messages]
                cells.append(f"{len(asked) if texts else 0} {sum(map(len, texts)) // CHARACTERS_PER_TOKEN}")
            sys.stdout.write("\t".join([" ".join([method, *ablations]), *cells]) + "\n")
        database.close()


if __name__ == "__main__":
    match sys.argv[1:]:
        case []:
            update()
        case ["--tokens"]:
            count()
        case _:
            sys.exit(__doc__)
