"""Each line of a merged tree comes from the base, a feature, several, a strategy or nobody."""

import pytest
from generators import diverging_trees, three_way_texts
from hypothesis import given
from trees import NESTED_MARKERS, numbered, trees

from cooperbench_eval import (
    Changes,
    ConflictKind,
    Entry,
    Evaluator,
    Feature,
    FeaturePair,
    MergeOutcome,
    MergeStatus,
    PatchError,
    Snapshot,
    apply_patch,
    merge,
    provenance,
)
from cooperbench_eval.errors import ArgumentError
from cooperbench_eval.git.merging.line_diff import split_lines
from cooperbench_eval.git.trees.entries import FileMode
from cooperbench_eval.reporting import FileKind, FileProvenance, LineRun, Origin, OriginKind


def origins(found, path="a"):
    return [str(each) for each in found.file(path).origins]


class TestLines:
    def test_each_feature_has_its_lines_and_the_base_the_others(self):
        """A clean merge has the lines of the base and of both features."""
        base, one, other, merged = trees(
            {"a": numbered(1, 2, 3, 4)},
            {"a": numbered(0, 1, 2, 3, 4)},
            {"a": numbered(1, 2, 3, 4, 5)},
            {"a": numbered(0, 1, 2, 3, 4, 5)},
        )

        found = provenance(base, [one, other], merged)

        assert origins(found) == ["feature 1", *["base"] * 4, "feature 2"]
        assert found.counts() == {"feature 1": 1, "base": 4, "feature 2": 1}

    def test_a_line_of_both_features_names_both(self):
        """A line that both features add in one place comes from several."""
        base, one, other = trees({"a": numbered(1)}, *[{"a": numbered(1, 2)}] * 2)

        found = provenance(base, [one, other], one)

        assert found.origin_of("a", 2) == Origin(kind=OriginKind.SEVERAL, features=(1, 2))

    def test_the_numbers_of_features_are_kept(self):
        """`Feature` objects have numbers of their own; patches are counted from 1."""
        base, one, other = trees({"a": numbered(1)}, {"a": numbered(0, 1)}, {"b": numbered(1)})
        features = [Feature(number=7, patch=one), Feature(number=3, patch=other)]

        found = provenance(base, features, Changes({**one, **other}))

        assert found.features == (7, 3)
        assert origins(found, "a") == ["feature 7", "base"]
        assert origins(found, "b") == ["feature 3"]

    def test_more_than_two_sides(self):
        """Each of three features has its line."""
        base, *sides = trees(
            {"a": numbered(*range(10))},
            {"a": numbered(0, "one", *range(1, 10))},
            {"a": numbered(*range(5), "two", *range(5, 10))},
            {"a": numbered(*range(9), "three", 9)},
        )
        (merged,) = trees(
            {}, {"a": numbered(0, "one", *range(1, 5), "two", *range(5, 9), "three", 9)}
        )[1:]

        found = provenance(base, sides, merged)

        assert origins(found)[1::5] == ["feature 1", "feature 2", "feature 3"]
        assert set(origins(found)) == {"base", "feature 1", "feature 2", "feature 3"}

    def test_a_line_that_nobody_has_is_unknown(self):
        """Without a strategy, a new line is unknown even where the features conflict."""
        base, one, other, merged = trees(
            {"a": numbered(1, 2, 3)},
            {"a": numbered(1, "one", 3)},
            {"a": numbered(1, "two", 3)},
            {"a": numbered(1, "both", 3, "more")},
        )

        found = provenance(base, [one, other], merged)

        assert origins(found) == ["base", "unknown", "base", "unknown"]

    def test_a_strategy_wrote_the_new_lines_of_a_conflict(self):
        """A new line of an outcome is the strategy's in a conflict, and unknown elsewhere."""
        base, one, other, merged = trees(
            {"a": numbered(*range(20))},
            {"a": numbered("one", *range(1, 20))},
            {"a": numbered("two", *range(1, 20))},
            {"a": numbered("both", *range(1, 20), "more")},
        )

        found = provenance(base, [one, other], MergeOutcome(changes=merged))

        assert origins(found) == ["resolver", *["base"] * 19, "unknown"]

    def test_markers_of_open_conflicts_are_named(self):
        """The three markers come from no version, and the lines between them from theirs."""
        base, one, other = trees(
            {"a": numbered(1, 2, 3)},
            {"a": numbered(1, "one", 3)},
            {"a": numbered(1, "two", "two", 3)},
        )

        found = provenance(base, [one, other], merge(base, one, other))

        assert origins(found) == [
            *("base", "marker", "feature 1", "marker", "feature 2", "feature 2", "marker", "base")
        ]

    def test_lines_like_markers_are_those_of_their_side(self):
        """A feature may add text that looks like a marker."""
        base, one, other = trees(
            {"a": numbered(1)}, {"a": numbered(1) + b"<<<<<<< ours\n"}, {"b": numbered(1)}
        )

        found = provenance(base, [one, other], merge(base, one, other))

        assert origins(found) == ["base", "feature 1"]

    def test_a_line_that_a_feature_removed_and_that_is_back_is_the_bases(self):
        """The integrator may undo a removal."""
        base, one, other, merged = trees(
            {"a": numbered(1, 2, 3, 4)},
            {"a": numbered(1, 4)},
            {"b": numbered(1)},
            {"a": numbered(1, 2, 3, 4), "b": numbered(1)},
        )

        found = provenance(base, [one, other], merged)

        assert origins(found) == ["base"] * 4

    def test_a_moved_line_keeps_its_origin(self):
        """Lines of a feature may stand in another place or in another file."""
        base, one, other, merged = trees(
            {"a": numbered(*range(9)), "b": numbered("x")},
            {"a": numbered("moved", "other", *range(9))},
            {"a": numbered(*range(9), "end")},
            {"a": numbered(*range(9), "end", "moved"), "b": numbered("x", "other")},
        )

        found = provenance(base, [one, other], merged)

        assert origins(found)[-2:] == ["feature 2", "feature 1"]
        assert origins(found, "b") == ["base", "feature 1"]

    def test_copies_are_counted(self):
        """A line that a feature added once explains one copy of it."""
        base, one, other, merged = trees(
            {"a": numbered(*range(9))},
            {"a": numbered("copied", *range(9))},
            {"b": numbered(1)},
            {"a": numbered(*range(9), "copied", "x", "copied"), "b": numbered(1)},
        )

        found = provenance(base, [one, other], merged)

        assert origins(found)[9:] == ["feature 1", "unknown", "unknown"]

    def test_a_last_line_without_a_newline_is_the_same_line(self):
        """A union closes the last line of ours before it adds theirs."""
        base, one, other = trees({"a": b"1"}, {"a": b"1\nours"}, {"a": b"1\ntheirs"})

        found = provenance(base, [one, other], merge(base, one, other, strategy="union"))

        assert origins(found)[-2:] == ["feature 1", "feature 2"]


