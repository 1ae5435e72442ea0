"""What calls to Maker do, read back from their bytes.

Written from the contracts' interfaces alone. Only vaults of the account are known, and every hand over inside the
ledger must be the account's own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from eth_utils.crypto import keccak

from tools_app.chain.abi import AbiDecodeError, decode_input, encode_call
from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.chain.node_errors import CallReverted, ContractOutputUnexpected
from tools_app.protocols.maker_sky.addresses import collateral_types, deployments
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.effects import ChangeRead, Effects, RightRead, UnknownCall
from tools_app.toolkit.plan import Call
from tools_app.toolkit.positions import PositionRef

_PROTOCOL, _KIND = "maker", "vault"
_RAY: Final = 10**27
_EVERYTHING: Final = -1
_OWNER: Final = "function owns(uint256) view returns (address)"
_URN: Final = "function urns(uint256) view returns (address)"
_ILK: Final = "function ilks(uint256) view returns (bytes32)"
_COUNT: Final = "function getCdpsAsc(address,address) view returns (uint256[],address[],bytes32[])"
_RATE: Final = "function ilks(bytes32) view returns (uint256,uint256,uint256,uint256,uint256)"
_GEM: Final = "function gem() view returns (address)"

Read = Callable[["_Reading", tuple[Any, ...]], None]


class MakerEffects:
    """Reads calls to the manager, the adapters, the fee contract and the ledger."""

    def read(self, call: Call, *, earlier: Sequence[Call], account: str, chain: ChainReader, into: Effects) -> None:
        """Add what `call` does for `account`. Raises UnknownCall, and what the chain raises."""
        place = deployments(chain.chain_id) or {}
        key = next((key for key, address in place.items() if address == call.to), "")
        if call.value:
            raise UnknownCall("Maker is sent coin, which it does not take")
        group = "join" if key.startswith("join_") and key != "join_dai" else key
        for signature, read in _READERS.get(group, {}).items():
            if call.data[:4] == bytes(keccak(text=signature.removeprefix("function "))[:4]):
                read(_Reading(call, account, chain, into, place), _exactly(signature, call.data))
                return
        raise UnknownCall(f"selector 0x{call.data[:4].hex()} of Maker's {key or 'contracts'} is not known")


class _Reading:
    """One call, and where its effects go."""

    def __init__(self, call: Call, account: str, chain: ChainReader, into: Effects, place: Mapping[str, str]) -> None:
        self.call, self.account, self.chain, self.into, self.place = call, account, chain, into, place

    @property
    def dai(self) -> str:
        tokens = load_deployment(KNOWN_NETWORKS[self.chain.chain_id]).tokens
        return next(token.address for token in tokens if token.symbol == "DAI")

    def ask(self, to: str, signature: str, *arguments: Any) -> tuple[Any, ...]:
        try:
            return self.chain.call(to, signature, *arguments)
        except (CallReverted, ContractOutputUnexpected) as error:
            raise UnknownCall(f"{to} does not tell what the call would move: {error.detail}") from error

    def own(self, cdp: int) -> PositionRef:
        """The position of a vault, which must be the account's."""
        if self.ask(self.place["cdp_manager"], _OWNER, cdp)[0] != self.account:
            raise UnknownCall(f"vault {cdp} is not the account's")
        return PositionRef(_PROTOCOL, _KIND, self.chain.chain_id, str(cdp))

    def check_urn(self, urn: str) -> None:
        """What goes into the ledger goes to a vault of the account."""
        _, urns, _ = self.ask(self.place["get_cdps"], _COUNT, self.place["cdp_manager"], self.account)
        if urn not in urns:
            raise UnknownCall(f"{urn} is no vault of the account")

    def check_kind(self, ilk: bytes) -> None:
        """A kind of vault that is served here; the contracts take any word for one."""
        if ilk.rstrip(b"\0").decode("ascii", "replace") not in collateral_types(self.chain.chain_id):
            raise UnknownCall(f"0x{ilk.hex()} is no kind of vault that is served here")

    def check_self(self, taker: str) -> None:
        if taker != self.account:
            raise UnknownCall(f"{taker} would be given what is in the vault")


def _open(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    reading.check_kind(arguments[0])
    reading.check_self(arguments[1])


def _frob(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    cdp, dink, dart = arguments
    ref = reading.own(cdp)
    ilk = reading.ask(reading.place["cdp_manager"], _ILK, cdp)[0]
    if dink:
        weth = load_deployment(KNOWN_NETWORKS[reading.chain.chain_id]).wrapped_native or ""
        reading.into.changes.append(ChangeRead(_PROTOCOL, _KIND, weth, dink, ref))
    if dart:
        rate = reading.ask(reading.place["vat"], _RATE, ilk)[1]
        reading.into.changes.append(
            ChangeRead(_PROTOCOL, _KIND, reading.dai, -dart * rate // _RAY, ref, is_exact=False)
        )


def _hand_over(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    cdp, taker, _ = arguments
    reading.own(cdp)
    reading.check_self(taker)


def _allow(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    cdp, taker, allowed = arguments
    reading.own(cdp)
    reading.into.rights.append(RightRead(reading.call.to, taker, _EVERYTHING if allowed else 0))


def _join_gem(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    urn, wad = arguments
    reading.check_urn(urn)
    reading.into.spends[reading.ask(reading.call.to, _GEM)[0]] += wad


def _exit_gem(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    taker, wad = arguments
    reading.into.receives[reading.ask(reading.call.to, _GEM)[0]] += wad
    reading.into.recipients.append(taker)


def _join_dai(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    urn, wad = arguments
    reading.check_urn(urn)
    reading.into.spends[reading.dai] += wad


def _exit_dai(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    taker, wad = arguments
    reading.into.receives[reading.dai] += wad
    reading.into.recipients.append(taker)


def _drip(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    """Counting the fee moves nothing of the account's."""
    reading.check_kind(arguments[0])


def _hope(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    reading.into.rights.append(RightRead(reading.call.to, arguments[0], _EVERYTHING))


def _nope(reading: _Reading, arguments: tuple[Any, ...]) -> None:
    reading.into.rights.append(RightRead(reading.call.to, arguments[0], 0))


_READERS: Final[Mapping[str, Mapping[str, Read]]] = {
    "cdp_manager": {
        "function open(bytes32,address)": _open,
        "function frob(uint256,int256,int256)": _frob,
        "function flux(uint256,address,uint256)": _hand_over,
        "function move(uint256,address,uint256)": _hand_over,
        "function cdpAllow(uint256,address,uint256)": _allow,
    },
    "join": {"function join(address,uint256)": _join_gem, "function exit(address,uint256)": _exit_gem},
    "join_dai": {"function join(address,uint256)": _join_dai, "function exit(address,uint256)": _exit_dai},
    "jug": {"function drip(bytes32)": _drip},
    "vat": {"function hope(address)": _hope, "function nope(address)": _nope},
}


def _exactly(signature: str, data: bytes) -> tuple[Any, ...]:
    try:
        arguments = decode_input(signature, data)
    except AbiDecodeError as error:
        raise UnknownCall(str(error)) from error
    if encode_call(signature, *arguments) != data:
        raise UnknownCall("the bytes hold more than the arguments")
    return arguments
