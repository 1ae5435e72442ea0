"""Tokens, feeds, targets and keys that mean harm."""

from __future__ import annotations

import pytest

from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.abi import FUNCTIONS
from permits_app.policy_cage.contract import (
    AssetRule,
    Limit,
    Rule,
    RuleKind,
    address_key,
    asset_rules,
    call_rule,
    limit_rule,
)
from tests.contracts.test_outcome_rules import expect
from tests.proof.caged.safe import APPROVE, TAKE, TRADE, TRANSFER, USD, CagedSafe, deploy, selector, set_session
from tools_app.chain.abi import decode_revert, encode_call
from tools_app.toolkit.plan import Call

ENTER_AGAIN = "function enterAgain(address cage, (address to, uint256 value, bytes data)[] calls)"
TOP_UP_AGAIN = "function topUpAgain(address cage, uint256 amount)"
SET_FEED = "function set(int256 answer, int256 age, uint80 roundId, uint80 answeredIn)"
PRICE = 3_000 * 10**8


def add_asset(caged: CagedSafe, token: str, feed: str, decimals: int = 18) -> None:
    most = 10**30
    caged.change(*asset_rules(token, AssetRule(feed, 3_600, decimals, 8), per_batch=most, per_window=most))


def allow_all(caged: CagedSafe) -> None:
    caged.change(limit_rule(Limit.ALLOWS_ARBITRARY_CALLS, 1))


def error_in_call(caged: CagedSafe, calls: list[Call]) -> str | None:
    """The cage's error inside the call that failed."""
    name, args = caged.error(caged.execute(*calls))
    assert name == "CallFailed"
    from permits_app.policy_cage.abi import ERRORS

    return decode_revert(args["reason"], tuple(ERRORS.values())).name


# ---- reentrancy ------------------------------------------------------------------------------------------------------


def test_a_batch_does_not_enter_the_cage_again(caged: CagedSafe) -> None:
    allow_all(caged)
    data = cage_contract.encode_set_session(
        key=caged.venue, expires_at=caged.engine.now() + 86_400, operations=9, budget_micro_usd=USD
    )
    inner = [(caged.coins["USDC"].address, 0, encode_call(APPROVE, caged.venue, 1))]
    again = caged.call(caged.venue, ENTER_AGAIN, caged.cage, inner)
    assert error_in_call(caged, [again]) == "Reentered"
    assert error_in_call(caged, [caged.call(caged.venue, TOP_UP_AGAIN, caged.cage, 1)]) == "Reentered"
    # Even when the contract that is called holds the session itself.
    assert caged.owner_call(caged.cage, data).succeeded
    sent = caged.engine.send(
        caged.stranger,
        caged.venue,
        encode_call(
            ENTER_AGAIN,
            caged.cage,
            [
                (caged.venue, 0, encode_call(ENTER_AGAIN, caged.cage, inner)),
            ],
        ),
    )
    assert not sent.succeeded


def test_the_owners_signature_cannot_change_a_rule_in_the_middle_of_a_batch(caged: CagedSafe) -> None:
    from permits_app.policy_cage.safe_tx import SafeTx, encode_exec_transaction, hash_safe_tx, join_signatures
    from tests.proof.caged.engines import CHAIN_ID
    from tests.proof.caged.safe import sign_digest

    allow_all(caged)
    data = cage_contract.encode_propose([limit_rule(Limit.MAX_LOSS_BPS, 0)])
    tx = SafeTx(
        to=caged.cage, data=data, nonce=int(caged.read(caged.safe, "function nonce() view returns (uint256)")[0])
    )
    digest = hash_safe_tx(tx, safe=caged.safe, chain_id=CHAIN_ID)
    signed = join_signatures({str(o.address): sign_digest(o, digest) for o in caged.owners[:2]})
    relayer = deploy(caged, "Relayer")
    relay = caged.call(
        relayer, "function relay(address to, bytes data)", caged.safe, encode_exec_transaction(tx, signatures=signed)
    )
    assert not caged.execute(relay).succeeded
    assert caged.rule(limit_rule(Limit.MAX_LOSS_BPS, 0)) == 300


