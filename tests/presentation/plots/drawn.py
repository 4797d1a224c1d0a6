"""Reads what is drawn on axes."""

import io

import pytest
from needs import need_package

container = need_package("matplotlib.container")  # without it, skip the files that import this one
BarContainer, ErrorbarContainer = container.BarContainer, container.ErrorbarContainer


def texts_of(ax):
    """Every text on the axes that says something, with its place."""
    return {(text.get_position(), text.get_text()) for text in ax.texts if text.get_text()}


def legend_of(ax):
    """The legend's texts, in order."""
    legend = ax.get_legend()
    return [text.get_text() for text in legend.get_texts()] if legend else []


def ticks_of(axis):
    """The labels of an axis, in order."""
    return [label.get_text() for label in axis.get_ticklabels()]


def bars_of(ax):
    """The widths of the bars at each height, from left to right; each begins at the last."""
    found = {}
    for container in ax.containers:
        if isinstance(container, BarContainer):
            for bar in container:
                row = found.setdefault(round(bar.get_y() + bar.get_height() / 2), [])
                assert bar.get_x() == pytest.approx(sum(row))
                row.append(bar.get_width())
    return found


def intervals_of(ax, *, across):
    """Middle, low and high of each interval, once for each place it is drawn at."""
    found = set()
    for container in ax.containers:
        if isinstance(container, ErrorbarContainer):
            points, _, (bars,) = container
            middles = points.get_xdata() if across else points.get_ydata()
            for middle, ends in zip(middles, bars.get_segments(), strict=True):
                low, high = ends[:, 0] if across else ends[:, 1]
                found.add(tuple(round(float(each), 6) for each in (middle, low, high)))
    return found


def saved(figure, kind):
    """The figure as a file of that kind."""
    file = io.BytesIO()
    figure.savefig(file, format=kind)
    return file.getvalue()
