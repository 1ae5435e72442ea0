"""What calls to issuers of restaked ether do, read from their bytes; written from the contracts' interfaces alone.

Everything must come back to the account that calls, as ether: another receiver, another asset or a referral is not
accounted for, nor is any function that is not below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tools_app.protocols.liquid_restaking.addresses import deployments
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import NATIVE

_NOBODY: Final = "0x0000000000000000000000000000000000000000"
_COIN: Final = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
_WAD: Final = 10**18
_APPROVE: Final = "function approve(address,uint256)"
_PUT_IN: Final = {
    ("etherfi_adapter", "function depositETHForWeETH(address)"): "etherfi",
    ("kelp_pool", "function depositETH(uint256,string)"): "kelp",
    ("renzo_manager", "function depositETH(uint256)"): "renzo",
}
_UNWRAP: Final = "function unwrap(uint256)"
_OF_SHARES: Final = "function amountForShare(uint256) view returns (uint256)"
_KELP_PRICE: Final = "function rsETHPrice() view returns (uint256)"
_RENZO_RATE: Final = "function getRate() view returns (uint256)"
_TERMS: Final = (
    "function tokenToRedemptionInfo(address) view returns ((uint64,uint64,uint64,uint64),uint16,uint16,uint16)"
)
_KELP_FEE: Final = "function instantWithdrawalFee() view returns (uint256)"
_OWNER: Final = "function ownerOf(uint256) view returns (address)"
_CLAIMABLE: Final = "function getClaimableAmount(uint256) view returns (uint256)"
_OLDEST: Final = (
    "function getUserWithdrawalRequest(address,address,uint256) view returns (uint256,uint256,uint256,uint256)"
)
_ASKED: Final = "function withdrawRequests(address,uint256) view returns (address,uint256,uint256,uint256,uint256)"


class RestakedEtherEffects:
    """Reads deposits, requests, redemptions and claims at the three issuers."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        at = deployments(chain.chain_id) or {}
        for (key, signature), issuer in _PUT_IN.items():
            if call.to == at.get(key) and calls(call.data, signature):
                _put_in(call, issuer, read_exactly(call.data, signature), chain, at, into)
                return
        if call.value:
            raise UnknownCall(f"{call.to} is sent coin along with a call that takes none")
        if call.to in {at.get("weeth"), at.get("eeth"), at.get("rseth"), at.get("ezeth")} and calls(
            call.data, _APPROVE
        ):
            spender, amount = read_exactly(call.data, _APPROVE)
            into.approvals.append((call.to, spender, amount))
            return
        for (key, signature), reader in _READERS.items():
            if call.to == at.get(key) and calls(call.data, signature):
                reader(read_exactly(call.data, signature), account, chain, at, into)
                return
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")

    def read_claim(self, token: str, raw: int, *, chain: ChainReader) -> ChangeRead | None:
        """What a token that is traded takes from the position, or brings to it."""
        at = deployments(chain.chain_id) or {}
        issuer = {
            at.get("weeth"): "etherfi",
            at.get("eeth"): "etherfi",
            at.get("rseth"): "kelp",
            at.get("ezeth"): "renzo",
        }.get(token)
        if issuer is None:
            return None
        ether = abs(raw) if token == at.get("eeth") else abs(raw) * _rate(issuer, chain, at) // _WAD
        return _stake(issuer, chain, ether if raw > 0 else -ether)


def _put_in(
    call: Call, issuer: str, args: tuple[Any, ...], chain: ChainReader, at: Mapping[str, str], into: Effects
) -> None:
    if not call.value:
        raise UnknownCall("nothing is restaked")
    *least, referral = args
    if referral not in (0, "", _NOBODY):
        raise UnknownCall(f"{referral} would be told as who sent the account there, which no tool does")
    if least and least[0] * _rate(issuer, chain, at) // _WAD < call.value * 98 // 100:
        raise UnknownCall("far less than what is put in would do for the call")
    into.spends[NATIVE] += call.value
    into.changes.append(_stake(issuer, chain, call.value))


def _unwrap(args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects) -> None:
    """weETH and eETH are one position: nothing changes in it."""


def _ask_etherfi(args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects) -> None:
    recipient, amount = args
    if recipient != account:
        raise UnknownCall(f"the request would be {recipient}'s and not the account's")
    _ask("etherfi", amount, chain, into)