class TestFiles:
    def test_a_renamed_file_keeps_the_lines_of_the_base(self):
        """One feature renames the file, the other one edits it."""
        base, one, other = trees(
            {"a": numbered(*range(20))},
            {"a": None, "new": numbered(*range(20), "one")},
            {"a": numbered("two", *range(20))},
        )

        found = provenance(base, [one, other], merge(base, one, other))

        assert origins(found, "new") == ["feature 2", *["base"] * 20, "feature 1"]
        assert found.file("new").renamed_from == "a"
        assert found.file("a") is None

    def test_a_file_that_only_the_integrator_renamed_is_followed(self):
        """The merged tree may have a file under a name that no feature gave it."""
        base, one, other, merged = trees(
            {"a": numbered(*range(20))},
            {"a": numbered(*range(20), "one")},
            {"a": numbered("two", *range(20))},
            {"a": None, "new": numbered("two", *range(20), "one")},
        )

        found = provenance(base, [one, other], merged)

        assert origins(found, "new") == ["feature 2", *["base"] * 20, "feature 1"]

    @pytest.mark.parametrize(
        ("kind", "entry"),
        [
            (FileKind.BINARY, Entry(b"\0new")),
            (FileKind.LINK, Entry(b"there", FileMode.SYMLINK)),
            (FileKind.SUBMODULE, Entry(b"1" * 40, FileMode.SUBMODULE)),
        ],
    )
    def test_what_has_no_lines_has_one_origin(self, kind, entry):
        """Binary files, links and submodules belong to whoever has the same entry."""
        base, one, other = trees({"a": b"\0old"}, {"a": entry}, {"b": numbered(1)})

        found = provenance(base, [one, other], Changes({**one, **other}))

        assert found.file("a") == FileProvenance(
            path="a", kind=kind, origin=Origin(kind=OriginKind.FEATURE, features=(1,))
        )

    def test_binary_contents_of_nobody_are_unknown(self):
        """No version has them."""
        base, one, merged = trees({"a": b"\0old"}, {"a": b"\0new"}, {"a": b"\0other"})

        assert provenance(base, [one], merged).file("a").origin.kind is OriginKind.UNKNOWN

    def test_binary_contents_have_an_origin_whoever_changed_the_mode(self):
        """One feature writes them, and another one makes the file executable."""
        base, one, other = trees(
            {"a": b"\0old"}, {"a": b"\0new"}, {"a": Entry(b"\0old", FileMode.EXECUTABLE)}
        )
        merged = merge(base, one, other)

        assert str(provenance(base, [one, other], merged).file("a").origin) == "feature 1"

    def test_a_mode_has_an_origin_of_its_own(self):
        """A feature may only make a file executable."""
        base, one, other = trees(
            {"a": numbered(1)},
            {"a": Entry(numbered(1), FileMode.EXECUTABLE)},
            {"a": numbered(1, 2)},
        )

        file = provenance(base, [one, other], merge(base, one, other)).file("a")

        assert str(file.origin) == "feature 1"
        assert [str(each) for each in file.origins] == ["base", "feature 2"]

    def test_a_deleted_file_names_who_deleted_it(self):
        """Features, or nobody that is known."""
        base, one, other, merged = trees(
            {"a": b"1\n", "b": b"2\n", "c": b"3\n", "d": b"4\n"},
            {"a": None, "b": None},
            {"b": None},
            {"a": None, "b": None, "c": None},
        )

        found = provenance(base, [one, other], merged)

        assert {each.path: str(each.origin) for each in found.files} == {
            "a": "feature 1",
            "b": "features 1, 2",
            "c": "unknown",
        }

    def test_a_deleted_file_that_is_back_is_the_bases(self):
        """The integrator may undo a deletion."""
        base, one, merged = trees({"a": numbered(1, 2)}, {"a": None}, {})

        assert origins(provenance(base, [one], merged)) == ["base", "base"]


