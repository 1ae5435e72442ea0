"""A pool like Aave's with one reserve and one account in it, in round figures, as its contracts would tell them."""

from __future__ import annotations

from typing import Final

from tools_app.standards.aave_like.contracts import PoolContracts
from tools_app.standards.aave_like.reads import HeldReserve, LendingAccount, Reserve, Stand
from tools_app.standards.aave_like.signatures import RAY, WAD, Configuration
from tools_app.toolkit.views import TokenMeta

ME: Final = "0x" + "1" * 40
POOL, PROVIDER, ORACLE = ("0x" + each * 40 for each in "abc")
WHERE: Final = PoolContracts(pool=POOL, data_provider=PROVIDER, oracle=ORACLE)
TWO: Final = TokenMeta(1, "0x" + "2" * 40, "TWO", 6, "Two dollars", True)
KILO: Final = TokenMeta(1, "0x" + "3" * 40, "KILO", 18, "Two thousand dollars", True)
DOLLAR: Final = 10**8
UNIT: Final = 10**6
_FLAGS: Final = {
    "active": 56,
    "frozen": 57,
    "borrowable": 58,
    "stable": 59,
    "paused": 60,
    "in_isolation": 61,
    "siloed": 62,
    "flash": 63,
}


def configure(*flags: str, **numbers: int) -> Configuration:
    """As Aave packs it: 16 bits of loan to value, 16 of threshold, decimals from 48, caps from 80 and 116."""
    fields = {"ltv": 7_500, "threshold": 8_000, "decimals": 6, **numbers}
    places = {
        "ltv": 0,
        "threshold": 16,
        "decimals": 48,
        "borrow_cap": 80,
        "supply_cap": 116,
        "e_mode": 168,
        "ceiling": 212,
    }
    data = sum(value << places[name] for name, value in fields.items())
    return Configuration(data | sum(1 << _FLAGS[flag] for flag in flags))


OPEN: Final = ("active", "borrowable", "in_isolation")
RESERVE: Final = Reserve(
    asset=TWO.address,
    id=3,
    configuration=configure(*OPEN),
    a_token="0x" + "4" * 40,
    stable_debt="0x" + "5" * 40,
    variable_debt="0x" + "6" * 40,
    supplied=1_000_000 * UNIT,
    stable_owed=100_000 * UNIT,
    variable_owed=500_000 * UNIT,
    supply_rate=RAY * 3 // 100,
    variable_rate=RAY * 8 // 100,
    stable_rate=RAY * 9 // 100,
    isolated_debt=0,
    price=2 * DOLLAR,
)
# 10,000 dollars of collateral in the reserve of number 3, of which 8,000 are cover; 2,000 are owed.
ACCOUNT: Final = LendingAccount(10_000 * DOLLAR, 2_000 * DOLLAR, 5_500 * DOLLAR, 8_000, 7_500, 4 * WAD, 0, 1 << 7)
HELD: Final = HeldReserve(5_000 * UNIT, 0, 0, True)
STAND: Final = Stand(POOL, ACCOUNT, RESERVE, HELD, 0, 0)
