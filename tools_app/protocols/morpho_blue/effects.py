"""Reads what calls to Morpho Blue do from their bytes.

Written from the interface of the one contract that a chain has. Every call must act for the account itself, carry no
data for a callback and no byte that is not accounted for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

from eth_utils.crypto import keccak

from tools_app.chain.abi import encode_args
from tools_app.chain.node_errors import CallReverted, ContractOutputUnexpected
from tools_app.standards.call_table import Reading, Says
from tools_app.standards.calldata import calls, read_exactly
from tools_app.standards.loan_callback import is_announced
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.effects import RightRead, UnknownCall

_KIND: Final = "market"
_PARAMS: Final = "(address,address,address,address,uint256)"
_SUPPLY: Final = f"function supply({_PARAMS},uint256,uint256,address,bytes)"
_WITHDRAW: Final = f"function withdraw({_PARAMS},uint256,uint256,address,address)"
_BORROW: Final = f"function borrow({_PARAMS},uint256,uint256,address,address)"
_REPAY: Final = f"function repay({_PARAMS},uint256,uint256,address,bytes)"
_PLEDGE: Final = f"function supplyCollateral({_PARAMS},uint256,address,bytes)"
_RELEASE: Final = f"function withdrawCollateral({_PARAMS},uint256,address,address)"
_LIQUIDATE: Final = f"function liquidate({_PARAMS},address,uint256,uint256,bytes)"
_FLASH: Final = "function flashLoan(address,uint256,bytes)"
_AUTHORIZE: Final = "function setAuthorization(address,bool)"
_TOTALS: Final = "function market(bytes32) view returns (uint128,uint128,uint128,uint128,uint128,uint128)"
_POSITION: Final = "function position(bytes32,address) view returns (uint256,uint128,uint128)"
_LENT, _OWED = 0, 1
_VIRTUAL_SHARES: Final = 1_000_000
_EVERYTHING: Final = -1

_Params: TypeAlias = AbiValues


def _enter(reading: Reading, market: _Params, *, on_behalf: str | None = None, data: bytes = b"") -> str:
    """The market of these parameters; acting for another, or with a callback, is not known."""
    if on_behalf is not None and on_behalf != reading.account:
        raise UnknownCall(f"Morpho would act on behalf of {on_behalf}")
    if data:
        raise UnknownCall("Morpho would call the account back with data")
    return _id_of(market)


def _check_all(reading: Reading, market: str, shares: int) -> None:
    """Shares are said only to leave nothing: they must be all that the account has lent."""
    held = _ask(reading, reading.call.to, _POSITION, bytes.fromhex(market[2:]), reading.account)[_LENT]
    if shares != held:
        raise UnknownCall(f"{shares} shares are said, and {held} are all there are")


def _check_owed(reading: Reading, market: str, shares: int) -> None:
    """Shares repaid are never more than are owed, together with those of the plan's earlier repayments."""
    for call in reading.earlier:
        if call.to == reading.call.to and calls(call.data, _REPAY):
            other, _, before, *_ = read_exactly(call.data, _REPAY)
            shares += before if _id_of(other) == market else 0
    held = _ask(reading, reading.call.to, _POSITION, bytes.fromhex(market[2:]), reading.account)[_OWED]
    if shares > held:
        raise UnknownCall(f"{shares} shares are said, and {held} are all that are owed")


