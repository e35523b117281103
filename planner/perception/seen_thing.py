"""A thing that a robot or a detector saw, as it is written in JSON."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, FiniteFloat

from scenecypher.planner.perception.wording import one_line

CONFIDENCE: Final = 0.8
"""Confidence of a detection that has none, as of a thing in a picture."""


def cleaned_name(words: str) -> str:
    """Return a name on one line. Raises ValueError if nothing is left of it."""
    if not (name := one_line(words)):
        raise ValueError("a name is empty; give the name of a thing")
    return name


Name = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(cleaned_name)]
Relation = Literal["ON", "INSIDE"]


class StrictModel(BaseModel):
    """Part of a look's document; unknown names are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class DetectedSupport(StrictModel):
    """Place of a thing; without `related_to` it is the observed node."""

    relation: Relation
    related_to: Name | None = None


class SeenThing(StrictModel):
    """One thing that was seen. `position` is x, y, z in metres in the scene's frame."""

    class_: Name = Field(alias="class")
    name: Name | None = None
    position: tuple[FiniteFloat, FiniteFloat, FiniteFloat] | None = None
    confidence: Annotated[FiniteFloat, Field(ge=0, le=1)] = CONFIDENCE
    support: DetectedSupport | None = None
    states: list[Literal["open", "closed", "on", "off"]] = []
