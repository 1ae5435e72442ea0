"""The ways to screen: in process always, and in revm where it is installed."""

from __future__ import annotations

import pytest

from tools_app.simulation.revm_screening.screening import is_turbo_installed

WAYS = (False, True) if is_turbo_installed() else (False,)
TURBO = [
    False,
    pytest.param(
        True,
        marks=pytest.mark.skipif(not is_turbo_installed(), reason="not run: pyrevm (requirements-turbo.txt) is absent"),
    ),
]
"""The same, saying of the one that is absent that it was not run."""
