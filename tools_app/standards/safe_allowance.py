"""Reads and writes the calls of Safe's allowance module: keys that may each take so much of a token from a Safe.

Addresses and ABI are those of version 0.1.1 in the npm package `@safe-global/safe-modules-deployments` 3.0.10, its
makers' own. The module knows no end of an allowance and no payee: a key may pay whom it likes until it is removed. What
was not taken in one period is not saved up for the next.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from tools_app.chain.abi import checksum, encode_call
from tools_app.chain.networks import ChainNotSupported
from tools_app.toolkit.context import AbiValues, ChainReader, ReadCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionsUnreadable, Reads, drive

NAME: Final = "safe_allowance"
LABEL: Final = "Safe allowances"
MODULE: Final = "module"
LOCAL_CHAIN_ID: Final = 31_337
ADDRESS: Final = "0xAA46724893dedD72658219405185Fb0Fc91e091C"
"""The same on every chain that has this version; it is on neither Ethereum nor BNB Smart Chain."""
CHAINS: Final = frozenset({10, 130, 137, 8453, 42_161, LOCAL_CHAIN_ID})
_PLACES: Final = MappingProxyType({MODULE: ADDRESS})
COIN: Final = "0x" + "00" * 20
"""Stands for the chain's own coin."""
DAY_MINUTES: Final = 1_440
LARGEST_AMOUNT: Final = 2**96 - 1
MOST_DELEGATES: Final = 50
"""The module lists the newest first; older ones than these are not looked at."""
MOST_TOKENS: Final = 10

ADD_DELEGATE: Final = "function addDelegate(address delegate)"
REMOVE_DELEGATE: Final = "function removeDelegate(address delegate, bool removeAllowances)"
SET_ALLOWANCE: Final = (
    "function setAllowance(address delegate, address token, uint96 allowanceAmount, uint16 resetTimeMin,"
    " uint32 resetBaseMin)"
)
DELETE_ALLOWANCE: Final = "function deleteAllowance(address delegate, address token)"
GET_DELEGATES: Final = (
    "function getDelegates(address safe, uint48 start, uint8 pageSize) view returns (address[] results, uint48 next)"
)
GET_TOKENS: Final = "function getTokens(address safe, address delegate) view returns (address[])"
GET_ALLOWANCE: Final = (
    "function getTokenAllowance(address safe, address delegate, address token) view returns (uint256[5])"
)
ALLOWANCES: Final = (
    "function allowances(address safe, address delegate, address token)"
    " view returns (uint96 amount, uint96 spent, uint16 resetTimeMin, uint32 lastResetMin, uint16 nonce)"
)
DELEGATE_AT: Final = (
    "function delegates(address safe, uint48 index) view returns (address delegate, uint48 prev, uint48 next)"
)
TRANSFER_EVENT: Final = (
    "event ExecuteAllowanceTransfer(address indexed safe, address delegate, address token, address to, uint96 value,"
    " uint16 nonce)"
)
_INDEX_BITS: Final = 48


@dataclass(frozen=True, slots=True)
class KeyAllowance:
    """What one key may take of one token of a Safe, in base units; `minutes` 0 says that it is given once.

    `used` counts transfers since the first allowance of this token, under whatever amount. `resets_at` is when the
    whole amount can be taken again, Unix seconds; None for what is given once.
    """

    delegate: str
    token: str
    amount: int
    spent: int
    minutes: int
    resets_at: int | None
    used: int

    @property
    def left(self) -> int:
        """What may still be taken in the present period."""
        return max(0, self.amount - self.spent)


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """The module's address by its key; None where it is not."""
    return _PLACES if chain_id in CHAINS else None


def find_module(chain: ChainReader) -> str:
    """Where the module is on the reader's chain. Raises ChainNotSupported where there is none."""
    if chain.chain_id not in CHAINS or not chain.code(ADDRESS):
        raise ChainNotSupported(
            f"Safe's allowance module is known on {', '.join(map(str, sorted(CHAINS)))} and not on chain"
            f" {chain.chain_id}, or nobody put it there",
            chain_id=chain.chain_id,
            chains=sorted(CHAINS),
        )
    return ADDRESS


