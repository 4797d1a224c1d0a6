#!/bin/bash
# Runs the tests of one feature in the task's container.
#
#   runner.sh TEST_PATCH [FEATURE_PATCH]
#
# Both are names of files in /patches. The feature patch goes first, so that the
# tests are added to a tree that holds the feature already. The exit status is
# pytest's.
set -euo pipefail

if [[ $# -lt 1 || $# -gt 2 ]]; then
    echo "usage: runner.sh TEST_PATCH [FEATURE_PATCH]" >&2
    exit 64
fi
test_patch="/patches/$1"
feature_patch="${2:+/patches/$2}"

cd /workspace/repo
git reset --quiet --hard HEAD
git clean --quiet -fdx --exclude='*.egg-info'

for patch in ${feature_patch:+"$feature_patch"} "$test_patch"; do
    echo "applying $patch"
    git apply "$patch"
done

python -m pytest tests/test_balances.py tests/test_data_styles.py tests/test_entry.py tests/test_lines.py tests/test_money.py tests/test_queries.py tests/test_render.py tests/test_text_styles.py -v
