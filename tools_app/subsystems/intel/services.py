"""The services whose figures the `intel_*` reads repeat. None takes a key; an owner switches each on."""

from __future__ import annotations

from tools_app.toolkit.outside_services import OutsideService, declare_service

FIGURES = declare_service(
    OutsideService(
        name="defillama",
        label="DefiLlama, value and volume by chain",
        url="https://api.llama.fi",
        lends="How much lies in the protocols of a chain, and how much was traded there in 24 hours.",
    )
)
YIELDS = declare_service(
    OutsideService(
        name="defillama_yields",
        label="DefiLlama, yields by pool",
        url="https://yields.llama.fi",
        lends="What pools everywhere say they yield, with what lies in them; one list of several megabytes.",
        questions_an_hour=12,
    )
)
FEAR_AND_GREED = declare_service(
    OutsideService(
        name="fear_and_greed",
        label="Fear and Greed Index of alternative.me",
        url="https://api.alternative.me",
        lends="One number from 0 (fear) to 100 (greed) a day, by its makers' own recipe.",
        questions_an_hour=12,
    )
)
FUTURES = declare_service(
    OutsideService(
        name="binance_futures",
        label="Binance, public figures of its futures",
        url="https://fapi.binance.com",
        lends="Funding rates and open interest of perpetual futures on Bitcoin and Ether.",
    )
)
