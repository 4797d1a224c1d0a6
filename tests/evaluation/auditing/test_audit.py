"""An audit says whose work is in a merged tree, and names what is lost."""

import itertools
import json
import sys

import pytest
from attrs import evolve
from generators import diverging_trees
from hypothesis import given
from trees import NESTED_MARKERS, numbered, text, trees

from cooperbench_eval import (
    Changes,
    Entry,
    Feature,
    LocalSandbox,
    MergeStatus,
    Snapshot,
    TestResult,
    TestRunner,
    TestSuite,
    audit,
    merge,
    write_reward,
)
from cooperbench_eval.errors import ArgumentError, ReportError
from cooperbench_eval.evaluation.auditing.expected import SideTree
from cooperbench_eval.git.merging.line_diff import split_lines
from cooperbench_eval.git.trees.entries import FileMode
from cooperbench_eval.reporting import Audit, EntryAspect, Fate, SuiteRun


def found(base, sides, merged):
    """Audit without comparing with strategies."""
    return audit(base, sides, merged, strategies=[])


def lines(parts, fate):
    """Return the texts of one fate, line by line."""
    return [
        line for each in parts if each.fate is fate for line in each.text.decode().split("\n")[:-1]
    ]


def lost(file):
    return lines(file.added, Fate.LOST)


MODULE = text(
    "import os",
    "",
    "",
    "def first(x):",
    "    return x + 1",
    "",
    "",
    "class Box:",
    "    def open(self):",
    "        return self.lid",
    "",
    "    def close(self):",
    "        self.lid = None",
)
CHECKS = MODULE.replace(
    b"    return x + 1", b"    if x < 0:\n        raise ValueError(x)\n    return x + 1"
)
ADDS = (
    MODULE
    + text("", "    def shake(self):", "        self.rattle()")
    + text("", "", "def last(x):", "    return x - 1")
)


class TestADriverThatDiscardsASide:
    """It exits with 0, and nothing shows that half of the work is gone."""

    def test_everything_of_the_other_feature_is_lost(self):
        """All its lines and definitions are named, and nothing of the first feature."""
        base, one, other = trees({"x.py": MODULE}, {"x.py": CHECKS}, {"x.py": ADDS})

        report = found(base, [one, other], one)

        assert not report.is_complete
        assert [(each.feature, each.path) for each in report.lost_files] == [(2, "x.py")]
        assert report.file(1, "x.py").fate is Fate.KEPT
        assert len(lost(report.file(2, "x.py"))) == 7
        assert [(each.name, each.fate) for each in report.file(2, "x.py").definitions] == [
            ("Box.shake", Fate.LOST),
            ("last", Fate.LOST),
        ]
        assert str(report).startswith("7 added lines lost; feature 2: everything lost in x.py\n")

    def test_a_conflict_decided_for_one_side_loses_the_other(self):
        """The lost lines say that the features conflict there."""
        base, one, other = trees(
            {"a": numbered(1, 2, 3)}, {"a": numbered(1, "one", 3)}, {"a": numbered(1, "two", 3)}
        )

        report = found(base, [one, other], one)

        (part,) = report.file(2, "a").lost
        assert (part.text, part.first, part.last, part.in_conflict) == (b"line two\n", 2, 2, True)
        assert report.file(2, "a").removed_lines(Fate.KEPT) == 1

    def test_whatever_one_does_to_files_is_named(self):
        """Added, deleted, renamed, binary and executable files are lost too."""
        base, one, other = trees(
            {"a": numbered(*range(9)), "b": b"\0", "c": b"c\n", "d": numbered(*range(20, 40))},
            {"z": b"z\n"},
            {
                "a": Entry(numbered(*range(9)), FileMode.EXECUTABLE),
                "b": b"\0\0",
                "c": None,
                "d": None,
                "new": b"",
                "moved": numbered(*range(20, 40)),
            },
        )

        report = found(base, [one, other], one)

        assert {(each.path, entry.aspect) for each in report.of(2) for entry in each.entries} == {
            ("a", EntryAspect.MODE),
            ("b", EntryAspect.CONTENTS),
            ("c", EntryAspect.DELETION),
            ("moved", EntryAspect.NAME),
            ("new", EntryAspect.FILE),
        }
        assert {each.fate for each in report.of(2)} == {Fate.LOST}
        assert {each.fate for each in report.of(1)} == {Fate.KEPT}


