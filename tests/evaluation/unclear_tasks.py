"""Makes the tasks of the experiment `unclear`: `python -m tests.evaluation.unclear_tasks` writes its file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scenecypher.evaluation.stated_tasks import UnclearTask

FLAT, COTTAGE = "apartment", "cottage"
FILE = Path(__file__).parents[2] / "evaluation" / "data" / "unclear.jsonl"


def task(  # noqa: PLR0917 - columns of the tables below
    kind: str, name: str, home: str, said: str, goal: str, things: tuple[str, ...], so: str, **more: object
) -> UnclearTask:
    given = {
        "id": f"unclear/{kind}/{name}",
        "home": home,
        "instruction": said,
        "goal": goal,
        "things": things,
        "so": so,
    }
    return UnclearTask.model_validate(given | more)


def _several() -> Iterator[UnclearTask]:
    """Yield tasks about one of several things in several places, and about two of them."""
    for home, class_, place, *wanted in (
        *((FLAT, "book", "bed", "book_101", "book_102"), (FLAT, "book", "coffeetable", "book_30")),
        *((FLAT, "towel", "bed", "towel_17"), (FLAT, "towel", "desk", "towel_38")),
        *((FLAT, "bowl", "kitchentable", "bowl_96"), (FLAT, "bowl", "desk", "bowl_59")),
        *((FLAT, "clothespants", "bed", "clothespants_22"), (FLAT, "clothespants", "sofa", "clothespants_34")),
        *((COTTAGE, "book", "bed", "book_85"), (COTTAGE, "book", "kitchentable", "book_33")),
        *((COTTAGE, "book", "sofa", "book_101", "book_102"), (COTTAGE, "towel", "bed", "towel_25")),
        *((COTTAGE, "towel", "sofa", "towel_41"), (COTTAGE, "wineglass", "desk", "wineglass_94")),
        (COTTAGE, "wineglass", "bed", "wineglass_58"),
    ):
        said, goal = f"Put the {class_} on the {place}.", f"x: one {class_}; x ON {place}"
        yield task("number", f"{class_}-{place}-{home}", home, said, goal, (*wanted,), place, wanted=(*wanted,))
    two = ("book_33", "book_85")
    said, goal = "Put two books on the sofa.", "x: 2 book; x ON sofa"
    yield task("number", "two-books", COTTAGE, said, goal, two, "sofa", every=True, wanted=two)


def _places() -> Iterator[UnclearTask]:
    """Yield tasks about a thing and one of several places, and about one of several things that are built in."""
    for home, thing, rug in (
        *((FLAT, "apple_81", "rug_108"), (FLAT, "magazine_95", "rug_49"), (FLAT, "milk_79", "rug_49")),
        *((FLAT, "mug_80", "rug_108"), (COTTAGE, "newspaper_83", "rug_44"), (COTTAGE, "candle_86", "rug_109")),
        *((COTTAGE, "cushion_82", "rug_44"), (COTTAGE, "mug_57", "rug_109")),
    ):
        class_ = thing.partition("_")[0]
        said, goal = f"Put the {class_} on the rug.", f"{class_} ON rug"
        yield task("place", f"{class_}-{home}", home, said, goal, (thing,), rug, wanted=(rug,))
    for home, thing, state, before in (
        *((FLAT, "window_47", "open", ""), (FLAT, "curtain_107", "open", ""), (FLAT, "faucet_15", "on", "")),
        *((FLAT, "ceilinglamp_109", "on", "off"), (COTTAGE, "window_43", "open", ""), (COTTAGE, "faucet_22", "on", "")),
        *((COTTAGE, "curtain_105", "open", ""), (COTTAGE, "ceilinglamp_45", "on", "off")),
    ):
        class_ = thing.partition("_")[0]
        where = f" where x is {before}" if before else ""
        said, goal = f"Make sure that the {class_} is {state}.", f"x: one {class_}{where}; x is {state}"
        yield task("place", f"{class_}-{home}", home, said, goal, (thing,), state, wanted=(thing,))


def _preferences() -> Iterator[UnclearTask]:
    """Yield tasks about one of two things that differ in their colour alone."""
    for home, pair, where, places in (
        *((FLAT, ("cushion_90", "cushion_91"), "", "bed desk"), (FLAT, ("pillow_24", "pillow_25"), "", "sofa desk")),
        *((FLAT, ("wineglass_60", "wineglass_61"), "", "coffeetable desk"),),
        *((FLAT, ("hanger_32", "hanger_33"), "", "bed desk"), (COTTAGE, ("pillow_28", "pillow_29"), "", "sofa desk")),
        *((FLAT, ("book_101", "book_102"), " where x INSIDE bookshelf", "bed desk sofa"),),
        *((COTTAGE, ("book_101", "book_102"), " where x INSIDE bookshelf", "bed desk sofa"),),
    ):
        class_ = pair[0].partition("_")[0]
        for number, place in enumerate(places.split()):
            wanted = (pair[(number + 1) % 2],)
            said = f"Put a {class_}{' from the bookshelf' if where else ''} on the {place}."
            goal, name = f"x: one {class_}{where}; x ON {place}", f"{class_}-{place}-{home}"
            yield task("preference", name, home, said, goal, wanted, place, wanted=wanted, painted=pair)


def _absent() -> Iterator[UnclearTask]:
    """Yield tasks about a thing that is not there, for which a careless model takes another one."""
    for home, word, thing, place in (
        *((FLAT, "vase", "candle_13", "desk"), (FLAT, "newspaper", "magazine_95", "bed")),
        *((FLAT, "laptop", "keyboard_41", "bed"), (FLAT, "peach", "plum_56", "desk")),
        *((FLAT, "sweater", "clothesshirt_26", "sofa"), (FLAT, "comic", "magazine_95", "desk")),
        *((FLAT, "cookie", "cupcake_83", "coffeetable"), (FLAT, "yoghurt", "milk_79", "coffeetable")),
        *((COTTAGE, "vase", "candle_86", "desk"), (COTTAGE, "magazine", "newspaper_83", "bed")),
        *((COTTAGE, "laptop", "keyboard_98", "bed"), (COTTAGE, "peach", "plum_65", "kitchentable")),
        *((COTTAGE, "sweater", "clothesshirt_38", "sofa"), (COTTAGE, "teapot", "kettle_49", "kitchentable")),
        *((COTTAGE, "cookie", "cupcake_59", "coffeetable"), (COTTAGE, "yoghurt", "milk_48", "kitchentable")),
    ):
        said, meant = f"Put the {word} on the {place}.", thing.partition("_")[0]
        more = {"absent": word, "word": meant, "careless": f"mug ON {place}"}
        yield task("absent", f"{word}-{home}", home, said, f"{word} ON {place}", (thing,), place, **more)


def _clear() -> Iterator[UnclearTask]:
    """Yield tasks whose instruction says what is meant, or that any will do, or about things that are alike."""
    for home, name, said, goal, careless, things, place in (
        (FLAT, "apple", "Put the apple on the desk.", "apple ON desk", "", "apple_81", "desk"),
        (FLAT, "magazine", "Put the magazine on the bed.", "magazine ON bed", "", "magazine_95", "bed"),
        (FLAT, "mug", "Put the mug on the coffee table.", "mug ON coffeetable", "", "mug_80", "coffeetable"),
        (FLAT, "any-book", "Put any book on the sofa.", "x: one book; x ON sofa", "",
         "book_30 book_101 book_102", "sofa"),
        (FLAT, "all-towels", "Put all towels on the bed.", "all towel ON bed", "",
         "towel_12 towel_17 towel_38", "bed"),
        (FLAT, "pants", "Put the dirty pants on the bed.", "x: one clothespants where x is dirty; x ON bed",
         "x: one clothespants; x ON bed", "clothespants_22", "bed"),
        (FLAT, "bowl", "Put the bowl from the living room on the kitchen counter.",
         "x: one bowl where x INSIDE livingroom; x ON kitchencounter", "x: one bowl; x ON kitchencounter",
         "bowl_96", "kitchencounter"),
        (FLAT, "pillow", "Put a pillow on the sofa.", "x: one pillow; x ON sofa", "", "pillow_24 pillow_25", "sofa"),
        (FLAT, "towel", "Put one of the towels on the desk, no matter which.", "x: one towel; x ON desk", "",
         "towel_12 towel_17 towel_38", "desk"),
        (COTTAGE, "newspaper", "Put the newspaper on the desk.", "newspaper ON desk", "", "newspaper_83", "desk"),
        (COTTAGE, "candle", "Put the candle on the kitchen table.", "candle ON kitchentable", "",
         "candle_86", "kitchentable"),
        (COTTAGE, "wineglass", "Put the wine glass from the kitchen on the coffee table.",
         "x: one wineglass where x INSIDE kitchen; x ON coffeetable", "x: one wineglass; x ON coffeetable",
         "wineglass_58", "coffeetable"),
        (COTTAGE, "any-towel", "Put any towel on the bed.", "x: one towel; x ON bed", "",
         "towel_19 towel_25 towel_41", "bed"),
        (COTTAGE, "all-books", "Put all books on the sofa.", "all book ON sofa", "",
         "book_33 book_85 book_101 book_102", "sofa"),
        (COTTAGE, "pillow-c", "Put a pillow on the desk.", "x: one pillow; x ON desk", "",
         "pillow_28 pillow_29", "desk"),
        (COTTAGE, "book", "Put the book that is on the coffee table on the bed.",
         "x: one book where x ON coffeetable; x ON bed", "x: one book; x ON bed", "book_85", "bed"),
    ):  # fmt: skip
        found = (*things.split(),)
        yield task(
            "clear", name, home, said, goal, found, place, wanted=found, careless=careless, every=name[:3] == "all"
        )


def tasks() -> tuple[UnclearTask, ...]:
    """Return all tasks."""
    return (*_clear(), *_several(), *_places(), *_preferences(), *_absent())


if __name__ == "__main__":
    FILE.write_text("".join(f"{it.model_dump_json(exclude_defaults=True)}\n" for it in tasks()), encoding="utf-8")
