"""What tests of the analysis share."""

from types import SimpleNamespace

import pytest
from needs import need_package


@pytest.fixture(scope="session")
def statsmodels():
    """Return what our statistics are compared with; it is slow to import."""
    return SimpleNamespace(
        mcnemar=need_package("statsmodels.stats.contingency_tables").mcnemar,
        proportion_confint=need_package("statsmodels.stats.proportion").proportion_confint,
    )
