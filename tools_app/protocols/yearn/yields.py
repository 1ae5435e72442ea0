"""Tells what known Yearn vaults earn, for whoever compares: the rate at which reported profit unlocks now."""

from __future__ import annotations

from tools_app.protocols.yearn.addresses import NAME, known_vaults
from tools_app.protocols.yearn.reads import read_standing
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.yields import Door, YieldKind, YieldOffer


def list_yields(reader: ChainReader, token: str) -> tuple[YieldOffer, ...]:
    """The known vaults of a token; one batch each."""
    found = []
    for vault in known_vaults(reader.chain_id):
        if vault.asset != token:
            continue
        standing = read_standing(reader, vault)
        is_full = standing.is_shutdown or not standing.room
        found.append(
            YieldOffer(
                protocol=NAME,
                place=vault.address,
                label=vault.label,
                kind=YieldKind.VAULT,
                yearly_ppm=standing.rate_bps * 100,
                basis="profit that unlocks now, on what is inside; what strategies earn next is not known",
                free=standing.idle,
                closed="the vault is shut down or full" if is_full else "",
                way_in=Door("yearn_deposit", {"vault": vault.address}),
                way_out=Door("yearn_withdraw", {"vault": vault.address}, amount="shares"),
            )
        )
    return tuple(found)
