"""Asks the node in one round trip for what the hooks read of a call: balances, supplies, prices, code.

Nothing is decided here; a hook that reads something else asks for it then.
"""

from __future__ import annotations

from collections.abc import Sequence

from permits_app.safety.bound_code import foretell_code
from permits_app.safety.decode_token_calls import read_token_call
from permits_app.safety.hook import HookCall
from permits_app.safety.load_call_records import list_touched
from tools_app.portfolio.read_all_positions import FirstReads, foretell_positions
from tools_app.standards.erc20 import BALANCE_OF, TOTAL_SUPPLY
from tools_app.standards.loan_callback import unfold
from tools_app.toolkit.context import ChainReader, ReadCall
from tools_app.toolkit.enums import ActionClass
from tools_app.toolkit.positions import PositionRef
from tools_app.toolkit.tooldef import WriteTool


def expect_chain_facts(*, chain: ChainReader, account: str | None, tool: WriteTool) -> None:
    """Say, before the plan is there, what will be read of any plan of this tool: it travels with the plan's own reads.

    What is asked of the whole portfolio is left out for a tool that only ever leaves a position.
    """
    if account is None:
        return
    if tool.action_class in (ActionClass.DECREASE_POSITION, ActionClass.CLOSE_POSITION):
        chain.expect(accounts=(account,), prices_of=(chain.native(),), fees=True)
        return
    held = chain.registered_tokens()
    balances = [ReadCall(token.address, BALANCE_OF, (account,)) for token in held]
    first = foretell_positions(chain_id=chain.chain_id, account=account)
    chain.expect(
        calls=[*balances, *first.calls],
        prices_of=(chain.native(), *held),
        accounts=(account,),
        fees=True,
    )


def preload_chain_facts(call: HookCall, *, with_portfolio: bool, hints: Sequence[PositionRef] = ()) -> None:
    """Have the call's reader ask; `with_portfolio` for everything the golem may hold, positions it had (`hints`) too.

    Raises the node errors.
    """
    plan, chain, account = call.plan, call.chain, call.view.address
    if plan is None or chain is None or account is None:
        return
    moved = [token for token in plan.tokens if not token.is_native]
    held = [*chain.registered_tokens(), *moved] if with_portfolio else moved
    reads = [ReadCall(token.address, BALANCE_OF, (account,)) for token in held]
    reads += [ReadCall(token.address, TOTAL_SUPPLY) for token in moved]
    first = FirstReads()
    if with_portfolio:
        first = foretell_positions(chain_id=chain.chain_id, account=account, hints=hints)
        reads += first.calls
    code = foretell_code(call)
    spoken = [found.party for found in map(read_token_call, unfold(plan.calls)) if found is not None and found.amount]
    chain.preload(
        calls=[*reads, *code.calls],
        prices_of=(chain.native(), *held) if with_portfolio else (),
        # The signer's own code: a delegation of the account (EIP-7702) is refused.
        contracts=(
            *(address for address in list_touched(plan) if int(address, 16)),
            *spoken,
            call.sent_by.signer,
            *first.contracts,
            *code.contracts,
        ),
        slots=code.slots,
        accounts=(account,),
    )
