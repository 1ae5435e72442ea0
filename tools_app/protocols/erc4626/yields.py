"""Known vaults for whoever compares yields: what a vault earns it does not tell, so that only its way out is told."""

from __future__ import annotations

from tools_app.protocols.erc4626.addresses import NAME, known_vaults
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.yields import YieldKind, YieldOffer


def list_yields(reader: ChainReader, token: str) -> tuple[YieldOffer, ...]:
    """The known vaults of a token; nothing is read."""
    return tuple(
        YieldOffer(
            protocol=NAME,
            place=vault.address,
            label=vault.label,
            kind=YieldKind.VAULT,
            yearly_ppm=None,
            basis="the vault tells what a share is worth now and not what it earns",
        )
        for vault in known_vaults(reader.chain_id)
        if vault.asset == token
    )
