"""What an account has at the bank, and how it gets out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tools_app.chain.abi import event_topic
from tools_app.toolkit.context import ReadCall
from tools_app.toolkit.positions import (
    Act,
    ExitStep,
    Leg,
    NeedsTrade,
    Position,
    PositionRef,
    PositionsUnreadable,
    Reads,
    Wait,
)
from tools_app.toolkit.views import LogEntry

from .addresses import DEPLOYED

NAME = "made_up_bank"
DEPOSITED = "function deposited(address) view returns (uint256)"
OWED = "function owed(address) view returns (uint256)"
HEALTH = "function health(address) view returns (uint256)"
REQUESTS_OF = "function requestsOf(address) view returns (uint256[])"
REQUEST = "function requests(uint256) view returns (address, uint256, uint256)"
REQUESTED = "event Requested(uint256 indexed id, address indexed account, uint256 amount, uint256 readyAt)"
COVER_BPS = 8_000

HASTE: dict[str, int] = {}
"""In which order its author has a golem leave, where it is not the safe one: cash that is asked for before the debt is
paid, in a plan of its own (`asks_first`) or in one with the repayment (`on_the_way`), or parts of a debt (`at_most`).
"""


class BankPositions:
    """One account with deposit and debt, and one position for each request in the queue."""

    def list(self, chain_id: int, account: str, hints: Sequence[PositionRef]) -> Reads[tuple[Position, ...]]:
        """Two batches: the account, and what waits in the queue."""
        bank = DEPLOYED[chain_id]
        told = yield [
            ReadCall(bank["bank"], signature, (account,)) for signature in (DEPOSITED, OWED, HEALTH, REQUESTS_OF)
        ]
        if not all(each.ok for each in told):
            raise PositionsUnreadable("the bank does not answer")
        deposited, owed, health, ids = (each.values[0] for each in told)
        found: list[Position] = []
        if deposited or owed:
            found.append(
                Position(
                    ref=PositionRef(NAME, "account", chain_id, account),
                    label="Account at the bank",
                    legs=(Leg(bank["cash"], deposited, cover_bps=COVER_BPS), Leg(bank["loan"], -owed)),
                    health_bps=min(health, 10**9) if owed else None,
                )
            )
        if ids:
            waiting = yield [ReadCall(bank["bank"], REQUEST, (each,)) for each in ids]
            found += [
                Position(
                    ref=PositionRef(NAME, "request", chain_id, str(number)),
                    label=f"Request {number}",
                    legs=(Leg(bank["cash"], each.values[1], free_at=each.values[2]),),
                )
                for number, each in zip(ids, waiting, strict=True)
            ]
        return tuple(found)

    def born(self, logs: Sequence[LogEntry], account: str, chain_id: int) -> tuple[PositionRef, ...]:
        """Requests that logs tell of."""
        return tuple(
            PositionRef(NAME, "request", chain_id, str(int(log.topics[1], 16)))
            for log in logs
            if log.topics and log.topics[0] == event_topic(REQUESTED)
        )


class BankExits:
    """Repay, ask for everything back, wait, claim."""

    def next_step(self, position: Position, held: Mapping[str, int], now: int) -> ExitStep | None:
        """The account first pays what it owes; a request is claimed when it is due."""
        bank = DEPLOYED[position.ref.chain_id]
        if position.ref.kind == "request":
            free_at = position.legs[0].free_at or 0
            if now < free_at:
                return Wait(free_at, "the bank's queue")
            return Act("bank_claim", {"request_id": position.ref.id}, "the queue is over")
        owed, deposited = -position.raw_of(bank["loan"]), position.raw_of(bank["cash"])
        if owed and "asks_first" in HASTE:
            return Act("bank_request", {"amount": str(HASTE["asks_first"])}, "the cash first")
        if owed:
            missing = owed - held.get(bank["loan"], 0)
            if missing > 0:
                return NeedsTrade(bank["loan"], missing, "the debt is repaid first")
            return Act("bank_repay", {"amount": str(min(owed, HASTE.get("at_most", owed)))}, "the debt is repaid first")
        return Act("bank_request", {"amount": str(deposited)}, "nothing is owed") if deposited else None