def _ask_kelp(args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects) -> None:
    asset, tokens, referral = args
    _is_coin(asset, referral)
    _ask("kelp", tokens * _rate("kelp", chain, at) // _WAD, chain, into)


def _ask_renzo(args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects) -> None:
    tokens, asset = args
    _is_coin(asset)
    _ask("renzo", tokens * _rate("renzo", chain, at) // _WAD, chain, into)


def _redeem_etherfi(
    args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects
) -> None:
    tokens, receiver, asset = args
    if receiver != account:
        raise UnknownCall(f"the ether would be {receiver}'s and not the account's")
    _is_coin(asset)
    fee = int(chain.call(at["etherfi_redemption"], _TERMS, asset)[2])
    _redeem("etherfi", tokens * _rate("etherfi", chain, at) // _WAD, fee, chain, into)


def _redeem_kelp(args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects) -> None:
    asset, tokens, referral = args
    _is_coin(asset, referral)
    fee = int(chain.call(at["kelp_withdrawals"], _KELP_FEE)[0])
    _redeem("kelp", tokens * _rate("kelp", chain, at) // _WAD, fee, chain, into)


def _claim_etherfi(
    args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects
) -> None:
    (number,) = args
    if str(chain.call(at["etherfi_requests"], _OWNER, number)[0]) != account:
        raise UnknownCall(f"request {number} is not the account's own")
    _claim(f"etherfi-{number}", int(chain.call(at["etherfi_requests"], _CLAIMABLE, number)[0]), chain, into)


def _claim_kelp(args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects) -> None:
    asset, referral = args
    _is_coin(asset, referral)
    told = chain.call(at["kelp_withdrawals"], _OLDEST, asset, account, 0)
    _claim(f"kelp-{int(told[3])}", int(told[1]), chain, into)


def _claim_renzo(args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects) -> None:
    place, user = args
    if user != account:
        raise UnknownCall(f"the request is {user}'s and not the account's")
    _, number, amount, tokens, _ = chain.call(at["renzo_queue"], _ASKED, account, place)
    worth = int(tokens) * _rate("renzo", chain, at) // _WAD
    _claim(f"renzo-{int(number)}", min(int(amount), worth), chain, into)


_READERS: Final[Mapping[tuple[str, str], Callable[..., None]]] = {
    ("weeth", _UNWRAP): _unwrap,
    ("etherfi_pool", "function requestWithdraw(address,uint256)"): _ask_etherfi,
    ("etherfi_redemption", "function redeemWeEth(uint256,address,address)"): _redeem_etherfi,
    ("etherfi_requests", "function claimWithdraw(uint256)"): _claim_etherfi,
    ("kelp_withdrawals", "function initiateWithdrawal(address,uint256,string)"): _ask_kelp,
    ("kelp_withdrawals", "function instantWithdrawal(address,uint256,string)"): _redeem_kelp,
    ("kelp_withdrawals", "function completeWithdrawal(address,string)"): _claim_kelp,
    ("renzo_queue", "function withdraw(uint256,address)"): _ask_renzo,
    ("renzo_queue", "function claim(uint256,address)"): _claim_renzo,
}


def _ask(issuer: str, ether: int, chain: ChainReader, into: Effects) -> None:
    into.changes.append(_stake(issuer, chain, -ether))
    into.changes.append(ChangeRead("liquid_restaking", "request", NATIVE, ether, is_exact=False))


def _redeem(issuer: str, ether: int, fee_bps: int, chain: ChainReader, into: Effects) -> None:
    # Nothing in the call bounds what it pays: the fee and the rate are those of the block it runs in.
    into.receives[NATIVE] += (ether * (10_000 - fee_bps) // 10_000) * 99 // 100
    into.open_minimums.add(NATIVE)
    into.changes.append(_stake(issuer, chain, -ether))


def _claim(request: str, ether: int, chain: ChainReader, into: Effects) -> None:
    if not ether:
        raise UnknownCall(f"request {request} gives nothing now")
    into.receives[NATIVE] += ether * 99 // 100
    into.open_minimums.add(NATIVE)
    ref = PositionRef("liquid_restaking", "request", chain.chain_id, request)
    into.changes.append(ChangeRead("liquid_restaking", "request", NATIVE, -ether, ref, is_exact=False))


def _stake(issuer: str, chain: ChainReader, ether: int) -> ChangeRead:
    ref = PositionRef("liquid_restaking", "stake", chain.chain_id, issuer)
    # A report in between moves what a token is worth.
    return ChangeRead("liquid_restaking", "stake", NATIVE, ether, ref, is_exact=False)


def _rate(issuer: str, chain: ChainReader, at: Mapping[str, str]) -> int:
    if issuer == "etherfi":
        return int(chain.call(at["etherfi_pool"], _OF_SHARES, _WAD)[0])
    if issuer == "kelp":
        return int(chain.call(at["kelp_oracle"], _KELP_PRICE)[0])
    return int(chain.call(at["renzo_rate"], _RENZO_RATE)[0])


def _is_coin(asset: str, referral: str = "") -> None:
    if asset != _COIN:
        raise UnknownCall(f"{asset} would be paid and not the chain's coin")
    if referral:
        raise UnknownCall("a referral is named, which no tool does")
