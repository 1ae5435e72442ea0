"""Moonwell as the product knows it: a lender of the family of Compound V2."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.moonwell import signatures
from tools_app.protocols.moonwell.addresses import COMPTROLLER, LOCAL_CHAIN_ID, MARKETS, NAME, deployments
from tools_app.protocols.moonwell.effects import EFFECTS
from tools_app.protocols.moonwell.lending import MoonwellLending
from tools_app.protocols.moonwell.positions import MoonwellExits, MoonwellPositions
from tools_app.toolkit.protocol import NOT_UNDER_A_CAGE, Contract, LeavingCall, ProtocolDef, Trait

_MINT: Final = "function mint(uint256)"
_REDEEM: Final = "function redeem(uint256)"
_REDEEM_UNDERLYING: Final = "function redeemUnderlying(uint256)"
_BORROW: Final = "function borrow(uint256)"
_REPAY: Final = "function repayBorrow(uint256)"
_ENTER: Final = "function enterMarkets(address[])"
_CLAIM: Final = "function claimReward(address,address[])"

PROTOCOL: Final = ProtocolDef(
    name=NAME,
    label="Moonwell",
    deployments=deployments,
    entry=COMPTROLLER,
    contracts=(
        *(
            Contract(
                key,
                f"Moonwell {symbol}",
                (_MINT, _REDEEM, _REDEEM_UNDERLYING, _BORROW, _REPAY),
                NOT_UNDER_A_CAGE,
                takes_tokens=True,
            )
            for key, symbol in MARKETS.items()
        ),
        Contract(COMPTROLLER, "Moonwell comptroller", (_ENTER, _CLAIM), NOT_UNDER_A_CAGE, own={_CLAIM: ((0,),)}),
    ),
    has_doors=True,
    positions=MoonwellPositions(),
    exits=MoonwellExits(),
    # A market takes receipts and debts of the caller alone, and pays the caller.
    leaving=(
        *(LeavingCall(key, each) for key in MARKETS for each in (_REDEEM, _REDEEM_UNDERLYING, _REPAY)),
        LeavingCall(COMPTROLLER, _CLAIM, own=((0,),)),
    ),
    effects=EFFECTS,
    lending=MoonwellLending(),
    listed_as=("moonwell-lending",),
    traits=frozenset({Trait.LEVERAGE}),
    simulated_on=frozenset({LOCAL_CHAIN_ID}),
    events=signatures.EVENTS,
    uncaged=(
        "what is owed a view tells as of the market's last accrual, and what is owed now only a call that writes, which"
        " a valuer may not make: it would count debts too low; and a market that refuses answers a number and goes on"
    ),
)
"""Allowances of receipts are those of any token; it has no rights of its own. It reverts with sentences."""