class TestLines:
    def test_a_missing_hunk_is_named_and_nothing_else(self):
        """The other hunk of the same feature is kept."""
        base, one, other, merged = trees(
            {"a": numbered(*range(9))},
            {"a": numbered("first", *range(9), "second")},
            {"a": numbered(*range(4), "mine", *range(5, 9))},
            {"a": numbered(*range(4), "mine", *range(5, 9), "second")},
        )

        report = found(base, [one, other], merged)

        file = report.file(1, "a")
        assert lost(file) == ["line first"]
        assert lines(file.added, Fate.KEPT) == ["line second"]
        assert file.fate is Fate.CHANGED
        assert report.file(2, "a").fate is Fate.KEPT

    def test_a_removed_line_that_is_back_is_named(self):
        """With its line in the base and in the merged file."""
        base, one, other, merged = trees(
            {"a": numbered(1, 2, 3, 4)},
            {"a": numbered(1, 4)},
            {"b": b"b\n"},
            {"a": numbered(1, 2, 4), "b": b"b\n"},
        )

        file = found(base, [one, other], merged).file(1, "a")

        (part,) = file.restored
        assert (part.first, part.text, part.merged_path, part.merged_line) == (
            *(2, b"line 2\n", "a", 2),
        )
        assert lines(file.removed, Fate.KEPT) == ["line 3"]

    def test_an_equal_line_in_a_restored_block_does_not_count_as_kept(self):
        """The empty line between the restored lines is the base's, not the feature's."""
        old = ["old one", "", "old two", "old three"]
        new = ["new alpha", "new beta", "", "new gamma", "new delta"]
        base, one, other, merged = trees(
            {"a": text("start", *old, "end")},
            {"a": text("start", *new, "end")},
            {"b": b"b\n"},
            {"a": text("start", *old, "end"), "b": b"b\n"},
        )

        file = found(base, [one, other], merged).file(1, "a")

        assert file.fate is Fate.LOST
        assert file.removed_lines(Fate.LOST) == file.removed_lines()

    @pytest.mark.parametrize(
        ("kept", "fate"), [(["edited", "line 1"], Fate.SUPERSEDED), (["line 1"], Fate.LOST)]
    )
    def test_a_removal_in_a_conflict_is_lost_with_the_lines_in_its_place(self, kept, fate):
        """The other feature has the line in the conflict, and its work is there."""
        base, one, other, merged = trees(
            {"a": text("start", "line 1", "line 2", "end")},
            {"a": text("start", "edited", "end")},
            {"a": text("start", "line 1", "more", "line two", "end")},
            {"a": text("start", *kept, "more", "line two", "end")},
        )

        report = found(base, [one, other], merged)

        removed = report.file(1, "a").removed
        assert [each.fate for each in removed if each.text == b"line 1\n"] == [fate]
        assert report.file(2, "a").fate is Fate.KEPT

    def test_an_empty_line_is_lost_with_the_block_that_it_ends(self):
        """The base has an equal line there, which the other feature's block ends with."""
        base, one, other = trees(
            {"a": text("start", "", "end")},
            {"a": text("start", "one", "mine", "", "end")},
            {"a": text("start", "other", "yours", "", "", "end")},
        )

        report = found(base, [one, other], one)

        assert lost(report.file(2, "a")) == ["other", "yours", ""]
        assert report.file(1, "a").fate is Fate.KEPT

    def test_a_lost_block_is_lost_with_the_lines_that_both_features_added(self):
        """Those that are left are the other feature's."""
        shared = ["    def equals(self, other):", "        return other == self.value"]
        one, other = (
            [f"class {name}:", f"    value = {value}", "", *shared, "", f"{name}.ready = True"]
            for name, value in (("One", 1), ("Other", 2))
        )
        base, mine, yours = trees(
            {"a": text("start", "end")},
            {"a": text("start", *one, "end")},
            {"a": text("start", *other, "end")},
        )

        report = found(base, [mine, yours], mine)

        assert lost(report.file(2, "a")) == other
        assert report.file(1, "a").fate is Fate.KEPT

    def test_a_line_that_both_features_added_is_kept_beside_a_lost_one(self):
        """The merged tree has it, and the block does not consist mostly of the lost line."""
        base, one, other = trees(
            {"a": text("import json")},
            {"a": text("import json", "import os", "import re", "", "end")},
            {"a": text("import json", "import os", "import zlib", "")},
        )

        file = found(base, [one, other], one).file(2, "a")

        assert lost(file) == ["import zlib", ""]
        assert lines(file.added, Fate.KEPT) == ["import os"]

    def test_a_removal_is_lost_with_the_only_line_of_its_own_in_its_place(self):
        """What both features put there does not show that the removal is kept."""
        base, one, other, merged = trees(
            {"a": text("import json", "from typing import Any", "end")},
            {"a": text("import json", "import re", "from typing import Any", "end")},
            {"a": text("import json", "import re", "from typing import Any, Optional", "end")},
            {"a": text("import json", "import re", "from typing import Any", "end")},
        )

        file = found(base, [one, other], merged).file(2, "a")

        assert lost(file) == ["from typing import Any, Optional"]
        assert file.removed_lines(Fate.LOST) == 1

    def test_lines_between_two_conflicts_are_expected_once_or_twice(self):
        """Git joins such conflicts; who merges by hand keeps the lines between them once."""
        between = ["one = 1", "two = 2", "three = 3"]
        versions = [
            [f"first {word}", *between, f"last {word}"] for word in ("old", "mine", "yours")
        ]
        base, mine, yours, by_hand = trees(
            *({"a": text("start", *each, "end")} for each in versions),
            {"a": text("start", "first mine and yours", *between, "last mine and yours", "end")},
        )

        for merged in (by_hand, merge(base, mine, yours, strategy="union")):
            report = found(base, [mine, yours], merged)

            assert report.is_complete
            assert not report.foreign

    def test_words_of_a_lost_line_in_another_one_do_not_count(self):
        """The rest of the block is missing, so the line was not only broken into others."""
        lost_block = [
            "        heat: float, optional",
            "            Scale of it.",
            "            One.",
        ]
        base, one, other, merged = trees(
            {"a": text("start", "middle", "end")},
            {"a": text("start", *lost_block, "middle", "end")},
            {"a": text("start", "middle", "end of all")},
            {"a": text("start", "middle", "def f(heat: float, x: optional):", "end of all")},
        )

        assert lost(found(base, [one, other], merged).file(1, "a")) == lost_block

    def test_the_final_newline_is_a_change_of_its_own(self):
        """It is lost if the merged file ends as the base does, and not if lines follow it."""
        base, one, other, both = trees(
            {"a": b"1\n2"}, {"a": b"1\n2\n"}, {"a": b"0\n1\n2"}, {"a": b"0\n1\n2\n3\n"}
        )

        report = found(base, [one, other], other)

        assert report.file(1, "a").fate is Fate.LOST
        assert [each.aspect for each in report.file(1, "a").entries] == [EntryAspect.END]
        assert report.file(2, "a").fate is Fate.KEPT
        assert found(base, [one, other], both).is_complete
        assert found(base, [other, one], one).file(2, "a").fate is Fate.KEPT

    @pytest.mark.parametrize(
        ("base", "one", "other", "merged"),
        [
            ("one\nthree\n", "one\nthree", "one\nother three\n", "one\nthree"),
            ("return", "alpha beta 4\n!1", "return\nalpha beta 5", "alpha beta 4\n!1"),
            ("line 1\nend", "line 1\nend\nmore", "line ONE\nend", "line ONE\nend\nmore"),
            ("line 1\nend", "line 1\nend\nmore\n", "line 1\nend", "line 1\nend\nmore\n"),
        ],
    )
    def test_a_missing_final_newline_loses_no_lines(self, base, one, other, merged):
        """Lines that are added after it change the last line of the base only by the newline."""
        start, first, second, tree = trees(*({"a": t.encode()} for t in (base, one, other, merged)))

        report = found(start, [first, second], tree)

        assert not lost(report.file(1, "a"))
        assert report.file(1, "a").restored == ()
        assert report.file(1, "a").added_lines(Fate.KEPT) == report.file(1, "a").added_lines()

    @pytest.mark.parametrize("written", ["    x = 1\n", "x = 1\r\n", "x=1\n", "\tx = 1  \n"])
    @pytest.mark.parametrize("before", ["", "if y:\n"])
    def test_other_whitespace_changes_even_a_short_line(self, before, written):
        """It has too few letters to be followed to another place."""
        base, one, merged = trees(
            {"a": b"q\nw\ne\n"},
            {"a": b"q\nx = 1\ne\n"},
            {"a": f"q\n{before}{written}e\n".encode()},
        )

        report = found(base, [one], merged)

        assert report.file(1, "a").added_lines(Fate.CHANGED) == 1

    @pytest.mark.parametrize("also", ["line 9", "line 5"], ids=["apart", "amid"])
    def test_lines_that_a_feature_moved_are_lost_at_their_old_place(self, also):
        """The other feature's edit is kept, even where the lines are."""
        base = numbered(*range(10))
        moved = numbered(0, 4, 5, 6, 1, 2, 3, 7, 8, 9)
        edited = base.replace(also.encode(), b"edited")
        start, one, other = trees({"a": base}, {"a": moved}, {"a": edited})

        report = found(start, [one, other], other)

        assert report.file(1, "a").fate is Fate.LOST
        assert report.file(2, "a").fate is Fate.KEPT
        assert not report.foreign

    def test_a_single_line_may_be_moved_to_a_place_where_another_one_is_missing(self):
        """The file has it only there."""
        base, one, merged = trees(
            {"a": numbered(*range(9))},
            {"a": numbered(0, "helper", *range(1, 9))},
            {"a": numbered(*range(5), "helper", *range(6, 9))},
        )

        (part,) = found(base, [one], merged).file(1, "a").added

        assert (part.fate, part.merged_line) == (Fate.MOVED, 6)

    def test_a_copy_of_a_lost_line_where_another_line_was_broken_does_not_count(self):
        """It is a part of the broken line, and not a line that was moved there."""
        head, tail = ["def f(", "    one,"], ["):", "def g(", "    two,", "    separator,"]
        base, one, merged = trees(
            {"a": text(*head, *tail[:-1], ")", "call(alpha, beta)")},
            {"a": text(*head, "    separator,", *tail, ")", "call(alpha, beta, separator)")},
            {"a": text(*head, *tail, ")", "call(alpha,", "    beta,", "    separator,", ")")},
        )

        file = found(base, [one], merged).file(1, "a")

        assert [(each.first, each.text) for each in file.lost] == [(3, b"    separator,\n")]

    def test_copies_of_a_line_are_counted(self):
        """One of two equal lines is lost."""
        base, one, other, merged = trees(
            {"a": numbered(*range(9))},
            {"a": numbered("same", *range(9), "same")},
            {"b": b"b\n"},
            {"a": numbered("same", *range(9)), "b": b"b\n"},
        )

        (part,) = found(base, [one, other], merged).file(1, "a").lost

        assert (part.first, part.last) == (11, 11)

    def test_equal_lines_of_the_other_feature_do_not_count(self):
        """A feature's `return` is lost, although the other one has the same line."""
        base, one, other, merged = trees(
            {"a": text("start", "end")},
            {"a": text("start", "def f():", "    return None", "end")},
            {"a": text("start", "end", "def g():", "    return None")},
            {"a": text("start", "end", "def g():", "    return None")},
        )

        report = found(base, [one, other], merged)

        assert lost(report.file(1, "a")) == ["def f():", "    return None"]
        assert report.file(2, "a").fate is Fate.KEPT

    def test_a_moved_block_is_not_lost(self):
        """A block is not lost if it was moved within the file or to another one."""
        base, one, other, merged = trees(
            {"a": numbered(*range(9)), "b": numbered("b")},
            {"a": text("def moved():", "    {", "    }") + numbered(*range(9), "also moved")},
            {"c": b"c\n"},
            {
                "a": numbered(*range(9)) + text("def moved():", "    {", "    }"),
                "b": numbered("b", "also moved"),
                "c": b"c\n",
            },
        )

        report = found(base, [one, other], merged)

        file = report.file(1, "a")
        assert [(each.fate, each.merged_path, each.merged_line) for each in file.added] == [
            (Fate.MOVED, "a", 10),
            (Fate.MOVED, "b", 2),
        ]
        assert report.is_complete
        assert not report.foreign

    @pytest.mark.parametrize(
        "form",
        [
            "    result = compute(width, height, depth=3)",
            "        result = compute(width, height)",
            "    result = compute(\n        width,\n        height,\n        log=True,\n    )",
        ],
    )
    def test_an_edited_line_is_changed(self, form):
        """A line may get an argument, another indentation, or more lines."""
        base, one, other, merged = trees(
            {"a": numbered(*range(9))},
            {"a": numbered(*range(4)) + text("    result = compute(width, height)") + numbered(4)},
            {"b": b"b\n"},
            {"a": numbered(*range(4)) + text(form) + numbered(4), "b": b"b\n"},
        )

        file = found(base, [one, other], merged).file(1, "a")

        assert [(each.fate, each.merged_line) for each in file.added] == [(Fate.CHANGED, 5)]

    def test_one_line_may_have_the_work_of_both_features(self):
        """A merge may put the arguments of both into one call."""
        call = "value = configure(name, options{})".format
        base, one, other, merged = trees(
            {"a": text("x", call(""), "y")},
            {"a": text("x", call(", strict=True"), "y")},
            {"a": text("x", call(", depth=4"), "y")},
            {"a": text("x", call(", strict=True, depth=4"), "y")},
        )

        report = found(base, [one, other], merged)

        assert [each.added_lines(Fate.CHANGED) for each in report.files] == [1, 1]
        assert not report.foreign

    def test_a_line_like_one_of_the_other_feature_is_lost(self):
        """Its words are there, but only because the other feature has them as well."""
        base, one, other = trees(
            {"a": text("x", "y")},
            {"a": text("x", "call(name, value, one)", "y")},
            {"a": text("x", "call(name, value, two)", "y")},
        )

        report = found(base, [one, other], other)

        assert lost(report.file(1, "a")) == ["call(name, value, one)"]

    def test_lines_of_nobody_are_foreign(self):
        """Added ones, and lines of the base that no feature removes."""
        base, one, other, merged = trees(
            {"a": numbered(*range(9)), "quiet": numbered(1)},
            {"a": numbered("one", *range(9))},
            {"b": b"b\n"},
            {
                "a": numbered("one", *range(4)) + text("import fresh") + numbered(*range(6, 9)),
                "b": b"b\n",
                "quiet": numbered(1, "too"),
                "junk": b"\0",
            },
        )

        report = found(base, [one, other], merged)

        assert [(e.path, e.first, e.last, e.text, e.is_removed) for e in report.foreign] == [
            ("a", 6, 6, b"import fresh\n", False),
            ("a", 5, 6, b"line 4\nline 5\n", True),
            ("quiet", 2, 2, b"line too\n", False),
        ]
        assert report.foreign_files == ("junk", "quiet")
        assert report.is_complete

    def test_a_file_of_the_integrator_under_another_name_is_followed(self):
        """The lines are kept; only the name was changed."""
        base, one, other, merged = trees(
            {"a": numbered(*range(20))},
            {"a": numbered(*range(20), "one")},
            {"b": b"b\n"},
            {"a": None, "new": numbered(*range(20), "one"), "b": b"b\n"},
        )

        file = found(base, [one, other], merged).file(1, "a")

        assert (file.fate, file.merged_path) == (Fate.KEPT, "new")

    def test_a_line_that_a_merge_would_not_keep_is_superseded(self):
        """A feature moves a line that the other one removes; the merge takes the removal.

        The lines between are so frequent that the line diffs disagree about what moved.
        """
        base, one, other = trees(
            {"a": numbered(1), "b": b"b\n"}, {"a": None}, {"a": numbered(1, "more")}
        )

        report = found(base, [one, other], other)

        (entry,) = report.file(1, "a").entries
        assert (entry.aspect, entry.fate) == (EntryAspect.DELETION, Fate.SUPERSEDED)
        assert report.is_complete


