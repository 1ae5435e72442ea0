"""Reads what calls to issuers of restaked ether do from their bytes; written from the contracts' interfaces alone.

Everything must come back to the account that calls, as ether: another receiver, another asset or a referral is not
accounted for, nor is any function that is not below.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tools_app.protocols.liquid_restaking.addresses import RestakingContracts, contracts_on, deployments
from tools_app.standards.call_table import CallTable, Reading, Says
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, UnknownCall
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import NATIVE

_NOBODY: Final = "0x0000000000000000000000000000000000000000"
_COIN: Final = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
_WAD: Final = 10**18
_RATES: Final = {
    "etherfi": ("function amountForShare(uint256) view returns (uint256)", (_WAD,)),
    "kelp": ("function rsETHPrice() view returns (uint256)", ()),
}
_RENZO_HOLDS: Final = "function calculateTVLs() view returns (uint256[][],uint256[],uint256)"
_SUPPLY: Final = "function totalSupply() view returns (uint256)"
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


class RestakedEtherEffects(CallTable):
    """Reads deposits, requests, redemptions and claims at the three issuers."""

    def read_claim(self, token: str, raw: int, *, chain: ChainReader) -> ChangeRead | None:
        """What a token that is traded takes from the position, or brings to it."""
        at = contracts_on(chain.chain_id)
        if at is None:
            return None
        issuers = {at.weeth: "etherfi", at.eeth: "etherfi", at.rseth: "kelp", at.ezeth: "renzo"}
        issuer = issuers.get(token)
        if issuer is None:
            return None
        ether = abs(raw) if token == at.eeth else abs(raw) * _rate(chain, at, issuer) // _WAD
        ref = PositionRef("liquid_restaking", "stake", chain.chain_id, issuer)
        return ChangeRead("liquid_restaking", "stake", NATIVE, ether if raw > 0 else -ether, ref, is_exact=False)


def _put_in_etherfi(reading: Reading, referral: str) -> None:
    _put_in(reading, "etherfi", is_referred=referral != _NOBODY)


def _put_in_kelp(reading: Reading, least: int, referral: str) -> None:
    if _worth(reading, "kelp", least) < reading.call.value * 98 // 100:
        raise UnknownCall("far less than what is put in would do for the call")
    _put_in(reading, "kelp", is_referred=referral != "")


def _put_in_renzo(reading: Reading, referral: int) -> None:
    _put_in(reading, "renzo", is_referred=referral != 0)


def _put_in(reading: Reading, issuer: str, *, is_referred: bool) -> None:
    if is_referred:
        raise UnknownCall("somebody would be told as who sent the account there, which no tool does")
    reading.spend(NATIVE, reading.call.value)
    _stake(reading, issuer, reading.call.value)


def _unwrap(reading: Reading, amount: int) -> None:
    """weETH and eETH are one position: nothing changes in it."""


def _ask_etherfi(reading: Reading, recipient: str, amount: int) -> None:
    reading.check_own(recipient, "the request")
    _ask(reading, "etherfi", amount)


def _ask_kelp(reading: Reading, asset: str, tokens: int, referral: str) -> None:
    _is_coin(asset, referral)
    _ask(reading, "kelp", _worth(reading, "kelp", tokens))


def _ask_renzo(reading: Reading, tokens: int, asset: str) -> None:
    _is_coin(asset)
    _ask(reading, "renzo", _worth(reading, "renzo", tokens))


def _redeem_etherfi(reading: Reading, tokens: int, receiver: str, asset: str) -> None:
    reading.check_own(receiver, "the ether")
    _is_coin(asset)
    fee = int(reading.chain.call(_contracts(reading).etherfi_redemption, _TERMS, asset)[2])
    _redeem(reading, "etherfi", tokens, fee)


def _redeem_kelp(reading: Reading, asset: str, tokens: int, referral: str) -> None:
    _is_coin(asset, referral)
    _redeem(reading, "kelp", tokens, int(reading.ask("kelp_withdrawals", _KELP_FEE)))


def _claim_etherfi(reading: Reading, number: int) -> None:
    if str(reading.ask("etherfi_requests", _OWNER, number)) != reading.account:
        raise UnknownCall(f"request {number} is not the account's own")
    _claim(reading, f"etherfi-{number}", int(reading.ask("etherfi_requests", _CLAIMABLE, number)))


def _claim_kelp(reading: Reading, asset: str, referral: str) -> None:
    _is_coin(asset, referral)
    told = reading.chain.call(_contracts(reading).kelp_withdrawals, _OLDEST, asset, reading.account, 0)
    _claim(reading, f"kelp-{int(told[3])}", int(told[1]))


def _claim_renzo(reading: Reading, place: int, user: str) -> None:
    reading.check_own(user, "what is claimed")
    _, number, amount, tokens, _ = reading.chain.call(_contracts(reading).renzo_queue, _ASKED, reading.account, place)
    _claim(reading, f"renzo-{int(number)}", min(int(amount), _worth(reading, "renzo", int(tokens))))


def _ask(reading: Reading, issuer: str, ether: int) -> None:
    _stake(reading, issuer, -ether)
    reading.change("request", NATIVE, ether, is_exact=False)


def _redeem(reading: Reading, issuer: str, tokens: int, fee_bps: int) -> None:
    ether = _worth(reading, issuer, tokens)
    # Nothing in the call bounds what it pays: the fee and the rate are those of the block it runs in.
    reading.receive(NATIVE, (ether * (10_000 - fee_bps) // 10_000) * 99 // 100, is_open=True)
    _stake(reading, issuer, -ether)


def _claim(reading: Reading, request: str, ether: int) -> None:
    if not ether:
        raise UnknownCall(f"request {request} gives nothing now")
    reading.receive(NATIVE, ether * 99 // 100, is_open=True)
    reading.change("request", NATIVE, -ether, request, is_exact=False)


def _stake(reading: Reading, issuer: str, ether: int) -> None:
    # A report in between moves what a token is worth.
    reading.change("stake", NATIVE, ether, issuer, is_exact=False)


def _worth(reading: Reading, issuer: str, tokens: int) -> int:
    return tokens * _rate(reading.chain, _contracts(reading), issuer) // _WAD


def _contracts(reading: Reading) -> RestakingContracts:
    found = contracts_on(reading.chain.chain_id)
    if found is None:
        raise UnknownCall(f"no liquid restaking is known on chain {reading.chain.chain_id}")
    return found


def _rate(chain: ChainReader, at: RestakingContracts, issuer: str) -> int:
    """Wei of a whole token; of Renzo the share of all it holds."""
    if issuer == "renzo":
        supply = int(chain.call(at.ezeth, _SUPPLY)[0])
        return int(chain.call(at.renzo_manager, _RENZO_HOLDS)[2]) * _WAD // supply if supply else _WAD
    signature, arguments = _RATES[issuer]
    return int(chain.call(at.tellers[issuer], signature, *arguments)[0])


def _is_coin(asset: str, referral: str = "") -> None:
    if asset != _COIN:
        raise UnknownCall(f"{asset} would be paid and not the chain's coin")
    if referral:
        raise UnknownCall("a referral is named, which no tool does")


_PUT_IN: Final[Mapping[tuple[str, str], Says]] = {
    ("etherfi_adapter", "function depositETHForWeETH(address)"): _put_in_etherfi,
    ("kelp_pool", "function depositETH(uint256,string)"): _put_in_kelp,
    ("renzo_manager", "function depositETH(uint256)"): _put_in_renzo,
}
EFFECTS: Final = RestakedEtherEffects(
    "liquid_restaking",
    deployments,
    {
        **_PUT_IN,
        ("weeth", "function unwrap(uint256)"): _unwrap,
        ("etherfi_pool", "function requestWithdraw(address,uint256)"): _ask_etherfi,
        ("etherfi_redemption", "function redeemWeEth(uint256,address,address)"): _redeem_etherfi,
        ("etherfi_requests", "function claimWithdraw(uint256)"): _claim_etherfi,
        ("kelp_withdrawals", "function initiateWithdrawal(address,uint256,string)"): _ask_kelp,
        ("kelp_withdrawals", "function instantWithdrawal(address,uint256,string)"): _redeem_kelp,
        ("kelp_withdrawals", "function completeWithdrawal(address,string)"): _claim_kelp,
        ("renzo_queue", "function withdraw(uint256,address)"): _ask_renzo,
        ("renzo_queue", "function claim(uint256,address)"): _claim_renzo,
    },
    coin=frozenset(_PUT_IN),
    approved=("weeth", "eeth", "rseth", "ezeth"),
)