def is_module_on(chain: ChainReader) -> bool:
    """Whether it is there."""
    return chain.chain_id in CHAINS and bool(chain.code(ADDRESS))


def index_of(delegate: str) -> int:
    """The last 48 bits of an address, under which the module keeps it; two keys of one index exclude each other."""
    return int(delegate, 16) & ((1 << _INDEX_BITS) - 1)


def read_delegate_at(chain: ChainReader, safe: str, delegate: str) -> str:
    """Whom the module keeps under the index of `delegate`: itself, somebody else, or the zero address."""
    [found, *_] = chain.call(ADDRESS, DELEGATE_AT, safe, index_of(delegate))
    return checksum(found)


def read_allowances(chain: ChainReader, safe: str) -> tuple[KeyAllowance, ...]:
    """Every allowance that the module keeps for a Safe, in the order of its list: of the newest keys, ten tokens each.

    Three batches. What was ended or gives nothing is left out. Raises PositionsUnreadable, and what the chain raises.
    """
    pairs = drive(ask_for_allowed(safe), chain.call_many)
    outcomes = chain.call_many([ReadCall(ADDRESS, GET_ALLOWANCE, (safe, *pair)) for pair in pairs]) if pairs else []
    if not all(outcome.ok for outcome in outcomes):
        raise PositionsUnreadable("the allowance module does not tell an allowance that it lists")
    read = [_read(pair[0], pair[1], outcome.values[0]) for pair, outcome in zip(pairs, outcomes, strict=True)]
    return tuple(each for each in read if each.amount)


def ask_for_allowed(safe: str) -> Reads[tuple[AbiValues, ...]]:
    """Keys and tokens that the module lists for a Safe, also those whose allowance was ended. Raises
    PositionsUnreadable.
    """
    [keys] = yield [ReadCall(ADDRESS, GET_DELEGATES, (safe, 0, MOST_DELEGATES))]
    if not keys.ok:
        raise PositionsUnreadable("the allowance module does not list the keys of a Safe")
    delegates = [checksum(each) for each in keys.values[0]]
    if not delegates:
        return ()
    listed = yield [ReadCall(ADDRESS, GET_TOKENS, (safe, each)) for each in delegates]
    if not all(outcome.ok for outcome in listed):
        raise PositionsUnreadable("the allowance module does not list the tokens of a key")
    return tuple(
        (delegate, checksum(token))
        for delegate, outcome in zip(delegates, listed, strict=True)
        for token in outcome.values[0][:MOST_TOKENS]
    )


def _read(delegate: str, token: str, words: Sequence[int]) -> KeyAllowance:
    amount, spent, minutes, last, nonce = (int(word) for word in words)
    return KeyAllowance(
        delegate=delegate,
        token=token,
        amount=amount,
        spent=spent,
        minutes=minutes,
        resets_at=(last + minutes) * 60 if minutes else None,
        # The first allowance of a token sets it to one, and each transfer adds one.
        used=max(0, nonce - 1),
    )


def give_calls(
    delegate: str, token: str, amount: int, *, is_known: bool, minutes: int = DAY_MINUTES
) -> tuple[Call, ...]:
    """What a Safe says so that `delegate` may take `amount` of `token` in each `minutes`."""
    add = Call(ADDRESS, encode_call(ADD_DELEGATE, delegate), 0, f"let {delegate} take allowances")
    give = Call(
        ADDRESS,
        encode_call(SET_ALLOWANCE, delegate, token, amount, minutes, 0),
        0,
        f"allow it {amount} base units of {token} in each {minutes} minutes",
    )
    return (give,) if is_known else (add, give)


def end_call(delegate: str) -> Call:
    """What a Safe says so that `delegate` may take nothing any more, of whatever token."""
    return Call(ADDRESS, encode_call(REMOVE_DELEGATE, delegate, True), 0, f"end every allowance of {delegate}")
