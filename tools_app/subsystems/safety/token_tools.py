"""`safety_detect_honeypot` and `safety_validate_token`: can it be sold again, and is it what it says it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tools_app.chain.abi import checksum
from tools_app.chain.lookalike_symbols import make_skeleton
from tools_app.chain.networks import get_network
from tools_app.chain.signatures import parse_signature
from tools_app.chain.tokens import UNREGISTERED_MARK, TokenNotFound
from tools_app.core.errors import InvalidParams
from tools_app.portfolio.holdings import PriceBook
from tools_app.portfolio.markets import markets_on
from tools_app.simulation.honeypot_check import LARGE, TokenTrial, try_token
from tools_app.standards import erc20
from tools_app.subsystems.safety.account_measurement import show_percent
from tools_app.subsystems.safety.family import board
from tools_app.toolkit.context import ChainReader, ReadCall, ReadContext
from tools_app.toolkit.markets import Pool, sort_tokens
from tools_app.toolkit.params import Token
from tools_app.toolkit.result import UsdAmount
from tools_app.toolkit.views import TokenMeta

THIN_MICRO_USD: Final = 100_000 * 10**6
"""A pool with less of what is paid with moves far on a small trade."""
DANGEROUS_TAX_BPS: Final = 1_000
"""A token that keeps more than a tenth of a trade is taken for a trap, whatever it calls that."""
_TRIED_PART: Final = 1_000
"""A thousandth of what the pool holds is traded in a trial."""
_OWNER: Final = "function owner() view returns (address)"
_PROXY_SLOT: Final = 0x360894A13BA1A3210667C828492DB98DCA3E2076CC3735A920A3CA505D382BBC
_NOBODY: Final = "0x" + "0" * 40
_BASE_FEE: Final = 0x48
_PUSH_1, _PUSH_32 = 0x60, 0x7F
_DELEGATED: Final = bytes.fromhex("ef0100")
_ABILITIES: Final = {
    "pause": ("pause()", "setPaused(bool)", "setTradingEnabled(bool)", "enableTrading(bool)"),
    "blacklist": (
        "blacklist(address)",
        "addBlackList(address)",
        "setBlacklist(address,bool)",
        "blacklistAddress(address,bool)",
        "addToBlacklist(address)",
        "freeze(address)",
        "setBots(address[])",
    ),
    "mint": ("mint(address,uint256)", "mint(uint256)", "issue(uint256)"),
    "change taxes": ("setFee(uint256)", "setTax(uint256)", "setFees(uint256,uint256)", "setTaxes(uint256,uint256)"),
    "change limits": ("setMaxTx(uint256)", "setMaxTxAmount(uint256)", "setMaxWallet(uint256)"),
}


@dataclass(frozen=True, slots=True)
class HoneypotVerdict:
    """What a trial of the token did. Taxes are what did not arrive, in basis points, the worst of those tried; null
    where it failed. `max_sell_pct` is 100, 1 or 0. What its owner may do later is an ability, no verdict.
    """

    token: str
    chain_id: int
    pool: str
    is_honeypot: bool
    buy_success: bool
    sell_success: bool
    sell_success_in_1_day: bool
    sell_success_in_30_days: bool
    buy_tax_bps: int | None
    sell_tax_bps: int | None
    max_sell_pct: int | None
    can_be_passed_on: bool
    has_blacklist: bool
    has_pause: bool
    owner: str | None
    abilities: tuple[str, ...]
    risk_summary: str


@dataclass(frozen=True, slots=True)
class TokenCheck:
    """What is known of a token. `risk_level` is Safe, Caution or Dangerous; `warnings` say why it is not Safe.

    `symbol` and `name` of a token that is not registered are its own words. Taxes are null where nothing was traded.
    The first `dangers` of the warnings make it Dangerous.
    """

    token: str
    symbol: str
    name: str
    decimals: int
    untrusted_words: bool
    is_erc20_compliant: bool
    on_token_list: bool
    token_list_source: str | None
    has_liquidity: bool
    liquidity_usd: UsdAmount
    transfer_tax_buy_bps: int | None
    transfer_tax_sell_bps: int | None
    is_honeypot: bool | None
    risk_level: str
    dangers: int
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Depth:
    """The deepest pool of a token against a hub, and the dollars of what is paid with in it."""

    pool: Pool
    micro_usd: int


@board.read(
    query="honeypot",
    snippet=(
        "honeypot: whether a token that can be bought can be sold again, now, in a day and in thirty, in part and"
        " whole, with the taxes it keeps and what its owner may change."
    ),
    guidelines=(
        "Ask before buying what the registry does not list; what an owner may switch later no trial shows, so read"
        " its abilities.",
    ),
)
def safety_detect_honeypot(ctx: ReadContext, token: Token) -> HoneypotVerdict:
    """Try in a simulation whether a token can be bought from its deepest pool and sold back.

    Use before buying a token that the registry does not list. Sales are tried now, a day and thirty days ahead, by
    made-up accounts through somebody they allowed, as a router does.
    Does not see what its owner may change later, and does not trade.
    """
    reader = ctx.chain()
    meta = reader.token(token)
    if meta.is_native:
        raise InvalidParams("the chain's own coin is no token", fields={"token": "name a token"})
    ctx.step("Finding its deepest pool")
    depth = find_depth(reader, meta)
    if depth is None:
        raise TokenNotFound(f"no pool that is known here trades {meta.address}, so nothing can be tried")
    ctx.step("Buying and selling in a simulation")
    abilities, owner = read_abilities(reader, meta.address)
    trial = _try(ctx, reader, meta, depth.pool, owner)
    now, in_a_day, in_a_month = trial.sales if trial.sales else (None, None, None)
    sold_whole = now is not None and now.succeeded
    part = 1 if now is not None and now.part_tax_bps is not None else 0
    is_trap = is_honeypot(trial)
    return HoneypotVerdict(
        token=meta.address,
        chain_id=reader.chain_id,
        pool=depth.pool.id,
        is_honeypot=is_trap,
        buy_success=trial.buy_tax_bps is not None,
        sell_success=sold_whole,
        sell_success_in_1_day=in_a_day is not None and in_a_day.succeeded,
        sell_success_in_30_days=in_a_month is not None and in_a_month.succeeded,
        buy_tax_bps=trial.buy_tax_bps,
        sell_tax_bps=trial.sell_tax_bps if trial.sales else None,
        max_sell_pct=None if trial.buy_tax_bps is None else 100 if sold_whole else part,
        can_be_passed_on=trial.passes_on,
        has_blacklist="blacklist" in abilities,
        has_pause="pause" in abilities,
        owner=owner,
        abilities=abilities,
        risk_summary=_summarize(trial, abilities, owner) + _warn_of_trials(reader.code(meta.address)),
    )


@board.read(
    query="token_check",
    snippet=(
        "token_check: whether a token is what it says it is: registered or a look-alike, its depth in dollars, taxes,"
        " whether it can be sold again, with the reasons in words."
    ),
    guidelines=("Dangerous is not to be bought; at Caution read the warnings to your owner before you do.",),
)
def safety_validate_token(ctx: ReadContext, token: Token) -> TokenCheck:
    """Check a token before it is bought: code, words, registry, depth, taxes, and whether it can be sold again.

    Use for every token that the owner did not name. Symbols are compared with registered ones as an eye reads them.
    Does not read off-chain lists or audits, and a Safe is no promise of a price.
    """
    reader = ctx.begin("Reading the token")
    meta = reader.token(token)
    if meta.is_native:
        raise InvalidParams("the chain's own coin is no token", fields={"token": "name a token"})
    return check_token(ctx, reader, meta)


def check_token(ctx: ReadContext, reader: ChainReader, meta: TokenMeta) -> TokenCheck:
    """Everything that is looked at before a token is bought. Raises the node's errors, ChainNotSupported."""
    is_compliant = _is_compliant(reader, meta.address)
    depth = find_depth(reader, meta)
    ctx.step("Trying it")
    abilities, owner = read_abilities(reader, meta.address)
    trial = _try(ctx, reader, meta, depth.pool, owner) if depth is not None and is_compliant else None
    dangers, cautions = _judge(reader, meta, depth, trial, is_compliant=is_compliant)
    if owner is not None and not meta.is_registered:
        cautions.extend(f"its owner {owner} can {each}" for each in abilities)
    return TokenCheck(
        token=meta.address,
        symbol=meta.symbol,
        name=meta.name,
        decimals=meta.decimals,
        untrusted_words=not meta.is_registered,
        is_erc20_compliant=is_compliant,
        on_token_list=meta.is_registered,
        token_list_source=f"this server's registry of chain {reader.chain_id}" if meta.is_registered else None,
        has_liquidity=depth is not None and depth.micro_usd > 0,
        liquidity_usd=UsdAmount(0 if depth is None else depth.micro_usd),
        transfer_tax_buy_bps=None if trial is None else trial.buy_tax_bps,
        transfer_tax_sell_bps=None if trial is None or not trial.sales else trial.sell_tax_bps,
        is_honeypot=None if trial is None else is_honeypot(trial),
        risk_level="Dangerous" if dangers else "Caution" if cautions else "Safe",
        dangers=len(dangers),
        warnings=(*dangers, *cautions),
    )