def _least_assets(reading: Reading, market: str, shares: int) -> int:
    """What shares of what is lent give at least: interest since the market was last touched only adds."""
    assets, supply, *_ = _ask(reading, reading.call.to, _TOTALS, bytes.fromhex(market[2:]))
    return int(shares * (assets + 1) // (supply + _VIRTUAL_SHARES))


def _ask(reading: Reading, to: str, signature: str, *arguments: object) -> AbiValues:
    try:
        return reading.chain.call(to, signature, *arguments)
    except (CallReverted, ContractOutputUnexpected) as error:
        raise UnknownCall(f"{to} does not tell what the call would move: {error.detail}") from error


def _flash(reading: Reading, token: str, assets: int, data: bytes) -> None:
    """Lent and taken back in one call, for nothing. What the account does with data is read where it was announced;
    otherwise its own code would do what nobody can tell.
    """
    if data and not is_announced(data, lender=reading.call.to, earlier=reading.earlier):
        raise UnknownCall("Morpho would call the account back with data")
    reading.into.lent[token] += assets
    reading.into.recipients.append(reading.account)


def _supply(reading: Reading, market: _Params, assets: int, shares: int, on_behalf: str, data: bytes) -> None:
    name = _enter(reading, market, on_behalf=on_behalf, data=data)
    if shares or not assets:
        raise UnknownCall("how much is lent is said in shares")
    reading.spend(market[0], assets)
    reading.change(_KIND, market[0], assets, name)


def _withdraw(reading: Reading, market: _Params, assets: int, shares: int, on_behalf: str, receiver: str) -> None:
    name = _enter(reading, market, on_behalf=on_behalf)
    _one_of(assets, shares)
    if shares:
        _check_all(reading, name, shares)
    least = assets or _least_assets(reading, name, shares)
    reading.receive(market[0], least, is_open=bool(shares))
    reading.into.recipients.append(receiver)
    reading.change(_KIND, market[0], -least, name, is_exact=bool(assets))


def _borrow(reading: Reading, market: _Params, assets: int, shares: int, on_behalf: str, receiver: str) -> None:
    name = _enter(reading, market, on_behalf=on_behalf)
    if shares or not assets:
        raise UnknownCall("how much is borrowed is said in shares")
    reading.receive(market[0], assets)
    reading.into.recipients.append(receiver)
    reading.change(_KIND, market[0], -assets, name)


def _repay(reading: Reading, market: _Params, assets: int, shares: int, on_behalf: str, data: bytes) -> None:
    name = _enter(reading, market, on_behalf=on_behalf, data=data)
    _one_of(assets, shares)
    if shares:
        _check_owed(reading, name, shares)
    most = assets or reading.most_taken(market[0])
    reading.spend(market[0], most)
    reading.change(_KIND, market[0], most, name, is_exact=bool(assets))


def _pledge(reading: Reading, market: _Params, assets: int, on_behalf: str, data: bytes) -> None:
    name = _enter(reading, market, on_behalf=on_behalf, data=data)
    reading.spend(market[1], assets)
    reading.change(_KIND, market[1], assets, name)


def _release(reading: Reading, market: _Params, assets: int, on_behalf: str, receiver: str) -> None:
    name = _enter(reading, market, on_behalf=on_behalf)
    reading.receive(market[1], assets)
    reading.into.recipients.append(receiver)
    reading.change(_KIND, market[1], -assets, name)


def _liquidate(reading: Reading, market: _Params, borrower: str, seized: int, shares: int, data: bytes) -> None:
    if borrower == reading.account:
        raise UnknownCall("the account would liquidate itself")
    if shares or not seized:
        raise UnknownCall("how much is liquidated is said in shares")
    _enter(reading, market, data=data)
    reading.spend(market[0], reading.most_taken(market[0]))
    reading.pay_out(market[1], seized)


def _authorize(reading: Reading, taker: str, is_given: bool) -> None:
    reading.into.rights.append(RightRead(reading.call.to, taker, _EVERYTHING if is_given else 0))


ROWS: Final[Mapping[str, Says]] = {
    _SUPPLY: _supply,
    _WITHDRAW: _withdraw,
    _BORROW: _borrow,
    _REPAY: _repay,
    _PLEDGE: _pledge,
    _RELEASE: _release,
    _LIQUIDATE: _liquidate,
    _AUTHORIZE: _authorize,
    _FLASH: _flash,
}


def _id_of(market: tuple[object, ...]) -> str:
    return "0x" + keccak(encode_args(("address", "address", "address", "address", "uint256"), market)).hex()


def _one_of(assets: int, shares: int) -> None:
    if bool(assets) == bool(shares):
        raise UnknownCall("exactly one of assets and shares must be said")