class TestInputs:
    def test_the_row_of_a_report_is_a_merged_tree(self):
        """Its lines are those of the outcome of the same merge."""
        base, one, other = trees(
            {"a": numbered(1, 2)}, {"a": numbered(1, "one")}, {"a": numbered(1, "two")}
        )
        features = Feature(number=1, patch=one), Feature(number=2, patch=other)
        pair = FeaturePair(
            repo_name="r", task_id=0, base=base, feature1=features[0], feature2=features[1]
        )
        report = Evaluator(strategies=["union"]).evaluate(pair)

        found = provenance(base, pair.features, report.attempt("union"))

        assert origins(found) == ["base", "feature 2", "feature 1"]

    def test_the_row_of_a_report_may_have_markers(self):
        """They are told from what a strategy wrote by their form."""
        base, one, other = trees(
            {"a": numbered(1, 2, 3)}, {"a": numbered(1, "one", 3)}, {"a": numbered(1, "two", 3)}
        )
        features = Feature(number=1, patch=one), Feature(number=2, patch=other)
        pair = FeaturePair(
            repo_name="r", task_id=0, base=base, feature1=features[0], feature2=features[1]
        )
        row = Evaluator(strategies=["naive"]).evaluate(pair).attempt("naive")

        found = provenance(base, pair.features, row)

        assert origins(found) == [
            *("base", "marker", "feature 2", "marker", "feature 1", "marker", "base")
        ]

    def test_a_folder_is_a_merged_tree(self, tmp_path):
        """An agent's working tree."""
        base, one = trees({"a": numbered(1)}, {"a": numbered(1, 2)})
        (tmp_path / "a").write_bytes(numbered(1, 2, 3))

        for path in (tmp_path, str(tmp_path)):
            assert origins(provenance(base, [one], path)) == ["base", "feature 1", "unknown"]

    @pytest.mark.parametrize("form", ["diff", "result", "snapshot", "file"])
    def test_a_merged_tree_in_other_forms(self, form, tmp_path):
        """A patch, the result of placing one, a snapshot, or the path of a patch."""
        base, one = trees({"a": numbered(1)}, {"a": numbered(1, 2)})
        (tmp_path / "x.patch").write_bytes(one.diff(base))
        forms = {
            "diff": one.diff(base),
            "result": apply_patch(base, one.diff(base)),
            "snapshot": base.overlay(one),
            "file": tmp_path / "x.patch",
        }

        found = provenance(base, [forms[form]] if form != "snapshot" else [one], forms[form])

        assert origins(found) == ["base", "feature 1"]

    def test_a_failed_merge_has_no_tree(self):
        """The error says why it failed."""
        base, one = trees({"a": numbered(1)}, {"a": numbered(1, 2)})
        outcome = MergeOutcome(changes=Changes(), failure="the model is asleep")

        with pytest.raises(ArgumentError, match="the model is asleep"):
            provenance(base, [one], outcome)

    @pytest.mark.parametrize("sides", [[], Changes(), [3]])
    def test_sides_must_be_patches(self, sides):
        """An error names the argument."""
        with pytest.raises(ArgumentError, match="sides"):
            provenance(Snapshot.from_files({"a": b""}), sides, Changes())

    def test_two_features_with_one_number_are_refused(self):
        """Their lines could not be told apart."""
        features = [Feature(number=1, patch=Changes())] * 2

        with pytest.raises(ArgumentError, match="the number 1"):
            provenance(Snapshot.from_files({"a": b""}), features, Changes())

    def test_a_patch_that_does_not_apply_is_refused(self):
        """The error names the side."""
        diff = b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n"

        with pytest.raises(PatchError, match=r"sides\[0\]"):
            provenance(Snapshot.from_files({"b": b""}), [diff], Changes())


