"""Lists who issues the tokens that this product knows, and over which bridge they came.

An issuer redeems a token, or freezes it, with a decision of its own. A bridge keeps elsewhere what a token here stands
for. Issuers whose contracts are a protocol of the product are told by that protocol. Tests compare the rows with
packages of their makers; that DAI and WBTC came to Polygon over its bridge, and who keeps the bitcoin behind WBTC, no
package says.
"""

from __future__ import annotations

from typing import Final

# symbol -> who issues it, on chains where a bridge below does not say otherwise
PUBLIC_ISSUERS: Final[dict[str, str]] = {
    "USDC": "Circle",
    "USDT": "Tether",
    "WBTC": "BitGo",
}

# (chain, symbol) -> who keeps what the token there stands for
PUBLIC_BRIDGES: Final[dict[tuple[int, str], str]] = {
    (10, "USDT"): "Optimism bridge",
    (10, "DAI"): "Optimism bridge",
    (10, "WBTC"): "Optimism bridge",
    (56, "USDC"): "Binance peg",
    (56, "USDT"): "Binance peg",
    (137, "USDT"): "USDT0 (LayerZero)",
    (137, "DAI"): "Polygon PoS bridge",
    (137, "WBTC"): "Polygon PoS bridge",
    (8453, "DAI"): "Base bridge",
    (42161, "USDT"): "USDT0 (LayerZero)",
    (42161, "DAI"): "Arbitrum bridge",
    (42161, "WBTC"): "Arbitrum bridge",
}
