"""Lists where Aave V3 is deployed, chain by chain, as data.

The public chains are those of the npm package `@bgd-labs/aave-address-book` 4.44.22 (its main markets: Ethereum, OP
Mainnet, BNB, Polygon, ZKsync, Base, Arbitrum, Celo, Avalanche), which a test compares. The local chain's constants
follow from the account that builds it there.
"""

from __future__ import annotations

from collections.abc import Mapping

LOCAL_CHAIN_ID = 31_337

_DEPLOYED: dict[int, dict[str, str]] = {
    1: {
        "pool": "0x87870Bca3F3fD6335C3F4ce8392D69350B4fA4E2",
        "addresses_provider": "0x2f39d218133AFaB8F2B819B1066c7E434Ad94E9e",
        "oracle": "0x54586bE62E3c3580375aE3723C145253060Ca0C2",
        "data_provider": "0x0a16f2FCC0D44FaE41cc54e079281D84A363bECD",
        "pool_configurator": "0x64b761D848206f447Fe2dd461b0c635Ec39EbB27",
        "acl_manager": "0xc2aaCf6553D20d1e9d78E365AAba8032af9c85b0",
    },
    10: {
        "pool": "0x794a61358D6845594F94dc1DB02A252b5b4814aD",
        "addresses_provider": "0xa97684ead0e402dC232d5A977953DF7ECBaB3CDb",
        "oracle": "0xD81eb3728a631871a7eBBaD631b5f424909f0c77",
        "data_provider": "0x243Aa95cAC2a25651eda86e80bEe66114413c43b",
        "pool_configurator": "0x8145eddDf43f50276641b55bd3AD95944510021E",
        "acl_manager": "0xa72636CbcAa8F5FF95B2cc47F3CDEe83F3294a0B",
    },
    56: {
        "pool": "0x6807dc923806fE8Fd134338EABCA509979a7e0cB",
        "addresses_provider": "0xff75B6da14FfbbfD355Daf7a2731456b3562Ba6D",
        "oracle": "0x39bc1bfDa2130d6Bb6DBEfd366939b4c7aa7C697",
        "data_provider": "0xc90Df74A7c16245c5F5C5870327Ceb38Fe5d5328",
        "pool_configurator": "0x67bdF23C7fCE7C65fF7415Ba3F2520B45D6f9584",
        "acl_manager": "0x2D97F8FA96886Fd923c065F5457F9DDd494e3877",
    },
    137: {
        "pool": "0x794a61358D6845594F94dc1DB02A252b5b4814aD",
        "addresses_provider": "0xa97684ead0e402dC232d5A977953DF7ECBaB3CDb",
        "oracle": "0xb023e699F5a33916Ea823A16485e259257cA8Bd1",
        "data_provider": "0x243Aa95cAC2a25651eda86e80bEe66114413c43b",
        "pool_configurator": "0x8145eddDf43f50276641b55bd3AD95944510021E",
        "acl_manager": "0xa72636CbcAa8F5FF95B2cc47F3CDEe83F3294a0B",
    },
    324: {
        "pool": "0x78e30497a3c7527d953c6B1E3541b021A98Ac43c",
        "addresses_provider": "0x2A3948BB219D6B2Fa83D64100006391a96bE6cb7",
        "oracle": "0xC7F58Fca663a8d377B6D0c9703C697f56dC40088",
        "data_provider": "0x9057ac7b2D35606F8AD5aE2FCBafcD94E58D9927",
        "pool_configurator": "0x0207d31b4377C74bEC37356aaD83E3dCc979F40E",
        "acl_manager": "0xc6150b63c2F02528d4A969a248710A4658ed7928",
    },
    8453: {
        "pool": "0xA238Dd80C259a72e81d7e4664a9801593F98d1c5",
        "addresses_provider": "0xe20fCBdBfFC4Dd138cE8b2E6FBb6CB49777ad64D",
        "oracle": "0x2Cc0Fc26eD4563A5ce5e8bdcfe1A2878676Ae156",
        "data_provider": "0x0F43731EB8d45A581f4a36DD74F5f358bc90C73A",
        "pool_configurator": "0x5731a04B1E775f0fdd454Bf70f3335886e9A96be",
        "acl_manager": "0x43955b0899Ab7232E3a454cf84AedD22Ad46FD33",
    },
    42161: {
        "pool": "0x794a61358D6845594F94dc1DB02A252b5b4814aD",
        "addresses_provider": "0xa97684ead0e402dC232d5A977953DF7ECBaB3CDb",
        "oracle": "0xb56c2F0B653B2e0b10C9b928C8580Ac5Df02C7C7",
        "data_provider": "0x243Aa95cAC2a25651eda86e80bEe66114413c43b",
        "pool_configurator": "0x8145eddDf43f50276641b55bd3AD95944510021E",
        "acl_manager": "0xa72636CbcAa8F5FF95B2cc47F3CDEe83F3294a0B",
    },
    42220: {
        "pool": "0x3E59A31363E2ad014dcbc521c4a0d5757d9f3402",
        "addresses_provider": "0x9F7Cf9417D5251C59fE94fB9147feEe1aAd9Cea5",
        "oracle": "0x1e693D088ceFD1E95ba4c4a5F7EeA41a1Ec37e8b",
        "data_provider": "0x2e0f8D3B1631296cC7c56538D6Eb6032601E15ED",
        "pool_configurator": "0x7567E3434CC1BEf724AB595e6072367Ef4914691",
        "acl_manager": "0x7a12dCfd73C1B4cddf294da4cFce75FcaBBa314C",
    },
    43114: {
        "pool": "0x794a61358D6845594F94dc1DB02A252b5b4814aD",
        "addresses_provider": "0xa97684ead0e402dC232d5A977953DF7ECBaB3CDb",
        "oracle": "0xEBd36016B3eD09D4693Ed4251c67Bd858c3c7C9C",
        "data_provider": "0x243Aa95cAC2a25651eda86e80bEe66114413c43b",
        "pool_configurator": "0x8145eddDf43f50276641b55bd3AD95944510021E",
        "acl_manager": "0xa72636CbcAa8F5FF95B2cc47F3CDEe83F3294a0B",
    },
    LOCAL_CHAIN_ID: {
        "pool": "0x15F560aa8A7c2470bfa0b6c9baA69760A2c11a97",
        "addresses_provider": "0xce3e18588A9Da0c0A40063bC5C0ed22D87F893d9",
        "oracle": "0xCAe1B7Ce21DD1bd445703b213e43dAE36447fdb2",
        "data_provider": "0x2C29650CE882b92AAB8C9CAAdd83372D2Bb53A02",
        "pool_configurator": "0x5fE21aa10E5128C87033b799113A1d2B7A0Fe8B2",
        "acl_manager": "0x7CacD07e97dFc4D86dcDb2d760634DdE8Cb2B651",
    },
}

CHAINS = frozenset(_DEPLOYED)
"""Every chain the `aave_*` tools serve."""


def deployments(chain_id: int) -> Mapping[str, str] | None:
    """Its contracts by key on a chain, or None."""
    return _DEPLOYED.get(chain_id)