class TestRecord:
    def test_annotated_text_has_the_origin_and_the_number_of_each_line(self):
        """As `git blame` shows it."""
        base, one = trees({"a": numbered(*range(9)), "b": numbered(1)}, {"a": numbered(*range(10))})

        found = provenance(base, [one], one)

        assert found.annotate("a").splitlines()[8:] == [
            b"base       9) line 8",
            b"feature 1 10) line 9",
        ]
        assert found.annotate("b") == b"base 1) line 1\n"

    @pytest.mark.parametrize("path", ["gone", "absent", "binary", "link"])
    def test_only_texts_can_be_annotated(self, path):
        """Anything else has no lines."""
        link = Entry(b"a", FileMode.SYMLINK)
        base, one = trees(
            {"gone": b"1\n", "binary": b"\0", "link": link}, {"gone": None, "binary": b"\0\0"}
        )
        found = provenance(base, [one], one)

        with pytest.raises(ArgumentError, match=path):
            found.annotate(path)

    @pytest.mark.parametrize("line", [0, 3])
    def test_a_line_outside_of_the_file_is_refused(self, line):
        """Lines are counted from 1."""
        base, one = trees({"a": numbered(1), "b": numbered(1, 2)}, {"a": numbered(1, 2)})
        found = provenance(base, [one], one)

        for path in ("a", "b"):
            with pytest.raises(ArgumentError, match="from 1 to 2"):
                found.origin_of(path, line)
        assert str(found.origin_of("b", 2)) == "base"

    def test_the_plain_form_has_every_run(self):
        """It can be written as JSON."""
        base, one = trees({"a": numbered(1)}, {"a": numbered(1, 2)})

        (file,) = provenance(base, [one], one).to_dict()["files"]

        assert file["runs"] == [
            {"first": 1, "last": 1, "origin": "base", "features": []},
            {"first": 2, "last": 2, "origin": "feature", "features": [1]},
        ]

    @pytest.mark.parametrize("runs", [[(2, 2)], [(1, 1), (1, 2)], [(1, 0)]])
    def test_runs_must_cover_each_line_once(self, runs):
        """Otherwise the record would contradict itself."""
        origin = Origin(kind=OriginKind.BASE)

        with pytest.raises(ArgumentError, match="runs"):
            FileProvenance(
                path="a",
                kind=FileKind.TEXT,
                origin=origin,
                runs=[LineRun(first=first, last=last, origin=origin) for first, last in runs],
            )

    @pytest.mark.parametrize(
        ("kind", "features"), [("base", (1,)), ("feature", ()), ("several", (1,))]
    )
    def test_an_origin_has_as_many_features_as_its_kind(self, kind, features):
        """The base has none, several are at least two."""
        with pytest.raises(ArgumentError, match="features"):
            Origin(kind=kind, features=features)

    def test_shown_as_a_table(self):
        """A line for each file, with a column for each origin."""
        base, one, other = trees(
            {"a": numbered(1)}, {"a": numbered(1, 2), "c": Entry(b"\0")}, {"b": numbered(1, 2)}
        )

        shown = str(provenance(base, [one, other], Changes({**one, **other})))

        assert shown.splitlines()[0] == (
            "3 files touched: 1 from base, 1 from feature 1, 2 from feature 2"
        )
        assert "binary (feature 1)" in shown


