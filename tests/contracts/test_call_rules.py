"""What may be called at all, and what no owner can allow."""

from __future__ import annotations

import pytest

from golem_project.embedded.world.deploy import PERMIT2
from permits_app.policy_cage import contract as cage_contract
from permits_app.policy_cage.contract import Limit, RuleKind, call_rule, limit_rule, spender_rule
from permits_app.policy_cage.forbidden_selectors import FORBIDDEN_FUNCTIONS
from tests.contracts.test_outcome_rules import expect
from tests.proof.caged.engines import InProcessEngine
from tests.proof.caged.safe import APPROVE, TAKE, TRANSFER, USD, CagedSafe, deploy, selector
from tools_app.chain.abi import encode_call
from tools_app.toolkit.plan import Call

MULTICALL = "function multicall(bytes[] data)"
APPROVAL_FOR_ALL = "function setApprovalForAll(address operator, bool approved)"
PERMIT2_APPROVE = "function approve(address token, address spender, uint160 amount, uint48 expiration)"


@pytest.mark.parametrize("signature", FORBIDDEN_FUNCTIONS)
def test_no_owner_can_allow_a_right_over_what_the_account_holds(built: CagedSafe, signature: str) -> None:
    assert built.ask("isForbidden", selector(f"function {signature}"))


def test_the_list_of_forbidden_selectors_holds_no_more_than_is_named(built: CagedSafe) -> None:
    for signature in (TAKE, TRANSFER, MULTICALL):
        assert not built.ask("isForbidden", selector(signature))


def allow_everything(caged: CagedSafe) -> None:
    caged.change(limit_rule(Limit.ALLOWS_ARBITRARY_CALLS, 1))


def test_an_unlisted_target_or_selector_is_refused(caged: CagedSafe) -> None:
    coin = caged.coins["USDC"].address
    expect(
        caged,
        caged.execute(caged.transfer("USDC", caged.stranger.address, 1)),
        ("CallNotAllowed", (coin, selector(TRANSFER))),
    )
    give = "function give(address token, address to, uint256 amount)"
    expect(
        caged,
        caged.execute(caged.call(caged.venue, give, coin, caged.safe, 1)),
        ("CallNotAllowed", (caged.venue, selector(give))),
    )


def test_arbitrary_calls_run_only_when_the_owner_allows_them_and_are_judged_the_same(caged: CagedSafe) -> None:
    allow_everything(caged)
    expect(caged, caged.execute(*caged.trade("USDC", 300 * USD, "WETH", 10**17)), None)
    usdc = caged.coins["USDC"].address
    unlisted = "function takeFrom(address token, address from, uint256 amount)"
    taken = caged.call(caged.venue, unlisted, usdc, caged.safe, 1_000 * USD)
    stolen = caged.execute(caged.approve("USDC", 1_000 * USD), taken)
    expect(caged, stolen, ("LossTooLarge", (1_000 * USD, 30 * USD)))
    # Assets are called along their two decoded paths, and else as listed.
    stolen = caged.execute(caged.transfer("USDC", caged.stranger.address, 1))
    expect(caged, stolen, ("CallNotAllowed", (usdc, selector(TRANSFER))))


def test_the_safe_the_cage_its_module_its_handler_and_codeless_targets_are_never_called(caged: CagedSafe) -> None:
    allow_everything(caged)
    module = deploy(caged, "GasBurner")
    enable = encode_call("function enableModule(address module)", module)
    assert caged.owner_call(caged.safe, enable).succeeded
    for target in (caged.safe, caged.cage, caged.handler, module):
        sent = caged.execute(Call(to=target, data=b"\x12\x34\x56\x78", value=0, label=""))
        expect(caged, sent, ("TargetForbidden", (target,)))
    sent = caged.execute(Call(to=caged.stranger.address, data=b"\x12\x34\x56\x78", value=0, label=""))
    expect(caged, sent, ("TargetHasNoCode", (caged.stranger.address,)))


