"""Attacks on the cage by one who holds the session key, a guardian's key, or an owner's good faith."""

from __future__ import annotations

from typing import Any

import pytest
from eth_utils.crypto import keccak

from golem_project.embedded.world.solidity import load_contract
from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.abi import ERRORS, FUNCTIONS
from permits_app.policy_cage.contract import (
    AssetRule,
    Limit,
    Rule,
    RuleKind,
    address_key,
    asset_rules,
    call_rule,
    limit_rule,
    valuer_rule,
)
from permits_app.policy_cage.safe_tx import NONCE, SafeTx, encode_exec_transaction, hash_safe_tx, join_signatures
from tests.contracts.test_governance import DAY, TWO_DAYS, cage_of_a_plain_account, delay, inner_error
from tests.contracts.test_hostile import add_asset, allow_all
from tests.contracts.test_outcome_rules import expect
from tests.proof.caged.engines import CHAIN_ID, Engine, InProcessEngine, NodeEngine, Sent
from tests.proof.caged.safe import (
    APPROVE,
    TAKE,
    TRANSFER,
    USD,
    CagedSafe,
    deploy,
    selector,
    set_session,
    sign_digest,
)
from tools_app.chain.abi import checksum, decode_revert, encode_call
from tools_app.toolkit.plan import Call

LISTEN = "function listen(address listener, bytes message)"
LIVE = "function live(bytes creationCode, address cage, (address to, uint256 value, bytes data)[] calls)"
MODE = "function set(uint256 mode, uint256 word)"
DELEGATION = bytes.fromhex("ef0100") + b"\x11" * 20


def set_code(engine: Engine, address: str, code: bytes) -> None:
    if isinstance(engine, InProcessEngine):
        engine.chain.state.set_code(bytes.fromhex(address[2:]), code)
    else:
        assert isinstance(engine, NodeEngine)
        engine.rpc.call("anvil_setCode", address, "0x" + code.hex())


# ---- callbacks -------------------------------------------------------------------------------------------------------


@pytest.fixture
def hooked(caged: CagedSafe) -> tuple[CagedSafe, str]:
    """The Safe holds a token that calls somebody in the middle of every transfer, and may send it."""
    token = deploy(caged, "HookedToken")
    add_asset(caged, token, caged.coins["WETH"].feed)
    mint = encode_call("function mint(address to, uint256 amount)", caged.safe, 10**18)
    assert caged.engine.send(caged.deployer, token, mint).succeeded
    caged.change(call_rule(token, encode_call(TRANSFER, caged.venue, 0)[:4]))
    return caged, token


def listen(caged: CagedSafe, token: str, to: str, message: bytes) -> None:
    assert caged.engine.send(caged.stranger, token, encode_call(LISTEN, to, message)).succeeded


def owners_transaction(caged: CagedSafe, to: str, data: bytes) -> bytes:
    """What the owners have signed and not sent yet."""
    tx = SafeTx(to=to, data=data, nonce=int(caged.read(caged.safe, NONCE)[0]))
    digest = hash_safe_tx(tx, safe=caged.safe, chain_id=CHAIN_ID)
    signed = join_signatures({str(o.address): sign_digest(o, digest) for o in caged.owners[:2]})
    return encode_exec_transaction(tx, signatures=signed)


