"""What calls to Lido do, read from their bytes; written from the contracts' interfaces, not from the tools.

Everything must come back to the account that calls: an owner of requests other than that is not accounted for, nor is
any function that is not below.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tools_app.protocols.lido.addresses import deployments
from tools_app.standards.calldata import calls, read_exactly
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.views import NATIVE

_NOBODY: Final = "0x0000000000000000000000000000000000000000"
_APPROVE: Final = "function approve(address,uint256)"
_SUBMIT: Final = "function submit(address)"
_WRAP: Final = "function wrap(uint256)"
_UNWRAP: Final = "function unwrap(uint256)"
_REQUEST: Final = "function requestWithdrawals(uint256[],address)"
_REQUEST_WRAPPED: Final = "function requestWithdrawalsWstETH(uint256[],address)"
_CLAIM: Final = "function claimWithdrawals(uint256[],uint256[])"
_TO_ETHER: Final = "function getPooledEthByShares(uint256) view returns (uint256)"
_OWNER: Final = "function ownerOf(uint256) view returns (address)"
_CLAIMABLE: Final = "function getClaimableEther(uint256[],uint256[]) view returns (uint256[])"
_SHARE: Final = 10**18


class LidoEffects:
    """Reads calls to stETH, wstETH and the queue."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        at = deployments(chain.chain_id) or {}
        readers: Mapping[tuple[str | None, str], Callable[..., None]] = {
            (at.get("steth"), _SUBMIT): _submit,
            (at.get("wsteth"), _WRAP): _wrap,
            (at.get("wsteth"), _UNWRAP): _unwrap,
            (at.get("queue"), _REQUEST): _request,
            (at.get("queue"), _REQUEST_WRAPPED): _request_wrapped,
            (at.get("queue"), _CLAIM): _claim,
        }
        if call.to in (at.get("steth"), at.get("wsteth")) and calls(call.data, _APPROVE) and not call.value:
            spender, amount = read_exactly(call.data, _APPROVE)
            into.approvals.append((call.to, spender, amount))
            return
        for (contract, signature), reader in readers.items():
            if call.to == contract and calls(call.data, signature):
                args = read_exactly(call.data, signature)
                if call.value and signature != _SUBMIT:
                    raise UnknownCall(f"{call.to} is sent coin along with a call that takes none")
                reader(call, args, account, chain, at, into)
                return
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of {call.to} is not known")

    def read_claim(self, token: str, raw: int, *, chain: ChainReader) -> ChangeRead | None:
        """What stETH or wstETH that is traded takes from the position, or brings to it."""
        at = deployments(chain.chain_id) or {}
        key = next((key for key in ("steth", "wsteth") if at.get(key) == token), None)
        if key is None:
            return None
        ether = raw if key == "steth" else (1 if raw > 0 else -1) * _worth(chain, at, abs(raw))
        return ChangeRead("lido", "stake", NATIVE, ether, PositionRef("lido", "stake", chain.chain_id, key), False)


def _submit(
    call: Call, args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects
) -> None:
    if not call.value:
        raise UnknownCall("nothing is staked")
    into.spends[NATIVE] += call.value
    _change(into, chain, "steth", call.value - _dust(chain, at))


def _wrap(
    call: Call, args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects
) -> None:
    (amount,) = args
    _change(into, chain, "steth", -amount)
    _change(into, chain, "wsteth", amount - 2 * _dust(chain, at))


def _unwrap(
    call: Call, args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects
) -> None:
    (shares,) = args
    ether = _worth(chain, at, shares)
    _change(into, chain, "wsteth", -ether - 1)
    _change(into, chain, "steth", ether - 2 * _dust(chain, at))


def _request(
    call: Call, args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects
) -> None:
    amounts, owner = args
    _is_own(owner, account)
    for amount in amounts:
        _change(into, chain, "steth", -amount)
        _open(into, amount - 2 * _dust(chain, at))


def _request_wrapped(
    call: Call, args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects
) -> None:
    amounts, owner = args
    _is_own(owner, account)
    for shares in amounts:
        ether = _worth(chain, at, shares)
        _change(into, chain, "wsteth", -ether - 1)
        _open(into, ether - 2 * _dust(chain, at))


def _claim(
    call: Call, args: tuple[Any, ...], account: str, chain: ChainReader, at: Mapping[str, str], into: Effects
) -> None:
    ids, hints = args
    if not ids or len(ids) != len(hints) or len(set(ids)) != len(ids):
        raise UnknownCall("the requests to claim are not a list of different ones")
    for each in ids:
        if str(chain.call(at["queue"], _OWNER, each)[0]) != account:
            raise UnknownCall(f"request {each} is not the account's own")
    (amounts,) = chain.call(at["queue"], _CLAIMABLE, list(ids), list(hints))
    for each, amount in zip(ids, amounts, strict=True):
        if not amount:
            raise UnknownCall(f"request {each} gives nothing now")
        into.receives[NATIVE] += amount
        ref = PositionRef("lido", "request", chain.chain_id, str(each))
        into.changes.append(ChangeRead("lido", "request", NATIVE, -amount, ref))


def _change(into: Effects, chain: ChainReader, key: str, raw: int) -> None:
    ref = PositionRef("lido", "stake", chain.chain_id, key)
    # A rebase in between moves what a share is worth.
    into.changes.append(ChangeRead("lido", "stake", NATIVE, raw, ref, is_exact=False))


def _open(into: Effects, raw: int) -> None:
    into.changes.append(ChangeRead("lido", "request", NATIVE, raw, is_exact=False))


def _worth(chain: ChainReader, at: Mapping[str, str], shares: int) -> int:
    return int(chain.call(at["steth"], _TO_ETHER, shares)[0])


def _dust(chain: ChainReader, at: Mapping[str, str]) -> int:
    """Wei that rounding to shares and back may lose."""
    return _worth(chain, at, _SHARE) // _SHARE + 1


def _is_own(owner: str, account: str) -> None:
    if owner not in (account, _NOBODY):
        raise UnknownCall(f"the requests would be {owner}'s and not the account's")