@pytest.mark.parametrize("setter", ["setGuard", "setModuleGuard"])
def test_a_guard_of_the_safe_is_never_called_and_the_cage_works_under_it(caged: CagedSafe, setter: str) -> None:
    allow_everything(caged)
    guard = deploy(caged, "AllowingGuard")
    assert caged.owner_call(caged.safe, encode_call(f"function {setter}(address guard)", guard)).succeeded
    sent = caged.execute(Call(to=guard, data=b"\x12\x34\x56\x78", value=0, label=""))
    expect(caged, sent, ("TargetForbidden", (guard,)))
    expect(caged, caged.execute(*caged.trade("USDC", 300 * USD, "WETH", 10**17)), None)
    [checks] = caged.read(guard, "function checks() view returns (uint256)")
    # The Safe asks a module's guard before and after each call of the batch; its own guard is for owners' transactions.
    assert checks == (4 if setter == "setModuleGuard" else 0)


def test_the_slots_of_guards_and_handler_are_where_safe_keeps_them(caged: CagedSafe) -> None:
    for text in ("guard_manager.guard.address", "module_manager.module_guard.address"):
        assert read_slot(caged, text) == 0
    assert read_slot(caged, "fallback_manager.handler.address") == int(caged.handler, 16)


def read_slot(caged: CagedSafe, text: str) -> int:
    from eth_utils.crypto import keccak

    slot = int.from_bytes(keccak(text=text), "big")
    [raw] = caged.read(
        caged.safe, "function getStorageAt(uint256 offset, uint256 length) view returns (bytes)", slot, 1
    )
    return int.from_bytes(raw, "big")


def test_rights_are_refused_even_where_the_owner_listed_the_selector(caged: CagedSafe) -> None:
    caged.change(call_rule(caged.venue, selector(APPROVAL_FOR_ALL)), limit_rule(Limit.ALLOWS_ARBITRARY_CALLS, 1))
    sent = caged.execute(caged.call(caged.venue, APPROVAL_FOR_ALL, caged.stranger.address, True))
    expect(caged, sent, ("SelectorForbidden", (selector(APPROVAL_FOR_ALL),)))
    sent = caged.execute(caged.call(caged.venue, "function multiSend(bytes transactions)", b""))
    expect(caged, sent, ("SelectorForbidden", (bytes.fromhex("8d80ff0a"),)))


def test_the_inside_of_a_multicall_is_judged_like_the_outside(caged: CagedSafe) -> None:
    caged.change(call_rule(caged.venue, selector(MULTICALL)))

    def wrap(*inner: bytes) -> Call:
        return caged.call(caged.venue, MULTICALL, list(inner))

    hidden = encode_call(APPROVAL_FOR_ALL, caged.stranger.address, True)
    expect(caged, caged.execute(wrap(hidden)), ("SelectorForbidden", (selector(APPROVAL_FOR_ALL),)))
    nested = encode_call(MULTICALL, [hidden])
    expect(caged, caged.execute(wrap(nested)), ("SelectorForbidden", (selector(MULTICALL),)))
    unlisted = encode_call("function destroy()")
    expect(caged, caged.execute(wrap(unlisted)), ("CallNotAllowed", (caged.venue, selector("function destroy()"))))
    expect(caged, caged.execute(wrap(b"\x01")), ("CallDataMalformed", (selector(MULTICALL),)))
    fine = encode_call(TAKE, caged.coins["USDC"].address, 0)
    expect(caged, caged.execute(wrap(fine)), None)


@pytest.mark.parametrize(("units", "refused"), [(-1, False), (0, False), (1, True)])
def test_an_allowance_is_capped_by_what_it_is_worth(caged: CagedSafe, units: int, refused: bool) -> None:
    most = 50_000 * USD
    sent = caged.execute(caged.approve("USDC", most + units))
    expect(caged, sent, ("AllowanceTooLarge", (most + units, most)) if refused else None)


def test_an_unlimited_allowance_is_refused_and_taking_one_back_is_not(caged: CagedSafe) -> None:
    expect(caged, caged.execute(caged.approve("USDC", 2**256 - 1)), ("AllowanceTooLarge", (2**256 - 1, 50_000 * USD)))
    expect(caged, caged.execute(caged.approve("USDC", 0, caged.stranger.address)), None)


def test_a_spender_the_owner_did_not_name_gets_nothing(caged: CagedSafe) -> None:
    sent = caged.execute(caged.approve("USDC", 1, caged.stranger.address))
    expect(caged, sent, ("SpenderNotAllowed", (caged.stranger.address,)))