class TestRenames:
    """One feature renames and edits a file, and the other one edits it."""

    RENAMED = numbered(1, "two", *range(3, 20))
    BASE, ONE, OTHER = trees(
        {"a": numbered(*range(1, 20))},
        {"a": None, "b": RENAMED},
        {"a": numbered(*range(1, 20), "last")},
    )

    def test_a_clean_merge_loses_nothing(self):
        """No line of the old path counts as removed by nobody."""
        for sides in ([self.ONE, self.OTHER], [self.OTHER, self.ONE]):
            merged = merge(self.BASE, *sides)

            report = found(self.BASE, sides, merged)

            assert merged.status is MergeStatus.CLEAN
            assert (report.is_complete, report.foreign, report.foreign_files) == (True, (), ())

    def test_a_file_that_kept_its_old_name_is_compared_with_the_renamed_one(self):
        """The name and the edit are lost, and the removed line is back."""
        report = found(self.BASE, [self.ONE, self.OTHER], self.OTHER)

        file = report.file(1, "b")
        assert (file.merged_path, file.fate, lost(file)) == ("a", Fate.LOST, ["line two"])
        assert file.removed_lines(Fate.LOST) == 1
        assert report.file(2, "a").fate is Fate.KEPT
        assert not report.foreign

    def test_an_old_file_beside_the_renamed_one_is_a_lost_deletion(self):
        """The merged tree has the file twice."""
        merged = Changes({"a": self.OTHER["a"], "b": self.ONE["b"]})

        report = found(self.BASE, [self.ONE, self.OTHER], merged)

        assert [each.path for each in report.lost_files] == ["a"]
        assert report.file(1, "b").fate is Fate.KEPT

    def test_one_of_two_names_has_the_lines_of_the_base(self):
        """They are not missing under the other name."""
        other = Changes({"a": None, "c": self.OTHER["a"]})

        report = found(self.BASE, [self.ONE, other], self.ONE)

        assert lost(report.file(2, "c")) == ["line last"]
        assert not report.foreign


