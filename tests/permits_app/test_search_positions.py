"""What an imported wallet had where no contract lists it is found in the logs, a bounded part at a time."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from eth_account import Account

from golem_project.embedded.world.accounts import derive_account
from golem_project.embedded.world.rpc import call_data
from permits_app.actions.search_positions import search_positions
from permits_app.custody.create_wallet import import_wallet
from tests.factories.golems import make_golem
from tests.live_golem import LiveGolem
from tests.permits_app.tools.test_wallet import read
from tests.tools_app.factories import make_context
from tools_app.chain import networks
from tools_app.core import clock
from tools_app.core.errors import GolemError
from tools_app.core.taint import Secret, TaintLabel
from tools_app.models import KnownPosition, PositionSearch
from tools_app.portfolio import position_search
from tools_app.portfolio.position_search import ALL_SEARCHED, TOO_LONG, TOO_MANY, begin_search, list_gaps, look_further
from tools_app.portfolio.remembered_positions import list_hints

pytestmark = pytest.mark.protocols("morpho")
CHAIN_ID = 31337
ETH, USDC = 10**18, 10**6
PARAMS = "(address,address,address,address,uint256)"


def act(live: LiveGolem, to: str, data: str) -> None:
    """As the golem's account, past the product."""
    world, account = live.world, live.golem.address
    world.rpc.call("anvil_impersonateAccount", account)
    request = {"from": account, "to": to, "data": data, "gas": hex(1_000_000), "gasPrice": hex(world.fair_gas_price())}
    assert world.wait(world.rpc.call("eth_sendTransaction", request))["status"] == "0x1"
    world.rpc.call("anvil_stopImpersonatingAccount", account)


def open_unknown_market(live: LiveGolem, *, lltv: int, pledge: int, takes_back: bool = False) -> str:
    """A market that no list names; `pledge` wei of WETH of the golem go in, and come back. Its id."""
    world, account = live.world, live.golem.address
    morpho, irm = (world.protocols["morpho"][key] for key in ("morpho", "irm"))
    oracle = world.protocols["morpho"]["oracle_weth_usdc"]
    market = (world.tokens["USDC"].address, world.tokens["WETH"].address, oracle, irm, lltv)
    own = (account, account)
    owner = derive_account("morpho deployer")
    world.rpc.call("anvil_setBalance", owner.address, hex(10**20))
    world.transact(owner, morpho, "enableLltv(uint256)", lltv)
    receipt = world.transact(owner, morpho, f"createMarket({PARAMS})", market)
    act(live, world.tokens["WETH"].address, call_data("approve(address,uint256)", morpho, pledge))
    act(live, morpho, call_data(f"supplyCollateral({PARAMS},uint256,address,bytes)", market, pledge, account, b""))
    if takes_back:
        act(live, morpho, call_data(f"withdrawCollateral({PARAMS},uint256,address,address)", market, pledge, *own))
    return str(receipt["logs"][0]["topics"][1])


def held(live: LiveGolem) -> dict[str, Any]:
    status = read(live, "wallet_get_status")
    return {each["position"]: each for each in status["positions"]}


def mine(live: LiveGolem, blocks: int) -> None:
    live.world.rpc.call("anvil_mine", hex(blocks))


@pytest.fixture
def in_small_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    small = replace(networks.KNOWN_NETWORKS[CHAIN_ID], max_log_range=10)
    monkeypatch.setitem(networks.KNOWN_NETWORKS, CHAIN_ID, small)


def test_what_an_imported_wallet_had_in_an_unknown_market_is_found_counted_and_said(live_golem: LiveGolem) -> None:
    market, now = open_unknown_market(live_golem, lltv=77 * 10**16, pledge=2 * ETH), clock.now()
    name = f"morpho/market/{CHAIN_ID}/{market}"
    assert name not in held(live_golem)
    begin_search(chain_id=CHAIN_ID, account=live_golem.golem.address, now=now)
    status = read(live_golem, "wallet_get_status")
    assert any("not searched yet" in each for each in status["not_counted"])
    assert search_positions(now=now) == 1
    status = read(live_golem, "wallet_get_status")
    assert name in {each["position"] for each in status["positions"]}
    assert status["not_counted"] == []
    # Once is enough, whoever begins it again.
    begin_search(chain_id=CHAIN_ID, account=live_golem.golem.address, now=now)
    assert search_positions(now=now) == 0
    assert PositionSearch.objects.get().ended == ALL_SEARCHED


