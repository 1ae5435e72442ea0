"""The likeliest mistakes with payments by x402 and with delegations: refused with figures, mended by the answer alone.

They are looked for and tried as those where a yield is earned are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import pytest

from tests.catalogue import test_mistakes_at_yields as mistakes
from tests.catalogue.door import Door
from tests.catalogue.test_mistakes_at_yields import Mistake

FOLDERS: Final[Mapping[str, tuple[str, ...]]] = {"x402": ("x402_",), "metamask": ("metamask_",)}
"""By the protocol on whose code they are tried, how the names of its cases begin."""
MORE: Final[Mapping[str, tuple[Mistake, ...]]] = {
    "x402": (
        Mistake("x402_approve", {"token": None}, "INVALID_PARAMS"),
        Mistake("x402_approve", {"amount": None}, "INVALID_PARAMS"),
        Mistake("x402_approve", {"amount": "0"}, "INVALID_PARAMS"),
    ),
    "metamask": (
        Mistake("metamask_redeem_runway", {"amount": "0"}, "INVALID_PARAMS"),
        Mistake("metamask_redeem_runway", {"amount": "max"}, "INVALID_PARAMS"),
        Mistake("metamask_redeem_runway", {"amount": "10 USDC"}, "INVALID_PARAMS"),
    ),
}
"""What else agents say, beside what stands in the cases and slips of the pen."""


@pytest.mark.parametrize("folder", [pytest.param(each, marks=pytest.mark.protocols(each)) for each in FOLDERS])
def test_what_is_said_wrongly_is_refused_with_figures_and_mended_by_the_answer_alone(
    door: Door, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = mistakes.list_mistakes

    def list_more(name: str) -> Iterator[Mistake]:
        yield from before(name)
        yield from MORE[name]

    monkeypatch.setattr(mistakes, "FOLDERS", FOLDERS)
    monkeypatch.setattr(mistakes, "list_mistakes", list_more)
    said = [(each.case, sorted(each.changes.items(), key=str)) for each in list_more(folder)]
    assert all(said.count(each) == 1 for each in said), "the same is tried twice"
    mistakes.test_what_is_said_wrongly_is_refused_with_figures_and_mended_by_the_answer_alone(door, folder)
