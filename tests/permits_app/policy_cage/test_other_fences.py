"""What the server does with contracts beside the cage: one that only answers as a cage, and a Roles contract."""

from __future__ import annotations

import io

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from golem_project.embedded.world.solidity import load_contract
from permits_app.policy_cage import mirror as mirror_module
from permits_app.policy_cage.roles_check import build_document
from tests.live_golem import LiveGolem
from tests.permits_app.caged_golem import CagedGolem
from tests.permits_app.policy_cage.test_deploy_policy_cage import create_cage
from tools_app.toolkit.plan import Call


def test_the_hole_of_the_server_put_back_follows_what_only_answers_as_a_cage(
    live_golem: LiveGolem, monkeypatch: pytest.MonkeyPatch
) -> None:
    """L8: without the comparison of codes nothing else notices; with it the same contract is refused."""
    week, longer = bytes.fromhex("093a80"), bytes.fromhex("093a81")
    code = bytes.fromhex(load_contract("PolicyCage").bytecode[2:])
    other = create_cage(live_golem, code.replace(week, longer))
    with pytest.raises(CommandError, match="NOT_A_CAGE"):
        call_command("deploy_policy_cage", live_golem.golem.name, "--register", other, stdout=io.StringIO())
    monkeypatch.setattr(mirror_module, "check_published", lambda chain, contract: {})
    out = io.StringIO()
    call_command("deploy_policy_cage", live_golem.golem.name, "--register", other, stdout=out)
    assert other.lower() in out.getvalue().lower()


def test_what_is_no_roles_contract_of_the_safe_is_made_no_manifest_for(live_golem: LiveGolem) -> None:
    caged = CagedGolem(live_golem)
    usdc = live_golem.world.tokens["USDC"].address
    with pytest.raises(CommandError, match="is no fence of this Safe: .* does not answer as a Roles contract does"):
        call_command("roles_manifest", str(live_golem.golem.pk), roles=usdc, stdout=io.StringIO())
    with pytest.raises(CommandError, match="no golem of that id has a cage"):
        call_command("roles_manifest", "nobody", roles=caged.mirror.contract, stdout=io.StringIO())


def test_the_calls_of_a_manifest_are_written_as_a_safe_reads_them() -> None:
    call = Call(to="0x" + "11" * 20, data=b"\x01\x02", value=0, label="one")
    document = build_document([call], chain_id=1, safe="0x" + "22" * 20)
    assert document["chainId"] == "1" and document["meta"]["createdFromSafeAddress"] == "0x" + "22" * 20
    assert document["transactions"] == [{"to": "0x" + "11" * 20, "value": "0", "data": "0x0102"}]
