"""Numbers, places and versions that both sides take."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cooperbench_eval as ce
from cooperbench_eval.languages.hazards.finding import find_hazards
from cooperbench_eval.languages.hazards.kinds import HazardKind

PARENT, NUMBER, VERSION = (
    HazardKind.SAME_PARENT,
    HazardKind.SAME_NUMBER,
    HazardKind.SAME_VERSION,
)


def django(*parents, app="shop"):
    """A migration of Django."""
    listed = "".join(f'        ("{app}", "{parent}"),\n' for parent in parents)
    return (
        "from django.conf import settings\nfrom django.db import migrations\n\n\n"
        "class Migration(migrations.Migration):\n    dependencies = [\n"
        f"        migrations.swappable_dependency(settings.USER),\n{listed}    ]\n"
    )


def alembic(revision, parent):
    """A migration of Alembic; *parent* is written as it is."""
    return (
        f'"""Change it."""\n\nrevision: str = "{revision}"\ndown_revision: str | None = {parent}\n'
    )


FOLDER = "shop/migrations"
SHOP = {
    f"{FOLDER}/0000_empty.py": django(),
    f"{FOLDER}/0001_initial.py": django("0000_empty"),
    f"{FOLDER}/0002_price.py": django("0001_initial"),
}
ALEMBIC = {"db/versions/a1_start.py": alembic("a1", None)}

SPLIT = {
    "Django": (
        SHOP,
        {f"{FOLDER}/0003_name.py": django("0002_price")},
        {f"{FOLDER}/0003_colour.py": django("0002_price")},
        (
            "feature 1 adds the migration shop/migrations/0003_colour.py after `0002_price`, and "
            "feature 2 adds the migration shop/migrations/0003_name.py after `0002_price`"
        ),
    ),
    "the first of several": (
        SHOP,
        {
            f"{FOLDER}/0003_name.py": django("0002_price"),
            f"{FOLDER}/0004_more.py": django("0003_name"),
        },
        {f"{FOLDER}/0005_colour.py": django("0002_price")},
        (
            "feature 2 adds the migration shop/migrations/0003_name.py after `0002_price`, and "
            "feature 1 adds the migration shop/migrations/0005_colour.py after `0002_price`"
        ),
    ),
    "Alembic": (
        ALEMBIC,
        {"db/versions/b2_name.py": alembic("b2", '"a1"')},
        {"db/versions/c3_colour.py": alembic("c3", "'a1'")},
        (
            "feature 2 adds the migration db/versions/b2_name.py after `a1`, and "
            "feature 1 adds the migration db/versions/c3_colour.py after `a1`"
        ),
    ),
}


@pytest.mark.parametrize("case", SPLIT)
def test_two_migrations_that_follow_one_are_a_hazard(case, hazards_of):
    """The tool refuses to run either of them, and their numbers are not a second hazard."""
    base, ours, theirs, message = SPLIT[case]

    (found,) = hazards_of(base, ours, theirs)

    assert (found.kind, found.message, found.features) == (PARENT, message, (1, 2))
    assert message.rpartition("`")[0].endswith(found.name)


JOINED = {
    "one after the other": (
        SHOP,
        {f"{FOLDER}/0003_name.py": django("0002_price")},
        {f"{FOLDER}/0003_colour.py": django("0001_initial")},
    ),
    "the migrations of another app": (
        SHOP | {"cart/migrations/0001_initial.py": django(app="cart")},
        {f"{FOLDER}/0003_name.py": django("0002_price")},
        {"cart/migrations/0002_shop.py": django("0002_price")},
    ),
    "a dependency on another app": (
        SHOP,
        {f"{FOLDER}/0003_name.py": django("0009_cart", app="cart")},
        {f"{FOLDER}/0003_colour.py": django("0009_cart", app="cart")},
    ),
    "a comment": (
        SHOP,
        {
            f"{FOLDER}/0003_name.py": django("0001_initial").replace(
                "    ]", '# ("a", "0002_price")\n]'
            )
        },
        {f"{FOLDER}/0003_colour.py": django("0002_price")},
    ),
    "branches in the base": (
        ALEMBIC | {"db/versions/b2_name.py": alembic("b2", '"a1"')},
        {"db/versions/c3_size.py": alembic("c3", '"a1"')},
        {"db/versions/d4_colour.py": alembic("d4", '"a1"')},
    ),
    "the first ones": (
        {},
        {"db/versions/a1_size.py": alembic("a1", None)},
        {"db/versions/b2_colour.py": alembic("b2", None)},
    ),
}


@pytest.mark.parametrize("case", JOINED)
def test_other_migrations_are_not_a_hazard(case, hazards_of):
    """Each follows another one, or the base has branches already."""
    base, ours, theirs = JOINED[case]

    assert hazards_of(base, ours, theirs) == ()


def test_migrations_that_the_merge_joins_are_not_a_hazard(hazards_of):
    """Somebody who merges by hand adds a migration that follows both."""
    ours = {"db/versions/b2_name.py": alembic("b2", '"a1"')}
    theirs = {"db/versions/c3_colour.py": alembic("c3", '"a1"')}
    both = {"db/versions/d4_merge.py": alembic("d4", '(\n    "b2",\n    "c3",\n)')}

    assert hazards_of(ALEMBIC, ours, theirs, ours | theirs | both) == ()


NOTES = {f"docs/000{n}-{name}.md": "x\n" for n, name in enumerate("abc", 1)}
ENUM = "enum Colour {{\n{}  RED = 0;\n  GREEN = 1;\n  // Blue.\n  BLUE = 2;\n  GREY = 3;\n{}}}\n"
FLAGS = "#define A 1\n{}#define B 0x2\n#define C 4 // Third.\n#define D (8)\n{}"
SHIFTS = "class F(Flag):\n{}    A = 1 << 0\n    B = 1 << 1\n    C = 1 << 3\n    D = 1 << 4\n{}"
JAVA = "class A {{\n{}  static final int A = 10;\n  static final int B = 11;\n  int C = 12;\n{}}}\n"
FIELDS = (
    "message M {{\n{}  string a = 1;\n  repeated int32 b = 3 [packed = true];\n  reserved 5;\n"
    "  map<string, int32> c = 7;\n{}}}\n"
)

COUNTED = {
    "files": (
        NOTES | {"docs/rfc-0009-d.md": "x\n"},
        {"docs/0004-ours.md": "y\n"},
        {"docs/0004-theirs.md": "z\n"},
        ("4", "docs/0004-theirs.md", None),
        (
            "feature 2 takes the number 4 for docs/0004-ours.md, and feature 1 takes the number 4 "
            "for docs/0004-theirs.md"
        ),
    ),
    "files with a letter": (
        {f"sql/V{n}__{name}.sql": "x\n" for n, name in enumerate("abc", 10)},
        {"sql/V13__ours.sql": "y\n", "sql/V14__more.sql": "y\n"},
        {"sql/V13__theirs.sql": "z\n"},
        ("13", "sql/V13__theirs.sql", None),
        (
            "feature 2 takes the number 13 for sql/V13__ours.sql, and feature 1 takes the number "
            "13 for sql/V13__theirs.sql"
        ),
    ),
    **{
        case: (
            {path: text.format("", "")},
            {path: text.format(ours, "")},
            {path: text.format("", theirs)},
            (number, path, line),
            (
                f"feature 2 gives `OURS` the number {number} ({path}, line 2), and feature 1 gives "
                f"`THEIRS` the number {number} ({path}, line {line})"
            ),
        )
        for case, (path, text, ours, theirs, number, line) in {
            "an enum": ("a.proto", ENUM, "  OURS = 4;\n", "  THEIRS = 4;\n", "4", 8),
            "fields": ("a.proto", FIELDS, "  bytes OURS = 8;\n", "  M THEIRS = 8;\n", "8", 7),
            "a list that lacks a number": (
                "a.proto",
                ENUM.replace("RED = 0", "RED = 4").replace("  GREY = 3;\n", ""),
                "  OURS = 5;\n",
                "  THEIRS = 5;\n",
                "5",
                7,
            ),
            "flags": ("a.h", FLAGS, "#define OURS 16\n", "#define THEIRS 0x10\n", "16", 6),
            "shifts": ("a.py", SHIFTS, "    OURS = 1 << 5\n", "    THEIRS = 1 << 5\n", "5", 7),
            "constants of Java": (
                "A.java",
                JAVA,
                "  static final int OURS = 13;\n",
                "  int THEIRS = 13;\n",
                "13",
                6,
            ),
        }.items()
    },
}


@pytest.mark.parametrize("case", COUNTED)
def test_the_next_number_that_both_sides_take_is_a_hazard(case, hazards_of):
    """Neither side sees that the number is taken."""
    base, ours, theirs, (number, path, line), message = COUNTED[case]

    (found,) = hazards_of(base, ours, theirs)

    assert (found.kind, found.name, found.path, found.line) == (NUMBER, number, path, line)
    assert (found.message, found.features) == (message, (1, 2))


def lines(text, ours, theirs):
    """The versions of a file to which both sides add a line."""
    return (
        {"a.proto": text.format("", "")},
        {"a.proto": text.format(ours, "")},
        {"a.proto": text.format("", theirs)},
    )


FREE = {
    "different numbers": (NOTES, {"docs/0004-a.md": "y\n"}, {"docs/0005-b.md": "z\n"}),
    "a number that is not the next one": (
        NOTES,
        {"docs/1204-fix.md": "y\n"},
        {"docs/1204-feature.md": "z\n"},
    ),
    "a number that a side takes twice": (
        NOTES,
        {"docs/0004-a.md": "y\n", "docs/0004-b.md": "y\n"},
        {"docs/0004-c.md": "z\n"},
    ),
    "one name with two endings": (NOTES, {"docs/0004-a.md": "y\n"}, {"docs/0004-a.txt": "z\n"}),
    "numbers that are not unique": (
        NOTES | {"docs/0003-d.md": "x\n"},
        {"docs/0004-ours.md": "y\n"},
        {"docs/0004-theirs.md": "z\n"},
    ),
    "dates": (
        {f"posts/2024-01-0{n}-a.md": "x\n" for n in range(1, 5)},
        {"posts/2024-01-05-ours.md": "y\n"},
        {"posts/2024-01-05-theirs.md": "z\n"},
    ),
    "two folders": (NOTES, {"docs/0004-a.md": "y\n"}, {"notes/0004-b.md": "z\n"}),
    "a list that does not count": lines(
        ENUM.replace("= 3", "= 2"), "  OURS = 3;\n", "  THEIRS = 3;\n"
    ),
    "a number of the list": lines(ENUM, "  OURS = 1;\n", "  THEIRS = 1;\n"),
    "a far number": lines(ENUM, "  OURS = 80;\n", "  THEIRS = 80;\n"),
    "two numbers": lines(ENUM, "  OURS = 4;\n", "  THEIRS = 5;\n"),
    "two lists": lines(
        ENUM.replace("GREY", "}}\nenum Other {{\n GREY"), "  OURS = 3;\n", "  THEIRS = 4;\n"
    ),
    "settings": lines("{}a = 80\nb = 3\nf()\nc = 30\nd = 2\n{}", "x = 81\n", "y = 81\n"),
    "the same entry": lines(ENUM, "  OURS = 4;\n", "  OURS = 4;\n"),
    "data": (
        {"a.json": '{\n"a": 1,\n"b": 2,\n"c": 3,\n"d": 4\n}\n'},
        {"a.json": '{\n"x": 5,\n"a": 1,\n"b": 2,\n"c": 3,\n"d": 4\n}\n'},
        {"a.json": '{\n"a": 1,\n"b": 2,\n"c": 3,\n"y": 5,\n"d": 4\n}\n'},
    ),
}


@pytest.mark.parametrize("case", FREE)
def test_other_numbers_are_not_a_hazard(case, hazards_of):
    """The numbers differ, or nobody counts."""
    base, ours, theirs = FREE[case]

    assert [each for each in hazards_of(base, ours, theirs) if each.kind is NUMBER] == []


VERSIONS = {
    "Python": (
        "pyproject.toml",
        '[build-system]\na = 1\n[project]\nname = "a"\nversion = "{}"\n',
        5,
    ),
    "Rust": (
        "crates/a/Cargo.toml",
        '[package]\nname = "a"\nversion = "{}"\n[dependencies.b]\nversion = "1.0"\n',
        3,
    ),
    "JavaScript": ("package.json", '{{\n  "name": "a",\n  "version": "{}"\n}}\n', 3),
    "a chart": (
        "charts/a/Chart.yaml",
        "apiVersion: v2\ndependencies:\n  - name: b\n    version: 9.9.9\nversion: {}\n",
        5,
    ),
    "a module": ("a/__init__.py", "__version__ = '{}'\n", 1),
    "Ruby": ("lib/a/version.rb", 'module A\n  VERSION = "{}".freeze\nend\n', 2),
}


@pytest.mark.parametrize("case", VERSIONS)
def test_one_new_version_for_different_contents_is_a_hazard(case, hazards_of):
    """Both sides make the same edit, so git does not ask."""
    path, text, line = VERSIONS[case]
    folder = path.rpartition("/")[0]
    one, other = (f"{folder}/{name}".lstrip("/") for name in ("one.txt", "other.txt"))
    new = {path: text.format("1.2.4")}

    (found,) = hazards_of({path: text.format("1.2.3")}, new | {one: "1\n"}, new | {other: "2\n"})

    assert (found.kind, found.name, found.path) == (VERSION, "1.2.4", path)
    assert (found.line, found.features) == (line, (1, 2))
    assert found.message == (
        f"feature 1 gives its changes{folder and ' in '}{folder} the version 1.2.4, and "
        f"feature 2 gives its changes{folder and ' in '}{folder} the version 1.2.4"
    )


def test_what_no_side_adds_is_not_a_hazard(hazards_of):
    """Somebody who merges by hand may add a file."""
    ours, invented = {"docs/0004-ours.md": "y\n"}, {"docs/0004-more.md": "z\n"}

    assert hazards_of(NOTES, ours, {"x.md": "x\n"}, ours | invented) == ()


def test_packages_that_share_a_version_are_one_hazard(hazards_of):
    """A repository may give all its packages one version."""
    base = {f"{name}/package.json": '{\n  "version": "1.0.0"\n}\n' for name in "ab"}
    new = {path: text.replace("1.0.0", "1.1.0") for path, text in base.items()}
    ours = {f"{name}/ours.js": "f()\n" for name in "ab"}
    theirs = {f"{name}/theirs.js": "g()\n" for name in "ab"}

    found = hazards_of(base, new | ours, new | theirs)

    assert [(each.kind, each.path) for each in found] == [(VERSION, "a/package.json")]


OLD = {"a/package.json": '{\n  "version": "1.0.0"\n}\n', "a/x.js": "f()\n", "y.js": "g()\n"}


def versioned(version, **files):
    """The files of a side that gives the package a version."""
    paths = {name.replace("_", "/").replace("/js", ".js"): text for name, text in files.items()}
    return {"a/package.json": OLD["a/package.json"].replace("1.0.0", version), **paths}


FINE = {
    "two versions": (versioned("1.0.1", a_x_js="1\n"), {"a/z.js": "2\n"}),
    "the same contents": (versioned("1.0.1", a_x_js="1\n"), versioned("1.0.1", a_x_js="1\n")),
    "only one side changes more": (versioned("1.0.1", a_x_js="1\n"), versioned("1.0.1")),
    "contents of other packages": (
        versioned("1.0.1", y_js="1\n"),
        versioned("1.0.1", a_x_js="1\n"),
    ),
    "a development version": (
        versioned("1.1.0.dev0", a_x_js="1\n"),
        versioned("1.1.0.dev0", a_z_js="1\n"),
    ),
    "the old version": ({"a/x.js": "1\n"}, {"a/z.js": "1\n"}),
}


@pytest.mark.parametrize("case", FINE)
def test_other_versions_are_not_a_hazard(case, hazards_of):
    """At most one side makes a release, or both make the same."""
    assert hazards_of(OLD, *FINE[case]) == ()


def test_a_hazard_of_three_features_names_those_that_cause_it(hazards_of):
    """The third feature has nothing to do with it."""
    tree = NOTES | {"docs/0004-ours.md": "y\n", "docs/0004-theirs.md": "z\n", "x.md": "x\n"}
    sides = {"docs/0004-ours.md": "y\n"}, {"x.md": "x\n"}, {"docs/0004-theirs.md": "z\n"}

    base = ce.Snapshot.from_files({path: text.encode() for path, text in NOTES.items()})
    *changes, merged = (
        ce.Changes({path: ce.Entry(text.encode()) for path, text in files.items()})
        for files in (*sides, tree)
    )

    numbered = dict(zip((4, 5, 7), changes, strict=True))
    (found,) = find_hazards(base, numbered, merged)

    assert found.features == (4, 7)
    assert found.message.startswith("feature 4 takes the number 4")


EVERY = [
    *(each[:3] for each in SPLIT.values()),
    *(each[:3] for each in COUNTED.values()),
    (OLD, versioned("1.0.1", a_x_js="1\n"), versioned("1.0.1", a_z_js="1\n")),
]


@given(chosen=st.lists(st.sampled_from(EVERY), min_size=1, max_size=3), swaps=st.booleans())
def test_identical_additions_and_one_sided_merges_have_no_hazards(chosen, swaps, hazards_of):
    """Whatever a side adds, nothing is taken twice if the other adds the same or nothing."""
    base = {path: text for files, *_ in chosen for path, text in files.items()}
    side = {path: text for case in chosen for path, text in case[1 + swaps].items()}

    assert hazards_of(base, side, side) == ()
    assert hazards_of(base, side, {}) == ()
    assert hazards_of(base, {}, side) == ()
