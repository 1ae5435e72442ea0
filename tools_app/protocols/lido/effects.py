"""Reads what calls to Lido do from their bytes; written from the contracts' interfaces, not from the tools.

Everything must come back to the account that calls: an owner of requests other than that is not accounted for, nor is
any function that is not below.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.protocols.lido.addresses import contracts_on, deployments
from tools_app.standards.call_table import CallTable, Reading
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, UnknownCall
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import NATIVE

_NOBODY: Final = "0x0000000000000000000000000000000000000000"
_TO_ETHER: Final = "function getPooledEthByShares(uint256) view returns (uint256)"
_OWNER: Final = "function ownerOf(uint256) view returns (address)"
_CLAIMABLE: Final = "function getClaimableEther(uint256[],uint256[]) view returns (uint256[])"
_SHARE: Final = 10**18


class LidoEffects(CallTable):
    """Reads calls to stETH, wstETH and the queue."""

    def read_claim(self, token: str, raw: int, *, chain: ChainReader) -> ChangeRead | None:
        """What stETH or wstETH that is traded takes from the position, or brings to it."""
        at = contracts_on(chain.chain_id)
        if at is None or token not in (at.steth, at.wsteth):
            return None
        key = "steth" if token == at.steth else "wsteth"
        worth = abs(raw) if key == "steth" else int(chain.call(at.steth, _TO_ETHER, abs(raw))[0])
        ether = (1 if raw > 0 else -1) * worth
        return ChangeRead("lido", "stake", NATIVE, ether, PositionRef("lido", "stake", chain.chain_id, key), False)


def _submit(reading: Reading, referral: str) -> None:
    reading.spend(NATIVE, reading.call.value)
    _change(reading, "steth", reading.call.value - _dust(reading))


def _wrap(reading: Reading, amount: int) -> None:
    _change(reading, "steth", -amount)
    _change(reading, "wsteth", amount - 2 * _dust(reading))


def _unwrap(reading: Reading, shares: int) -> None:
    ether = _worth(reading, shares)
    _change(reading, "wsteth", -ether - 1)
    _change(reading, "steth", ether - 2 * _dust(reading))


def _request(reading: Reading, amounts: Sequence[int], owner: str) -> None:
    _check_owner(reading, owner)
    for amount in amounts:
        _change(reading, "steth", -amount)
        _open(reading, amount - 2 * _dust(reading))


def _request_wrapped(reading: Reading, amounts: Sequence[int], owner: str) -> None:
    _check_owner(reading, owner)
    for shares in amounts:
        ether = _worth(reading, shares)
        _change(reading, "wsteth", -ether - 1)
        _open(reading, ether - 2 * _dust(reading))


def _claim(reading: Reading, ids: Sequence[int], hints: Sequence[int]) -> None:
    if not ids or len(ids) != len(hints) or len(set(ids)) != len(ids):
        raise UnknownCall("the requests to claim are not a list of different ones")
    for each in ids:
        if str(reading.ask("queue", _OWNER, each)) != reading.account:
            raise UnknownCall(f"request {each} is not the account's own")
    for each, amount in zip(ids, reading.ask("queue", _CLAIMABLE, list(ids), list(hints)), strict=True):
        if not amount:
            raise UnknownCall(f"request {each} gives nothing now")
        reading.receive(NATIVE, amount)
        reading.change("request", NATIVE, -amount, str(each))


def _change(reading: Reading, key: str, raw: int) -> None:
    # A rebase in between moves what a share is worth.
    reading.change("stake", NATIVE, raw, key, is_exact=False)


def _open(reading: Reading, raw: int) -> None:
    reading.change("request", NATIVE, raw, is_exact=False)


def _worth(reading: Reading, shares: int) -> int:
    return int(reading.ask("steth", _TO_ETHER, shares))


def _dust(reading: Reading) -> int:
    """Wei that rounding to shares and back may lose."""
    return _worth(reading, _SHARE) // _SHARE + 1


def _check_owner(reading: Reading, owner: str) -> None:
    if owner != _NOBODY:
        reading.check_own(owner, "the requests")


_SUBMIT: Final = ("steth", "function submit(address)")
EFFECTS: Final = LidoEffects(
    "lido",
    deployments,
    {
        _SUBMIT: _submit,
        ("wsteth", "function wrap(uint256)"): _wrap,
        ("wsteth", "function unwrap(uint256)"): _unwrap,
        ("queue", "function requestWithdrawals(uint256[],address)"): _request,
        ("queue", "function requestWithdrawalsWstETH(uint256[],address)"): _request_wrapped,
        ("queue", "function claimWithdrawals(uint256[],uint256[])"): _claim,
    },
    coin=frozenset({_SUBMIT}),
    approved=("steth", "wsteth"),
)