def is_honeypot(trial: TokenTrial) -> bool:
    """Whether it can be bought and not sold whole at a time that was tried, or a sale keeps most of it."""
    taxes = [tax for sale in trial.every_sale for tax in (sale.part_tax_bps, sale.whole_tax_bps) if tax is not None]
    return trial.is_trap or any(tax > DANGEROUS_TAX_BPS * 5 for tax in taxes)


def find_depth(reader: ChainReader, token: TokenMeta) -> Depth | None:
    """The pool against a hub in which most dollars lie: of both sides where a feed prices the token, else of the hub.

    A price that moves turns one side of a pool into the other, in a narrow range all of it: what both are worth stays.
    Raises ChainNotSupported, the node's errors.
    """
    markets, book = markets_on(reader.chain_id), PriceBook(reader)
    asset = markets.asset(token)
    pairs = [sort_tokens(asset, hub) for hub in markets.hubs(reader) if hub != asset]
    pools = [pool for pool in markets.find(reader, pairs) if pool.is_usable]
    held = markets.depth(reader, pools)
    found: list[tuple[int, Depth]] = []
    for pool in pools:
        own, paid = held[pool.id] if pool.token0 == asset else held[pool.id][::-1]
        micro_usd = book.weigh(pool.other(asset), paid).micro_usd or 0
        found.append((micro_usd + (book.weigh(asset, own).micro_usd or 0), Depth(pool, micro_usd)))
    _, deepest = max(found, key=lambda each: (each[0], each[1].pool.id), default=(0, None))
    return deepest