def test_the_search_goes_back_range_by_range_and_takes_up_what_is_new(
    live_golem: LiveGolem, in_small_ranges: None
) -> None:
    account, now = live_golem.golem.address, clock.now()
    old = open_unknown_market(live_golem, lltv=77 * 10**16, pledge=ETH)
    mine(live_golem, 100)
    begin_search(chain_id=CHAIN_ID, account=account, now=now)
    looks = 0
    while old not in {ref.id for ref in list_hints(chain_id=CHAIN_ID, account=account)}:
        search_positions(now=now)
        row = PositionSearch.objects.get()
        assert row.lowest is not None and row.highest is not None
        assert row.highest - row.lowest < 10 * position_search.RANGES_A_LOOK * (looks + 1)
        assert f"from block {row.lowest} on" in list_gaps(chain_id=CHAIN_ID, account=account)[0]
        # Nothing happens before the next look is due.
        search_positions(now=now)
        assert PositionSearch.objects.get().looks == row.looks
        now, looks = row.next_look_at, looks + 1
        assert looks < 8
    assert looks > 2
    fresh = open_unknown_market(live_golem, lltv=70 * 10**16, pledge=ETH)
    search_positions(now=now)
    assert {old, fresh} <= {ref.id for ref in list_hints(chain_id=CHAIN_ID, account=account)}


def test_a_market_that_was_left_is_not_remembered(live_golem: LiveGolem) -> None:
    account = live_golem.golem.address
    open_unknown_market(live_golem, lltv=77 * 10**16, pledge=ETH, takes_back=True)
    begin_search(chain_id=CHAIN_ID, account=account, now=clock.now())
    assert search_positions(now=clock.now()) == 0
    assert not KnownPosition.objects.exists()


def test_a_search_that_is_too_long_or_finds_too_many_ends_and_says_so(
    live_golem: LiveGolem, in_small_ranges: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    account, now = live_golem.golem.address, clock.now()
    mine(live_golem, 100)
    monkeypatch.setattr(position_search, "MOST_LOOKS", 2)
    begin_search(chain_id=CHAIN_ID, account=account, now=now)
    search_positions(now=now)
    row = PositionSearch.objects.get()
    assert row.ended == TOO_LONG and row.lowest
    assert list_gaps(chain_id=CHAIN_ID, account=account)[0].endswith("on, and no further")
    monkeypatch.setattr(position_search, "MOST_HINTS", 0)
    open_unknown_market(live_golem, lltv=77 * 10**16, pledge=ETH)
    search_positions(now=now + timedelta(days=1))
    assert PositionSearch.objects.get().ended == TOO_MANY
    assert read(live_golem, "wallet_get_status")["not_counted"] == [
        "TOO_MANY_POSITIONS: 1 at morpho were not opened by the golem, of which the 0 known longest are looked for"
    ]


def test_a_node_that_fails_leaves_the_search_where_it_was(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = clock.now()
    begin_search(chain_id=CHAIN_ID, account=live_golem.golem.address, now=now)
    chain = make_context(live_golem.world).chain()

    def fail(*given: Any, **options: Any) -> Any:
        raise GolemError("the node is away")

    monkeypatch.setattr(position_search, "follow_trails", fail)
    assert search_positions(now=now) == 0
    row = PositionSearch.objects.get()
    assert (row.lowest, row.looks) == (None, 0) and row.next_look_at > now
    with pytest.raises(GolemError):
        look_further(row, chain, now=now)


def test_an_imported_wallet_is_searched_for_and_a_new_one_is_not(live_golem: LiveGolem) -> None:
    assert not PositionSearch.objects.exists()
    imported = make_golem(owner=live_golem.owner, name="Imported")
    account = Account.create()
    document = json.dumps(Account.encrypt(account.key, "pass phrase", iterations=2))
    passphrase = Secret("pass phrase", TaintLabel.OWNER_SECRET)
    import_wallet(golem=imported, document=document, passphrase=passphrase, actor="owner:test", now=clock.now())
    row = PositionSearch.objects.get()
    assert (row.account, row.chain_id, row.ended) == (account.address, imported.home_chain_id, "")
