"""The examples in the library's own docstrings, as installed."""

import doctest
import importlib
import pkgutil

import pytest
from needs import lack_package

import cooperbench_eval

MODULES = [
    "cooperbench_eval",
    *sorted(
        module.name
        for module in pkgutil.walk_packages(cooperbench_eval.__path__, "cooperbench_eval.")
        if not module.name.endswith(".supervisor")
    ),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name):
    """Every example in a docstring shows what it says."""
    try:
        module = importlib.import_module(name)
    except ModuleNotFoundError as exc:
        lack_package(exc)
    except ImportError as exc:  # it names the extra
        lack_package(exc.__cause__)

    failed = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)

    assert failed.failed == 0
