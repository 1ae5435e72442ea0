"""Tells what staked USDe earns, for whoever compares: the rate at which rewards drip in now."""

from __future__ import annotations

from tools_app.protocols.ethena.addresses import NAME, find_vault
from tools_app.protocols.ethena.math import rate_now_bps
from tools_app.protocols.ethena.reads import DURATION, TOTAL_ASSETS, UNVESTED, VESTING, VESTING_SECONDS
from tools_app.standards.read_all_or_fail import read_all
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.yields import YieldKind, YieldOffer


def list_yields(reader: ChainReader, token: str) -> tuple[YieldOffer, ...]:
    """sUSDe, for what is staked for it. One batch."""
    vault = find_vault(reader.chain_id)
    if vault is None or token != vault.asset:
        return ()
    values = read_all(reader, [ReadCall(vault.address, each) for each in (UNVESTED, VESTING, TOTAL_ASSETS, DURATION)])
    unvested, vesting, staked, duration = (int(each[0]) for each in values)
    rate = rate_now_bps(unvested=unvested, vesting=vesting, period=VESTING_SECONDS, staked=staked)
    return (
        YieldOffer(
            protocol=NAME,
            place=vault.address,
            label=vault.label,
            kind=YieldKind.SAVINGS,
            yearly_ppm=rate * 100,
            basis="rewards of the last eight hours, as they drip in now; the next may be none",
            waits_seconds=duration,
            steps_out=2 if duration else 1,
        ),
    )
