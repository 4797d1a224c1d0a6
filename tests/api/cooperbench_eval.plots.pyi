"""The public names of `cooperbench_eval.plots`; `python docs/tools/public_api.py` writes this."""

def plot_effort(summary: Summary, *, up_to: float = 10.0, ax: Axes | None = None) -> Figure: ...

def plot_matrix(
    reports: FactsSource,
    *,
    task: str | None = None,
    strategy: str | None = None,
    ax: Axes | None = None,
) -> Figure: ...

def plot_teams(
    reports: FactsSource,
    *,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Figure: ...

def plot_tries(
    reports: FactsSource,
    deciders: str | Policy | Iterable[str | Policy] = 'strict',
    *,
    tries: int | None = None,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Figure: ...

def plot_verdicts(summary: Summary, *, ax: Axes | None = None) -> Figure: ...
