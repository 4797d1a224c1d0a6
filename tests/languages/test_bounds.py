"""The bounds of a type in Rust, which have no order."""

import pytest

from cooperbench_eval.languages.files import read_versions
from cooperbench_eval.languages.tree import DisagreementError, render
from cooperbench_eval.strategies.structured.merge import TreeMerge

FORMS = ["fn f<T%s>(a: T) {}\n", "fn f<T>(a: T) where T%s {}\n", "trait A%s {}\n"]


def merge(form, *bounds):
    """Merge a declaration with three versions of its bounds."""
    trees = read_versions("a.rs", [(form % each).encode() for each in bounds])
    return render(TreeMerge().merge(*trees)).decode()[1:] + "\n"


@pytest.mark.parametrize("form", FORMS)
def test_both_sides_bounds_are_kept(form):
    """Those that a side removed are not."""
    base = ": Eq + Ord"

    assert merge(form, base, base + " + Clone", base + " + Debug") == form % (
        ": Eq + Ord + Clone + Debug"
    )
    assert merge(form, base, ": Ord", base + " + Debug") == form % ": Ord + Debug"
    assert merge(form, base, base + " + Clone", ": Clone + Eq") == form % ": Eq + Clone"


@pytest.mark.parametrize("form", [FORMS[0], FORMS[2]])
def test_both_sides_may_add_the_first_bound(form):
    """A bound that both add is there once."""
    assert merge(form, "", ": Clone", ": Debug + Clone") == form % ": Clone + Debug"


def test_a_bound_that_both_replaced_is_refused():
    """Each side knows only its own replacement."""
    with pytest.raises(DisagreementError):
        merge(FORMS[0], ": From<u8>", ": From<u16>", ": From<u32>")
