"""Small patches that several test files apply to small trees."""

from cooperbench_eval.git.patching.apply import apply_patch
from cooperbench_eval.git.patching.patch import Patch
from cooperbench_eval.git.patching.patch_parts import ApplyPolicy
from cooperbench_eval.git.trees.snapshot import Snapshot

LINES = b"".join(b"line %d\n" % number for number in range(1, 31))
NAMES = b"--- a/x\n+++ b/x\n"
CHANGE = b"@@ -1 +1 @@\n-old\n+new\n"
AT_10 = b"@@ -9,3 +9,3 @@\n line 9\n-line 10\n+LINE 10\n line 11\n"
AT_20 = b"@@ -19,3 +19,3 @@\n line 19\n-line 20\n+LINE 20\n line 21\n"
PLAIN = NAMES + CHANGE
DIFF = b"diff --git a/x b/x\nindex 3367afd..3e75765 100644\n" + PLAIN
RENAME = b"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"
BINARY = (
    b"diff --git a/l b/l\nindex 627fb17..55fb4f4 100644\nGIT binary patch\nliteral 19\n"
    b"acmZR`&r4M(DbH6Z$tX%q<x0yhEdl^Pss_6N\n\nliteral 15\nWcmZR`&r4M(DbH6Z$tX%q<pKaFZ3O=S\n\n"
)

_MOVE = b"diff --git a/%b b/%b\nsimilarity index 100%%\n%b from %b\n%b to %b\n"
_ADD = b"diff --git a/%b b/%b\nnew file mode 100644\n--- /dev/null\n+++ b/%b\n@@ -0,0 +1 @@\n+new\n"
_DELETE = b"diff --git a/%b b/%b\ndeleted file mode 100644\n--- a/%b\n+++ /dev/null\n"
_DELETE += b"@@ -1 +0,0 @@\n-old\n"


def move(old, new, verb=b"rename"):
    """Return a diff that renames or copies a file unchanged."""
    return _MOVE % (old, new, verb, old, verb, new)


def add(path):
    """Return a diff that adds a file with the line `new`."""
    return _ADD % (path, path, path)


def delete(path):
    """Return a diff that deletes a file with the line `old`."""
    return _DELETE % (path, path, path)


def git_diff(old, new=None, *, extra=b"", change=CHANGE):
    """Return a diff with these names exactly as given."""
    new = old if new is None else new
    return b"diff --git %b %b\n%b--- %b\n+++ %b\n%b" % (old, new, extra, old, new, change)


def only_file(data):
    """Return the one file of a patch."""
    (file,) = Patch.parse(data).files
    return file


def apply(files, data, rungs=None, **options):
    """Apply a patch to files; return the result and the files after it."""
    base = Snapshot.from_files(files)
    if rungs is not None:
        options["rungs"] = rungs
    result = apply_patch(base, Patch.parse(data), ApplyPolicy(**options))
    after = base.overlay(result.changes)
    return result, {path: after.read(path) for path in after.paths()}