@pytest.mark.parametrize(
    "name",
    [
        "execute",
        "payOut",
        "topUpGas",
        "worsenPhase",
        "recordDrawdown",
        "applyChange",
        "setSession",
        "appoint",
        "propose",
    ],
)
def test_a_token_that_calls_back_enters_no_door_of_the_cage(hooked: tuple[CagedSafe, str], name: str) -> None:
    caged, token = hooked
    messages = {
        "execute": cage_contract.encode_execute([caged.approve("USDC", 1)]),
        "payOut": cage_contract.encode_pay_out(recipient=0, asset=token, amount=1),
        "topUpGas": cage_contract.encode_top_up_gas(1),
        "worsenPhase": cage_contract.encode_worsen_phase(1),
        "recordDrawdown": encode_call(FUNCTIONS["recordDrawdown"]),
        "applyChange": cage_contract.encode_apply_change(RuleKind.LIMIT, bytes(32)),
        "setSession": cage_contract.encode_set_session(key=token, expires_at=0, operations=0, budget_micro_usd=0),
        "appoint": cage_contract.encode_appoint(1, key=token, expires_at=0, operations=0, budget_micro_usd=0),
        "propose": cage_contract.encode_propose([limit_rule(Limit.MAX_LOSS_BPS, 0)]),
    }
    listen(caged, token, caged.cage, messages[name])
    expect(caged, caged.execute(caged.call(token, TRANSFER, caged.venue, 0)), None)
    assert caged.read(token, "function wasHeard() view returns (bool)") == (False,)
    [answer] = caged.read(token, "function answer() view returns (bytes)")
    expected = "NotTheAccount" if name in ("setSession", "appoint", "propose") else "Reentered"
    assert decode_revert(answer, tuple(ERRORS.values())).name == expected


def test_a_transaction_of_the_owners_sent_from_inside_a_batch_undoes_it(hooked: tuple[CagedSafe, str]) -> None:
    """The owners' signature is public once it is relayed; a thief may choose the moment."""
    caged, token = hooked
    usdc = caged.coins["USDC"].address
    payment = encode_call(TRANSFER, caged.stranger.address, 5_000 * USD)
    listen(caged, token, caged.safe, owners_transaction(caged, usdc, payment))
    sent = caged.execute(caged.call(token, TRANSFER, caged.venue, 0))
    [nonce] = caged.read(caged.safe, NONCE)
    expect(caged, sent, ("AccountActed", (nonce + 1, nonce)))
    assert caged.balance("USDC") == 70_000 * USD


def test_the_owners_new_rule_does_not_slip_in_by_a_callback(hooked: tuple[CagedSafe, str]) -> None:
    caged, token = hooked
    data = cage_contract.encode_propose([limit_rule(Limit.MAX_LOSS_BPS, 0)])
    listen(caged, token, caged.safe, owners_transaction(caged, caged.cage, data))
    expect(caged, caged.execute(caged.call(token, TRANSFER, caged.venue, 0)), None)
    assert caged.read(token, "function wasHeard() view returns (bool)") == (False,)
    assert caged.rule(limit_rule(Limit.MAX_LOSS_BPS, 0)) == 300


# ---- valuers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", [1, 2, 3, 4, 7])
def test_a_valuer_that_reverts_burns_gas_or_babbles_stops_everything(caged: CagedSafe, mode: int) -> None:
    valuer = deploy(caged, "HostileValuer")
    caged.change(valuer_rule(valuer, valuer))
    expect(caged, caged.execute(caged.approve("USDC", 1)), None)
    assert caged.engine.send(caged.stranger, valuer, encode_call(MODE, mode, 0)).succeeded
    sent = caged.execute(caged.approve("USDC", 2))
    assert not sent.succeeded
    if mode != 2:
        expect(caged, sent, ("ValuerFailed", (valuer,)))
    # Nor is it taken away at once: it may hide a debt.
    assert delay(caged, Rule(RuleKind.VALUER, address_key(valuer), 0)) == TWO_DAYS


@pytest.mark.parametrize("value", [2**128, 2**255, 2**256 - 1])
@pytest.mark.parametrize("mode", [5, 6])
def test_a_position_of_absurd_value_is_believed_neither_as_wealth_nor_as_debt(
    caged: CagedSafe, mode: int, value: int
) -> None:
    valuer = deploy(caged, "HostileValuer")
    caged.change(valuer_rule(valuer, valuer))
    assert caged.engine.send(caged.stranger, valuer, encode_call(MODE, mode, value)).succeeded
    expect(caged, caged.execute(caged.approve("USDC", 1)), ("ValuerFailed", (valuer,)))