def test_approve_of_what_is_no_approved_asset_is_refused(caged: CagedSafe) -> None:
    sent = caged.execute(caged.call(caged.lender, APPROVE, caged.venue, 1))
    expect(caged, sent, ("SelectorForbidden", (selector(APPROVE),)))


def test_approve_with_more_than_its_two_words_is_refused(caged: CagedSafe) -> None:
    call = caged.approve("USDC", 1)
    sent = caged.execute(Call(to=call.to, data=call.data + b"\0", value=0, label=""))
    expect(caged, sent, ("CallDataMalformed", (selector(APPROVE),)))


def test_permit2_is_only_approved_and_for_a_day_at_most(caged: CagedSafe) -> None:
    install_permit2(caged)
    caged.change(spender_rule(PERMIT2, most_micro_usd=1_000 * USD))
    token = caged.coins["USDC"].address
    caged.set_price("USDC", 10**8)

    def approve(amount: int, expires_at: int, of: str = token) -> Call:
        return caged.call(PERMIT2, PERMIT2_APPROVE, of, caged.venue, amount, expires_at)

    latest = caged.engine.now() + 86_400
    expect(caged, caged.execute(approve(USD, latest + 1)), ("AllowanceTooLong", (latest + 1, latest)))
    expect(caged, caged.execute(approve(50_001 * USD, latest)), ("AllowanceTooLarge", (50_001 * USD, 50_000 * USD)))
    expect(caged, caged.execute(approve(USD, latest, caged.lender)), ("AssetNotApproved", (caged.lender,)))
    moved = caged.call(
        PERMIT2,
        "function transferFrom(address from, address to, uint160 amount, address token)",
        caged.safe,
        caged.stranger.address,
        1,
        token,
    )
    expect(caged, caged.execute(moved), ("SelectorForbidden", (bytes.fromhex("36c78516"),)))
    expect(caged, caged.execute(caged.approve("USDC", 1_000 * USD, PERMIT2), approve(USD, latest)), None)


def install_permit2(caged: CagedSafe) -> None:
    from golem_project.embedded.world.artifacts import fetch_artifacts

    if isinstance(caged.engine, InProcessEngine):
        code = bytes.fromhex(fetch_artifacts().permit2_runtime()[2:])
        caged.engine.chain.state.set_code(bytes.fromhex(PERMIT2[2:]), code)


def test_coins_do_not_leave_unless_the_coin_is_an_approved_asset(caged: CagedSafe) -> None:
    caged.engine.give_coins(caged.safe, 10**18)
    caged.change(call_rule(caged.venue, bytes(4)))
    sent = caged.execute(Call(to=caged.venue, data=b"", value=1, label=""))
    expect(caged, sent, ("CoinNotApproved", (1,)))


@pytest.mark.parametrize(("count", "refused"), [(0, True), (32, False), (33, True)])
def test_a_batch_has_one_to_thirty_two_calls(caged: CagedSafe, count: int, refused: bool) -> None:
    sent = caged.execute(*[caged.approve("USDC", 1)] * count)
    expect(caged, sent, ("CallCount", (count, 32)) if refused else None)


def test_a_call_that_fails_undoes_the_batch_and_says_which(caged: CagedSafe) -> None:
    caged.change(call_rule(caged.venue, selector("function fail(string reason)")))
    failing = caged.call(caged.venue, "function fail(string reason)", "no")
    sent = caged.execute(caged.approve("USDC", 5), failing)
    name, args = caged.error(sent)
    assert (name, args["index"]) == ("CallFailed", 1)
    assert cage_contract.decode_cage_error(sent.output).text.startswith("call 2 failed")
    [left] = caged.read(
        caged.coins["USDC"].address,
        "function allowance(address owner, address spender) view returns (uint256)",
        caged.safe,
        caged.venue,
    )
    assert left == 0


def test_a_selector_taken_off_the_list_is_refused_at_once(caged: CagedSafe) -> None:
    rule = call_rule(caged.venue, selector(TAKE), is_allowed=False)
    assert caged.propose(rule).succeeded
    assert caged.ask("rules", int(RuleKind.CALL), rule.key) == 0
    sent = caged.execute(caged.call(caged.venue, TAKE, caged.coins["USDC"].address, 0))
    expect(caged, sent, ("CallNotAllowed", (caged.venue, selector(TAKE))))