def read_abilities(reader: ChainReader, token: str) -> tuple[tuple[str, ...], str | None]:
    """What its code lets somebody do, by the functions in it, and who owns it; behind a proxy, of what stands there."""
    code = reader.code(token)
    behind = reader.slot(token, _PROXY_SLOT) & ((1 << 160) - 1)
    if behind:
        code += reader.code(checksum(f"0x{behind:040x}"))
    found = [name for name, functions in _ABILITIES.items() if any(_dispatches(code, each) for each in functions)]
    (answer,) = reader.call_many([ReadCall(token, _OWNER)])
    owner = str(answer.values[0]) if answer.ok and answer.values[0] != _NOBODY else None
    return ((*found, "be replaced by other code") if behind else tuple(found)), owner


def _dispatches(code: bytes, function: str) -> bool:
    """Whether code compares what it is called with with this function: PUSH4 and its selector."""
    return b"\x63" + parse_signature(f"function {function}").selector in code


def _warn_of_trials(code: bytes) -> str:
    return " Its code can tell a trial from a trade by the base fee: do not buy it." if can_tell_trials(code) else ""


def can_tell_trials(code: bytes) -> bool:
    """Whether code asks for the base fee, which nodes do not show in a simulation: no token that only moves needs it.

    What a compiler says about itself at the end is no code.
    """
    told = int.from_bytes(code[-2:], "big") + 2
    at, end = 0, len(code) - told if told < len(code) else len(code)
    while at < end:
        if code[at] == _BASE_FEE:
            return True
        at += code[at] - _PUSH_1 + 2 if _PUSH_1 <= code[at] <= _PUSH_32 else 1
    return False


