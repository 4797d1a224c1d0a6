"""Small merges in which rare rules of git meet: base, ours and theirs of each.

Nearly all of them once differed from git: in the verdict, the tree or the unmerged stages.
"""

from cooperbench_eval.git.trees.entries import Entry, FileMode

LINK = Entry(b"target", FileMode.SYMLINK)
A, B, C, D = (
    b"".join(b"%s %d\n" % (word, n) for n in range(4)) for word in (b"A", b"B", b"C", b"D")
)
MODULE = Entry(b"1" * 40, FileMode.SUBMODULE)
OTHER_MODULE = Entry(b"2" * 40, FileMode.SUBMODULE)
LONG = b"".join(b"long %02d\n" % number for number in range(20))


def changed(word, *numbers):
    """Return twenty lines of *word*, of which those with *numbers* are changed."""
    return b"".join(b"%s %02d\n" % (b"new" if n in numbers else word, n) for n in range(20))


# The folders "ba", "eh" and "id" have the same place in git's hash tables of 64.
RARE = {
    "a folder rename moves a file onto a folder": (
        {"y/A": A, "e/lib": MODULE},
        {"e/A": A},
        {"y/A": A, "e": MODULE, "A/x": B},
    ),
    "a folder rename moves a link onto a deleted file": (
        {"a": A, "b/c": B},
        {"a": A, "c": B},
        {"b/a": LINK, "b/c": B},
    ),
    "a folder rename moves a file onto a deleted submodule": (
        {"a": MODULE, "b/c": A},
        {"a": MODULE, "c": A},
        {"b/a": B, "b/c": A},
    ),
    "a folder rename moves a file back": (
        {"b": LONG, "c/c": A},
        {"c/b": LONG, "c/c": A},
        {"a": LONG + b"more\n", "c": A},
    ),
    "a folder and two kinds at one path": (
        {"a.b/a.b": A, "a/a": LINK},
        {"a.b/a.b": A, "a/a": OTHER_MODULE, "a/a.b": A},
        {"a": LINK, "a.b/a.b": A},
    ),
    "copies inside a folder that may be renamed": (
        {"a/d/a/d": A},
        {"a/c/a/a/c": A, "a/d": A},
        {},
    ),
    "copies inside a file that became a folder": (
        {"a.b/a/a/a": A, "a.b/a/ba": B, "a/a/ba/ba": A},
        {"a/a/ba/ba": C},
        {"a.b/a/ba/a.b": A, "a.b/a/ba/ba/ba": A, "ba/a/a/a.b/a/a": A},
    ),
    "copies in folders with the same hash": (
        {"z": A},
        {"ba/x": A, "eh/x": A, "id/x": A},
        {},
    ),
    "copies in very many folders": (
        {"z": A},
        {f"{number:02d}/x": A for number in range(60)},
        {},
    ),
    "copies beside a folder, in a tree without the file": (
        {"a/a/a.b": A},
        {"a/a/a.b": B},
        {"a.b": A, "a/a": A},
    ),
    "copies beside a file that became a folder": (
        {"a": A},
        {"a": B},
        {"a.b": A, "a/a": A},
    ),
    "copies beside a folder, with a file that nobody touched": (
        {"z": A, "a.c": C},
        {"a.c": C, "a.b": A, "a/x": A},
        {"z": B, "a.c": C, "a/y": D},
    ),
    "only equal files show where a folder moved": (
        {"b/1": changed(b"kkk"), "b/a": changed(b"aaa"), "q/a": changed(b"qqq")},
        {"y/1": changed(b"kkk", 3), "y/a": changed(b"aaa", 1, 2, 3), "z": changed(b"aaa", 1)},
        {
            "b/1": changed(b"kkk", 9),
            "b/a": changed(b"aaa", 9),
            "q/a": changed(b"qqq", 9),
            "b/n": B,
        },
    ),
    "the parent of a renamed folder that got no new file": (
        {"a.b/a.b/a.b/a": A},
        {"a/a/a.b/a/a.b/a": A},
        {"a.b/a": B, "a.b/a.b/a.b/a": A, "a.b/a.b/a/a.b": B},
    ),
    "files that cannot change where their folder went are not searched": (
        {
            **{f"d/{word}": changed(word.encode()) for word in ("one", "two", "three")},
            "d/s/four": changed(b"four"),
            "q": changed(b"four", 1, 2, 3, 4),
        },
        {
            **{f"e/{word}": changed(word.encode()) for word in ("one", "two", "three")},
            "t": changed(b"four", 1),
        },
        {
            **{f"d/{word}": changed(word.encode()) for word in ("one", "two", "three")},
            "d/new": A,
            "d/s/four": changed(b"four"),
            "q": changed(b"four", 1, 2, 3, 4, 19),
        },
    ),
    "a file at a name that a folder rename would give to another": (
        {"b/b": LONG, "c/b/a": A},
        {"c/a": LONG, "c/b/a": A, "c/n": B},
        {"b/a": A, "b/b": LONG, "b/n": C},
    ),
    "two renames to one new file of both sides": (
        {"b": LONG + b"one\n", "c": LONG},
        {"a": LONG, "b": A},
        {"a": LONG, "c": B},
    ),
    "a rename and a deletion at one new file of both sides": (
        {"b/a": LONG, "b/b": LONG + b"one\n"},
        {"a": LONG, "b/a": A},
        {"a": LONG},
    ),
    "an equal file that a folder rename moves to the new name": (
        {"a.b/a": changed(b"x"), "a/a.b": changed(b"x", 3)},
        {"a.b/a": changed(b"x", 15), "a.b/a.b": changed(b"x", 3), "a/a.b": changed(b"x", 3)},
        {"a.b": changed(b"x", 3), "a/a/a.b": changed(b"x", 3)},
    ),
    "a renamed link that a folder rename moves onto a kept file": (
        {"a/a": LINK, "b/a": A, "b/b/b": LONG},
        {"b/b/a": LINK, "b/b/b": LONG},
        {"b/a": A, "b/b": LONG + b"more\n"},
    ),
    "a file renamed twice, which a folder rename moves onto a kept submodule": (
        {"c/a": MODULE, "e/c": LONG},
        {"e/a": LONG + b"ours\n"},
        {"c/a": MODULE, "c/e": b"theirs\n" + LONG},
    ),
    "a file that moves to where another one was before": (
        {"a/a": b"1\n2\n3\n"},
        {"a/a.b": A, "a/a/a.b": A},
        {"a": b"2\n3\n"},
    ),
    "a file that a folder rename moves to the name of one renamed twice": (
        {"c/b": LONG, "d": A},
        {"c": LONG + b"more\n", "e/c/d": A},
        {"b/b": A, "c/b": LONG, "c/d": B},
    ),
    "two equal links get one name": (
        {"a": LINK, "b": LINK},
        {"c": LINK},
        {"c": LINK, "a": LINK},
    ),
    "the fifth file takes the place of the first one that is not similar": (
        {"a": A, "b": b"same\nof b\n", "c": B, "d": C, "e": b"same\nof e\n"},
        {"x": b"same\nof x\n"},
        {},
    ),
    "a binary file renamed twice": (
        {"a": b"\0" + LONG},
        {"b": b"\0" + LONG + b"ours\n"},
        {"c": b"\0" + LONG + b"theirs\n"},
    ),
    "a deletion and a rename at one new file of both sides": (
        {"b": LONG + b"one\n", "c": LONG},
        {"d": LONG},
        {"c": LONG + b"theirs\n", "d": LONG},
    ),
    "a file that a folder rename moves to where another one fills a folder of the other side": (
        {"a/y": A, "d/x": B},
        {"a/n": C, "a/y": A, "d/e": D, "d/x": B},
        {"e/y": A, "x": B},
    ),
    "a file that a folder rename moves to where another one makes a folder": (
        {"a/y": A, "d/x": B},
        {"a/e/n": C, "a/m": C, "a/y": A, "d/e": D, "d/x": B},
        {"y": A, "x": B},
    ),
    "git starts again, without a rename that does not matter": (
        {"x": LONG, "y": changed(b"y"), "d/1": A},
        {"d/x": LONG, "z": changed(b"y"), "d/1": A} | {f"new/{n}": B for n in range(40)},
        {"x": LONG, "y": changed(b"y", 1), "e/1": A},
    ),
    "git starts again, and takes a folder as a whole": (
        {"d/x": A},
        {"d/n": B, "d/x": A},
        {"e/f/g/x": A, "e/f/g/n/1/2/3/4": C},
    ),
    "more equal files than git looks at": (
        {f"{n:03d}": LONG for n in range(101)},
        {"new/100": LONG},
        {"000": LONG + b"more\n"},
    ),
}
