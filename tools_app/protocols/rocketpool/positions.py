"""Reads what an account has at Rocket Pool, as ether, and the way out: burning, as far as there is ether behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.core.stored_json import read_stored
from tools_app.protocols.rocketpool.addresses import NAME, contracts_on
from tools_app.protocols.rocketpool.reads import COLLATERAL, ETH_VALUE, EXCHANGE_RATE
from tools_app.standards import erc20
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import (
    Act,
    ExitStep,
    Leg,
    Locked,
    Position,
    PositionRef,
    Positions,
    PositionsUnreadable,
    Reads,
    Wait,
)
from tools_app.toolkit.views import NATIVE

STAKE: Final = "stake"
RETH: Final = "reth"
DUST_WEI: Final = 100


def stake_ref(chain_id: int) -> PositionRef:
    """Names what is held of rETH."""
    return PositionRef(NAME, STAKE, chain_id, RETH)


class RocketPoolPositions(Positions):
    """rETH, at the rate the network reported last; one batch, two where there is some."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Every position. Raises PositionsUnreadable."""
        at = contracts_on(chain_id)
        if at is None:
            return ()
        reth = at.reth
        (balance,) = yield [erc20.balance_call(reth, account)]
        if not balance.ok:
            raise PositionsUnreadable("rETH does not tell balances")
        held = int(balance.values[0])
        if not held:
            return ()
        outcomes = yield [ReadCall(reth, ETH_VALUE, (held,)), ReadCall(reth, EXCHANGE_RATE), ReadCall(reth, COLLATERAL)]
        if not all(outcome.ok for outcome in outcomes):
            raise PositionsUnreadable("rETH does not tell what it is worth, its rate or what is behind it")
        ether, rate, collateral = (int(outcome.values[0]) for outcome in outcomes)
        return (
            Position(
                ref=stake_ref(chain_id),
                label="rETH (Rocket Pool)",
                legs=(Leg(NATIVE, ether),),
                claim_tokens=frozenset({reth}),
                facts={"r_eth": str(held), "exchange_rate": str(rate), "collateral": str(collateral)},
                locked=(Locked(NATIVE, ether - collateral, "dry"),) if collateral + DUST_WEI < ether else (),
            ),
        )


@dataclass(frozen=True, slots=True)
class _Facts:
    r_eth: int
    collateral: int


class RocketPoolExits:
    """Burn what there is ether for; wait for more."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """What to do next; dust counts as nothing."""
        facts = read_stored(_Facts, position.facts)
        ether, amount = position.legs[0].raw, facts.r_eth
        if ether <= DUST_WEI:
            return None
        behind = facts.collateral
        # A little under, so that what rounds up against us is there too.
        part = amount if behind >= ether else max(0, (behind - 1) * amount // ether - 1)
        if part * ether // amount <= DUST_WEI:
            return Wait(None, "there is no ether to burn rETH against; deposits of others or exits bring some")
        asked = {"amount": str(part), "chain_id": position.ref.chain_id}
        return Act("rocketpool_unstake", asked, "rETH is burned for its ether")
