"""The bank on the shelf."""

from __future__ import annotations

from typing import Any

from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import Contract, LeavingCall, ProtocolDef, RightEvent, Trait, Valuer

from .addresses import deployments
from .effects import BankEffects
from .offers import BankOffers
from .positions import NAME, BankExits, BankPositions


def _ask_bank(chain_id: int) -> Reads[tuple[Any, ...]]:
    yield []
    return ((deployments(chain_id) or {})["bank"],)


PROTOCOL = ProtocolDef(
    name=NAME,
    label="The made-up bank",
    deployments=deployments,
    entry="bank",
    contracts=(
        Contract(
            "bank",
            "The made-up bank",
            (
                "function deposit(uint256)",
                "function borrow(uint256)",
                "function repay(uint256)",
                "function request(uint256)",
                "function claim(uint256)",
                "function cancelOffer(uint256)",
            ),
            takes_tokens=True,
            valued_at="bank",
        ),
    ),
    valuers=(
        Valuer(
            subject="bank",
            code="MadeUpBankValuer",
            constructor="constructor(address bank_)",
            arguments=_ask_bank,
            views=("function bank() view returns (address)",),
        ),
    ),
    positions=BankPositions(),
    exits=BankExits(),
    leaving=tuple(
        LeavingCall("bank", f"function {name}(uint256)") for name in ("repay", "request", "claim", "cancelOffer")
    ),
    effects=BankEffects(),
    promises=BankOffers(),
    rights=(
        RightEvent(
            "TellerSet(address,address,bool)",
            giver=0,
            taker=1,
            amount=2,
            label="may act at the bank",
            revoke=lambda contract, taker, token: ("function setTeller(address,bool)", (taker, False)),
        ),
    ),
    no_lending="its debts are for tests of everything but the tripwire",
    traits=frozenset({Trait.LEVERAGE, Trait.ASYNC}),
    simulated_on=frozenset({31337}),
    events=("event Deposited(address indexed account, uint256 amount)",),
    errors=("error NotReady(uint256 id, uint256 readyAt)", "error TooMuchDebt(uint256 cover, uint256 debt)"),
)
