"""What other people do between two calls of a golem, by the words in which cases name it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from archetypes_app.models import Heartbeat, ToolOverride
from archetypes_app.models.override import OverrideMode
from permits_app.actions.allow_addresses import allow_addresses
from permits_app.actions.preview import preview_action
from permits_app.actions.receive_grant import receive_grant
from permits_app.actions.set_health_alert import WantedAlert, set_health_alert
from permits_app.limits.suggested_allowlist import AllowlistChoice, suggest_allowlist
from permits_app.models import ChangeRequest, SignedPromise
from permits_app.models.allowlist import AllowlistKind
from tests import factories
from tests.catalogue.services import lend_desks, lend_figures
from tests.evm.governors import EXECUTED, log_as, open_governor, propose
from tests.evm.world import CHAIN_ID
from tests.golem_project.heartbeat.pulses import tick, turn_on
from tests.permits_app.approvals.people import approve, carry_out, give_device
from tests.permits_app.tools.test_observer import act, end
from tests.tools_app.history.followed import Followed
from tests.tools_app.protocols.erc4626.people import settle
from tests.tools_app.protocols.erc8004.registries import registry
from tests.tools_app.protocols.lido.staking import at, report
from tests.tools_app.protocols.lido.test_figures import make_market
from tests.tools_app.protocols.liquid_restaking.issuers import pay_all
from tests.tools_app.protocols.metamask.owner_wallet import OwnerWallet
from tests.tools_app.protocols.morpho_blue.golem import make_golem, set_price, usdc_market
from tests.tools_app.protocols.uniswap.campaigns import list_claims, open_incentive
from tests.tools_app.protocols.uniswap.test_liquidity import trade_back_and_forth
from tests.tools_app.protocols.uniswap.test_positions import add_shares
from tests.tools_app.protocols.uniswap.test_v4_liquidity import trade_back_and_forth as trade_back_and_forth_v4
from tests.tools_app.protocols.x402.payee import Payee
from tests.tools_app.subsystems.stream.test_new_pools import make_pair, make_token
from tools_app import runner
from tools_app.chain.abi import checksum, encode_call
from tools_app.core import clock
from tools_app.core.clock import Deadline
from tools_app.protocols.pendle.addresses import find_places
from tools_app.subsystems.coding.operations import Workspaces
from tools_app.subsystems.coding.paths import parse_path
from tools_app.toolkit.registry import REGISTRY

if TYPE_CHECKING:
    from tests.catalogue.stage import Stage

ETH, USD = 10**18, 10**6


def pay_queue(stage: Stage) -> None:
    """The oracle reports, and every request is final."""
    found = stage.world.rpc.read(at("queue"), "getLastRequestId()", returns="(uint256)")
    report(stage.world, last_id=int(found[0]), ether=20 * ETH)


def earn(stage: Stage) -> None:
    """The oracle reports what validators earned."""
    report(stage.world, earned=140 * ETH)


def uncover(stage: Stage) -> None:
    """Somebody borrowed, and the market's oracle fell."""
    debtor = make_golem(stage.world)
    plan = debtor.plan(
        "morpho_borrow_market", market_id=usdc_market(), amount=str(10_000 * USD), collateral_amount=str(6 * ETH)
    )
    for call in plan.calls:
        receipt = stage.world.send(debtor.account, call.to, "0x" + call.data.hex())
        assert receipt["status"] == "0x1", call.label
    set_price(stage.world, percent=60)
    stage.told["borrower"] = debtor.address


def give_shares(stage: Stage) -> None:
    """Somebody put both tokens into a V2 pair and sends the golem the shares; no tool of ours gets any."""
    world = stage.world
    pair = world.pool("v2", "WETH", "USDC").address
    giver = world.new_account(ETH, {"WETH": ETH, "USDC": 4_000 * USD})
    add_shares(world, giver, world.tokens["USDC"].address, world.tokens["WETH"].address, 3_000 * USD, ETH)
    world.transact(giver, pair, "transfer(address,uint256)", stage.account, world.rpc.balance_of(pair, giver.address))
    stage.told["pair"] = pair


def praise(stage: Stage) -> None:
    """Five people give the golem's agent five stars."""
    world, number = stage.world, int(str(stage.told["agent_id"]).rpartition(":")[2])
    give = "giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)"
    for _ in range(5):
        client = world.new_account(ETH)
        world.transact(client, registry("reputation"), give, number, 100, 0, "starred", "", "", "", bytes(32))


def register_recipient(stage: Stage) -> None:
    """The golem's owner registers whom it may pay and hand things to."""
    payee = AllowlistChoice(CHAIN_ID, AllowlistKind.RECIPIENT, "0x" + "55" * 20, "successor")
    allow_addresses(golem=stage.live.golem, choices=[payee], actor="user:owner", now=clock.now())


