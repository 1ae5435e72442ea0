"""ether.fi: weETH over eETH, requests that are NFTs and wait for an admin to finalize them, redemption for a fee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi_records import AbiEvent
from tools_app.protocols.liquid_restaking.addresses import COIN, ETHERFI, RestakingContracts
from tools_app.protocols.liquid_restaking.issuers import WAD, Holding, Request, Standing
from tools_app.standards import erc20
from tools_app.toolkit.context import AbiValues, ReadCall, ReadOutcome
from tools_app.toolkit.positions import WHEN_REPAID

DEPOSIT: Final = "function depositETHForWeETH(address referral) payable returns (uint256)"
UNWRAP: Final = "function unwrap(uint256 amount) returns (uint256)"
REQUEST: Final = "function requestWithdraw(address recipient, uint256 amount) returns (uint256)"
CLAIM: Final = "function claimWithdraw(uint256 tokenId)"
REDEEM: Final = "function redeemWeEth(uint256 amount, address receiver, address outputToken)"
WORTH: Final = "function amountForShare(uint256 share) view returns (uint256)"
PAUSED: Final = "function paused() view returns (bool)"
LIQUID: Final = "function totalValueInLp() view returns (uint128)"
REDEEMABLE: Final = "function totalRedeemableAmount(address token) view returns (uint256)"
TERMS: Final = (
    "function tokenToRedemptionInfo(address token) view returns ((uint64 capacity, uint64 remaining, uint64 lastRefill,"
    " uint64 refillRate) limit, uint16 splitBps, uint16 feeBps, uint16 watermarkBps)"
)
SHARES: Final = "function shares(address account) view returns (uint256)"
ASKED: Final = (
    "function getRequest(uint256 id) view returns"
    " ((uint96 amountOfEEth, uint96 shareOfEEth, bool isValid, uint32 feeGwei) request)"
)
OWNER: Final = "function ownerOf(uint256 id) view returns (address)"
CLAIMABLE: Final = "function getClaimableAmount(uint256 id) view returns (uint256)"
NEXT: Final = "function nextRequestId() view returns (uint32)"
NEWEST: Final = 16
"""So many of the newest requests of all are looked at, and at most twice as many."""
REBASED: Final = "event Rebase(uint256 totalEthLocked, uint256 totalEEthShares)"
CREATED: Final = (
    "event WithdrawRequestCreated(uint32 indexed requestId, uint256 amountOfEEth, uint256 shareOfEEth, address owner,"
    " uint256 fee)"
)


@dataclass(frozen=True, slots=True)
class Rebased:
    """All ether of the pool, and the shares of it."""

    total_eth_locked: int
    total_eeth_shares: int


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was opened."""

    request_id: int


REBASES: Final = AbiEvent(REBASED, Rebased)
REQUESTS: Final = AbiEvent(CREATED, Asked)
_GWEI: Final = 10**9


def standing_calls(at: RestakingContracts) -> list[ReadCall]:
    """The reads of how it stands."""
    pool, redemption = at.etherfi_pool, at.etherfi_redemption
    return [
        ReadCall(pool, WORTH, (WAD,)),
        ReadCall(pool, PAUSED),
        ReadCall(pool, LIQUID),
        erc20.balance_call(at.eeth, at.etherfi_requests),
        ReadCall(redemption, PAUSED),
        ReadCall(redemption, REDEEMABLE, (COIN,)),
        ReadCall(redemption, TERMS, (COIN,)),
    ]


def parse_standing(values: Sequence[AbiValues], at: RestakingContracts) -> Standing:
    """Their answers."""
    (rate,), (paused,), (liquid,), (waiting,), (is_shut,), (at_once,), terms = values
    return Standing(
        rate=int(rate),
        is_in_paused=bool(paused),
        is_out_paused=bool(paused),
        is_claim_paused=bool(paused),
        waiting=int(waiting),
        liquid=int(liquid),
        at_once=0 if is_shut or paused else int(at_once),
        fee_bps=int(terms[2]),
    )


def account_calls(at: RestakingContracts, account: str) -> list[ReadCall]:
    """The reads of what an account holds, how many requests, and the number that the next of all will have."""
    nft = at.etherfi_requests
    return [
        erc20.balance_call(at.weeth, account),
        ReadCall(at.eeth, SHARES, (account,)),
        erc20.balance_call(nft, account),
        ReadCall(nft, NEXT),
    ]


def list_newest(next_number: int) -> range:
    """The newest numbers of all; where they begin hardly ever moves with one more that is asked for."""
    return range(max(1, (next_number - NEWEST) // NEWEST * NEWEST), next_number)


def request_calls(at: RestakingContracts, numbers: Sequence[int]) -> list[ReadCall]:
    """The reads of requests by number, three each."""
    nft = at.etherfi_requests
    return [ReadCall(nft, each, (number,)) for number in numbers for each in (ASKED, OWNER, CLAIMABLE)]


def parse_requests(
    numbers: Sequence[int], outcomes: Sequence[ReadOutcome], account: str, standing: Standing
) -> tuple[Request, ...]:
    """Those of them that are the account's."""
    found = []
    for index, number in enumerate(numbers):
        asked, owner, claimable = outcomes[3 * index : 3 * index + 3]
        if not asked.ok or not owner.ok or str(owner.values[0]) != account:
            continue
        amount, share, is_valid, fee = asked.values[0]
        now = min(int(amount), standing.worth(int(share))) - int(fee) * _GWEI
        worth = int(claimable.values[0]) if claimable.ok else max(0, now)
        free_at = None if claimable.ok else WHEN_REPAID
        found.append(Request(ETHERFI, number, number, int(amount), worth, free_at, is_valid=bool(is_valid)))
    return tuple(found)


def parse_holding(values: Sequence[AbiValues], standing: Standing, requests: tuple[Request, ...]) -> Holding:
    """What the account's balances tell."""
    (wrapped,), (loose,), *_ = values
    return Holding(ETHERFI, standing, int(wrapped) + int(loose), int(loose), requests)
