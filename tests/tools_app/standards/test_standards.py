from __future__ import annotations

import json

import pytest

from tests.evm.world import World
from tests.tools_app.chain.conftest import OpenReader
from tools_app.chain.node_errors import ContractOutputUnexpected
from tools_app.chain.reader import PinnedReader
from tools_app.core.units import format_units
from tools_app.standards import erc20, permit2, weth
from tools_app.toolkit.plan import Call


def _send(chain: World, account: object, call: Call) -> str:
    receipt = chain.send(account, call.to, "0x" + call.data.hex(), value=call.value)  # type: ignore[arg-type]
    return str(receipt["status"])


@pytest.mark.parametrize("symbol", ["USDC", "USDT", "FEE", "WETH"])
def test_an_exact_approval_stands_and_a_revocation_ends_it(open_reader: OpenReader, chain: World, symbol: str) -> None:
    account = chain.new_account()
    token = open_reader().token(symbol)
    spender = "0x" + "42" * 20

    assert _send(chain, account, erc20.approve_exact(token=token, spender=spender, amount=123)) == "0x1"
    assert erc20.allowance(open_reader(), token, account.address, spender) == 123
    assert _send(chain, account, erc20.revoke(token=token, spender=spender)) == "0x1"
    assert erc20.allowance(open_reader(), token, account.address, spender) == 0


def test_changing_a_standing_approval_goes_through_zero_where_a_token_insists(
    open_reader: OpenReader, chain: World
) -> None:
    account, spender = chain.new_account(), "0x" + "42" * 20
    usdt = open_reader().token("USDT")
    _send(chain, account, erc20.approve_exact(token=usdt, spender=spender, amount=5))

    assert _send(chain, account, erc20.approve_exact(token=usdt, spender=spender, amount=6)) == "0x0"
    calls = erc20.approvals_for(token=usdt, spender=spender, amount=6, allowance=5)
    assert [_send(chain, account, call) for call in calls] == ["0x1", "0x1"]
    assert erc20.allowance(open_reader(), usdt, account.address, spender) == 6


def test_no_approval_is_made_when_it_stands_already_or_for_the_coin(reader: PinnedReader) -> None:
    usdc = reader.token("USDC")

    assert erc20.approvals_for(token=usdc, spender="0x" + "42" * 20, amount=5, allowance=5) == ()
    assert erc20.approvals_for(token=reader.native(), spender="0x" + "42" * 20, amount=5, allowance=0) == ()
    assert len(erc20.approvals_for(token=usdc, spender="0x" + "42" * 20, amount=0, allowance=5)) == 1
    with pytest.raises(ValueError, match="no allowances"):
        erc20.approve_exact(token=reader.native(), spender="0x" + "42" * 20, amount=1)


def test_transfers_deliver_the_amount_less_a_tokens_own_fee(open_reader: OpenReader, chain: World) -> None:
    account = chain.new_account(tokens={"USDC": 1_000, "FEE": 10_000})
    recipient = "0x" + "43" * 20
    reader = open_reader()
    for token, amount, delivered in (
        (reader.token("USDC"), 1_000, 1_000),
        (reader.token("FEE"), 10_000, 9_900),
        (reader.native(), 77, 77),
    ):
        before = erc20.balance_of(reader, token, recipient)
        assert _send(chain, account, erc20.transfer(token=token, recipient=recipient, amount=amount)) == "0x1"
        assert erc20.balance_of(open_reader(), token, recipient) - before == delivered


def test_balances_come_in_the_order_asked_with_the_coin_among_them(reader: PinnedReader, chain: World) -> None:
    account = chain.new_account(eth_wei=5, tokens={"USDC": 7})
    pairs = [
        (reader.token("USDC"), account.address),
        (reader.native(), account.address),
        (reader.token("DAI"), account.address),
    ]

    assert erc20.balances_of(reader, pairs) == [7, 5, 0]


def test_a_balance_of_something_that_is_no_token_is_refused(reader: PinnedReader, chain: World) -> None:
    from dataclasses import replace

    fake = replace(reader.token("USDC"), address=chain.contracts["uniswap_v3_factory"])
    with pytest.raises(ContractOutputUnexpected):
        erc20.balance_of(reader, fake, chain.actors.deployer.address)


def test_labels_are_in_units_of_the_token(reader: PinnedReader) -> None:
    usdc = reader.token("USDC")
    call = erc20.approve_exact(token=usdc, spender="0x" + "42" * 20, amount=1_500_000)

    assert format_units(1_500_000, 6, "USDC") in call.label
    assert call.value == 0


def test_wrapping_and_unwrapping_is_one_to_one(open_reader: OpenReader, chain: World) -> None:
    account = chain.new_account(eth_wei=10**18)
    wrapped = open_reader().wrapped_native()
    assert _send(chain, account, weth.wrap(wrapped=wrapped, amount=10**17)) == "0x1"
    assert _send(chain, account, weth.unwrap(wrapped=wrapped, amount=4 * 10**16)) == "0x1"

    assert erc20.balance_of(open_reader(), wrapped, account.address) == 6 * 10**16


def test_a_permit2_allowance_is_read_with_its_expiry_and_revoked(open_reader: OpenReader, chain: World) -> None:
    account, spender = chain.new_account(), "0x" + "42" * 20
    reader = open_reader()
    usdc = reader.token("USDC")
    until = reader.block.timestamp + 1_000
    assert _send(chain, account, permit2.approve(token=usdc, spender=spender, amount=9, expiration=until)) == "0x1"
    given = permit2.allowance(open_reader(), token=usdc, owner=account.address, spender=spender)

    assert given == permit2.Permit2Allowance(amount=9, expiration=until, nonce=0)
    assert (given.usable_at(until), given.usable_at(until + 1)) == (9, 0)
    assert _send(chain, account, permit2.revoke(token=usdc, spender=spender)) == "0x1"
    assert permit2.allowance(open_reader(), token=usdc, owner=account.address, spender=spender).amount == 0


def test_what_an_owner_signs_for_permit2_is_taken_by_the_contract(open_reader: OpenReader, chain: World) -> None:
    account, spender = chain.new_account(), "0x" + "42" * 20
    reader = open_reader()
    usdc, until = reader.token("USDC"), reader.block.timestamp + 1_000
    typed = permit2.build_permit(
        chain_id=reader.chain_id, token=usdc, spender=spender, amount=7, expiration=until, nonce=0, signed_until=until
    )
    signature = bytes(account.sign_typed_data(full_message=json.loads(json.dumps(typed))).signature)
    details = (usdc.address, 7, until, 0)
    permit = "permit(address,((address,uint160,uint48,uint48),address,uint256),bytes)"
    sent = chain.transact(
        chain.new_account(), permit2.PERMIT2, permit, account.address, (details, spender, until), signature
    )
    assert sent["status"] == "0x1"
    given = permit2.allowance(open_reader(), token=usdc, owner=account.address, spender=spender)
    assert given == permit2.Permit2Allowance(amount=7, expiration=until, nonce=1)
