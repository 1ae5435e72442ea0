"""Reads where a token that rotates could earn, once a tick, and how much of it lies at each place."""

from __future__ import annotations

from collections.abc import Iterable

from golem_project.heartbeat.strategies.strategy import SeenPlace
from golem_project.heartbeat.strategies.yield_rotation import YieldRotation
from tools_app.core.errors import GolemError
from tools_app.portfolio.holdings import HeldPosition, Holdings
from tools_app.subsystems.intel.compare_yields import list_offers
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.protocol import SHELF, ProtocolDef
from tools_app.toolkit.yields import YieldOffer


def read_offers(reader: ChainReader, rotation: YieldRotation, anomalies: list[str]) -> tuple[YieldOffer, ...]:
    """What each place offers now; one that does not answer is an anomaly and offers nothing."""
    try:
        token = reader.token(rotation.token).address
    except GolemError as error:
        anomalies.append(f"{error.code}: {error.detail}")
        return ()
    wanted = [each for each in SHELF.on(reader.chain_id) if each.name in rotation.places]
    entries = {each.name: each.address(reader.chain_id, each.entry) or "" for each in wanted}
    found: list[YieldOffer] = []
    try:
        reader.preload(contracts=list(entries.values()))
        for protocol in wanted:
            if reader.code(entries[protocol.name]):
                found += _ask(reader, protocol, token, anomalies)
    except GolemError as error:
        anomalies.append(f"{error.code}: {error.detail}")
    return tuple(found)


def _ask(reader: ChainReader, protocol: ProtocolDef, token: str, anomalies: list[str]) -> list[YieldOffer]:
    try:
        return list_offers(reader, protocol, token)
    except GolemError as error:
        anomalies.append(f"{error.code}: {protocol.label} tells no rate: {error.detail}")
        return []


def see_places(
    offers: Iterable[YieldOffer], token: str, holdings: Holdings | None, chain_id: int
) -> tuple[SeenPlace, ...]:
    """The offers with how much of `token` lies at each of them; none where positions could not be read."""
    if holdings is None:
        return ()
    told = tuple(offers)
    return tuple(_see(each, told, token, holdings, chain_id) for each in told)


def _see(offer: YieldOffer, offers: tuple[YieldOffer, ...], token: str, holdings: Holdings, chain_id: int) -> SeenPlace:
    is_only = sum(each.protocol == offer.protocol for each in offers) == 1
    there = [
        each
        for each in holdings.positions
        if each.ref.protocol == offer.protocol and each.ref.chain_id == chain_id
        if each.position.legs and (is_only or each.ref.id.casefold() == offer.place.casefold())
    ]
    is_tied = any(not _is_plain(each, token) for each in there)
    return SeenPlace(offer, token, sum(each.position.raw_of(token) for each in there), is_tied)


def _is_plain(held: HeldPosition, token: str) -> bool:
    """Whether nothing but the token lies in it, to be had at once."""
    position = held.position
    legs = [leg for leg in position.legs if leg.raw]
    return position.is_whole and all(leg.token == token and leg.raw > 0 and leg.free_at is None for leg in legs)
