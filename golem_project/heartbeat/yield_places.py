"""Reads where a token that rotates could earn, once a tick, and how much of it lies at each place."""

from __future__ import annotations

from collections.abc import Iterable

from golem_project.heartbeat.strategies.strategy import SeenPlace
from golem_project.heartbeat.strategies.yield_rotation import YieldRotation
from tools_app.core.errors import GolemError
from tools_app.portfolio.holdings import HeldPosition, Holdings
from tools_app.subsystems.intel.compare_yields import list_offers
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import ACCOUNT
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
    return tuple(_see(each, token, holdings, chain_id) for each in offers)


def _see(offer: YieldOffer, token: str, holdings: Holdings, chain_id: int) -> SeenPlace:
    there = [
        each
        for each in holdings.positions
        if each.ref.protocol == offer.protocol and each.ref.chain_id == chain_id
        # An account stands for all that lies at its protocol.
        if each.position.legs and (each.ref.kind == ACCOUNT or each.ref.id.casefold() == offer.place.casefold())
    ]
    is_tied = any(not _is_free(each, token) for each in there)
    return SeenPlace(offer, token, sum(each.position.raw_of(token) for each in there), is_tied)


def _is_free(held: HeldPosition, token: str) -> bool:
    """Whether nothing is owed in it, and what lies there of the token waits for nothing. Rewards and other tokens stay
    where they are: a way out takes its own token alone.
    """
    position = held.position
    waits = any(leg.free_at is not None for leg in position.legs if leg.token == token)
    return position.is_whole and not position.has_health and not waits