def test_a_halt_in_the_middle_of_a_batch_undoes_the_batch(caged: CagedSafe) -> None:
    from permits_app.policy_cage.contract import guardian_rule

    allow_all(caged)
    caged.change(guardian_rule(caged.venue))
    sent = caged.execute(
        *caged.trade("USDC", 300 * USD, "WETH", 10**17),
        caged.call(caged.venue, "function haltCage(address cage)", caged.cage),
    )
    expect(caged, sent, ("CageHalted", ()))
    assert caged.balance("USDC") == 70_000 * USD


# ---- tokens ----------------------------------------------------------------------------------------------------------


def test_a_fee_on_transfer_counts_as_the_loss_it_is(caged: CagedSafe) -> None:
    token = deploy(caged, "FeeOnTransferToken", "constructor(string name, string symbol, uint8 decimals)", "F", "F", 18)
    feed = caged.coins["WETH"].feed
    add_asset(caged, token, feed)
    for holder in (caged.safe, caged.venue):
        assert caged.engine.send(
            caged.deployer, token, encode_call("function mint(address to, uint256 amount)", holder, 10**18)
        ).succeeded
    usdc = caged.coins["USDC"].address
    # 0.1 FEE arrive as 0.099: bought for 300 USD it is a loss of 1%, for 310 USD one of 4.2%.
    buy = [caged.approve("USDC", 310 * USD), caged.call(caged.venue, TRADE, usdc, 300 * USD, token, 10**17)]
    expect(caged, caged.execute(*buy), None)
    dear = [caged.approve("USDC", 310 * USD), caged.call(caged.venue, TRADE, usdc, 310 * USD, token, 10**17)]
    expect(caged, caged.execute(*dear), ("LossTooLarge", (13 * USD, 9_300_000)))


def test_a_rebase_inside_a_batch_is_judged_by_what_is_left(caged: CagedSafe) -> None:
    token, rebase = deploy(caged, "RebasingToken"), "function rebase(uint256 factor)"
    add_asset(caged, token, caged.coins["USDC"].feed)
    caged.change(call_rule(token, selector(rebase)))
    mint = encode_call("function mint(address to, uint256 amount)", caged.safe, 1_000 * 10**18)
    assert caged.engine.send(caged.deployer, token, mint).succeeded
    expect(caged, caged.execute(caged.call(token, rebase, 101 * 10**16)), None)
    lost = caged.execute(caged.call(token, rebase, 91 * 10**16))
    expect(caged, lost, ("LossTooLarge", (100 * USD, 3 * USD)))
    # Between batches the owner's token may do what it does: nothing is held against the golem.
    assert caged.engine.send(caged.stranger, token, encode_call(rebase, 5 * 10**17)).succeeded
    expect(caged, caged.execute(caged.approve("USDC", 1)), None)


def test_a_token_that_returns_nothing_is_traded_and_approved(caged: CagedSafe) -> None:
    token = deploy(caged, "NoReturnToken", "constructor(string name, string symbol, uint8 decimals)", "T", "T", 6)
    add_asset(caged, token, caged.coins["USDC"].feed, decimals=6)
    mint = "function mint(address to, uint256 amount)"
    assert caged.engine.send(caged.deployer, token, encode_call(mint, caged.safe, 1_000 * USD)).succeeded
    sell = caged.call(caged.venue, TRADE, token, 100 * USD, caged.coins["USDC"].address, 99 * USD)
    expect(caged, caged.execute(caged.call(token, APPROVE, caged.venue, 100 * USD), sell), None)
    # Such a token refuses to change one allowance into another, and the batch says which call it was.
    twice = [caged.call(token, APPROVE, caged.venue, 5), caged.call(token, APPROVE, caged.venue, 6)]
    name, args = caged.error(caged.execute(*twice))
    assert (name, args["index"]) == ("CallFailed", 1)


def test_an_asset_whose_balance_cannot_be_read_stops_everything(caged: CagedSafe) -> None:
    token = deploy(caged, "FragileToken")
    add_asset(caged, token, caged.coins["USDC"].feed)
    expect(caged, caged.execute(caged.approve("USDC", 1)), None)
    assert caged.engine.send(caged.stranger, token, encode_call("function breakDown()")).succeeded
    expect(caged, caged.execute(caged.approve("USDC", 1)), ("BalanceUnreadable", (token,)))


