"""Tells what restaked ether earned, for whoever compares: growth of issuers' rates over a week."""

from __future__ import annotations

from tools_app.protocols.liquid_restaking.addresses import ISSUERS, LABELS, NAME, SYMBOLS, contracts_on
from tools_app.protocols.liquid_restaking.history import read_yearly_bps
from tools_app.protocols.liquid_restaking.issuer_reads import ask_standings
from tools_app.protocols.liquid_restaking.issuers import Standing
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.positions import drive
from tools_app.toolkit.yields import YieldKind, YieldOffer, is_coin


def list_yields(reader: ChainReader, token: str) -> tuple[YieldOffer, ...]:
    """Each issuer's token, for the coin and what wraps it."""
    at = contracts_on(reader.chain_id)
    if at is None or not is_coin(reader, token):
        return ()
    issuers = ISSUERS
    standings = drive(ask_standings(at, issuers), reader.call_many)
    found = []
    for issuer in issuers:
        standing = standings[issuer]
        rate = read_yearly_bps(reader, at, issuer, standing.rate)
        found.append(
            YieldOffer(
                protocol=NAME,
                place=at.tokens[issuer],
                label=f"{SYMBOLS[issuer]} ({LABELS[issuer]})",
                kind=YieldKind.STAKING,
                yearly_ppm=None if rate is None else rate * 100,
                basis="growth of the issuer's rate over a week" if rate is not None else "no rate a day old is known",
                waits_seconds=standing.delay or None,
                free=standing.at_once or None,
                steps_out=2,
                closed=_closed(standing),
            )
        )
    return tuple(found)


def _closed(standing: Standing) -> str:
    if standing.is_in_paused:
        return "the issuer has paused deposits"
    return "the issuer has paused leaving" if standing.is_out_paused or standing.is_claim_paused else ""