@given(diverging_trees(3, 3))
def test_every_line_has_exactly_one_origin(files):
    """Whatever the sides and the merged tree are, each touched file and line is listed once."""
    base, *others = (Snapshot.from_files(each) for each in files)
    *sides, merged = (Changes.between(base, each) for each in others)

    found = provenance(base, sides, merged)

    tree = base.overlay(merged)
    listed = [file.path for file in found.files]
    assert listed == sorted(set(listed))
    for file in found.files:
        entry = tree.get(file.path)
        assert (file.kind is FileKind.DELETED) == (entry is None)
        lines = split_lines(entry.data) if file.kind is FileKind.TEXT else []
        assert len(list(file.origins)) == len(lines)
    for path in {*tree.paths(), *base.paths()} - {*listed}:
        renamed = any(path == file.renamed_from for file in found.files)
        assert renamed or tree.get(path) == base.get(path)


@given(diverging_trees(2, 2))
def test_a_line_is_in_the_versions_that_it_comes_from(files):
    """A line of the base is in the base, and a line of a feature in that feature's tree."""
    base, *sides = (Snapshot.from_files(each) for each in files)
    changes = [Changes.between(base, each) for each in sides]
    outcome = merge(base, *changes, strategy="union")
    # If renames collide, a merged file has lines of two files of one side.
    conflicts = merge(base, *changes).conflicts
    collides = any(each.kind is not ConflictKind.CONTENT for each in conflicts)

    found = provenance(base, changes, outcome)

    known = {
        name: {line.rstrip(b"\n") for path in tree.paths() for line in split_lines(tree.read(path))}
        for name, tree in (("base", base), (1, sides[0]), (2, sides[1]))
    }
    for file in found.files:
        lines = split_lines(found.tree.read(file.path)) if file.runs else []
        for line, origin in zip(lines, file.origins, strict=True):
            for name in origin.features or [origin.kind.value]:
                written = origin.kind is OriginKind.RESOLVER or line.startswith(NESTED_MARKERS)
                if collides and written:
                    continue
                assert name in known
                assert line.rstrip(b"\n") in known[name]


@given(three_way_texts())
def test_a_clean_merge_has_nobody_elses_lines(texts):
    """Each line comes from the base or a feature, and every added line from its feature."""
    base, *sides = texts
    start, *changes = trees({"a": base}, *({"a": each} for each in sides))
    outcome = merge(start, *changes)

    found = provenance(start, changes, outcome)

    if outcome.status is MergeStatus.CLEAN:
        kinds = {origin.kind for file in found.files for origin in file.origins}
        assert kinds <= {OriginKind.BASE, OriginKind.FEATURE, OriginKind.SEVERAL}
