"""A node that mines while it answers tells of two states at once: what fits none of them is asked for once more."""

from __future__ import annotations

from typing import Any

import pytest

from tests.golem_project.heartbeat.loans import ETH, include
from tests.live_golem import LiveGolem
from tools_app.chain.reader import PinnedReader
from tools_app.standards.aave_like import plans
from tools_app.toolkit.positions import PositionsUnreadable, Reads

pytestmark = pytest.mark.protocols("aave_v3")
SUPPLY = {
    "action_type": "supply",
    "venue": "aave",
    "asset": "WETH",
    "amount": str(ETH),
    **dict.fromkeys(("token_in", "token_out")),
}


class TornNode:
    """Reads of an account at the lender that fit no state, the first `torn` times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, torn: int) -> None:
        self.asked, self.forgotten = 0, 0
        read_stand, forget_reads = plans.read_stand, PinnedReader.forget_reads

        def read(*given: Any, **named: Any) -> Reads[Any]:
            self.asked += 1
            if self.asked <= torn:
                raise PositionsUnreadable("the pool does not answer: Panic 0x11: arithmetic overflow or underflow")
            return (yield from read_stand(*given, **named))

        def forget(reader: PinnedReader) -> None:
            self.forgotten += 1
            forget_reads(reader)

        monkeypatch.setattr(plans, "read_stand", read)
        monkeypatch.setattr(PinnedReader, "forget_reads", forget)


def test_a_plan_of_answers_that_fit_no_state_is_made_once_more(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    include(live_golem, "aave_supply")
    node = TornNode(monkeypatch, torn=1)
    assert live_golem.preview(**SUPPLY)["status"] == "CREATED"
    assert (node.asked, node.forgotten) == (2, 1)


def test_what_never_fits_a_state_is_refused_after_the_second_time(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    include(live_golem, "aave_supply")
    node = TornNode(monkeypatch, torn=9)
    with pytest.raises(PositionsUnreadable, match="Panic"):
        live_golem.preview(**SUPPLY)
    assert node.asked == 2
