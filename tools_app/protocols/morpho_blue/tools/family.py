"""The family of the `morpho_*` tools, how they name a market, and what each of them reads first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tools_app.chain.networks import ChainNotSupported
from tools_app.core.errors import InvalidParams
from tools_app.protocols.morpho_blue.addresses import CHAINS, MORPHO, WRITE_CHAINS, deployments
from tools_app.protocols.morpho_blue.lending import supply_ppm, yearly_ppm
from tools_app.protocols.morpho_blue.market import NOBODY, Holding, Market, MarketParams
from tools_app.protocols.morpho_blue.reads import ask_holdings, ask_markets
from tools_app.toolkit.context import ChainReader, WriteContext
from tools_app.toolkit.enums import Category
from tools_app.toolkit.family import ToolFamily
from tools_app.toolkit.lending import MarketNotFound
from tools_app.toolkit.params import Address, Bytes32, RawAmount
from tools_app.toolkit.positions import drive
from tools_app.toolkit.views import NATIVE, TokenMeta

morpho = ToolFamily(prefix="morpho", category=Category.LENDING, chains=WRITE_CHAINS, picks_chain=True)


class MarketFields(BaseModel):
    """A market by its five parameters, as Morpho's own documents write them; `lltv` of 10^18 is 100%."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    loanToken: Address
    collateralToken: Address
    oracle: Address
    irm: Address
    lltv: RawAmount


MarketRef = Bytes32 | MarketFields
MarketMeant = Annotated[
    MarketRef,
    Field(description="A market by its id, or by its five parameters."),
    AfterValidator(lambda market: id_of(market)),
]
"""Either way a write is given the id, by which two actions are compared."""


@dataclass(frozen=True, slots=True)
class Opened:
    """Where a tool works: the contract, the market, what the account has in it, its loan token."""

    reader: ChainReader
    morpho: str
    account: str
    market: Market
    holding: Holding
    loan: TokenMeta

    @property
    def params(self) -> MarketParams:
        return self.market.params

    @property
    def lent(self) -> int:
        return self.market.state.lent_of(self.holding.supply_shares)

    @property
    def owed(self) -> int:
        return self.market.state.owed_of(self.holding.borrow_shares)

    @property
    def collateral_token(self) -> TokenMeta:
        """Raises InvalidParams for a market without collateral."""
        if self.params.is_idle:
            raise InvalidParams("this market has no collateral", fields={"market_id": "an idle market"})
        return self.reader.token(self.params.collateral_token)

    def chosen(self, asset: str | None) -> TokenMeta:
        """The token of the market that is meant; without a word the loan token. Raises InvalidParams."""
        if asset is None:
            return self.loan
        token = self.reader.token(asset)
        if token.address not in (self.params.loan_token, self.params.collateral_token) or token.address == NATIVE:
            names = [self.loan.symbol]
            if not self.params.is_idle:
                names.append(self.collateral_token.symbol)
            raise InvalidParams(
                f"{token.symbol} is neither lent nor collateral in this market; it has {' and '.join(names)}",
                fields={"asset": "not of this market"},
            )
        return token


def contract_on(chain_id: int) -> str:
    """The contract of a chain. Raises ChainNotSupported."""
    found = deployments(chain_id)
    if found is None:
        raise ChainNotSupported(f"Morpho is not served on chain {chain_id}", chain_id=chain_id, chains=sorted(CHAINS))
    return found[MORPHO]


def id_of(market: str | MarketFields) -> str:
    """The market's id, however it was named."""
    if isinstance(market, str):
        return market
    fields = (market.loanToken, market.collateralToken, market.oracle, market.irm)
    return MarketParams(*fields, market.lltv).id


def read_market(reader: ChainReader, market_id: str) -> Market:
    """One market. Raises MarketNotFound."""
    (found,) = drive(ask_markets(reader.chain_id, [market_id]), reader.call_many)
    if found is None:
        raise MarketNotFound(
            f"no market {market_id} was created here; morpho_get_market_info lists known ones", market_id=market_id
        )
    return found


def open_market(ctx: WriteContext, market: str | MarketFields) -> Opened:
    """The market and what the golem has in it. Raises MarketNotFound, ChainNotSupported."""
    reader = ctx.chain()
    contract = contract_on(reader.chain_id)
    market_id = id_of(market)
    found = read_market(reader, market_id)
    (holding,) = drive(ask_holdings(reader.chain_id, ctx.account, [market_id]), reader.call_many)
    return Opened(reader, contract, ctx.account, found, holding, reader.token(found.params.loan_token))


def check_own(ctx: WriteContext, on_behalf_of: str | None) -> None:
    """Positions are only ever the golem's own. Raises InvalidParams."""
    if on_behalf_of is not None and on_behalf_of not in (ctx.account, NOBODY):
        raise InvalidParams(
            "a golem acts on its own behalf only; leave on_behalf_of out", fields={"on_behalf_of": "not the golem"}
        )


def percent_text(bps: int) -> str:
    """`325` -> `3.25`."""
    return f"{bps // 100}.{bps % 100:02d}"


def apy_text(ppm: int) -> str:
    """Millionths a year as percent: `41_234` -> `4.1234`."""
    return f"{ppm // 10_000}.{ppm % 10_000:04d}"


def borrow_apy(market: Market) -> str:
    """What a debt costs in a year, percent."""
    return apy_text(yearly_ppm(market.rate))


def supply_apy(market: Market) -> str:
    """What lending earns in a year, percent: the part of it that is borrowed, less the market's fee."""
    return apy_text(supply_ppm(market))
