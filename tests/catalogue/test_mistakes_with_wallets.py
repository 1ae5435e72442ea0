"""The likeliest mistakes with payments by x402: refused with figures, mended by the answer alone.

They are looked for and tried as those where a yield is earned are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from tests.catalogue import test_mistakes_at_yields as mistakes
from tests.catalogue.door import Door

FOLDERS: Final[Mapping[str, tuple[str, ...]]] = {"x402": ("x402_",)}
"""By the protocol on whose code they are tried, how the names of its cases begin."""


@pytest.mark.parametrize("folder", [pytest.param(each, marks=pytest.mark.protocols(each)) for each in FOLDERS])
def test_what_is_said_wrongly_is_refused_with_figures_and_mended_by_the_answer_alone(
    door: Door, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mistakes, "FOLDERS", FOLDERS)
    monkeypatch.setattr(mistakes, "OF_AMOUNTS", (*mistakes.OF_AMOUNTS, "0"))
    mistakes.test_what_is_said_wrongly_is_refused_with_figures_and_mended_by_the_answer_alone(door, folder)
