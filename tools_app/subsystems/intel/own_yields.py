"""Our own reading of what a listed pool earns: the same protocol, chain and asset, read from the chain now.

What stands here is told beside a list's figure. It is never mixed with it, and a figure that contradicts it is told so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from tools_app.chain.networks import KNOWN_NETWORKS
from tools_app.core.errors import GolemError
from tools_app.subsystems.intel.compare_yields import list_offers, say_percent
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.toolkit.views import NATIVE

LEAST_APART_BPS: Final = 100
"""A list is hours old at times and rates move: figures this near each other agree."""
MOST_BPS: Final = 10**9
"""No distance is told as more."""
_PPM_OF_BPS: Final = 100
_ZERO_ADDRESS: Final = "0x" + "0" * 40


@dataclass(frozen=True, slots=True)
class OwnYield:
    """What the chain tells now, and how far the list is from it.

    `apy_pct` is ours, without rewards in other tokens; null where we know none, and `says` then tells why.
    `difference_bps` is the list's figure without rewards less ours, in basis points. Further apart than
    `most_apart_bps` it contradicts the chain: `contradicts` is then true, and null where nothing could be compared.
    """

    apy_pct: str | None
    difference_bps: int | None
    most_apart_bps: int | None
    contradicts: bool | None
    place: str | None
    basis: str | None
    block: int | None
    says: str


@dataclass(frozen=True, slots=True)
class Claim:
    """What a list says of one pool. `apy` is percent a year without rewards, None where it does not part them.

    `is_part`: the list means one of several pools of that protocol, chain and asset, which it describes in words.
    """

    chain: str
    project: str
    tokens: tuple[str, ...]
    apy: float | None
    is_part: bool = False


def read_own(open_chain: Callable[[int], ChainReader], claim: Claim) -> OwnYield:
    """Our own yield of the pool that `claim` is of, or why there is none. A name of the list is only compared."""
    protocol = _find_protocol(claim.project)
    if protocol is None:
        return unknown("nothing of that name is compared here")
    chain_id = _find_chain(claim.chain)
    if chain_id is None or not protocol.is_on(chain_id):
        return unknown(f"{protocol.label} is not known here on that chain")
    if len(claim.tokens) != 1:
        return unknown("the list does not name one asset for it")
    if claim.is_part:
        return unknown("the list means a part of the protocol that only its words describe")
    try:
        return _read(open_chain(chain_id), protocol, claim)
    except GolemError as error:
        return unknown(f"the chain could not be read: {error.detail}")


def unknown(why: str) -> OwnYield:
    """No own yield, and why."""
    return OwnYield(None, None, None, None, None, None, None, f"no own figure: {why}")


def _find_protocol(project: str) -> ProtocolDef | None:
    wanted = project.casefold()
    return next((each for each in SHELF if wanted in each.listed_as), None)


def _find_chain(name: str) -> int | None:
    wanted = name.casefold()
    found = (each for each in KNOWN_NETWORKS.values() if wanted in (each.name.casefold(), each.slug))
    return next((each.chain_id for each in found), None)


def _find_asset(reader: ChainReader, listed: str) -> str | None:
    """The registered token of an address in any letters; the coin stands under the zero address in lists."""
    if listed.casefold() in (_ZERO_ADDRESS, NATIVE.casefold()):
        return NATIVE
    tokens: Sequence[str] = [each.address for each in reader.registered_tokens()]
    return next((each for each in tokens if each.casefold() == listed.casefold()), None)


def _read(reader: ChainReader, protocol: ProtocolDef, claim: Claim) -> OwnYield:
    asset = _find_asset(reader, claim.tokens[0])
    if asset is None:
        return unknown("its asset is no registered token of that chain")
    entry = protocol.address(reader.chain_id, protocol.entry)
    if entry is None or not reader.code(entry):
        return unknown(f"{protocol.label} is not there")
    offers = list_offers(reader, protocol, asset)
    if not offers:
        return unknown(f"{protocol.label} tells no yield of this asset")
    if len(offers) > 1:
        return unknown(f"{protocol.label} has {len(offers)} places for this asset, and the list does not say which")
    (offer,) = offers
    block = reader.block.number
    if offer.yearly_ppm is None:
        return OwnYield(None, None, None, None, offer.place, offer.basis, block, f"no own figure: {offer.basis}")
    apart = compare(claim.apy, offer.yearly_ppm)
    own = say_percent(offer.yearly_ppm)
    if apart is None:
        says = "not compared: the list does not tell its figure without rewards"
        return OwnYield(own, None, None, None, offer.place, offer.basis, block, says)
    difference, most, contradicts = apart
    says = (
        f"contradicts the chain: the list is {difference} basis points from what is read there, and {most} are allowed;"
        " count on the chain's"
        if contradicts
        else f"agrees with the chain within {most} basis points"
    )
    return OwnYield(own, difference, most, contradicts, offer.place, offer.basis, block, says)


def compare(listed: float | None, own_ppm: int) -> tuple[int, int, bool] | None:
    """How far a listed percentage is from ours in basis points, how far it may be, and whether it is further. Pure.

    It may be LEAST_APART_BPS from ours, or half of ours where that is more.
    """
    if listed is None:
        return None
    apart = int(Decimal(str(listed)) * 10_000) - own_ppm
    most = max(LEAST_APART_BPS, abs(own_ppm) // _PPM_OF_BPS // 2)
    told = min(abs(apart) // _PPM_OF_BPS, MOST_BPS)
    return (told if apart >= 0 else -told), most, abs(apart) > most * _PPM_OF_BPS
