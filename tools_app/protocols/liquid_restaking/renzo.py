"""Renzo: ezETH at the share of all it holds, requests that cool down and may have to wait for the buffer to be filled.

Requests are listed by place, and the last takes the place of one that is claimed: places are read anew before a claim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from eth_abi.abi import encode
from eth_utils.crypto import keccak

from tools_app.chain.abi_records import AbiEvent
from tools_app.protocols.liquid_restaking.addresses import COIN, RENZO, RestakingContracts
from tools_app.protocols.liquid_restaking.issuers import WAD, Holding, Request, Standing
from tools_app.standards import erc20
from tools_app.toolkit.context import AbiValues, ReadCall
from tools_app.toolkit.positions import WHEN_REPAID

DEPOSIT: Final = "function depositETH(uint256 referralId) payable"
REQUEST: Final = "function withdraw(uint256 amount, address assetOut)"
CLAIM: Final = "function claim(uint256 withdrawRequestIndex, address user)"
SUPPLY: Final = "function totalSupply() view returns (uint256)"
PAUSED: Final = "function paused() view returns (bool)"
MOST_TVL: Final = "function maxDepositTVL() view returns (uint256)"
TVL: Final = "function calculateTVLs() view returns (uint256[][] each, uint256[] sums, uint256 total)"
COOLDOWN: Final = "function coolDownPeriod() view returns (uint256)"
AVAILABLE: Final = "function getAvailableToWithdraw(address asset) view returns (uint256)"
DEFICIT: Final = "function getQueueDeficit(address asset) view returns (uint256)"
RISK_COOLDOWN: Final = "function withdrawCooldownPeriod() view returns (uint256)"
DEPOSITS_PAUSED: Final = "function depositPaused() view returns (bool)"
QUEUE: Final = "function withdrawQueue() view returns (address)"
RISK: Final = "function riskOracleMiddleware() view returns (address)"
REQUESTS_PAUSED: Final = "function withdrawRequestPaused() view returns (bool)"
CLAIMS_PAUSED: Final = "function withdrawClaimPaused() view returns (bool)"
LINE: Final = "function ethWithdrawQueue() view returns (uint256 toFill, uint256 filled)"
COUNT: Final = "function getOutstandingWithdrawRequests(address user) view returns (uint256)"
ASKED: Final = (
    "function withdrawRequests(address user, uint256 index) view returns (address collateralToken, uint256"
    " withdrawRequestID, uint256 amountToRedeem, uint256 ezETHLocked, uint256 createdAt)"
)
IS_QUEUED: Final = "function withdrawQueued(bytes32 id) view returns (bool queued, uint256 fillAt)"
DEPOSITED: Final = (
    "event Deposit(address depositor, address token, uint256 amount, uint256 ezETHMinted, uint256 referralId)"
)
CREATED: Final = (
    "event WithdrawRequestCreated(uint256 indexed withdrawRequestID, address user, address claimToken,"
    " uint256 amountToRedeem, uint256 ezETHAmountLocked, uint256 withdrawRequestIndex, bool queued,"
    " uint256 queueFilled)"
)


@dataclass(frozen=True, slots=True)
class Deposited:
    """What was put in, and the tokens that were made for it."""

    token: str
    amount: int
    ezeth_minted: int


@dataclass(frozen=True, slots=True)
class Created:
    """A request that was opened."""

    user: str
    withdraw_request_id: int


DEPOSITS: Final = AbiEvent(DEPOSITED, Deposited)
REQUESTS: Final = AbiEvent(CREATED, Created)
_STRUCT: Final = "(address,uint256,uint256,uint256,uint256)"


def standing_calls(at: RestakingContracts) -> list[ReadCall]:
    """The reads of how it stands."""
    manager, queue, risk = at.renzo_manager, at.renzo_queue, at.renzo_risk
    return [
        ReadCall(at.renzo_deposits, QUEUE),
        ReadCall(queue, RISK),
        ReadCall(at.ezeth, SUPPLY),
        ReadCall(manager, PAUSED),
        ReadCall(risk, DEPOSITS_PAUSED),
        ReadCall(manager, MOST_TVL),
        ReadCall(manager, TVL),
        ReadCall(queue, PAUSED),
        ReadCall(risk, REQUESTS_PAUSED),
        ReadCall(risk, CLAIMS_PAUSED),
        ReadCall(queue, COOLDOWN),
        ReadCall(risk, RISK_COOLDOWN),
        ReadCall(queue, AVAILABLE, (COIN,)),
        ReadCall(queue, DEFICIT, (COIN,)),
        ReadCall(queue, LINE),
    ]


def parse_standing(values: Sequence[AbiValues], at: RestakingContracts) -> Standing:
    """Their answers.

    Nothing goes in where the chain names another queue or risk oracle than those that are known, and nothing is asked
    of a queue that is none any more; what another oracle would say of the way out, the simulation finds out.
    """
    told = [each[0] for each in values]
    named_queue, named_risk, supply, manager_paused, no_deposits, most = told[:6]
    tvl, (queue_paused, no_requests, no_claims, cool, risk_cool, free, short) = int(values[6][2]), told[7:14]
    is_queue, is_risk = str(named_queue) == at.renzo_queue, str(named_risk) == at.renzo_risk
    return Standing(
        rate=tvl * WAD // int(supply) if supply else WAD,
        is_in_paused=bool(manager_paused or no_deposits) or not (is_queue and is_risk),
        is_out_paused=bool(queue_paused or (is_risk and no_requests)) or not is_queue,
        is_claim_paused=bool(queue_paused or (is_risk and no_claims)),
        waiting=int(short),
        liquid=int(free),
        room=max(0, int(most) - tvl) if most else None,
        delay=max(int(cool), int(risk_cool)),
        next_unlocked=int(values[14][1]),
    )


def account_calls(at: RestakingContracts, account: str) -> list[ReadCall]:
    """The reads of what an account holds."""
    return [erc20.balance_call(at.ezeth, account), ReadCall(at.renzo_queue, COUNT, (account,))]


def request_calls(at: RestakingContracts, account: str, count: int) -> list[ReadCall]:
    """The reads of an account's requests by place."""
    return [ReadCall(at.renzo_queue, ASKED, (account, index)) for index in range(count)]


def queued_calls(at: RestakingContracts, account: str, values: Sequence[tuple[object, ...]]) -> list[ReadCall]:
    """The reads of whether requests wait for the buffer to be filled: by the hash of each and its owner."""
    names = [keccak(encode([_STRUCT, "address"], [tuple(each), account])) for each in values]
    return [ReadCall(at.renzo_queue, IS_QUEUED, (name,)) for name in names]


def parse_requests(
    values: Sequence[AbiValues], queued: Sequence[AbiValues], standing: Standing, *, now: int
) -> tuple[Request, ...]:
    """Requests by place."""
    found = []
    for place, ((_, number, amount, tokens, created), (is_queued, fill_at)) in enumerate(
        zip(values, queued, strict=True)
    ):
        cooled_at = int(created) + standing.delay
        is_filled = not is_queued or int(fill_at) <= standing.next_unlocked
        free_at = cooled_at if cooled_at > now else None if is_filled else WHEN_REPAID
        worth = min(int(amount), standing.worth(int(tokens)))
        found.append(Request(RENZO, int(number), place, int(amount), worth, free_at))
    return tuple(found)


def parse_holding(
    values: Sequence[AbiValues], standing: Standing, requests: tuple[Request, ...], *, has_more: bool
) -> Holding:
    """What the account's balances tell."""
    return Holding(RENZO, standing, int(values[0][0]), 0, requests, has_more)