def test_the_largest_value_a_valuer_may_name_overflows_nothing_and_hides_nothing(caged: CagedSafe) -> None:
    valuer = deploy(caged, "HostileValuer")
    caged.change(valuer_rule(valuer, valuer))
    assert caged.engine.send(caged.stranger, valuer, encode_call(MODE, 5, 2**128 - 1)).succeeded
    sent = caged.execute(*caged.take("USDC", 1_000 * USD))
    expect(caged, sent, ("LossTooLarge", (1_000 * USD, 30 * USD)))


def test_one_valuer_counts_under_one_target_only(caged: CagedSafe) -> None:
    rule = valuer_rule(caged.venue, caged.lender)
    assert caged.propose(rule).succeeded
    caged.engine.advance(TWO_DAYS)
    data = cage_contract.encode_apply_change(rule.kind, rule.key)
    expect(caged, caged.engine.send(caged.stranger, caged.cage, data), ("CountedTwice", (caged.venue,)))


# ---- who -------------------------------------------------------------------------------------------------------------


def test_a_guardian_opens_no_door_but_halt(caged: CagedSafe) -> None:
    """Every function that changes anything, from the compiled interface itself."""
    changing = {
        entry["name"]
        for entry in load_contract("PolicyCage").abi
        if entry["type"] == "function" and entry["stateMutability"] not in ("view", "pure")
    }
    arguments: dict[str, list[Any]] = {
        "propose": [[limit_rule(Limit.MAX_LOSS_BPS, 0).as_tuple()]],
        "applyChange": [0, bytes(32)],
        "cancelChange": [0, bytes(32)],
        "execute": [[(caged.coins["USDC"].address, 0, encode_call(APPROVE, caged.venue, 1))]],
        "payOut": [0, caged.coins["USDC"].address, 1],
        "topUpGas": [1],
        "appoint": [1, caged.guardian.address, 2**40, 1, 1],
        "setSession": [caged.guardian.address, 2**40, 1, 1],
        "halt": [],
        "resume": [],
        "worsenPhase": [4],
        "recordDrawdown": [],
        "acknowledgeDrawdown": [],
        "notePrices": [],
    }
    assert set(arguments) == changing
    opened = {
        name
        for name, values in arguments.items()
        if caged.engine.send(caged.guardian, caged.cage, encode_call(FUNCTIONS[name], *values)).succeeded
    }
    assert opened == {"halt"}


def test_an_owner_of_the_safe_is_no_session_key(caged: CagedSafe) -> None:
    """What an owner's key signs needs no cage, so a server that held one would not be bound by it."""
    for key in (caged.owners[2].address, caged.safe, caged.cage):
        data = cage_contract.encode_set_session(
            key=key, expires_at=caged.engine.now() + DAY, operations=1, budget_micro_usd=1
        )
        assert inner_error(caged.owner_call(caged.cage, data)) == ("TargetForbidden", (key,))


def test_an_account_that_delegates_to_code_is_a_plain_account(caged: CagedSafe) -> None:
    """EIP-7702: its key signs past any code, so nothing is enforced though the code says so."""
    cage = cage_of_a_plain_account(caged)
    session = cage_contract.encode_set_session(
        key=caged.session.address, expires_at=caged.engine.now() + DAY, operations=1, budget_micro_usd=USD
    )
    assert caged.engine.send(caged.owners[0], cage, session).succeeded
    set_code(caged.engine, caged.owners[0].address, DELEGATION)
    assert caged.read(cage, FUNCTIONS["isEnforced"]) == (False,)
    sent = caged.engine.send(caged.session, cage, cage_contract.encode_execute([caged.approve("USDC", 1)]))
    expect(caged, sent, ("AccountIsNoContract", (caged.owners[0].address,)))


# ---- targets and data ------------------------------------------------------------------------------------------------


def test_an_account_that_delegates_to_code_is_no_target(caged: CagedSafe) -> None:
    """Its key may put other code behind the address the owner allowed, from one batch to the next."""
    allow_all(caged)
    set_code(caged.engine, caged.guardian.address, DELEGATION)
    sent = caged.execute(Call(to=caged.guardian.address, data=b"\x12\x34\x56\x78", value=0, label=""))
    expect(caged, sent, ("TargetHasNoCode", (caged.guardian.address,)))