def approve_long_ago(stage: Stage) -> None:
    """The account's own key gave a person two approvals before it was a golem's."""
    person = checksum("0x" + "77" * 20)
    for symbol, amount in (("USDC", 500 * USD), ("WETH", 2**256 - 1)):
        approve_from(stage, stage.world.tokens[symbol].address, person, amount)
    stage.told["old_spender"] = person


NEARLY_AN_HOUR: Final = 3_550
"""Seconds between purchases: none lies on the edge of an hour counted from the first or the last one, where a second
more or less would be another hour.
"""


def buy_for_hours_alone(stage: Stage) -> None:
    """The same, and no other block after them. Feeds say beforehand what they say at the end."""
    set_feeds(stage, stage.world.timestamp() + 8 * 86_400 + 36 * NEARLY_AN_HOUR)
    buy_for_hours(stage, is_alone=True)


def set_feeds(stage: Stage, at: int) -> None:
    """Every feed was last updated then."""
    world = stage.world
    for feed in {token.feed for token in world.tokens.values() if token.feed}:
        world.transact(world.actors.deployer, feed, "setUpdatedAt(uint256)", at)


def buy_for_hours(stage: Stage, *, is_alone: bool = False) -> None:
    """One trader, one way, in the deepest pool; its owner keeps the feeds in time."""
    world = stage.world
    usdc, weth = world.tokens["USDC"].address, world.tokens["WETH"].address
    router = world.contracts["uniswap_v3_swap_router_02"]
    trader = world.new_account(ETH, {"USDC": 3_600_000 * USD})
    world.transact(trader, usdc, "approve(address,uint256)", router, 2**256 - 1)
    single = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
    # What was traded before lies more than a week back.
    stage.pass_days(8)
    stage.told["pool"] = world.pool("v3", "USDC", "WETH", 500).address
    for _ in range(36):
        world.rpc.call("evm_increaseTime", NEARLY_AN_HOUR)
        world.transact(trader, router, single, (usdc, weth, 500, trader.address, 100_000 * USD, 0, 0))
    if not is_alone:
        world.refresh_feeds()


def approve_from(stage: Stage, token: str, spender: str, amount: int) -> None:
    """An approval that the account itself sends."""
    send_from(stage, token, "function approve(address spender, uint256 amount)", spender, amount)


def send_from(stage: Stage, to: str, signature: str, *args: Any) -> None:
    """A call that the account itself sends, past the product."""
    rpc = stage.world.rpc
    rpc.call("anvil_impersonateAccount", stage.account)
    data = "0x" + encode_call(signature, *args).hex()
    sent = rpc.call("eth_sendTransaction", {"from": stage.account, "to": to, "data": data})
    assert rpc.wait_for_receipt(sent)["status"] == "0x1"
    rpc.call("anvil_stopImpersonatingAccount", stage.account)


def give_runway(stage: Stage) -> None:
    """An owner's wallet grants it 25 USDC a day for a year and more, and the grant is brought in."""
    wallet = OwnerWallet.open(stage.world)
    given = wallet.context(stage.account, wallet.runway(a_day=25 * USD, days=400))
    receive_grant(
        golem=stage.live.golem,
        protocol="metamask",
        chain_id=CHAIN_ID,
        given=given,
        actor="user:owner",
        now=clock.now(),
    )


def govern(stage: Stage) -> None:
    """A contract logs two proposals as governors do, the first of them executed."""
    governor = stage.told["governor"] = open_governor(stage.world)
    propose(stage.world, governor, 7, "Raise the fee")
    propose(stage.world, governor, 8, "Lower the fee")
    log_as(stage.world, governor, EXECUTED, ["uint256"], [7])


def list_claim(stage: Stage) -> None:
    """A campaign's list owes the golem 250 DAI, and somebody else as much."""
    owed = [(stage.account, 250 * ETH), (checksum("0x" + "66" * 20), 250 * ETH)]
    stage.told["listed_claim"], stage.told["listed_other"] = list_claims(stage.world, owed)


def buy_a_little(stage: Stage) -> None:
    """Seventy trades of the pool in seventy blocks, and none in the day before."""
    world = stage.world
    usdc, weth = world.tokens["USDC"].address, world.tokens["WETH"].address
    router = world.contracts["uniswap_v3_swap_router_02"]
    trader = world.new_account(ETH, {"USDC": 70_000 * USD})
    world.transact(trader, usdc, "approve(address,uint256)", router, 2**256 - 1)
    single = "exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))"
    stage.pass_days(2)
    stage.told["pool"] = world.pool("v3", "USDC", "WETH", 500).address
    for _ in range(70):
        world.transact(trader, router, single, (usdc, weth, 500, trader.address, 1_000 * USD, 0, 0))
    world.refresh_feeds()


