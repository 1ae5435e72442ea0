"""Amounts, tokens, slippage, deadlines and recipients are named and defaulted in one way over all tools.

Every parameter of every tool that is one of these, by its type or by its name, is called by the common word, answers to
it, or stands here with its reason.
"""

from __future__ import annotations

import re
import typing
from collections import defaultdict
from collections.abc import Iterator
from typing import Any, Final

import pytest
from pydantic.fields import FieldInfo

from tools_app.core import clock
from tools_app.runner import check_params
from tools_app.toolkit.parameter_synonyms import COMMON_WORDS, use_own_words
from tools_app.toolkit.params import is_token, parse_raw_amount
from tools_app.toolkit.registry import REGISTRY
from tools_app.toolkit.retired_parameters import renew_params
from tools_app.toolkit.tooldef import ToolDef

WORDS: Final = {
    "amount": {"amount"},
    "token": {"token", "token_in", "token_out", "token0", "token1"},
    "slippage": {"slippage_bps"},
    "deadline": {"deadline"},
    "recipient": {"recipient"},
}
"""The common words of each meaning: what is given and received, and the two of a pair, are told apart."""
BY_NAME: Final = {
    "amount": re.compile(r"(^|_)amount(s|\d)?$"),
    "token": re.compile(r"^(token|asset|underlying)(_|$|s$|\d)|_(token|asset)$"),
    "slippage": re.compile(r"slippage"),
    "deadline": re.compile(r"deadline"),
    "recipient": re.compile(r"^(recipient|receiver|to)$"),
}
_ALIKE: Final = {name: word for word, names in COMMON_WORDS.items() for name in names}
SEVERAL: Final = "the call has several of them, and which is which must be said"
ANOTHER_UNIT: Final = "it counts in another unit than the token that is given"
A_BOUND: Final = "the least or most that is accepted, beside what is given"
A_FILTER: Final = "of a search: which rows are wanted, nothing is moved"
DEVIATIONS: Final = {
    # Several of one meaning in one call.
    **dict.fromkeys(("amount0", "amount1", "amounts", "collateral_amount", "eth_amount", "tokens", "assets"), SEVERAL),
    **dict.fromkeys(("borrow_asset", "collateral_asset", "output_token", "fallen_token", "quote_currency"), SEVERAL),
    **dict.fromkeys(("shares", "seized_assets"), ANOTHER_UNIT),
    **dict.fromkeys(("min_lp_tokens", "min_usdc_out", "limit_amount_out", "most", "daily_cap_usdc"), A_BOUND),
    **dict.fromkeys(("token_pair", "token_pairs", "underlying", "token_out_chain_id", "single_coin"), A_FILTER),
    "gas_reserve": "what stays behind, not what is sent",
    "value": "the coin that an arbitrary call carries: the word of the chain itself",
    "to": "the contract of an arbitrary call: the word of the chain itself",
    "market": "the one asset that a market of Compound lends, by which that market is named",
    "slippage_actual": "what happened, told to memory, not what is accepted",
    "token_id": "the number of a position, which answers to position_id",
}
# Defaults: one for each meaning, but where the venue is another one.
DEFAULTS: Final = {"slippage_bps": 50, "max_slippage_bps": 50, "deadline": 300}
OTHER_DEFAULTS: Final = {
    ("slippage_bps", "pendle"): ({100}, "yield tokens are leveraged: their price moves several times the asset's"),
    ("slippage_bps", "curve"): ({30}, "a pool of stables: more than that is a token off its peg"),
    ("slippage_bps", "uniswap_twamm"): ({100}, "an order over hours meets the price of each of them"),
    ("deadline", "across"): ({7_200, 3_600}, "how long a relayer may take to pay out on the other chain"),
}


def _is_amount(field: FieldInfo) -> bool:
    """Whether it is read as an amount in base units, also one that may be left out."""

    def of(hint: Any) -> Iterator[Any]:
        for part in typing.get_args(hint):
            yield part
            yield from of(part)

    found = [*field.metadata, *of(field.annotation)]
    return any(getattr(each, "func", None) is parse_raw_amount for each in found)