# ---- feeds -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def lied_to(caged: CagedSafe) -> tuple[CagedSafe, str]:
    """A cage with an asset whose feed says whatever it is told."""
    feed = deploy(caged, "LyingFeed", "constructor(uint8 decimals, int256 answer)", 8, PRICE)
    token = deploy(caged, "RebasingToken")
    add_asset(caged, token, feed)
    assert caged.engine.send(
        caged.deployer, token, encode_call("function mint(address to, uint256 amount)", caged.safe, 10**18)
    ).succeeded
    return caged, feed


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ((PRICE, 3_599, 1, 1), None),
        ((PRICE, 3_600, 1, 1), None),
        ((PRICE, 3_601, 1, 1), "PriceStale"),
        ((PRICE, -1, 1, 1), "PriceUnusable"),
        ((0, 0, 1, 1), "PriceUnusable"),
        ((-1, 0, 1, 1), "PriceUnusable"),
        ((PRICE, 0, 2, 1), "PriceUnusable"),
        ((2**200, 0, 1, 1), "PriceUnusable"),
    ],
)
def test_a_feed_that_is_old_negative_unfinished_or_of_the_future_is_not_believed(
    lied_to: tuple[CagedSafe, str], told: tuple[int, ...], error: str | None
) -> None:
    caged, feed = lied_to
    assert caged.engine.send(caged.stranger, feed, encode_call(SET_FEED, *told)).succeeded
    sent = caged.execute(caged.approve("USDC", 1))
    if error is None:
        assert sent.succeeded, caged.error(sent)
    else:
        assert caged.error(sent)[0] == error


@pytest.mark.parametrize(
    "call", [encode_call("function setDecimals(uint8 decimals)", 18), encode_call("function breakDown()")]
)
def test_a_feed_that_changes_its_scale_or_breaks_is_not_believed(lied_to: tuple[CagedSafe, str], call: bytes) -> None:
    caged, feed = lied_to
    assert caged.engine.send(caged.stranger, feed, call).succeeded
    assert caged.error(caged.execute(caged.approve("USDC", 1)))[0] == "PriceUnusable"


def test_a_feed_that_changes_in_the_middle_of_a_batch_hides_no_loss(lied_to: tuple[CagedSafe, str]) -> None:
    caged, feed = lied_to
    allow_all(caged)
    # The asset becomes a hundred times as dear while 1,000 USD are taken: judged at the price of the beginning.
    lie = caged.call(feed, SET_FEED, PRICE * 100, 0, 1, 1)
    sent = caged.execute(lie, *caged.take("USDC", 1_000 * USD))
    expect(caged, sent, ("LossTooLarge", (1_000 * USD, 30 * USD)))