def beat(stage: Stage) -> None:
    """It ticks twice without acting, as its owner set it up."""
    golem = stage.live.golem
    if not Heartbeat.objects.filter(golem=golem).exists():
        turn_on(golem, is_live=False, rule={})
        tick(golem)
        tick(golem)


def watch_debts(stage: Stage) -> None:
    """As its agent asks, and the action stores it."""
    wanted = WantedAlert("aave_v3", CHAIN_ID, 50_000, True, "NONE")
    set_health_alert(golem_id=stage.live.golem.pk, wanted=wanted, actor="key:test", now=clock.now())


def swap_six_times(stage: Stage) -> None:
    """Episodes of it, as its memory keeps them."""
    act(stage.live.golem, "swap", 6, failed=2)


def end_another(stage: Stage) -> None:
    """A golem beside it swapped three times and ended, with two positions that could not be taken out."""
    other = factories.make_golem(owner=stage.live.golem.owner, name="before it")
    act(other, "swap", 3, failed=1)
    end(other, left=2)


def tell_usdc(stage: Stage) -> None:
    stage.told["usdc"] = stage.world.tokens["USDC"].address


def buy_in_a_followed_pool(stage: Stage) -> None:
    """The index begins with the pool at noon, and somebody trades in it twice."""
    world = stage.world
    world.rpc.call("evm_increaseTime", 86_400 + 43_200 - world.timestamp() % 86_400)
    world.rpc.call("evm_mine")
    followed = Followed(world)
    stage.told["pool"] = followed.pool.address
    followed.watch(followed.pool.address)
    for amount in (1_000 * USD, 2_000 * USD):
        followed.swap(amount)
    followed.mine(2)
    followed.follow()


def open_new_pair(stage: Stage) -> None:
    """A token that nobody knows, and a pair of it that holds nothing."""
    world = stage.world
    token = make_token(world, "NEW")
    make_pair(world, token)
    stage.told["v2_factory"] = world.contracts["uniswap_v2_factory"]
    stage.told["new_pair"] = (token, world.tokens["DAI"].address)


def write_program(stage: Stage) -> None:
    """Two files of its own, and one of a folder that no search looks into."""
    workspaces = runner.list_services()[Workspaces]
    deadline = Deadline.after_ms(5_000)
    files = {
        "src/main.py": "import os\ndef run():\n    pass\n",
        "notes.txt": "def it(): later\n",
        ".git/x.py": "def no()\n",
    }
    with workspaces.open(golem_id=stage.live.golem.pk, deadline=deadline) as workspace:  # type: ignore[attr-defined]
        for path, text in files.items():
            place = parse_path(path, root=workspace.root)
            if workspace.files.find(place, deadline=deadline) is None:
                workspace.files.write(place, text.encode(), replaces=None, deadline=deadline)


def sign_order(stage: Stage, **body: Any) -> Mapping[str, Any]:
    """Its agent signs what somebody else carries out, and the desk takes it; what it was answered."""
    live, venue = stage.live, body["venue"]
    for tool in REGISTRY:
        if tool.venue == venue:
            ToolOverride.objects.get_or_create(
                golem=live.golem, tool_name=tool.name, defaults={"mode": OverrideMode.INCLUDE}
            )
    allow_addresses(golem=live.golem, choices=suggest_allowlist(CHAIN_ID), actor="system:test", now=clock.now())
    lend_desks(("uniswap_x", CHAIN_ID), ("pendle", CHAIN_ID))
    permit = preview_action(golem_id=live.golem.pk, api_key_id=live.key.key.pk, body=body, now=clock.now())
    done = live.commit(permit["permit_id"])
    assert done["status"] == "COMMITTED", done
    stage.told["order_hash"] = SignedPromise.objects.get(permit_id=permit["permit_id"]).reference
    told: Mapping[str, Any] = done["result"]["data"]
    return told


