#!/bin/bash
set -eu
cd /app
git merge -q agent-1
git merge -q agent-2 || true
cat >prices.py <<'END'
"""Adds up prices in cents."""


def total(prices: list[int], discount: int = 0, tax: int = 0) -> int:
    """Return the sum of *prices*, less a *discount* and with a *tax* on top, both in percent."""
    result = 0
    for price in prices:
        result += price
    return result * (100 - discount) // 100 * (100 + tax) // 100
END
git commit -qam "Integrate both agents"