class TestDeletions:
    """One feature deletes a file, and the other one edits it."""

    BASE, ONE, OTHER, NONE = trees(
        {"a": numbered(1, 2, 3)}, {"a": None}, {"a": numbered(1, 2, 3, 4)}, {}
    )

    @pytest.mark.parametrize(
        ("merged", "fates"),
        [
            (ONE, (Fate.KEPT, Fate.LOST)),
            (OTHER, (Fate.SUPERSEDED, Fate.KEPT)),
            (NONE, (Fate.LOST, Fate.LOST)),
        ],
        ids=["deleted", "edited", "neither"],
    )
    def test_the_deletion_and_the_edit_have_a_fate(self, merged, fates):
        """What the deletion removes is not removed by nobody."""
        report = found(self.BASE, [self.ONE, self.OTHER], merged)

        assert tuple(report.file(n, "a").fate for n in (1, 2)) == fates
        assert not report.foreign


class TestDefinitions:
    def test_each_fate(self):
        """Kept with the other feature's lines in it, changed, lost, and removed but back."""
        base = text("def a():", "    x()", "def b():", "    x()", "def c():", "    x()")
        one = text("def a():", "    x()", "    mine()", "def b():", "    two()", "    more()")
        start, first, other, merged = trees(
            {"m.py": base},
            {"m.py": one},
            {"m.py": base.replace(b"def a():\n", b"def a():\n    theirs()\n")},
            {
                "m.py": text(
                    *("def a():", "    theirs()", "    x()", "    mine()"),
                    *("def b():", "    two()", "def c():", "    x()"),
                )
            },
        )

        report = found(start, [first, other], merged)

        assert {each.name: each.fate for each in report.file(1, "m.py").definitions} == {
            "a": Fate.KEPT,
            "b": Fate.CHANGED,
            "c": Fate.LOST,
        }
        assert [each.name for each in report.file(1, "m.py").definitions if each.is_removed] == [
            "c"
        ]

    def test_a_definition_that_somebody_wrote_anew_is_changed(self):
        """The name is there, with other lines than any feature's."""
        base, one, merged = trees(
            {"m.py": text("x = 1")},
            {"m.py": text("x = 1", "def f(a):", "    return alpha(a)")},
            {"m.py": text("x = 1", "def f(*b):", "    for each in b:", "        yield each * 2")},
        )

        (definition,) = found(base, [one], merged).file(1, "m.py").definitions

        assert (definition.name, definition.fate, definition.is_new) == ("f", Fate.CHANGED, True)

    def test_a_file_that_does_not_parse_has_no_definitions(self):
        """Its lines are reported all the same."""
        base, one = trees({"m.py": b"x = 1\n"}, {"m.py": b"def (\n"})

        file = found(base, [one], Changes()).file(1, "m.py")

        assert (file.definitions, lost(file)) == ((), ["def ("])


