"""A lender of Aave's code as the shelf wants it: one function makes the whole of it from a name and its addresses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tools_app.standards.aave_like import signatures
from tools_app.standards.aave_like.cage_valuer import describe_valuer, list_reserve_tokens
from tools_app.standards.aave_like.contracts import contracts_on
from tools_app.standards.aave_like.effects import PoolEffects
from tools_app.standards.aave_like.lending import PoolLending
from tools_app.standards.aave_like.positions import AccountExits, AccountPositions
from tools_app.standards.aave_like.rates import DebtRates, ReserveRates
from tools_app.toolkit.positions import Reads
from tools_app.toolkit.protocol import Contract, LeavingCall, ProtocolDef, RightEvent, Trait

_CALLS = (signatures.SUPPLY, signatures.WITHDRAW, signatures.BORROW, signatures.REPAY, signatures.USE_AS_COLLATERAL)


def describe_lender(
    *,
    name: str,
    label: str,
    prefix: str,
    deployments: Callable[[int], Mapping[str, str] | None],
    listed_as: tuple[str, ...] = (),
) -> ProtocolDef:
    """`prefix` is that of its tools, which are called `<prefix>_repay` and `<prefix>_withdraw`.

    `listed_as` is what lists of yields call it.
    """

    def ask_for_debt_tokens(chain_id: int) -> Reads[tuple[str, ...]]:
        where = contracts_on(deployments, chain_id)
        if where is None:
            return ()
        return tuple(debt for _, _, debt in (yield from list_reserve_tokens(where.pool)))

    return ProtocolDef(
        name=name,
        label=label,
        deployments=deployments,
        entry="pool",
        contracts=(
            Contract(
                key="pool",
                label=f"{label} pool",
                functions=_CALLS,
                besides=(signatures.FLASH_LOAN_SIMPLE,),
                takes_tokens=True,
                valued_at="pool",
                own={
                    signatures.SUPPLY: ((2,),),
                    signatures.WITHDRAW: ((2,),),
                    signatures.BORROW: ((4,),),
                    signatures.REPAY: ((3,),),
                },
                tokens=dict.fromkeys(_CALLS, ((0,),)),
            ),
        ),
        valuers=(describe_valuer(deployments),),
        positions=AccountPositions(name, label, deployments),
        exits=AccountExits(f"{prefix}_repay", f"{prefix}_withdraw"),
        leaving=(
            LeavingCall("pool", signatures.WITHDRAW, own=((2,),)),
            LeavingCall("pool", signatures.REPAY, own=((3,),)),
        ),
        effects=PoolEffects(name, deployments),
        lending=PoolLending(name, label, deployments, prefix),
        has_doors=True,
        rates=ReserveRates(deployments),
        debt_rates=DebtRates(deployments),
        listed_as=listed_as,
        rights=(
            RightEvent(
                signatures.DELEGATED,
                giver=0,
                taker=1,
                token=2,
                amount=3,
                label=f"may borrow at {label} for the golem to repay",
                revoke=lambda contract, taker, token: (signatures.APPROVE_DELEGATION, (taker, 0)),
                tellers=ask_for_debt_tokens,
            ),
        ),
        traits=frozenset({Trait.LEVERAGE}),
        events=signatures.EVENTS,
    )