def test_a_transfer_of_coins_that_is_allowed_allows_no_function(caged: CagedSafe) -> None:
    caged.change(call_rule(caged.venue, bytes(4)))
    expect(caged, caged.execute(Call(to=caged.venue, data=b"", value=0, label="")), None)
    for data in (bytes(4), bytes(36)):
        sent = caged.execute(Call(to=caged.venue, data=data, value=0, label=""))
        expect(caged, sent, ("SelectorForbidden", (bytes(4),)))


def test_a_target_that_answers_with_half_a_megabyte_changes_nothing(caged: CagedSafe) -> None:
    allow_all(caged)
    bomb = deploy(caged, "HostileValuer")
    assert caged.engine.send(caged.stranger, bomb, encode_call(MODE, 7, 0)).succeeded
    measure = caged.call(bomb, "function measure(address account)", caged.safe)
    sent = caged.execute(measure, *caged.take("USDC", 1_000 * USD))
    assert not sent.succeeded
    assert caged.balance("USDC") == 70_000 * USD


@pytest.mark.parametrize("amount", [2**128, 2**255, 2**256 - 1])
def test_the_largest_numbers_overflow_into_nothing(caged: CagedSafe, amount: int) -> None:
    expect(caged, caged.execute(caged.approve("USDC", amount)), ("AllowanceTooLarge", (2**256 - 1, 50_000 * USD)))
    top_up = caged.engine.send(caged.session, caged.cage, cage_contract.encode_top_up_gas(amount))
    expect(caged, top_up, ("GasTopUpTooLarge", (amount, 10**17)))
    sent = caged.execute(Call(to=caged.venue, data=b"", value=amount, label=""))
    expect(caged, sent, ("CoinNotApproved", (amount,)))
    session = cage_contract.encode_set_session(
        key=caged.session.address, expires_at=caged.engine.now(), operations=1, budget_micro_usd=amount
    )
    assert inner_error(caged.owner_call(caged.cage, session)) == ("SessionTooLarge", (amount, 10**9 * USD))


def test_a_balance_beyond_128_bits_is_not_believed(caged: CagedSafe) -> None:
    token = deploy(caged, "HookedToken")
    add_asset(caged, token, caged.coins["USDC"].feed)
    mint = encode_call("function mint(address to, uint256 amount)", caged.safe, 2**256 - 1)
    assert caged.engine.send(caged.stranger, token, mint).succeeded
    expect(caged, caged.execute(caged.approve("USDC", 1)), ("BalanceUnreadable", (token,)))


def test_a_target_that_lives_for_one_transaction_is_bound_like_any_other_and_gone_afterwards(caged: CagedSafe) -> None:
    """CREATE2 puts it at the same address again, since Cancun only what was made in a transaction can vanish in it."""
    allow_all(caged)
    caged.change(call_rule(caged.coins["USDC"].address, selector(TRANSFER)))
    phoenix = deploy(caged, "Phoenix")
    session = cage_contract.encode_set_session(
        key=phoenix, expires_at=caged.engine.now() + DAY, operations=9, budget_micro_usd=10**6 * USD
    )
    assert caged.owner_call(caged.cage, session).succeeded
    code = bytes.fromhex(load_contract("FuzzVenue").bytecode[2:])
    made = checksum("0x" + keccak(b"\xff" + bytes.fromhex(phoenix[2:]) + bytes(32) + keccak(code))[12:].hex())

    def live(*calls: Call) -> Sent:
        listed = [(call.to, call.value, call.data) for call in calls]
        return caged.engine.send(caged.stranger, phoenix, encode_call(LIVE, code, caged.cage, listed))

    harmless = caged.call(
        made, "function setPosition(uint256 gross, uint256 debt, uint256 largest, uint256 newest)", 1, 1, 1, 1
    )
    assert live(harmless).succeeded
    assert caged.ask("session")[2] == 8
    theft = [caged.transfer("USDC", made, 1_000 * USD), harmless]
    expect(caged, live(*theft), ("LossTooLarge", (1_000 * USD, 30 * USD)))
    # It vanished with its transaction, and without one of its own there is nothing to call.
    set_session(caged)
    expect(caged, caged.execute(harmless), ("TargetHasNoCode", (made,)))