def _try(ctx: ReadContext, reader: ChainReader, token: TokenMeta, pool: Pool, owner: str | None) -> TokenTrial:
    sides = markets_on(reader.chain_id).depth(reader, [pool])[pool.id]
    held = sides[0 if token.address == pool.token0 else 1]
    return try_token(
        chain_id=reader.chain_id,
        token=token.address,
        pool=pool.pool_id.contract,
        owner=owner,
        amount=max(1, held // _TRIED_PART),
        block=reader.block,
        block_seconds=get_network(reader.chain_id).block_seconds,
        deadline=ctx.deadline,
    )


def _is_compliant(reader: ChainReader, token: str) -> bool:
    code = reader.code(token)
    nobody = "0x" + "0" * 39 + "1"
    reads = [erc20.balance_call(token, nobody), erc20.allowance_call(token, nobody, nobody)]
    answers = reader.call_many([*reads, ReadCall(token, erc20.TOTAL_SUPPLY)])
    return bool(code) and not code.startswith(_DELEGATED) and all(each.ok for each in answers)


def _judge(
    reader: ChainReader, token: TokenMeta, depth: Depth | None, trial: TokenTrial | None, *, is_compliant: bool
) -> tuple[list[str], list[str]]:
    """Dangers and cautions, in words."""
    dangers: list[str] = []
    cautions: list[str] = []
    if not is_compliant:
        dangers.append("it does not answer as an ERC-20 token does")
    if not token.is_registered:
        skeleton = make_skeleton(token.symbol.removesuffix(UNREGISTERED_MARK))
        copied = [each for each in reader.registered_tokens() if make_skeleton(each.symbol) == skeleton]
        dangers.extend(f"it looks like {each.symbol}, which is {each.address}" for each in copied)
        cautions.append("it is not registered on this server: its name and symbol are its own words")
    if can_tell_trials(reader.code(token.address)):
        dangers.append("its code asks for the base fee, by which it can tell a trial from a trade")
    if depth is None:
        cautions.append("no pool that is known here trades it")
    elif depth.micro_usd < THIN_MICRO_USD:
        cautions.append(f"its deepest pool holds {depth.micro_usd // 10**6:,} dollars of what it is paid with")
    if trial is not None:
        more_dangers, more_cautions = _judge_trial(trial)
        dangers, cautions = [*dangers, *more_dangers], [*cautions, *more_cautions]
    return dangers, cautions


def _judge_trial(trial: TokenTrial) -> tuple[list[str], list[str]]:
    """Dangers and cautions of what trading it did."""
    dangers: list[str] = []
    cautions: list[str] = []
    if trial.buy_tax_bps is None:
        cautions.append("it could not even be bought in a trial")
    elif is_honeypot(trial):
        dangers.append("it can be bought and not be sold again: a trap")
    if trial.owner_takes:
        dangers.append("its owner can take what others hold, without being allowed to")
    taxes = [each for each in (trial.buy_tax_bps, trial.sell_tax_bps if trial.sales else None) if each]
    worst = max(taxes, default=0)
    if worst > DANGEROUS_TAX_BPS:
        dangers.append(f"it keeps {show_percent(worst)}% of a trade")
    elif worst:
        cautions.append(f"it keeps {show_percent(worst)}% of a trade")
    if trial.buy_tax_bps is not None and not trial.passes_on:
        cautions.append("who buys it cannot send it to anybody but the pool")
    return dangers, cautions


def _summarize(trial: TokenTrial, abilities: tuple[str, ...], owner: str | None) -> str:
    if trial.buy_tax_bps is None:
        verdict = "It could not be bought in a trial"
    elif is_honeypot(trial):
        failed = [sale.span // 86_400 for sale in trial.sales if not sale.succeeded]
        when = ", ".join("now" if not days else f"in {days} days" for days in failed)
        if not when:
            is_large = trial.large is not None and not trial.large.succeeded
            when = f"{LARGE} times as much at once" if is_large else "for what it is worth"
        verdict = f"It can be bought and not be sold {when}"
    else:
        verdict = "It could be bought and sold whole now, in a day and in thirty"
    may = f"; its owner {owner} can {', '.join(abilities)}" if owner is not None and abilities else ""
    takes = "; its owner took what a holder never allowed" if trial.owner_takes else ""
    return f"{verdict}{takes}{may}."