def test_a_feed_that_lies_before_the_batch_costs_no_more_than_the_outflow_of_the_asset(
    lied_to: tuple[CagedSafe, str],
) -> None:
    caged, feed = lied_to
    token = next(a for a in caged.ask("assets") if a not in {c.address for c in caged.coins.values()})
    assert caged.propose(
        Rule(RuleKind.OUTFLOW_PER_BATCH, address_key(token), 10**17),
        Rule(RuleKind.OUTFLOW_PER_WINDOW, address_key(token), 2 * 10**17),
    ).succeeded
    # It says that what is worth 3,000 USD is worth one: selling it for one looks fair.
    assert caged.engine.send(caged.stranger, feed, encode_call(SET_FEED, 10**8, 0, 1, 1)).succeeded

    def sell(amount: int) -> list[Call]:
        usdc = caged.coins["USDC"].address
        return [
            caged.call(token, APPROVE, caged.venue, amount),
            caged.call(caged.venue, TRADE, token, amount, usdc, amount // 10**12),
        ]

    expect(caged, caged.execute(*sell(2 * 10**17)), ("OutflowTooLarge", (token, 2 * 10**17, 10**17)))
    for _ in range(2):
        expect(caged, caged.execute(*sell(10**17)), None)
    expect(caged, caged.execute(*sell(10**12)), ("OutflowInWindowTooLarge", (token, 2 * 10**17 + 10**12, 2 * 10**17)))


# ---- targets ---------------------------------------------------------------------------------------------------------


def test_a_target_that_destroyed_itself_is_not_called(caged: CagedSafe) -> None:
    from tests.proof.caged.engines import InProcessEngine

    gone = deploy(caged, "FuzzVenue")
    caged.change(call_rule(gone, selector(TAKE)))
    # Since Cancun only a contract made in the same transaction can vanish; on older chains any can.
    if isinstance(caged.engine, InProcessEngine):
        caged.engine.chain.state.set_code(bytes.fromhex(gone[2:]), b"")
    else:
        caged.engine.rpc.call("anvil_setCode", gone, "0x")  # type: ignore[attr-defined]
    sent = caged.execute(caged.call(gone, TAKE, caged.coins["USDC"].address, 0))
    expect(caged, sent, ("TargetHasNoCode", (gone,)))


def test_a_valuer_that_is_gone_stops_everything(caged: CagedSafe) -> None:
    from tests.proof.caged.engines import InProcessEngine

    if isinstance(caged.engine, InProcessEngine):
        caged.engine.chain.state.set_code(bytes.fromhex(caged.lender[2:]), b"")
    else:
        caged.engine.rpc.call("anvil_setCode", caged.lender, "0x")  # type: ignore[attr-defined]
    expect(caged, caged.execute(caged.approve("USDC", 1)), ("ValuerFailed", (caged.lender,)))


def test_a_batch_that_borrows_and_repays_inside_is_judged_by_its_end(caged: CagedSafe) -> None:
    lent, repaid = caged.position(0, 50_000 * USD), caged.position(0, 0)
    inside = [lent, *caged.trade("USDC", 300 * USD, "WETH", 10**17), repaid]
    expect(caged, caged.execute(*inside), None)
    # What was borrowed and not repaid is a debt, and a debt without cover is refused.
    assert caged.error(caged.execute(lent))[0] in ("LossTooLarge", "CollateralRatioTooLow")


def test_value_borrowed_to_hide_a_theft_is_seen_as_debt(caged: CagedSafe) -> None:
    borrowed = [caged.position(20_000 * USD, 10_000 * USD), *caged.take("USDC", 15_000 * USD)]
    assert caged.error(caged.execute(*borrowed))[0] == "LossTooLarge"


def test_tokens_given_to_a_place_without_a_valuer_count_as_lost(caged: CagedSafe) -> None:
    caged.change(call_rule(caged.coins["WETH"].address, selector(TRANSFER)))
    sent = caged.execute(caged.transfer("WETH", caged.venue, 10**17))
    expect(caged, sent, ("LossTooLarge", (300 * USD, 9 * USD)))


def test_the_session_key_alone_without_any_server_breaks_no_bound(caged: CagedSafe) -> None:
    """The whole server bypassed: a thief with the key gets at most the loss of a window out, and no right over more."""
    set_session(caged, operations=1_000)
    thief = caged.stranger.address
    usdc = caged.coins["USDC"].address
    tries = [
        [caged.transfer("USDC", thief, 1)],
        [caged.call(usdc, "function transferFrom(address from, address to, uint256 amount)", caged.safe, thief, 1)],
        [caged.approve("USDC", 1, thief)],
        [caged.call(caged.safe, "function enableModule(address module)", thief)],
        [caged.call(caged.safe, "function addOwnerWithThreshold(address owner, uint256 threshold)", thief, 1)],
        [caged.call(caged.cage, FUNCTIONS["propose"], [])],
        caged.take("USDC", 1_000 * USD),
    ]
    for calls in tries:
        assert not caged.execute(*calls).succeeded
    start = caged.ask("measure")[6]
    bleed = caged.trade("WETH", 10**18, "USDC", 2_910 * USD)
    back = caged.trade("USDC", 3_000 * USD, "WETH", 97 * 10**16)
    done = 0
    while all(caged.execute(*calls).succeeded for calls in (bleed, back)):
        done += 1
        assert done < 100
    lost = start - caged.ask("measure")[6]
    assert 0 < lost <= start * 300 // 10_000
    assert caged.read(caged.safe, "function getThreshold() view returns (uint256)") == (2,)
    assert caged.read(
        usdc, "function allowance(address owner, address spender) view returns (uint256)", caged.safe, thief
    ) == (0,)
