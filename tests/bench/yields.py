"""What a position at each protocol that earns a yield costs a quiet tick, beside a golem that has none.

Two golems with the same tokens on the same chain take turns, so that a busy moment of the machine meets both alike.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final
from uuid import uuid4

from django.conf import settings

from archetypes_app.models import Golem, Heartbeat
from golem_project.demo.seed import CHAIN_ID, seed_demo
from golem_project.embedded.chain import EmbeddedChain
from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.protocols import deploy_protocols, find_protocol_worlds
from golem_project.embedded.world.rpc import JsonRpc
from golem_project.heartbeat.cycle import run_heartbeat_tick
from permits_app.limits.signed_promises import make_promise
from permits_app.models.permit import PermitStatus
from tests.bench.figures import Figure, measure
from tests.bench.heartbeat import claim_of, make_like
from tests.bench.shelf import Lap, counted
from tests.factories.permits import make_permit
from tests.proof.holding_walk import Act, HoldingsWalk, undone
from tests.tools_app.protocols.pendle.seeded_markets import STATES, worst_price_bps
from tools_app.core import clock
from tools_app.portfolio.remembered_positions import remember_positions

MOST_TIMES_AS_LONG = 1.5
MOST_MORE_BATCHES = 4
MOST_PRICE_BPS = 5
MOST_WORLD_SECONDS = 2
WORLDS: Final = (
    *("pendle", "yearn", "ethena", "maker", "spark", "curve", "eigenlayer", "liquid_restaking", "erc4626"),
    *("compound_v3", "moonwell", "metamask", "safe_allowance", "x402"),
)
"""The protocols that earn a yield, and those of wallets, by what the local chain has of them."""
_DOLLARS: Final = 2_000
_DAI: Final = str(_DOLLARS * 10**18)
_USDC: Final = str(_DOLLARS * 10**6)
_ROUNDS = 30
_WARM = 5


def list_acts(contracts: Mapping[str, Mapping[str, str]]) -> tuple[Act, ...]:
    """What leaves one position at each, two thousand dollars in it; at the market of claims all three kinds and what an
    order may take, at the vaults one that is asked. What is restaked is delegated: that is what a tick compares.
    """
    pool, vault, market = contracts["curve"]["pool_3pool"], contracts["yearn"]["yv_usdc"], contracts["pendle"]
    claims = {"market": market["market_dai"]}
    return (
        Act("ethena_stake_usde", {"amount": _DAI}),
        Act("yearn_deposit", {"vault": vault, "amount": _USDC}),
        Act("curve_add_liquidity", {"pool": pool, "amounts": [_DAI, "0", "0"]}),
        Act("convex_stake_lp", {"pool": pool, "amount": "max"}),
        Act("pendle_buy_pt", {**claims, "amount": _DAI}),
        Act("pendle_buy_yt", {**claims, "amount": str(100 * 10**18)}),
        Act("pendle_add_lp", {**claims, "amount": _DAI}),
        Act("compound_v3_supply", {"market": "USDC", "amount": _USDC}),
        Act("vault_deposit", {"vault": contracts["erc4626"]["vault"], "amount": _USDC}),
        Act("vault_deposit", {"vault": contracts["erc4626"]["susds"], "amount": _DAI}),
        Act("vault_deposit", {"vault": contracts["erc4626"]["request_vault"], "amount": _USDC}),
        Act("moonwell_supply", {"asset": "USDC", "amount": _USDC}),
        Act("pendle_approve_limit_orders", {**claims, "amount": _DAI}),
        Act("eigenlayer_deposit_lst", {"token": "DAI", "amount": _DAI}),
        *(Act("lrt_deposit", {"protocol": each, "amount": str(10**18)}) for each in ("etherfi", "renzo", "kelp")),
        Act("eigenlayer_delegate", {"operator": derive_account("eigenlayer operator").address}),
    )


@measure("yields")
def measure_yields() -> Iterator[Figure]:
    """Time and exchanges with the node of a quiet tick, with a position at each and with none."""
    demo = seed_demo(now=clock.now(), with_token=False).golem
    if Heartbeat.objects.filter(is_on=True).exclude(golem=demo).exists():
        raise RuntimeError("golems live on this database; measure on throw-away servers")
    url = settings.GOLEM_RPC_URLS[CHAIN_ID][0]
    contracts = deploy_protocols(url)
    rpc = JsonRpc(url)
    try:
        with undone(rpc):
            bare, holder = (HoldingsWalk.begin(rpc, f"yields {each}", contracts) for each in ("none", "held"))
            for act in list_acts(contracts):
                holder.enter(act)
            remember_positions(account=holder.address, refs=holder.hints, now=clock.now())
            places = {each.ref.protocol for each in holder.read()[1].positions}
            alone, golem = _hatch(demo, bare.address), _hatch(demo, holder.address)
            _sign_order(holder, golem, contracts["pendle"]["market_dai"])
            without, among = _compare(rpc, alone, golem)
    finally:
        rpc.close()
    where = ", ".join(sorted(places))
    yield Figure(
        "yields.quiet_tick",
        f"times as long a quiet tick takes with positions at {where}, among them savings, a request at a vault and an"
        f" open order for claims; medians of {_ROUNDS}, taking turns",
        round(among.p50 / without.p50, 2),
        "times",
        target=MOST_TIMES_AS_LONG,
        reference=f"{without.p50:g} ms with none, {among.p50:g} ms with {len(places)}",
    )
    yield Figure(
        "yields.batches",
        "more exchanges with the node in such a tick",
        among.most - without.most,
        "batches",
        target=MOST_MORE_BATCHES,
        reference=f"{without.most} with none, {among.most} with {len(places)}",
    )


@measure("worlds")
def measure_worlds() -> Iterator[Figure]:
    """How long what each protocol stands on takes to be built on a chain that has what it needs."""
    with tempfile.TemporaryDirectory(prefix="golem-worlds-") as folder:
        chain = EmbeddedChain(Path(folder), throwaway=True)
        chain.start()
        try:
            needed = {each for name in WORLDS for each in find_protocol_worlds()[name].needs}
            deploy_protocols(chain.rpc_url, sorted(needed))
            for name in WORLDS:
                started = clock.monotonic_ms()
                deploy_protocols(chain.rpc_url, [name])
                yield Figure(
                    f"worlds.{name}",
                    "seconds until what it stands on is built on the local chain",
                    round((clock.monotonic_ms() - started) / 1_000, 2),
                    "s",
                    target=MOST_WORLD_SECONDS,
                )
        finally:
            chain.stop()


@measure("claims")
def measure_claims() -> Iterator[Figure]:
    """How exactly the price of a claim that is due later is computed."""
    yield Figure(
        "claims.price",
        f"what a claim costs beside a computation with sixty places, the worst of {STATES} seeded markets",
        round(float(worst_price_bps()), 9),
        "bps",
        target=MOST_PRICE_BPS,
    )


def _hatch(demo: Golem, address: str) -> Golem:
    golem = make_like(demo, f"yields {uuid4().hex[:8]}")
    golem.address = address
    golem.save(force_insert=True)
    Heartbeat.objects.create(golem=golem, is_on=True)
    return golem


def _sign_order(holder: HoldingsWalk, golem: Golem, market: str) -> None:
    """An order for claims stands open, as if the golem had signed it."""
    asked = {"market": market, "amount": _DAI, "implied_apy": "5.5"}
    plan, block = holder.plan(Act("pendle_place_limit_order", asked)), int(holder.rpc.call("eth_blockNumber"), 16)
    permit = make_permit(golem=golem, status=PermitStatus.COMMITTED)
    make_promise(permit=permit, plan=plan, signature=b"", block=block, now=clock.now()).save(force_insert=True)


def _compare(rpc: JsonRpc, bare: Golem, holder: Golem) -> tuple[Lap, Lap]:
    without, among = Lap(), Lap()
    for number in range(_WARM + _ROUNDS):
        _tick(rpc, bare, without if number >= _WARM else Lap())
        _tick(rpc, holder, among if number >= _WARM else Lap())
    return without, among


def _tick(rpc: JsonRpc, golem: Golem, into: Lap) -> None:
    # Each tick looks at a block that nobody looked at before.
    rpc.call("evm_mine")
    # One pulse at a time: nobody else's turn is claimed in its stead.
    Heartbeat.objects.exclude(golem=golem).update(is_on=False)
    Heartbeat.objects.filter(golem=golem).update(is_on=True)
    claim = claim_of(golem)
    with counted() as batches:
        started = clock.monotonic_ms()
        if run_heartbeat_tick(claim=claim) is None:
            raise RuntimeError("the measured tick did not run")
        into.times.append(clock.monotonic_ms() - started)
    into.batches.append(len(batches))