class TestComparisons:
    def test_each_strategy_is_compared(self):
        """Equal trees, different ones, and a strategy that leaves a conflict open."""
        base, one, other = trees(
            {"a": numbered(1, 2, 3), "b": b"1\n"},
            {"a": numbered(1, "one", 3)},
            {"a": numbered(1, "two", 3), "b": b"2\n"},
        )
        union = merge(base, one, other, strategy="union").changes

        naive, same = audit(base, [one, other], union, strategies=["naive", "union"]).comparisons

        assert (naive.status, naive.is_equal, naive.files) == (
            MergeStatus.CONFLICTED,
            False,
            ("a",),
        )
        assert (same.strategy, same.status, same.is_equal) == ("union", MergeStatus.RESOLVED, True)

    def test_a_strategy_may_fail(self):
        """The others are compared all the same."""

        class Breaks:
            name = "breaks"

            def merge(self, _):
                raise ZeroDivisionError

        base, one, other = trees({"a": b"1\n"}, {"a": b"2\n"}, {"b": b"2\n"})

        broken, _ = audit(base, [one, other], one, strategies=[Breaks(), "naive"]).comparisons

        assert broken.status is MergeStatus.FAILED
        assert "ZeroDivisionError" in broken.failure


class TestSuites:
    def test_the_score_is_the_share_of_suites_that_pass(self):
        """The tests of the discarded feature fail, and with them the joint tests."""
        base, one, other = trees(
            {"m.py": b"A = 1\n"}, {"m.py": b"A = 1\nB = 2\n"}, {"n.py": b"C = 3\n"}
        )

        def suite(expression):
            code = f"import sys; sys.path[:0] = ['.']; {expression}"
            return TestSuite(command=(sys.executable, "-c", code), framework="exit")

        report = audit(
            base,
            [
                Feature(number=1, patch=one, tests=suite("import m; m.B")),
                Feature(number=2, patch=other),
            ],
            one,
            {2: suite("import n; n.C")},
            joint=suite("import m, n"),
            runner=TestRunner(sandbox=LocalSandbox()),
            strategies=[],
        )

        assert [run.outcome for run in report.suites] == [True, False, False]
        assert (report.passed_suites, report.score) == (1, 1 / 3)
        assert "1 of 3 suites pass" in str(report)

    @pytest.mark.parametrize(
        "integrated",
        [
            {"test_m.py": b"assert False\n"},
            {"test_m.py/x": b""},
            {"tests": b"", "tests/test_old.py": None},
            {"tests/test_old.py": b"assert False\n"},
            {"tests/test_new.py": b"assert False\n", "m.py": b"A = 3\nB = 2\n"},
        ],
        ids=["same name", "folder in the way", "file in the way", "edited", "and the source"],
    )
    def test_the_tests_of_a_suite_replace_those_in_the_tree(self, integrated):
        """Whoever made the tree has written tests of the same names, or put something there."""
        base = {"m.py": b"A = 1\n", "tests/test_old.py": b"import m\n\nassert m.A\n"}
        added = b"import m\n\nassert m.B == 2\n"
        start, one, tests, merged = trees(
            base,
            {"m.py": b"A = 1\nB = 2\n"},
            {
                "test_m.py": added,
                "tests/test_new.py": added,
                "tests/test_old.py": base["tests/test_old.py"] + added,
            },
            {"m.py": b"A = 1\nB = 2\n"} | integrated,
        )
        code = "import sys; sys.path[:0] = ['.', 'tests']; import test_m, test_new, test_old"
        suite = TestSuite(
            command=(sys.executable, "-c", code), framework="exit", patch=tests.diff(start)
        )

        for tree, passes in (
            (merged, True),
            (Changes({**merged, "m.py": start.get("m.py")}), False),
        ):
            report = audit(
                start,
                [one],
                tree,
                {1: suite},
                runner=TestRunner(sandbox=LocalSandbox()),
                strategies=[],
            )

            assert [run.outcome for run in report.suites] == [passes]

    def test_a_source_file_gives_way_if_a_tests_patch_does_not_apply_to_it(self):
        """Otherwise no suite could run, and the work there is not what the tests need."""
        start, one, tests, merged = trees(
            {"m.rs": numbered(1, 2, 3)},
            {"m.rs": numbered(1, 2, 3, 4)},
            {"m.rs": numbered(1, "tested", 3)},
            {"m.rs": numbered("other")},
        )
        suite = TestSuite(
            command=["grep", "line tested", "m.rs"], framework="exit", patch=tests.diff(start)
        )

        report = audit(start, [one], merged, {1: suite}, strategies=[])

        assert [run.outcome for run in report.suites] == [True]

    def test_without_tests_there_is_no_score(self):
        """Nothing ran."""
        base, one = trees({"a": b"1\n"}, {"a": b"2\n"})

        assert found(base, [one], one).score is None

    @pytest.mark.parametrize(
        ("suites", "problem"),
        [
            ({7: ""}, "has suites for features that were not given: 7"),
            ({1: ""}, "for feature 1, which already has tests"),
        ],
    )
    def test_a_suite_belongs_to_a_feature_without_tests(self, suites, problem):
        """Otherwise it is not clear which tests count."""
        base, one = trees({"a": b"1\n"}, {"a": b"2\n"})
        suite = TestSuite(command=("true",), framework="exit")
        feature = Feature(number=1, patch=one, tests=suite)

        with pytest.raises(ArgumentError, match=problem):
            audit(base, [feature], one, dict.fromkeys(suites, suite))


