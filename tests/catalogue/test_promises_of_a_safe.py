"""A promise of a Safe as a case: on Safe's own bytecode it is its own as it was permitted, and none in another word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from permits_app.models import SignedPromise
from permits_app.policy_cage.safe_message import wrap_digest
from tests.evm.world import CHAIN_ID
from tests.permits_app.execution.test_safe_wallet import SafeGolem
from tests.permits_app.test_promises_of_a_safe import owned as owned
from tests.permits_app.test_signed_promises import Maker
from tests.permits_app.test_signed_promises import maker as maker
from tests.tools_app.factories import make_context
from tools_app.chain.typed_hash import hash_typed_data
from tools_app.standards.erc1271 import ask_whether_signed, says_yes
from tools_app.toolkit.typed_data import TypedData

STRANGER = "0x" + "55" * 20


def list_changed(typed: TypedData) -> Iterator[tuple[str, TypedData]]:
    """Each word of the message, and each field of its domain, once another."""
    for name, kind in typed.types[typed.primary_type]:
        value: Any = STRANGER if kind == "address" else typed.message[name] + 1
        yield name, replace(typed, message={**typed.message, name: value})
    for name, value in (("name", "MadeUpBanc"), ("version", "2"), ("chainId", 1), ("verifyingContract", STRANGER)):
        yield f"domain {name}", replace(typed, domain={**typed.domain, name: value})


def test_a_promise_of_a_safe_is_its_own_and_none_with_any_word_changed(maker: Maker, owned: SafeGolem) -> None:
    row, _ = maker.offer()
    typed, signature = TypedData.of_json(row.typed_data), bytes.fromhex(row.signature[2:])
    chain = make_context(owned.live.world, address=owned.safe.address).chain()
    changed = dict(list_changed(typed))
    asked = [ask_whether_signed(owned.safe.address, hash_typed_data(each), signature) for each in changed.values()]
    own, *others = chain.call_many([ask_whether_signed(owned.safe.address, hash_typed_data(typed), signature), *asked])
    assert says_yes(own)
    assert [name for name, told in zip(changed, others, strict=True) if says_yes(told)] == []
    assert len(others) == 9


def test_a_signature_for_one_safe_is_none_for_another_of_the_same_owner(maker: Maker, owned: SafeGolem) -> None:
    row, _ = maker.offer()
    signature = bytes.fromhex(row.signature[2:])
    digest = hash_typed_data(TypedData.of_json(row.typed_data))
    other = SafeGolem(owned.live)
    chain = make_context(owned.live.world, address=other.safe.address).chain()
    mine, others = chain.call_many(
        [ask_whether_signed(safe, digest, signature) for safe in (owned.safe.address, other.safe.address)]
    )
    assert says_yes(mine) and not says_yes(others)
    assert wrap_digest(digest, safe=other.safe.address, chain_id=CHAIN_ID) != wrap_digest(
        digest, safe=owned.safe.address, chain_id=CHAIN_ID
    )
    assert SignedPromise.objects.get().account == owned.safe.address


@pytest.mark.parametrize("slip", [{"give": 10}, {"want": 10}, {"deadline": 1}], ids=["give", "want", "deadline"])
def test_a_promise_of_a_safe_that_says_otherwise_than_its_plan_is_refused(
    maker: Maker, owned: SafeGolem, slip: dict[str, int]
) -> None:
    maker.bank.modules["tools"].SLIPS.update(slip)
    status, problem = maker.preview()
    assert status >= 400 and problem["code"] in ("REVIEW_VETOED", "SAFETY_SIMULATION_FAILED"), problem
    assert not SignedPromise.objects.exists()