# ---- money -----------------------------------------------------------------------------------------------------------


def test_a_gift_neither_raises_the_mark_nor_pays_for_a_loss_beyond_it(caged: CagedSafe) -> None:
    mark = caged.rule(limit_rule(Limit.HIGH_WATER_MARK_MICRO_USD, 0))
    caged.mint("USDC", caged.safe, 100_000 * USD)
    expect(caged, caged.execute(caged.approve("USDC", 0)), None)
    assert caged.rule(limit_rule(Limit.HIGH_WATER_MARK_MICRO_USD, 0)) == mark
    lost, whole = 0, 200_000 * USD
    while caged.execute(*caged.trade("WETH", 10**18, "USDC", 2_910 * USD)).succeeded:
        lost += 90 * USD
        assert caged.execute(*caged.trade("USDC", 3_000 * USD, "WETH", 10**18)).succeeded
        assert lost < whole
    # Whoever gave 100,000 USD to raise what may be lost within a day by 3,000 has paid for it.
    assert 0 < lost <= whole * 300 // 10_000


def test_dust_is_taken_once_and_not_again(caged: CagedSafe) -> None:
    """What is worth less than a millionth of a dollar is no loss only as long as the sum stays the same."""
    set_session(caged, operations=100)
    dust = 3 * 10**8  # WETH worth 0.9 micro-USD
    caged.mint("WETH", caged.safe, dust + 10**7)
    start = caged.balance("WETH")
    ran = sum(caged.execute(*caged.take("WETH", dust)).succeeded for _ in range(12))
    assert ran == 1
    assert start - caged.balance("WETH") == dust == caged.ask("spent", caged.coins["WETH"].address)
    expect(caged, caged.execute(*caged.take("WETH", dust)), ("LossTooLarge", (1, 0)))


def test_feeds_and_tokens_of_any_scale_are_worth_the_same(caged: CagedSafe) -> None:
    for token_decimals, feed_decimals in ((0, 8), (6, 18), (18, 0), (18, 18)):
        feed = deploy(
            caged, "LyingFeed", "constructor(uint8 decimals, int256 answer)", feed_decimals, 5 * 10**feed_decimals
        )
        token = deploy(
            caged, "SimulatedToken", "constructor(string name, string symbol, uint8 decimals)", "S", "S", token_decimals
        )
        rule = AssetRule(feed, 3_600, token_decimals, feed_decimals)
        most = 10**30
        caged.change(*asset_rules(token, rule, per_batch=most, per_window=most))
        before = caged.ask("measure")[6]
        mint = encode_call("function mint(address to, uint256 amount)", caged.safe, 7 * 10**token_decimals)
        assert caged.engine.send(caged.deployer, token, mint).succeeded
        assert caged.ask("measure")[6] - before == 35 * USD, (token_decimals, feed_decimals)


def test_what_a_thief_is_given_back_later_was_counted_when_it_left(caged: CagedSafe) -> None:
    """Value parked where nothing values it is a loss; bringing it back buys another one, never two."""
    park = caged.trade("USDC", 3_000 * USD, "WETH", 97 * 10**16)
    bring = [caged.call(caged.venue, TAKE, caged.coins["USDC"].address, 0)]
    expect(caged, caged.execute(*park), None)
    assert caged.ask("spent", "0x" + "00" * 19 + "01") == 90 * USD
    give = "function trade(address tokenIn, uint256 amountIn, address tokenOut, uint256 amountOut)"
    usdc = caged.coins["USDC"].address
    back = caged.call(caged.venue, give, usdc, 0, usdc, 90 * USD)
    expect(caged, caged.execute(*bring, back, *caged.take("USDC", 90 * USD)), None)
    more = caged.execute(*caged.take("USDC", 90 * USD))
    expect(caged, more, ("LossTooLarge", (90 * USD, 2_700_000)))
