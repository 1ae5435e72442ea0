"""What V4 calls a pool by: its key, the id that follows from it, and what its hook's address lets the hook do."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from eth_abi.abi import encode
from eth_utils.crypto import keccak

from tools_app.toolkit.pool_hooks import HookPower, PoolHooks

COIN: Final = "0x0000000000000000000000000000000000000000"
"""The chain's own coin as V4 knows it; of a pair it is always the first."""
NO_HOOK: Final = COIN
DYNAMIC_FEE: Final = 0x800000
KEY_TYPE: Final = "(address,address,uint24,int24,address)"
TIERS: Final = ((100, 1), (500, 10), (3_000, 60), (10_000, 200))
"""Fee and tick spacing of the pools that are looked for without being named."""
_HOOK_BITS: Final = 0x3FFF
# Amounts are changed by any of four bits: of a swap before and after, of what enters and of what leaves.
_POWERS: Final[dict[HookPower, int]] = {
    HookPower.AMOUNTS: 0x000F,
    HookPower.EXITS: 0x0301,
    HookPower.ENTRIES: 0x0C02,
    HookPower.TRADES: 0x00CC,
}


@dataclass(frozen=True, slots=True)
class PoolKey:
    """The five words by which V4's manager knows a pool; `fee` is DYNAMIC_FEE where the hook sets it."""

    currency0: str
    currency1: str
    fee: int
    spacing: int
    hooks: str = NO_HOOK

    @property
    def as_tuple(self) -> tuple[str, str, int, int, str]:
        """As the contracts take it."""
        return (self.currency0, self.currency1, self.fee, self.spacing, self.hooks)

    @property
    def pool_id(self) -> str:
        """0x-hex of the 32 bytes under which the manager keeps it."""
        return _hash_key(self.as_tuple)

    @property
    def is_dynamic(self) -> bool:
        """Whether the hook sets the fee."""
        return self.fee == DYNAMIC_FEE

    def tokens(self, wrapped_native: str) -> tuple[str, str]:
        """Both tokens as all pools know them: the wrapped coin for the coin, in the order of their addresses."""
        found = [wrapped_native if each == COIN else each for each in (self.currency0, self.currency1)]
        first, second = sorted(found, key=lambda address: int(address, 16))
        return first, second


@lru_cache(maxsize=4_096)
def _hash_key(key: tuple[object, ...]) -> str:
    return "0x" + keccak(encode([KEY_TYPE], [key])).hex()


def make_key(currency_a: str, currency_b: str, fee: int, spacing: int, hooks: str = NO_HOOK) -> PoolKey:
    """The key of a pair in whatever order."""
    first, second = sorted((currency_a, currency_b), key=lambda address: int(address, 16))
    return PoolKey(first, second, fee, spacing, hooks)


def list_usual_keys(token_a: str, token_b: str, wrapped: str) -> list[PoolKey]:
    """Keys of a pair without hooks at the usual fees; the wrapped coin stands for the coin as well as for itself."""
    pairs = [(token_a, token_b)]
    if wrapped in (token_a, token_b):
        pairs.insert(0, (COIN, token_b if token_a == wrapped else token_a))
    return [make_key(*pair, fee, spacing) for pair in pairs for fee, spacing in TIERS]


def read_powers(key: PoolKey) -> tuple[HookPower, ...]:
    """What the hook of a pool could do by the bits of its address, which nobody can change."""
    bits = int(key.hooks, 16) & _HOOK_BITS
    found = {power for power, mask in _POWERS.items() if bits & mask}
    # The hook of a dynamic pool may set its fee whenever it likes, whatever it is called for.
    if key.is_dynamic:
        found.add(HookPower.FEES)
    return tuple(power for power in HookPower if power in found)


def hooks_of(key: PoolKey) -> PoolHooks | None:
    """The hook of a pool; None where it has none."""
    return None if key.hooks == NO_HOOK else PoolHooks(key.pool_id, key.hooks, read_powers(key))
