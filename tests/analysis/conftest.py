"""What tests of the analysis share."""

from types import SimpleNamespace

import pytest


@pytest.fixture(scope="session")
def statsmodels():
    """Return what our statistics are compared with; it is slow to import."""
    from statsmodels.stats.contingency_tables import mcnemar  # noqa: PLC0415
    from statsmodels.stats.proportion import proportion_confint  # noqa: PLC0415

    return SimpleNamespace(mcnemar=mcnemar, proportion_confint=proportion_confint)
