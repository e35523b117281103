"""Figures of a result: bars with intervals beside the paper's, tokens by size of scene, and mistakes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from textwrap import fill
from typing import TYPE_CHECKING, Final

from scenecypher.evaluation.reporting.cells import (
    TidyFigure,
    limited_warning,
    row_name,
    table_heading,
    tidy_figures,
    unfinished_warning,
)
from scenecypher.evaluation.result import ExperimentResult, Table, Trial

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI: Final = 130
MAX_PANELS: Final = 8
PANELS_PER_ROW: Final = 4
BAR_INCHES: Final = 0.3
COLORS: Final[Mapping[str, str]] = {
    "measured": "#1f6fb4",
    "ours": "#2a9d8f",
    "published": "#b8b8b8",
}
SHARES: Final = frozenset({"share", "percent", "change"})
"""Units of the columns that are drawn as bars."""
TOKENS: Final = "tokens"
"""Ending of the headings of columns that are drawn as lines across."""
SUCCESS: Final = "success"
OUTCOME_COLORS: Final = (
    *("#1f77b4", "#ff7f0e", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"),
    *("#aec7e8", "#ffbb78", "#ff9896", "#c5b0d5", "#c49c94", "#f7b6d2", "#c7c7c7", "#dbdb8d", "#9edae5"),
)
"""Colours of outcomes other than success."""
TITLE_WIDTH: Final = 36
"""Characters of a title above one panel."""


def figure_files(result: ExperimentResult) -> Iterator[tuple[str, bytes]]:
    """Yield all figures that a result has numbers for, each as the name and the content of a file."""
    for name, figure in result_figures(result):
        content = BytesIO()
        figure.savefig(content, dpi=DPI)
        yield f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name)}.png", content.getvalue()


def result_figures(result: ExperimentResult) -> Iterator[tuple[str, Figure]]:
    """Yield the figures by name; those of an unfinished or limited run have a warning."""
    for name, figure in _make_figures(result):
        if warning := unfinished_warning(result) or limited_warning(result):
            figure.suptitle(warning, color="red", weight="bold", fontsize=9)
        yield name, figure


def _make_figures(result: ExperimentResult) -> Iterator[tuple[str, Figure]]:
    for table in result.all_tables:
        drawn = [it for it in tidy_figures(result, table) if it.unit in SHARES and not it.second]
        columns = list(dict.fromkeys(it.column for it in drawn))[:MAX_PANELS]
        drawn = [it for it in drawn if it.column in columns and isinstance(it.value, float)]
        if drawn:
            yield f"{table.key}-bars", _bar_chart(table_heading(table), drawn)
        elif any(column.heading.isdecimal() for column in table.columns):
            yield f"{table.key}-lines", _line_chart(table)
    sized = [trial for trial in result.samples if trial.nodes and trial.tokens]
    if sized:
        yield "tokens", _tokens(sized)
    if any(not trial.success or trial.mistakes for trial in result.samples):
        yield "mistakes", _mistakes(result.samples)


def _bar_chart(heading: str, drawn: Sequence[TidyFigure]) -> Figure:
    """Draw a panel a column, with a bar for each row: ours, each followed by the published ones of its method."""
    from matplotlib.patches import Patch

    columns, bars = list(dict.fromkeys(it.column for it in drawn)), _bars(drawn)
    across, down = min(len(columns), PANELS_PER_ROW), -(-len(columns) // PANELS_PER_ROW)
    figure = _figure(width=3 + 3 * across, height=(1.4 + BAR_INCHES * len(bars)) * down)
    panels = figure.subplots(down, across, sharey=True, squeeze=False)
    for panel, column in zip(panels.flat, columns, strict=False):
        _panel(panel, [it for it in drawn if it.column == column], bars)
    for panel in panels.flat[len(columns) :]:
        panel.remove()
    for panel in panels[:, 0]:
        panel.set_yticks(range(len(bars)), [label for _, label in bars], fontsize=8)
    panels[0, 0].set_ylim(len(bars) - 0.4, -0.6)
    panels[0, 0].set_title(fill(heading, TITLE_WIDTH * across), loc="left", fontsize=10)
    handles = [Patch(color=COLORS[name], label=name) for name in COLORS if name in {whose for whose, _ in bars}]
    panels[0, -1].legend(handles=handles, fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _bars(drawn: Sequence[TidyFigure]) -> list[tuple[str, str]]:
    """Return whose each bar is, and its label; a published row follows ours of its method and options."""
    ways = list(dict.fromkeys((it.method, it.options) for it in drawn))
    ordered = sorted(drawn, key=lambda it: ways.index((it.method, it.options)))
    return list(dict.fromkeys((it.whose, it.label) for it in ordered))


def _panel(panel: Axes, drawn: Sequence[TidyFigure], bars: Sequence[tuple[str, str]]) -> None:
    for it in drawn:
        if isinstance(it.value, float):
            number = bars.index((it.whose, it.label))
            panel.barh(number, it.value, color=COLORS[it.whose], height=0.8)
            if it.low is not None and it.high is not None:
                reach = [[max(0.0, it.value - it.low)], [max(0.0, it.high - it.value)]]
                panel.errorbar(it.value, number, xerr=reach, color="black", capsize=2, linewidth=1)
    if drawn[0].unit != "change":
        panel.set_xlim(0, 1 if drawn[0].unit == "share" else 100)
    panel.set_xlabel(drawn[0].heading + ("" if drawn[0].unit == "share" else " (%)"))
    panel.grid(visible=True, axis="x", alpha=0.3)


def _line_chart(table: Table) -> Figure:
    """Draw the numbered columns of each row as a line, and columns of tokens besides as lines across."""
    figure = _figure(width=7, height=4.5)
    panel = figure.subplots()
    for row in table.rows:
        cells = {it.heading: row.cells[it.key].value for it in table.columns if it.key in row.cells}
        values = {head: value for head, value in cells.items() if isinstance(value, float)}
        steps = {int(head): value for head, value in values.items() if head.isdecimal()}
        panel.plot([*steps], [*steps.values()], marker="o", label=row_name(row))
        for head, value in values.items():
            if head.endswith(TOKENS):
                panel.axhline(value, linestyle="--", color=COLORS["published"], label=head)
    panel.set(xlabel="iteration", ylabel="tokens")
    return _titled(figure, panel, fill(table_heading(table), TITLE_WIDTH * 2))


def _tokens(trials: Sequence[Trial]) -> Figure:
    figure = _figure(width=7, height=4.5)
    panel = figure.subplots()
    for name, group in _by_method(trials).items():
        sizes, tokens = [it.nodes or 0 for it in group], [it.tokens for it in group]
        panel.scatter(sizes, tokens, s=14, alpha=0.6, label=name)
    panel.set(xscale="log", yscale="log", xlabel="nodes of the scene", ylabel="tokens of the sample")
    return _titled(figure, panel, "Tokens against the size of the scene")


def _titled(figure: Figure, panel: Axes, title: str) -> Figure:
    panel.set_title(title, loc="left", fontsize=10)
    panel.legend(fontsize=7)
    return figure


def _mistakes(trials: Sequence[Trial]) -> Figure:
    """Draw the shares of outcomes, and the mistakes by cause (refusals, missed things) if there are any."""
    groups = _by_method(trials)
    ends = {name: Counter(SUCCESS if it.success else it.outcome or "wrong" for it in of) for name, of in groups.items()}
    slips = {name: sum((Counter(it.mistakes) for it in of), Counter[str]()) for name, of in groups.items()}
    panels = [(ends, "how samples ended (share)")]
    panels += [(slips, "mistakes a sample, by cause")] if any(slips.values()) else []
    figure = _figure(width=2 + 5.5 * len(panels), height=1.8 + BAR_INCHES * len(groups))
    for panel, (counted, label) in zip(
        figure.subplots(1, len(panels), sharey=True, squeeze=False)[0], panels, strict=True
    ):
        _stacked_bars(panel, counted, groups, label)
    figure.axes[0].invert_yaxis()
    return figure


def _stacked_bars(
    panel: Axes, counted: Mapping[str, Counter[str]], groups: Mapping[str, Sequence[Trial]], label: str
) -> None:
    causes = [cause for cause, _ in sum(counted.values(), Counter[str]()).most_common()]
    causes.sort(key=lambda cause: cause != SUCCESS)
    before = dict.fromkeys(groups, 0.0)
    panel.set_prop_cycle(color=OUTCOME_COLORS)
    for cause in causes:
        color = COLORS["ours"] if cause == SUCCESS else None
        widths = [counted[name][cause] / len(groups[name]) for name in groups]
        panel.barh([*groups], widths, left=[before[name] for name in groups], label=cause, height=0.7, color=color)
        before = {name: before[name] + width for name, width in zip(groups, widths, strict=True)}
    panel.set_xlabel(label)
    panel.tick_params(axis="y", labelsize=8)
    panel.margins(y=0.6 / len(groups))
    if causes:
        panel.legend(fontsize=7, loc="center left", bbox_to_anchor=(1, 0.5))


def _by_method(trials: Sequence[Trial]) -> dict[str, list[Trial]]:
    """Group trials by method and options, and by table if there are several."""
    several = len({trial.table for trial in trials}) > 1
    groups = defaultdict[str, list[Trial]](list)
    for trial in trials:
        options = ", ".join(trial.options.values())
        name = f"{trial.method} ({options})" if options else trial.method
        groups[f"{trial.table}: {name}" if several else name].append(trial)
    return dict(groups)


def _figure(*, width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
