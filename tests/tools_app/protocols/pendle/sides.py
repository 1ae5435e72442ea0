"""The sides of Pendle's limit orders that need a position or bring yield tokens, and a golem that has both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import pytest
from django_otp.plugins.otp_totp.models import TOTPDevice

from permits_app.actions.execute_change import execute_change
from permits_app.models import ChangeRequest, SignedPromise
from tests.permits_app.approvals.people import approve, give_device
from tests.tools_app.protocols.pendle.test_limit_orders import Maker
from tests.tools_app.protocols.pendle.test_limit_orders import maker as maker
from tools_app.core import clock

WAD = 10**18


@dataclass(frozen=True)
class Trade:
    """One side of an order: what asks for it, a rate better than the market's, and how a stranger fills it."""

    side: str
    gives: str
    amount: int
    rate: str
    worse_rate: str
    tool: str = "pendle_place_limit_order"

    def sign(self, maker: Maker, **changes: Any) -> SignedPromise:
        """Approve what it gives and sign it."""
        maker.do(
            action_type="pendle_approve_limit_orders",
            market=maker.place.market,
            amount=str(self.amount),
            gives=self.gives,
        )
        return self.sign_more(maker, **changes)

    def sign_more(self, maker: Maker, **changes: Any) -> SignedPromise:
        status, permit = self.preview(maker, **changes)
        assert status == 200, permit
        if self.side == "buy_yt":
            agree(maker, permit["permit_id"])
        else:
            _, done = maker.ask("commit_action", permit_id=permit["permit_id"])
            assert done["status"] == "COMMITTED", done
        return SignedPromise.objects.get(permit_id=UUID(permit["permit_id"]))

    def preview(self, maker: Maker, **changes: Any) -> tuple[int, dict[str, Any]]:
        body = {
            "action_type": self.tool,
            "venue": "pendle",
            "market": maker.place.market,
            "amount": str(self.amount),
            "implied_apy": self.rate,
        }
        if self.tool == "pendle_place_limit_order":
            body["side"] = self.side
        return maker.ask("preview_action", **{**body, **changes})

    def fill(self, maker: Maker, *rows: SignedPromise, **bounds: Any) -> bool:
        """A stranger trades more than the order through the router, into the order first."""
        taker = maker.taker
        if self.side == "buy_yt":
            return taker.sell_yields(1_200 * WAD, *rows, **bounds)
        return (taker.buy_yields if self.side == "sell_yt" else taker.buy)(1_000 * WAD, *rows, **bounds)

    def given(self, maker: Maker) -> int:
        """What the maker has of what the order gives."""
        return held(maker, {"asset": maker.place.asset, "pt": maker.place.pt, "yt": maker.place.yt}[self.gives])

    def got(self, maker: Maker) -> int:
        """What it has of what the order brings."""
        return held(maker, maker.place.yt if self.side == "buy_yt" else maker.place.asset)


TRADES = (
    Trade("sell_pt", "pt", 300 * WAD, "4.5", "6"),
    Trade("sell_yt", "yt", 1_000 * WAD, "5.5", "3.5"),
    Trade("buy_yt", "asset", 150 * WAD, "4.5", "7", tool="pendle_place_yt_bid"),
)
each_side = pytest.mark.parametrize("trade", TRADES, ids=[each.side for each in TRADES])


def held(maker: Maker, token: str) -> int:
    return int(maker.taker.world.rpc.balance_of(token, maker.live.golem.address))


def agree(maker: Maker, permit_id: str) -> None:
    """What may be lost whole waits for the owner, who approves it; then it is carried out."""
    request, person = ChangeRequest.objects.get(permit_id=UUID(permit_id)), maker.live.owner
    if not TOTPDevice.objects.filter(user=person).exists():
        give_device(person)
    approve(request, person)
    execute_change(request_id=request.pk, now=clock.now())


@pytest.fixture
def owner(maker: Maker) -> Maker:
    """The same with 1,200 claims and 2,700 yield tokens that a stranger gave."""
    taker, to = maker.taker, maker.live.golem.address
    for token, amount in ((maker.place.pt, 1_200), (maker.place.yt, 2_700)):
        taker.world.transact(taker.account, token, "transfer(address,uint256)", to, amount * WAD)
    return maker


def least_of(row: SignedPromise) -> int:
    return int(row.permit.result["data"]["least_out"])


def wait(owner: Maker, seconds: int) -> None:
    owner.taker.world.rpc.call("evm_increaseTime", seconds)
    owner.taker.world.rpc.call("evm_mine")
