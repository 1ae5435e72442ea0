"""The calls to Lido, and what each promises to change in the account's positions.

Promises are in ether, so a rebase between preview and commit changes none of those that begin with an amount of ether;
what begins with shares is bounded by the most a report may move their worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tools_app.chain.abi import encode_call
from tools_app.core.units import format_units
from tools_app.protocols.lido.addresses import NAME, LidoContracts
from tools_app.protocols.lido.math import BPS, StakedPool
from tools_app.protocols.lido.positions import STAKE, request_ref, stake_ref
from tools_app.protocols.lido.reads import Request
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import REQUEST_KIND, PositionChange, PositionRef
from tools_app.toolkit.views import NATIVE

SUBMIT: Final = "function submit(address referral) payable returns (uint256)"
WRAP: Final = "function wrap(uint256 amount) returns (uint256)"
UNWRAP: Final = "function unwrap(uint256 amount) returns (uint256)"
REQUEST_STETH: Final = "function requestWithdrawals(uint256[] amounts, address owner) returns (uint256[] ids)"
REQUEST_WSTETH: Final = "function requestWithdrawalsWstETH(uint256[] amounts, address owner) returns (uint256[] ids)"
CLAIM: Final = "function claimWithdrawals(uint256[] requestIds, uint256[] hints)"
NOBODY: Final = "0x0000000000000000000000000000000000000000"
REBASE_BPS: Final = 50
"""More than a report moves the worth of a share; the protocol's own checks let through less than 0.1% up."""


def submit(at: LidoContracts, amount: int, referral: str) -> Call:
    """Stake `amount` wei."""
    return Call(at.steth, encode_call(SUBMIT, referral), amount, f"Stake {format_units(amount, 18, 'ETH')}")


def wrap(at: LidoContracts, amount: int) -> Call:
    """`amount` wei of stETH become wstETH."""
    return Call(at.wsteth, encode_call(WRAP, amount), 0, f"Wrap {format_units(amount, 18, 'stETH')}")


def unwrap(at: LidoContracts, amount: int) -> Call:
    """`amount` of wstETH become stETH."""
    return Call(at.wsteth, encode_call(UNWRAP, amount), 0, f"Unwrap {format_units(amount, 18, 'wstETH')}")


def request(at: LidoContracts, amounts: Sequence[int], owner: str, *, symbol: str) -> Call:
    """Amounts of stETH or wstETH join the queue, each as a request of `owner`."""
    signature = REQUEST_STETH if symbol == "stETH" else REQUEST_WSTETH
    label = f"Request withdrawal of {format_units(sum(amounts), 18, symbol)}"
    return Call(at.queue, encode_call(signature, list(amounts), owner), 0, label)


def claim(at: LidoContracts, requests: Sequence[Request]) -> Call:
    """The ether of final requests, to the caller."""
    ids = [each.id for each in requests]
    label = f"Claim withdrawal {', '.join(str(each) for each in ids)}"
    return Call(at.queue, encode_call(CLAIM, ids, [each.hint for each in requests]), 0, label)


def grows(chain_id: int, key: str, ether: int, *, pool: StakedPool, least: int | None = None) -> PositionChange:
    """stETH or wstETH worth `ether` wei more, less what rounding may take."""
    bound = least if least is not None else ether - 2 * pool.dust
    return _change(STAKE, ether, max(0, bound), stake_ref(chain_id, key))


def shrinks(chain_id: int, key: str, ether: int, *, pool: StakedPool, in_shares: bool = False) -> PositionChange:
    """stETH or wstETH worth `ether` wei less; what is given up in shares may be worth more after a rebase."""
    slack = ether * REBASE_BPS // BPS if in_shares else 0
    return _change(STAKE, -ether, -ether - slack - 2 * pool.dust, stake_ref(chain_id, key))


def joins(ether: int, *, pool: StakedPool, in_shares: bool = False) -> PositionChange:
    """A new place in the queue, worth `ether` wei."""
    slack = ether * REBASE_BPS // BPS if in_shares else 0
    return _change(REQUEST_KIND, ether, max(0, ether - slack - 2 * pool.dust), None)


def leaves(chain_id: int, request: Request) -> PositionChange:
    """A place in the queue that is given back for its ether."""
    return _change(REQUEST_KIND, -request.claimable, -request.claimable, request_ref(chain_id, request.id))


def worth_less_after(ether: int) -> int:
    """The least that `ether` wei in shares may be worth after a report."""
    return ether - ether * REBASE_BPS // BPS


def _change(kind: str, expected: int, bound: int, ref: PositionRef | None) -> PositionChange:
    return PositionChange(NAME, kind, NATIVE, expected, bound, ref=ref)