class TestReward:
    def report(self, *commands, merged=None, **suites):
        """Audit a tree with half of the work, with a suite for each command."""
        base, one, other = trees(
            {"a": numbered(1, 2, 3)}, {"a": numbered(0, 1, 2, 3)}, {"a": numbered(1, 2, 3, 4, 5)}
        )
        tests = {n: TestSuite(command=each, framework="exit") for n, each in enumerate(commands, 1)}
        return audit(
            base,
            [one, other],
            one if merged is None else merged,
            tests,
            runner=TestRunner(sandbox=LocalSandbox()),
            strategies=[],
            **suites,
        )

    def test_it_is_one_if_every_suite_passes(self):
        """The other numbers say how much of the work is there."""
        reward = self.report(["true"], ["true"]).reward()

        assert reward == {
            "reward": 1.0,
            "score": 1.0,
            "features_passed": 1.0,
            "complete": 0.0,
            "kept_lines": 1 / 3,
            "lost_lines": 2,
            "undone_lines": 0,
            "foreign_lines": 0,
            "pass_rate": 1.0,
        }

    def test_it_is_zero_if_one_fails(self):
        """Each kind of suite has a number."""
        always = TestSuite(command=["true"], framework="exit")
        never = TestSuite(command=["false"], framework="exit")

        reward = self.report(["true"], ["false"], joint=never, regression=always).reward()

        assert (reward["reward"], reward["score"], reward["features_passed"]) == (0.0, 0.5, 0.5)
        assert (reward["joint_passed"], reward["regression_passed"]) == (0.0, 1.0)

    def test_without_an_answer_there_is_none(self, tmp_path):
        """It says why, and no file appears."""
        with pytest.raises(ReportError, match="no suites were given"):
            self.report().reward()
        with pytest.raises(ReportError, match="no suites were given"):
            write_reward(self.report(), tmp_path)
        assert not list(tmp_path.iterdir())

    def test_a_suite_without_a_result_decides_only_beside_a_failure(self, tmp_path):
        """If another one fails, the tree is known to be wrong."""
        failed = self.report(["true"], ["false"])
        passed = self.report(["true"], ["true"])
        full = TestResult(status="infrastructure_error", reason="the disk is full")

        def with_joint(report):
            return evolve(report, suites=[*report.suites, SuiteRun(suite="joint", tests=full)])

        assert with_joint(failed).reward()["reward"] == 0.0
        assert {"reward", "score"}.isdisjoint(with_joint(passed).reward())
        with pytest.raises(ReportError, match="the joint tests have no answer: the disk is full"):
            write_reward(with_joint(passed), tmp_path)
        assert not list(tmp_path.iterdir())

    def test_it_is_written_for_harbor(self, tmp_path):
        """As that of a report is."""
        report = self.report(["true"], ["true"])

        path = write_reward(report, tmp_path)

        assert json.loads(path.read_text()) == report.reward()


