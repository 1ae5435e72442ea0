"""The calls to Maker that its tools and its way out are made of."""

from __future__ import annotations

from typing import Final

OPEN: Final = "function open(bytes32 ilk, address usr) returns (uint256)"
FROB: Final = "function frob(uint256 cdp, int256 dink, int256 dart)"
FLUX: Final = "function flux(uint256 cdp, address dst, uint256 wad)"
MOVE: Final = "function move(uint256 cdp, address dst, uint256 rad)"
JOIN: Final = "function join(address usr, uint256 wad)"
EXIT: Final = "function exit(address usr, uint256 wad)"
DRIP: Final = "function drip(bytes32 ilk)"
HOPE: Final = "function hope(address usr)"
NOPE: Final = "function nope(address usr)"
CDP_ALLOW: Final = "function cdpAllow(uint256 cdp, address usr, uint256 ok)"
