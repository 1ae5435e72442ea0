"""Known vaults for whoever compares yields: most tell not what they earn; Sky's savings tell their rate."""

from __future__ import annotations

from typing import Final

from tools_app.protocols.erc4626.addresses import NAME, find_savings, known_vaults
from tools_app.protocols.erc4626.savings import SSR, yearly_ppm
from tools_app.toolkit.context import ChainReader
from tools_app.toolkit.yields import Door, YieldKind, YieldOffer

_AT_ONCE: Final = "the vault tells what a share is worth now and not what it earns"
_SAVINGS: Final = "the savings rate now, with interest on interest; whoever governs Sky may change it any moment"
_BY_REQUEST: Final = f"{_AT_ONCE}; it is entered and left by request, and nobody knows when it settles one"


def list_yields(reader: ChainReader, token: str) -> tuple[YieldOffer, ...]:
    """The known vaults of a token; of savings the rate is read."""
    savings = find_savings(reader.chain_id)
    return tuple(
        YieldOffer(
            protocol=NAME,
            place=vault.address,
            label=vault.label,
            kind=YieldKind.SAVINGS if vault == savings else YieldKind.VAULT,
            yearly_ppm=yearly_ppm(int(reader.call(vault.address, SSR)[0])) if vault == savings else None,
            basis=_SAVINGS if vault == savings else _BY_REQUEST if vault.by_request else _AT_ONCE,
            waits_seconds=None if vault.by_request else 0,
            steps_out=2 if vault.by_request else 1,
            way_in=None if vault.by_request else Door("vault_deposit", {"vault": vault.address}),
            way_out=None if vault.by_request else Door("vault_withdraw", {"vault": vault.address}, amount="shares"),
        )
        for vault in known_vaults(reader.chain_id)
        if vault.asset == token
    )
