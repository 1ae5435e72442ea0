"""Tokens and price feeds of public chains that this product knows without being told: data, nothing else.

Short on purpose: the wrapped coin and the large dollar and bitcoin tokens. Set-up can add a full token list.
A feed is a Chainlink USD feed; its third figure is the most seconds its operator lets pass between two rounds.
"""

from __future__ import annotations

from typing import Final

# (symbol, address, decimals, name); the first of each chain wraps the chain's coin
PUBLIC_TOKENS: Final[dict[int, tuple[tuple[str, str, int, str], ...]]] = {
    1: (
        ("WETH", "0xC02aaA39b223FE8D0A0e5C4F27eAD9083C756Cc2", 18, "Wrapped Ether"),
        ("USDC", "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", 6, "USD Coin"),
        ("USDT", "0xdAC17F958D2ee523a2206206994597C13D831ec7", 6, "Tether USD"),
        ("DAI", "0x6B175474E89094C44Da98b954EedeAC495271d0F", 18, "Dai Stablecoin"),
        ("WBTC", "0x2260FAC5E5542a773Aa44fBCfeDf7C193bc2C599", 8, "Wrapped BTC"),
        ("USDe", "0x4c9EDD5852cd905f086C759E8383e09bff1E68B3", 18, "USDe synthetic dollar"),
        ("USDS", "0xdC035D45d973E3EC169d2276DDab16f1e407384F", 18, "USDS Stablecoin"),
    ),
    10: (
        ("WETH", "0x4200000000000000000000000000000000000006", 18, "Wrapped Ether"),
        ("USDC", "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85", 6, "USD Coin"),
        ("USDT", "0x94b008aA00579c1307B0EF2c499aD98a8ce58e58", 6, "Tether USD"),
        ("DAI", "0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1", 18, "Dai Stablecoin"),
        ("WBTC", "0x68f180fcCe6836688e9084f035309E29Bf0A2095", 8, "Wrapped BTC"),
    ),
    56: (
        ("WBNB", "0xbb4CdB9CBd36B01bD1cBaEBF2De08d9173bc095c", 18, "Wrapped BNB"),
        ("USDC", "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d", 18, "USD Coin"),
        ("USDT", "0x55d398326f99059fF775485246999027B3197955", 18, "Tether USD"),
    ),
    130: (
        ("WETH", "0x4200000000000000000000000000000000000006", 18, "Wrapped Ether"),
        ("USDC", "0x078D782b760474a361dDA0AF3839290b0EF57AD6", 6, "USD Coin"),
    ),
    137: (
        ("WPOL", "0x0d500B1d8E8eF31E21C99d1Db9A6444d3ADf1270", 18, "Wrapped POL"),
        ("USDC", "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359", 6, "USD Coin"),
        ("USDT", "0xc2132D05D31c914a87C6611C10748AEb04B58e8F", 6, "Tether USD"),
        ("DAI", "0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063", 18, "Dai Stablecoin"),
        ("WBTC", "0x1BFD67037B42Cf73acF2047067bd4F2C47D9BfD6", 8, "Wrapped BTC"),
    ),
    324: (("WETH", "0x5AEa5775959fBC2557Cc8789bC1bf90A239D9a91", 18, "Wrapped Ether"),),
    8453: (
        ("WETH", "0x4200000000000000000000000000000000000006", 18, "Wrapped Ether"),
        ("USDC", "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", 6, "USD Coin"),
        ("DAI", "0x50c5725949A6F0c72E6C4a641F24049A917DB0Cb", 18, "Dai Stablecoin"),
    ),
    42161: (
        ("WETH", "0x82aF49447D8a07e3bd95BD0d56f35241523fBab1", 18, "Wrapped Ether"),
        ("USDC", "0xaf88d065e77c8cC2239327C5EDb3A432268e5831", 6, "USD Coin"),
        ("USDT", "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9", 6, "Tether USD"),
        ("DAI", "0xDA10009cBd5D07dd0CeCc66161FC93D7c9000da1", 18, "Dai Stablecoin"),
        ("WBTC", "0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f", 8, "Wrapped BTC"),
    ),
    43114: (
        ("WAVAX", "0xB31f66AA3C1e785363F0875A1B74E27b85FD66c7", 18, "Wrapped AVAX"),
        ("USDC", "0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E", 6, "USD Coin"),
        ("USDT", "0x9702230A8Ea53601f5cD2dc00fDBc13d4dF4A8c7", 6, "Tether USD"),
    ),
    81457: (("WETH", "0x4300000000000000000000000000000000000004", 18, "Wrapped Ether"),),
}

# symbol -> (feed, heartbeat in seconds); the coin's own symbol serves its wrapped token too
PUBLIC_FEEDS: Final[dict[int, dict[str, tuple[str, int]]]] = {
    1: {
        "ETH": ("0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419", 3_600),
        "USDC": ("0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6", 86_400),
        "USDT": ("0x3E7d1eAB13ad0104d2750B8863b489D65364e32D", 86_400),
        "DAI": ("0xAed0c38402a5d19df6E4c03F4E2DceD6e29c1ee9", 3_600),
        "USDe": ("0xa569d910839Ae8865Da8F8e70FfFb0cBA869F961", 86_400),
        # data.chain.link/feeds/ethereum/mainnet/usds-usd
        "USDS": ("0xfF30586cD0F29eD462364C7e81375FC0C71219b1", 86_400),
    },
}

# Proxies that tell since when a rollup's sequencer has been up: docs.chain.link, "L2 Sequencer Uptime Feeds".
PUBLIC_SEQUENCER_FEEDS: Final[dict[int, str]] = {
    10: "0x371EAD81c9102C9BF4874A9075FFFf170F2Ee389",
    324: "0x0E6AC8B967393dcD3D36677c126976157F993940",
    8453: "0xBCF85224fc0756B9Fa45aA7892530B47e10b6433",
    42161: "0xFdB631F5EE196F0ed6FAa767959853A9F217697D",
}