def sign_limit_order(stage: Stage) -> None:
    """300 DAI for a tenth of a WETH at least."""
    sign_order(
        stage,
        action_type="submit_order",
        venue="uniswap_x",
        token_in="DAI",
        token_out="WETH",
        amount=str(300 * ETH),
        order_type="limit",
        limit_amount_out=str(ETH // 10),
    )


def sign_order_for_claims(stage: Stage) -> None:
    """300 DAI for claims on a yield, at 5.5 percent a year."""
    place = find_places(CHAIN_ID)[0]
    sign_order(
        stage,
        action_type="pendle_place_limit_order",
        venue="pendle",
        market=place.market,
        amount=str(300 * ETH),
        implied_apy="5.5",
    )


def pay_for_an_answer(stage: Stage) -> None:
    """Two dollars for a payee of its owner's list, who did not take them yet."""
    payee = Payee(stage.world)
    listed = AllowlistChoice(CHAIN_ID, AllowlistKind.RECIPIENT, payee.address, "payee")
    allow_addresses(golem=stage.live.golem, choices=[listed], actor="user:owner", now=clock.now())
    told = sign_order(
        stage,
        action_type="pay",
        venue="x402",
        payment_required=payee.ask(),
        recipient=payee.address,
        token="USDC",
        most=str(3 * USD),
    )
    stage.told.update(payment_id=told["payment_id"], payee=payee.address)


def hand_on(stage: Stage) -> None:
    """Four dollars of its runway go to a key of its owner's list, once its owner approved that."""
    give_runway(stage)
    give_device(stage.live.owner)
    key = stage.told["key"] = checksum("0x" + "77" * 20)
    ToolOverride.objects.get_or_create(
        golem=stage.live.golem, tool_name="metamask_redelegate", defaults={"mode": OverrideMode.INCLUDE}
    )
    listed = AllowlistChoice(CHAIN_ID, AllowlistKind.RECIPIENT, key, "a helper's key")
    allow_addresses(golem=stage.live.golem, choices=[listed], actor="user:owner", now=clock.now())
    body = {"action_type": "redelegate", "venue": "metamask", "recipient": key, "amount": str(4 * USD)}
    live = stage.live
    permit = preview_action(golem_id=live.golem.pk, api_key_id=live.key.key.pk, body=body, now=clock.now())
    approve(ChangeRequest.objects.get(permit_id=permit["permit_id"]), live.owner)
    carry_out(ChangeRequest.objects.get(permit_id=permit["permit_id"]), chain=stage.world)
    live.work(permit["permit_id"])
    stage.told["delegation"] = live.permit(permit["permit_id"]).result["data"]["delegation"]


CIRCUMSTANCES: Final[dict[str, Callable[[Stage], None]]] = {
    "it once let a person take USDC and WETH": approve_long_ago,
    "an owner lets it draw 25 USDC a day": give_runway,
    "it handed four dollars of its runway on to a key": hand_on,
    "a campaign pays 1,000 DAI a day for liquidity": lambda stage: stage.told.update(
        incentive=str(open_incentive(stage.world))
    ),
    "a campaign's list owes it 250 DAI": list_claim,
    "seventy people buy a little WETH in the pool, one a block": buy_a_little,
    "its owner switched on what others say of markets": lambda stage: lend_figures(stage.live),
    "the deepest pool is followed, and somebody buys WETH in it for 1,000 and for 2,000 USDC": buy_in_a_followed_pool,
    "somebody makes a pair of a new token and DAI": open_new_pair,
    "its heart beat twice": beat,
    "it signed an order that gives 300 DAI for a tenth of a WETH": sign_limit_order,
    "it signed an order that gives 300 DAI for claims": sign_order_for_claims,
    "it signed a payment of two dollars": pay_for_an_answer,
    "its folder holds a program of two files": write_program,
    "it has its debts watched from a health of 5 down": watch_debts,
    "it swapped six times and two of them failed": swap_six_times,
    "another golem of its owner ended after three swaps, one of which failed": end_another,
    "the address of USDC is told": tell_usdc,
    "a day has passed": lambda stage: stage.pass_days(1),
    "the market of claims is over": lambda stage: stage.pass_days(1_600),
    "sixty blocks have passed": lambda stage: stage.world.rpc.call("anvil_mine", hex(60)),
    "a week has passed": lambda stage: stage.pass_days(7),
    "the queue has paid all requests": pay_queue,
    "the vault by request has settled what was asked of it": lambda stage: settle(stage.world),
    "issuers of restaked ether paid every request": lambda stage: pay_all(stage.world),
    "staking earned a tenth of a percent": earn,
    "somebody makes a market of wstETH and USDC": lambda stage: make_market(stage.world, other="USDC", ether=400 * ETH),
    "five clients praise its agent": praise,
    "its owner registered who gets it": register_recipient,
    "a borrower of the market is no longer covered": uncover,
    "somebody gives it shares of the pair of WETH and USDC": give_shares,
    "somebody buys WETH in the pool once an hour for 36 hours": buy_for_hours,
    "somebody buys WETH in the pool once an hour for 36 hours, and no block is between": buy_for_hours_alone,
    "a governor has one proposal executed and one open": govern,
    "others trade back and forth through the pool": lambda stage: trade_back_and_forth(stage.world, 500),
    "others trade back and forth through the pool of the coin": lambda stage: trade_back_and_forth_v4(
        stage.world, "coin"
    ),
}
