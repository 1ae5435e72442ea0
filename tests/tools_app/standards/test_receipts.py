"""Where a plan was mined stands in every report, and is that of what the plan is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.evm.world import World
from tests.tools_app.factories import call_tool, make_context, report_of, run_plan
from tools_app.standards.receipts import describe_mined

ETH = 10**18
APPROVAL = "0x095ea7b3"


@pytest.mark.protocols("aave_v3")
def test_a_report_names_the_transaction_that_acts_and_not_the_approval_that_is_taken_back(chain: World) -> None:
    account = chain.new_account(10 * ETH, {"WETH": 4 * ETH, "DAI": 500 * ETH})
    context = make_context(chain, address=account.address)
    outcome = run_plan(chain, account, call_tool(context, "aave_supply", asset="WETH", amount=str(ETH)))
    run_plan(
        chain,
        account,
        call_tool(make_context(chain, address=account.address), "aave_borrow", asset="DAI", amount=str(100 * ETH)),
    )
    repaid = run_plan(
        chain, account, call_tool(make_context(chain, address=account.address), "aave_repay", asset="DAI", amount="max")
    )
    for done, tool in ((outcome, "aave_supply"), (repaid, "aave_repay")):
        told: Mapping[str, Any] = report_of(tool, done)
        acts = [
            receipt
            for receipt, call in zip(done.receipts, done.plan.calls, strict=True)
            if "0x" + call.data[:4].hex() != APPROVAL
        ]
        assert told["tx_hash"] == describe_mined(done).tx_hash == acts[-1].tx_hash
        assert told["block_number"] == acts[-1].block_number
        assert told["gas_used"] == sum(each.gas_used for each in done.receipts)
        assert told["explorer_url"] is None
    approvals = ["0x" + call.data[:4].hex() for call in repaid.plan.calls]
    assert approvals[-1] == APPROVAL, "the repayment takes back what is left of its approval"
