"""Reads what calls to the pool do from their bytes, by the contracts' interface and not by the plans.

Everything else the pool can do (permits, flash loans for others or with data, e-mode, borrowing for somebody) is
unknown here, which is a veto.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import AbiDecodeError, decode_input, encode_call
from tools_app.chain.signatures import parse_signature
from tools_app.standards.aave_like.contracts import contracts_on
from tools_app.standards.loan_callback import is_announced
from tools_app.toolkit.context import AbiValues, ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

_SUPPLY: Final = "function supply(address, uint256, address, uint16)"
_WITHDRAW: Final = "function withdraw(address, uint256, address)"
_BORROW: Final = "function borrow(address, uint256, uint256, uint16, address)"
_REPAY: Final = "function repay(address, uint256, uint256, address)"
_COLLATERAL: Final = "function setUserUseReserveAsCollateral(address, bool)"
_FLASH: Final = "function flashLoanSimple(address, address, uint256, bytes, uint16)"
_PREMIUM: Final = "function FLASHLOAN_PREMIUM_TOTAL() view returns (uint128)"
_USER_RESERVE: Final = (
    "function getUserReserveData(address, address) view returns"
    " (uint256, uint256, uint256, uint256, uint256, uint256, uint256, uint40, bool)"
)
_ALL: Final = 2**256 - 1
_RATE_MODES: Final = (1, 2)


@dataclass(frozen=True, slots=True)
class PoolEffects:
    """One reader for every call of the pool that a tool may make."""

    protocol: str
    deployments: Callable[[int], Mapping[str, str] | None]

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does. Raises UnknownCall, and what the chain raises."""
        where = contracts_on(self.deployments, chain.chain_id)
        if where is None or call.to != where.pool or call.value:
            raise UnknownCall("only the pool is called, and it takes no coin")
        signature, args = _decode(call.data)
        ref = PositionRef(self.protocol, "account", chain.chain_id, account)
        if signature == _FLASH:
            _is(args[0], account, "the pool lends to somebody else")
            if args[3] and not is_announced(bytes(args[3]), lender=call.to, earlier=earlier):
                raise UnknownCall("the pool hands data to the account's own code")
            _is(args[4], 0, "a referral is named")
            premium = int(chain.call(where.pool, _PREMIUM)[0])
            into.lent[str(args[1])] += int(args[2])
            into.spends[str(args[1])] += -(-int(args[2]) * premium // 10_000)
            into.recipients.append(account)
            return
        asset = str(args[0])
        if signature == _COLLATERAL:
            # What counts as collateral moves nothing; which way it is switched is measured by the plan's gauge.
            into.changes.append(ChangeRead(self.protocol, "account", asset, 0, ref))
            return
        amount, raw, is_exact = int(args[1]), int(args[1]), True
        if signature == _SUPPLY:
            _is(args[2], account, "the pool credits somebody else")
            _is(args[3], 0, "a referral is named")
            into.spends[asset] += amount
        elif signature == _WITHDRAW:
            _is(args[2], account, "the pool pays somebody else")
            if amount == _ALL:
                there = int(chain.call(where.data_provider, _USER_RESERVE, asset, account)[0])
                amount = max(0, there + _moved_before(earlier, call.to, asset))
                is_exact = False
                into.open_minimums.add(asset)
            raw = -amount
            into.receives[asset] += amount
        elif signature == _BORROW:
            _is(args[4], account, "somebody else would owe it")
            _is(args[3], 0, "a referral is named")
            _is(args[2] in _RATE_MODES, True, "there is no such rate mode")
            raw = -amount
            into.receives[asset] += amount
        else:
            _is(args[3], account, "somebody else's debt is repaid")
            _is(args[2] in _RATE_MODES, True, "there is no such rate mode")
            _is(amount == _ALL, False, "the call does not bound what it takes")
            into.spends[asset] += amount
            # The pool takes no more than is owed.
            is_exact = False
        into.recipients.append(account)
        into.changes.append(ChangeRead(self.protocol, "account", asset, raw, ref, is_exact=is_exact))


def _moved_before(earlier: Sequence[Call], pool: str, asset: str) -> int:
    """By how much calls before this one change what is supplied of `asset`."""
    moved = 0
    for call in earlier:
        if call.to != pool:
            continue
        signature, args = _decode(call.data)
        if signature in (_SUPPLY, _WITHDRAW) and str(args[0]) == asset and int(args[1]) != _ALL:
            moved += int(args[1]) if signature == _SUPPLY else -int(args[1])
    return moved


def _is(found: object, wanted: object, problem: str) -> None:
    if found != wanted:
        raise UnknownCall(problem)


def _decode(data: bytes) -> tuple[str, AbiValues]:
    for signature in (_SUPPLY, _WITHDRAW, _BORROW, _REPAY, _COLLATERAL, _FLASH):
        if data[:4] == parse_signature(signature).selector:
            try:
                args = decode_input(signature, data)
            except AbiDecodeError as error:
                raise UnknownCall("the pool's call is not whole") from error
            if encode_call(signature, *args) != data:
                raise UnknownCall("the pool's call has bytes that say nothing")
            return signature, args
    raise UnknownCall(f"selector 0x{data[:4].hex()} of the pool is not known")
