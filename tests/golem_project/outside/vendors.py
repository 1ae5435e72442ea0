"""Stand-ins of the services the `intel_*` reads ask, with answers in the shapes that their makers publish."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

from golem_project import wiring
from tests.stand_in import serve_stand_in
from tools_app.core import clock

NAMES = ("defillama", "defillama_yields", "fear_and_greed", "binance_futures")


def make_pool(**changed: Any) -> dict[str, Any]:
    """One row of the list of yields, with every field the list has."""
    return {
        "chain": "Base",
        "project": "aave-v3",
        "symbol": "USDC",
        "tvlUsd": 2_500_000,
        "apyBase": 3.25,
        "apyReward": None,
        "apy": 3.25,
        "rewardTokens": None,
        "pool": "7e0661bf-8cf3-45e6-9424-31916d4c7b84",
        "apyPct1D": 0.01,
        "apyPct7D": None,
        "apyPct30D": -0.2,
        "stablecoin": True,
        "ilRisk": "no",
        "exposure": "single",
        "predictions": {"predictedClass": "Stable/Up", "predictedProbability": 71, "binnedConfidence": 2},
        "poolMeta": None,
        "mu": 4.1,
        "sigma": 0.03,
        "count": 800,
        "outlier": False,
        "underlyingTokens": ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"],
        "il7d": None,
        "apyBase7d": None,
        "apyMean30d": 3.4,
        "volumeUsd1d": None,
        "volumeUsd7d": None,
        "apyBaseInception": None,
        **changed,
    }


class Vendors:
    """What they answer, by path without its query; what they were asked, and with which headers."""

    def __init__(self) -> None:
        now = int(clock.now().timestamp())
        self.got: list[tuple[str, str, dict[str, str], bytes]] = []
        self.answers: dict[str, Any] = {
            "/pools": {"status": "success", "data": [make_pool()]},
            "/fng/": {
                "name": "Fear and Greed Index",
                "data": [
                    {
                        "value": "22",
                        "value_classification": "Extreme Fear",
                        "timestamp": str(now - 3_600),
                        "time_until_update": "82800",
                    }
                ],
                "metadata": {"error": None},
            },
            "/fapi/v1/premiumIndex": _tell_premium,
            "/futures/data/openInterestHist": lambda query: [
                {
                    "symbol": query["symbol"][0],
                    "sumOpenInterest": "80000.0",
                    "sumOpenInterestValue": str(10**9 + hour * 10**7),
                    "timestamp": (now - (24 - hour) * 3_600) * 1_000,
                }
                for hour in range(25)
            ],
            "/v2/historicalChainTvl/Ethereum": [
                {"date": now - now % 86_400 - day * 86_400, "tvl": 5e10 + day * 1e9} for day in range(40, -1, -1)
            ],
            "/overview/dexs/Ethereum": {
                "chain": "Ethereum",
                "total24h": 2_000_000_000.5,
                "change_1d": -3.5,
                "change_7d": 12.25,
                "change_1m": 40.0,
                "protocols": [
                    {"name": "Small", "total24h": 10.0},
                    {"name": "Idle", "total24h": 0},
                    {"name": "Large", "total24h": 1_500_000_000.0},
                ],
            },
        }

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Any:
        self.got.append((method, path, headers, body))
        parts = urlsplit(path)
        found = self.answers.get(parts.path, (404, {"errorCode": "ResourceNotFound", "detail": "no such thing"}))
        if callable(found):
            found = found(parse_qs(parts.query))
        return found if isinstance(found, tuple) else (200, found)


def _tell_premium(query: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "symbol": query["symbol"][0],
        "markPrice": "60000.00",
        "indexPrice": "60001.00",
        "lastFundingRate": {"BTCUSDT": "0.00010000", "ETHUSDT": "0.00030000"}[query["symbol"][0]],
        "nextFundingTime": 1_790_000_000_000,
        "time": int(clock.now().timestamp() * 1_000),
    }


@contextmanager
def asked_instead(
    settings: Any, answer: Callable[[str, str, dict[str, str], bytes], Any], *, names: tuple[str, ...] = NAMES
) -> Iterator[str]:
    """Every service of `names` is asked at one stand-in, as an operator's settings say."""
    before = settings.GOLEM_SERVICE_URLS, settings.GOLEM_SERVICES_ALLOW_PRIVATE_ADDRESSES
    with serve_stand_in(answer) as url:
        settings.GOLEM_SERVICE_URLS = dict.fromkeys(names, url)
        settings.GOLEM_SERVICES_ALLOW_PRIVATE_ADDRESSES = True
        wiring.configure()
        try:
            yield url
        finally:
            settings.GOLEM_SERVICE_URLS, settings.GOLEM_SERVICES_ALLOW_PRIVATE_ADDRESSES = before
            wiring.configure()
