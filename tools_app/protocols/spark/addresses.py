"""Lists where SparkLend is deployed, as data.

Ethereum's contracts are those of the npm package `@oasisdex/addresses` 0.1.92 (its `spark` section), which a test
compares: Spark's own registry is on no package registry. The local chain's constants follow from the account that
builds it there.
"""

from __future__ import annotations

from collections.abc import Mapping

_DEPLOYED: dict[int, dict[str, str]] = {
    1: {
        "pool": "0xC13e21B648A5Ee794902342038FF3aDAB66BE987",
        "oracle": "0x8105f69D9C41644c6A0803fDA7D03Aa70996cFD9",
        "data_provider": "0xFc21d6d146E6086B8359705C8b28512a983db0cb",
    },
    31_337: {
        "pool": "0x8Cdeab41F36c3dD0603D7835a68c1aB86A5F7d91",
        "addresses_provider": "0xee15cb14b3475de768d9cEaC6254f67946783e2d",
        "oracle": "0x0972216c3DA29feaC6A882cc0bd67a4f4a6424c4",
        "data_provider": "0xB2E1876a4E7BBE310E5292B070Fed7c6bC5FaeeA",
        "pool_configurator": "0x9FE6aC90162934d42c78D7dEDA24382eb8367449",
        "acl_manager": "0x935B4A83BAe80D3B8552b71e35b14877F3fcca67",
    },
}

CHAINS = frozenset(_DEPLOYED)
"""Every chain the `spark_*` tools serve."""


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """Its contracts by key on a chain, or None."""
    return _DEPLOYED.get(chain_id)
