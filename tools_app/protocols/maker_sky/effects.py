"""Reads what calls to Maker do from their bytes.

Written from the contracts' interfaces alone. Only vaults of the account are known, and every hand over inside the
ledger must be the account's own.
"""

from __future__ import annotations

from typing import Final

from tools_app.chain.deployments import load_deployment
from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.chain.node_errors import CallReverted, ContractOutputUnexpected
from tools_app.protocols.maker_sky.addresses import NAME, collateral_types, contracts_at, deployments
from tools_app.standards.call_table import CallTable, Reading
from tools_app.toolkit.context import AbiValues
from tools_app.toolkit.effects import RightRead, UnknownCall

_KIND: Final = "vault"
_RAY: Final = 10**27
_EVERYTHING: Final = -1
_OWNER: Final = "function owns(uint256) view returns (address)"
_ILK: Final = "function ilks(uint256) view returns (bytes32)"
_COUNT: Final = "function getCdpsAsc(address,address) view returns (uint256[],address[],bytes32[])"
_RATE: Final = "function ilks(bytes32) view returns (uint256,uint256,uint256,uint256,uint256)"
_GEM: Final = "function gem() view returns (address)"


def _ask(reading: Reading, to: str, signature: str, *arguments: object) -> AbiValues:
    try:
        return reading.chain.call(reading.at.get(to, to), signature, *arguments)
    except (CallReverted, ContractOutputUnexpected) as error:
        raise UnknownCall(f"{to} does not tell what the call would move: {error.detail}") from error


def _dai(reading: Reading) -> str:
    tokens = load_deployment(KNOWN_NETWORKS[reading.chain.chain_id]).tokens
    return next(token.address for token in tokens if token.symbol == "DAI")


def _check_vault(reading: Reading, cdp: int) -> None:
    if _ask(reading, "cdp_manager", _OWNER, cdp)[0] != reading.account:
        raise UnknownCall(f"vault {cdp} is not the account's")


def _check_urn(reading: Reading, urn: str) -> None:
    """What goes into the ledger goes to a vault of the account."""
    _, urns, _ = _ask(reading, "get_cdps", _COUNT, contracts_at(reading.chain.chain_id).cdp_manager, reading.account)
    if urn not in urns:
        raise UnknownCall(f"{urn} is no vault of the account")


def _check_kind(reading: Reading, ilk: bytes) -> None:
    """A kind of vault that is served here; the contracts take any word for one."""
    if ilk.rstrip(b"\0").decode("ascii", "replace") not in collateral_types(reading.chain.chain_id):
        raise UnknownCall(f"0x{ilk.hex()} is no kind of vault that is served here")


def _open(reading: Reading, ilk: bytes, taker: str) -> None:
    _check_kind(reading, ilk)
    reading.check_own(taker, "the vault")


def _frob(reading: Reading, cdp: int, dink: int, dart: int) -> None:
    _check_vault(reading, cdp)
    ilk = _ask(reading, "cdp_manager", _ILK, cdp)[0]
    if dink:
        weth = load_deployment(KNOWN_NETWORKS[reading.chain.chain_id]).wrapped_native or ""
        reading.change(_KIND, weth, dink, str(cdp))
    if dart:
        rate = _ask(reading, "vat", _RATE, ilk)[1]
        reading.change(_KIND, _dai(reading), -dart * rate // _RAY, str(cdp), is_exact=False)


def _hand_over(reading: Reading, cdp: int, taker: str, _: int) -> None:
    _check_vault(reading, cdp)
    reading.check_own(taker, "what is in the vault")


def _allow(reading: Reading, cdp: int, taker: str, allowed: int) -> None:
    _check_vault(reading, cdp)
    reading.into.rights.append(RightRead(reading.call.to, taker, _EVERYTHING if allowed else 0))


def _join_gem(reading: Reading, urn: str, wad: int) -> None:
    _check_urn(reading, urn)
    reading.spend(_ask(reading, reading.call.to, _GEM)[0], wad)


def _exit_gem(reading: Reading, taker: str, wad: int) -> None:
    reading.receive(_ask(reading, reading.call.to, _GEM)[0], wad)
    reading.into.recipients.append(taker)


def _join_dai(reading: Reading, urn: str, wad: int) -> None:
    _check_urn(reading, urn)
    reading.spend(_dai(reading), wad)


def _exit_dai(reading: Reading, taker: str, wad: int) -> None:
    reading.receive(_dai(reading), wad)
    reading.into.recipients.append(taker)


def _drip(reading: Reading, ilk: bytes) -> None:
    """Counting the fee moves nothing of the account's."""
    _check_kind(reading, ilk)


def _hope(reading: Reading, taker: str) -> None:
    reading.into.rights.append(RightRead(reading.call.to, taker, _EVERYTHING))


def _nope(reading: Reading, taker: str) -> None:
    reading.into.rights.append(RightRead(reading.call.to, taker, 0))


_TAKES_COLLATERAL: Final = ("join_eth_a", "join_eth_b", "join_eth_c")
EFFECTS: Final = CallTable(
    NAME,
    deployments,
    {
        ("cdp_manager", "function open(bytes32,address)"): _open,
        ("cdp_manager", "function frob(uint256,int256,int256)"): _frob,
        ("cdp_manager", "function flux(uint256,address,uint256)"): _hand_over,
        ("cdp_manager", "function move(uint256,address,uint256)"): _hand_over,
        ("cdp_manager", "function cdpAllow(uint256,address,uint256)"): _allow,
        **{(key, "function join(address,uint256)"): _join_gem for key in _TAKES_COLLATERAL},
        **{(key, "function exit(address,uint256)"): _exit_gem for key in _TAKES_COLLATERAL},
        ("join_dai", "function join(address,uint256)"): _join_dai,
        ("join_dai", "function exit(address,uint256)"): _exit_dai,
        ("jug", "function drip(bytes32)"): _drip,
        ("vat", "function hope(address)"): _hope,
        ("vat", "function nope(address)"): _nope,
    },
)