def _list_meant() -> Iterator[tuple[ToolDef, str, str, FieldInfo]]:
    """Each tool, parameter and what it is."""
    for tool in REGISTRY:
        for name, field in tool.params_model.model_fields.items():
            for meaning, pattern in BY_NAME.items():
                by_type = (meaning == "amount" and _is_amount(field)) or (meaning == "token" and is_token(field))
                if by_type or pattern.search(name):
                    yield tool, name, meaning, field
                    break


def test_every_such_parameter_has_the_common_word_or_answers_to_it_or_says_why_not() -> None:
    wrong: dict[str, list[str]] = defaultdict(list)
    met = set()
    for tool, name, meaning, _ in _list_meant():
        if name in WORDS[meaning]:
            continue
        met.add(name)
        word = _ALIKE.get(name)
        answers = word is not None and use_own_words(tool.params_model.model_fields, {word: "x"}) == {name: "x"}
        if not answers and name not in DEVIATIONS:
            wrong[name].append(tool.name)
    assert dict(wrong) == {}
    assert sorted(met - set(DEVIATIONS) - set(_ALIKE)) == []


def test_each_deviation_is_still_one() -> None:
    met = {name for _, name, meaning, _ in _list_meant() if name not in WORDS[meaning]}
    assert sorted(set(DEVIATIONS) - met) == [] and all(DEVIATIONS.values())


@pytest.mark.parametrize("word", COMMON_WORDS)
def test_each_word_reaches_every_tool_of_its_meaning_and_the_names_of_before_still_do(word: str) -> None:
    reached = 0
    for tool in REGISTRY:
        own = tool.params_model.model_fields
        mine = [name for name in (word, *COMMON_WORDS[word]) if name in own]
        for said in (word, *COMMON_WORDS[word]):
            told = use_own_words(own, {said: "x"})
            if len(mine) == 1:
                assert told == {mine[0]: "x"}, (tool.name, said)
                reached += said != mine[0]
            elif said not in own:
                assert told == {said: "x"}, "nothing is guessed among several"
    assert reached


def test_what_is_said_twice_or_by_its_own_name_is_never_overwritten() -> None:
    own = ("asset", "amount")
    assert use_own_words(own, {"asset": "USDC", "token": "DAI"}) == {"asset": "USDC", "token": "DAI"}
    assert use_own_words(own, {"token": "DAI", "input_token": "USDC"}) == {"token": "DAI", "input_token": "USDC"}
    assert use_own_words(own, {"asset": None, "token": "DAI"}) == {"asset": "DAI"}
    assert use_own_words(("token_in", "token_out"), {"token": "DAI"}) == {"token": "DAI"}


def test_defaults_are_one_for_each_meaning_but_where_the_venue_is_another() -> None:
    wrong, met = [], set()
    for tool, name, _, field in _list_meant():
        if name not in DEFAULTS or field.is_required() or field.default is None:
            continue
        other = OTHER_DEFAULTS.get((name, tool.venue))
        allowed = {DEFAULTS[name], *(other[0] if other else ())}
        if field.default not in allowed:
            wrong.append((tool.name, name, field.default))
        if other and field.default in other[0]:
            met.add((name, tool.venue))
    assert wrong == []
    assert met == set(OTHER_DEFAULTS), "a default that is no exception any more"


def test_a_lender_and_an_issuer_plan_the_same_by_the_common_word() -> None:
    for name, said, own in (
        ("aave_supply", {"token": "USDC", "amount": "5"}, {"asset": "USDC", "amount": "5"}),
        ("lrt_deposit", {"protocol": "etherfi", "token": "ETH", "amount": "5"}, None),
        ("lido_stake", {"amount": "5", "slippage_bps": 20}, {"amount": "5", "max_slippage_bps": 20}),
        ("maker_generate_dai", {"vault_id": "1", "amount": "5"}, {"vault_id": "1", "dai_amount": "5"}),
    ):
        tool = REGISTRY.get(name)
        meant = own or {**{k: v for k, v in said.items() if k != "token"}, "input_token": "ETH"}
        told = renew_params(tool=tool, params=said, now=clock.now())
        assert check_params(tool=tool, params=told) == check_params(tool=tool, params=meant)