class TestRecord:
    def report(self):
        base, one, other = trees(
            {"x.py": MODULE}, {"x.py": CHECKS, "new": b"\xff\n"}, {"x.py": ADDS}
        )
        return audit(base, [one, other], other)

    def test_json_gives_the_same_record(self):
        """Derived facts are added, and are not needed to read it."""
        report = self.report()
        data = json.loads(report.to_json())

        assert (data["kind"], data["is_complete"], data["score"]) == ("audit", False, None)
        assert Audit.from_json(report.to_json()) == report
        assert Audit.from_dict({k: v for k, v in data.items() if k != "score"}) == report

    @pytest.mark.parametrize(
        "damage",
        [{"kind": "landing plan"}, {"schema_version": 99}, {"is_complete": True}, {"files": 3}],
    )
    def test_other_json_is_refused(self, damage):
        """Another kind, a newer version, a contradiction, a wrong type."""
        with pytest.raises(ReportError):
            Audit.from_dict(self.report().to_dict() | damage)

    def test_a_contradiction_in_a_row_is_refused(self):
        """The error says where it is."""
        data = self.report().to_dict()
        data["files"][0]["fate"] = "left"

        with pytest.raises(ReportError, match=r"files\[0\]\.fate: is 'left', but "):
            Audit.from_dict(data)


