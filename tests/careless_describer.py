"""A scripted describer as careless as models are: it sees the truth, and tells it by halves.

Of each place the first picture is no use (blurred, an apology, or another place, in turn), the second shows a part,
the others all. It names things by their class where no other thing is of it, the place by its class, and leaves out
relations.
"""

from __future__ import annotations

import base64
import json
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from scenecypher.chat import Image
from scenecypher.planner.perception.observation import Observation
from tests.scripted_model import Step

USELESS: Final = ("Nothing can be made out, it is blurred.", "I'm sorry, I can't view images.", "It shows a garden.")
EXTENTS: Final = {USELESS[0]: "nothing", USELESS[2]: "another_place"}
RELATIONS: Final = {"ON": "ontop_of", "INSIDE": "inside_of"}


class NodeCamera:
    """A camera whose pictures hold no more than which node they are of; only the describer below can read them."""

    def picture(self, of: str) -> Image:
        """Return the picture of a node."""
        return Image(of.encode(), "image/png")


class CarelessDescriber:
    """A script for `ScriptedModel`: `observe` returns the truth about a node, `classes` are those of all objects."""

    def __init__(self, observe: Callable[[str], Observation], classes: list[str]) -> None:
        self._observe, self._classes = observe, Counter(classes)
        self.looks: Counter[str] = Counter()

    def __call__(self, request: dict[str, Any]) -> Step:
        content = request["messages"][-1]["content"]
        if not isinstance(content, str):
            return self._description(_shown(content[1]["image_url"]["url"]))
        words = next(it["content"] for it in request["messages"] if it["role"] == "user")
        return _form(words.split("---\n")[1].strip())

    def _description(self, of: str) -> str:
        number, places = self.looks[of], len(self.looks)
        self.looks[of] += 1
        if number == 0:
            return USELESS[places % len(USELESS)]
        seen = self._observe(of)
        things: list[dict[str, Any]] = [
            {
                "name": it.class_ if self._classes[it.class_] == 1 else it.name,
                "count": 1,
                "relation": None if position % 2 else RELATIONS.get((it.support or ("",))[0] or ""),
                "related_to": of.rpartition("-")[0],
                "states": [],
                "confidence": None,
            }
            for position, it in enumerate(seen.sightings)
        ]
        itself: dict[str, Any] = {"name": of, "count": 1, "relation": None, "related_to": None, "confidence": None}
        states = [it for it in seen.states or () if it in {"open", "closed"}]
        things += [itself | {"states": states}] if states else []
        extent, shown = ("part", things[:1]) if number == 1 else ("whole", things)
        return json.dumps({"extent": extent, "part": None, "reason": None, "objects": shown})


def _form(description: str) -> str:
    if description not in EXTENTS:
        return description
    return json.dumps({"extent": EXTENTS[description], "part": None, "reason": None, "objects": []})


def _shown(url: str) -> str:
    return base64.b64decode(url.partition(",")[2], validate=True).decode()