@given(diverging_trees(2, 3))
def test_an_audit_of_a_union_reports_nothing_as_lost(files):
    """A union keeps the lines of all sides; only whole files may be in dispute.

    Where a file is renamed to the path of another side's file, git merges three files into one,
    and may lose lines of one of them without a conflict. If a side renames a file and deletes a
    similar one, git may pair the new file with either.
    """
    base, *others = (Snapshot.from_files(each) for each in files)
    sides = [Changes.between(base, each) for each in others]
    renames = [SideTree(base, 1, side).renames for side in sides]
    deleted = [sum(entry is None for entry in side.values()) for side in sides]
    if any(0 < len(new) < count for new, count in zip(renames, deleted, strict=True)) or any(
        sides[other].get(path) is not None
        for one, other in itertools.permutations(range(len(sides)), 2)
        for path in renames[one]
    ):
        return
    merged = Changes()
    for side in sides:
        outcome = merge(base, merged, side, strategy="union")
        if not all(each.has_lines for each in merge(base, merged, side).conflicts):
            return
        merged = outcome.changes

    report = found(base, sides, merged)

    assert [file for file in report.files for each in file.added if each.fate is Fate.LOST] == []
    written = [each for each in report.foreign if not each.is_removed]
    lines = [line for each in written for line in split_lines(each.text)]
    assert all(line.startswith(NESTED_MARKERS) for line in lines)


@given(diverging_trees(3, 3))
def test_every_added_line_has_one_fate(files):
    """Whatever the trees are, the lines of each feature are listed once, in order."""
    base, *others = (Snapshot.from_files(each) for each in files)
    *sides, merged = (Changes.between(base, each) for each in others)

    report = found(base, sides, merged)

    for file in report.files:
        tree = base.overlay(sides[file.feature - 1])
        for parts, source in ((file.added, tree.get(file.path)), (file.removed, None)):
            numbers = [n for each in parts for n in range(each.first, each.last + 1)]
            assert numbers == sorted(set(numbers))
            if source is not None and numbers:
                texts = source.data.splitlines(keepends=True)
                shown = b"".join(each.text for each in parts)
                assert shown == b"".join(texts[n - 1] for n in numbers)
    assert Audit.from_dict(report.to_dict()) == report


def local(code):
    """Return a suite that runs Python code in the tree."""
    return TestSuite(command=(sys.executable, "-c", code), framework="exit")


def test_a_patch_that_does_not_apply_is_a_result():
    """As in an evaluation: nothing is known of its work, and the reward is 0.0."""
    base = Snapshot.from_files({"a": b"1\n", "b": b"1\n"})
    wrong = b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-7\n+8\n"
    right = Changes({"b": Entry(b"2\n")})
    features = [Feature(number=1, patch=wrong, tests=local("")), right]
    runner = TestRunner(sandbox=LocalSandbox())

    report = audit(base, features, right, {2: local("")}, runner=runner)

    assert report.features == (1, 2)
    assert [(each.number, each.reason) for each in report.rejected] == [(1, "missing_input")]
    assert report.of(1) == ()
    assert not report.is_complete
    assert report.problem.startswith("feature 1 has no usable patch: ")
    assert "feature 1 has no usable patch" in str(report)
    assert report.reward() == {
        "reward": 0.0,
        "score": 1.0,
        "features_passed": 1.0,
        "pass_rate": 1.0,
    }
    assert Audit.from_json(report.to_json()) == report


def test_a_problem_says_why_there_is_no_score():
    """One suite fails, and the other one has no answer."""
    base = Snapshot.from_files({"a": b"1\n", "b": b"1\n"})
    sides = [Changes({"a": Entry(b"2\n")}), Changes({"b": Entry(b"2\n")})]
    missing = TestSuite(command=("no-such-command",), framework="exit")
    merged = Changes({**sides[0], **sides[1]})
    runner = TestRunner(sandbox=LocalSandbox())

    report = audit(base, sides, merged, {1: local("1/0"), 2: missing}, runner=runner)

    assert (report.score, report.reward()["reward"]) == (None, 0.0)
    assert "feature 2's tests have no answer" in report.problem
