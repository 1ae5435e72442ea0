"""Recall of memory: 400 questions in other words over 2,000 episodes of many tools, chains and outcomes.

The questions and the 612 episodes that answer them were written by hand (`tests/memory_app/labelled`). The glossary was
completed, weights were chosen and vectors were bent on the first hundred questions, and nothing on the second. The
third hundred (blind) asks for the same episodes as the second in still other words, and was written before anybody
looked at its answers: it is what a question of a person's own is worth. The fourth (fresh) does so too, by another
hand, and chose one weight later. The other episodes are what a golem's life leaves beside them: the same tools and
tokens, other chains, other outcomes, drawn from a seed. Each question asks for the three episodes of its topic, in
words that they do not use.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from django.conf import settings
from django.contrib.auth import get_user_model

from archetypes_app.models import Archetype, Golem
from archetypes_app.models.golem import Maker
from memory_app import bend_embeddings, embedding
from memory_app.actions.store_episode import store_episode
from memory_app.filters import EpisodeFilters
from memory_app.retrieval import Hit, retrieve_episodes
from tests.bench.figures import Figure, measure, percentile
from tests.bench.labelled_set import Topic, measure_recall, read_labelled_set
from tools_app.core import clock

EPISODES: Final = 2_000
QUESTIONS_OF_A_HALF: Final = 100
LEAST_RECALL: Final = 0.65
SEED: Final = 61
HALVES: Final = {"tuned": "retrieval.txt", "kept": "heldout.txt"}
FURTHER: Final = {"blind": "blind.txt", "fresh": "fresh.txt"}
"""Further questions to the episodes of the kept half."""
_CHAINS: Final = {1: "Ethereum", 10: "Optimism", 56: "BNB Chain", 137: "Polygon", 8453: "Base", 42161: "Arbitrum"}
_PAIRS: Final = ("USDC WETH", "WBTC WETH", "DAI USDC", "wstETH WETH", "ARB WETH", "LINK WETH", "USDT USDC", "AAVE WETH")
_WHEN: Final = (
    "before noon",
    "at night",
    "on a Sunday",
    "after the weekly unlock",
    "in a calm hour",
    "late in the day",
)
_ENDS: Final = (
    "went as predicted",
    "ended within 3 bps",
    "ended 9 bps short",
    "was put off",
    "took two tries",
    "was refused",
)
_DEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "uniswap_execute_swap": (
        "Sold {n} {a} for {b}",
        "Bought {b} with {n} {a}",
        "Routed {n} {a} through two pools to {b}",
    ),
    "uniswap_add_liquidity": ("Opened a range of {a} and {b} worth {n} dollars", "Added {n} {a} beside {b}"),
    "uniswap_collect_fees": ("Collected {n} {a} of fees from the {a}/{b} range",),
    "aave_supply": ("Supplied {n} {a} to Aave", "Put {n} {a} up as collateral"),
    "aave_repay": ("Repaid {n} {a} of the loan", "Lowered the debt in {a} by {n}"),
    "lido_stake": ("Staked {n} ether at Lido", "Turned {n} {a} into staked ether"),
    "curve_exchange": ("Exchanged {n} {a} for {b} at Curve",),
    "morpho_withdraw": ("Took {n} {a} out of a Morpho market", "Left the {a} vault with {n}"),
    "pendle_buy_pt": ("Bought principal tokens for {n} {a}", "Rolled {n} of {a} principal to the next maturity"),
    "bridge_transfer": ("Moved {n} {a} to another chain", "Bridged {n} {a} and waited for it"),
    "gmx_open_position": ("Opened {n} dollars of exposure to {b}", "Closed half of the {b} position"),
    "uniswap_get_quote": ("Asked what {n} {a} bring in {b}", "Compared quotes for {n} {a}"),
}


@measure("recall")
def measure_recall_of_memory() -> Iterator[Figure]:
    """Each half in a memory of its own, by words, by meaning and by both; then both halves in one memory.

    The halves speak of the same trade: of 102 topics of each, many ask for what the other half tells too ("coin that
    can be bought but never sold" beside "Selling always reverts, buying works: a trap"). In one memory such an answer
    counts as wrong although it is right, so what both find together is told without a target.
    """
    topics = {half: _read_topics(half) for half in HALVES}
    for half, of_half in [*topics.items(), *_read_further(topics["kept"])]:
        golem = _make_golem()
        wanted = _teach(golem, of_half)
        times: list[float] = []
        recall = _measure_half(golem, of_half, wanted, times)
        said = (
            f"text only {recall['text']}, vector only {recall['vector']}; "
            f"{EPISODES} episodes, {QUESTIONS_OF_A_HALF} questions"
        )
        what = f"recall@5 of hybrid retrieval, questions in other words, the {half} hundred"
        yield Figure(f"recall.{half}.hybrid", what, recall["hybrid"], "", LEAST_RECALL, said, at_least=True)
        gain = round(recall["hybrid"] - max(recall["text"], recall["vector"]), 4)
        yield Figure(f"recall.{half}.gain", "more than the better of both parts", gain, "", 0.0001, said, at_least=True)
        yield Figure(f"recall.{half}.ms", "one hybrid question, median", percentile(times, 50), "ms")
    golem = _make_golem()
    wanted = _teach(golem, [topic for half in topics.values() for topic in half])
    for half, of_half in topics.items():
        recall = _measure_half(golem, of_half, wanted, [])
        said = f"text only {recall['text']}, vector only {recall['vector']}; both halves in one memory of {EPISODES}"
        yield Figure(f"recall.{half}.together", f"the same, the {half} hundred", recall["hybrid"], "", reference=said)


def _measure_half(
    golem: Golem, topics: Sequence[Topic], wanted: Mapping[str, Sequence[str]], times: list[float]
) -> dict[str, float]:
    """Recall@5 of the first question of each of a hundred topics, by each way of asking."""
    asked = [(topic.name, topic.questions[0]) for topic in topics][:QUESTIONS_OF_A_HALF]
    return {
        way: round(
            sum(measure_recall(each, wanted[name], at=5) for (name, _), each in zip(asked, answers, strict=True))
            / len(asked),
            4,
        )
        for way, answers in _ask_every_way(golem, [question for _, question in asked], times).items()
    }


def _ask_every_way(golem: Golem, questions: Sequence[str], times: list[float]) -> dict[str, list[list[str]]]:
    """Ids found by both, by words alone and by meaning alone, for each question."""
    answers: dict[str, list[list[str]]] = {"hybrid": [], "text": [], "vector": []}
    for question, vector in zip(questions, bend_embeddings.bend(embedding.embed(questions)), strict=True):
        began = clock.monotonic_ms()
        hits = _find(golem, question, vector, limit=5)
        times.append(clock.monotonic_ms() - began)
        answers["hybrid"].append([str(hit.episode.pk) for hit in hits])
        by_words = _find(golem, question, None, limit=5)
        answers["text"].append([str(hit.episode.pk) for hit in by_words if hit.text_rank is not None])
        near = [hit for hit in _find(golem, question, vector, limit=50) if hit.vector_rank is not None]
        near.sort(key=lambda hit: hit.vector_rank or 0)
        answers["vector"].append([str(hit.episode.pk) for hit in near[:5]])
    return answers


def _find(golem: Golem, question: str, vector: list[float] | None, *, limit: int) -> Sequence[Hit]:
    return retrieve_episodes(
        golem_id=golem.pk, query=question, query_vector=vector, filters=EpisodeFilters(), limit=limit, now=clock.now()
    ).hits


def draw_crowd(count: int, *, seed: int = SEED) -> list[tuple[str, int, tuple[str, ...], str]]:
    """Episodes of an ordinary life, each said once: tool, chain, tokens, text."""
    draws = random.Random(seed)
    found: dict[str, tuple[str, int, tuple[str, ...], str]] = {}
    while len(found) < count:
        tool = draws.choice(sorted(_DEEDS))
        chain, pair = draws.choice(sorted(_CHAINS)), tuple(draws.choice(_PAIRS).split())
        deed = draws.choice(_DEEDS[tool]).format(n=f"{draws.randint(2, 90_000):,}", a=pair[0], b=pair[1])
        text = f"{deed} on {_CHAINS[chain]} {draws.choice(_WHEN)}; it {draws.choice(_ENDS)}"
        found.setdefault(text, (tool, chain, pair, text))
    return list(found.values())


def _teach(golem: Golem, topics: Sequence[Topic]) -> dict[str, list[str]]:
    """Let `golem` remember all of it, in an order that tells nothing; the ids of each topic's episodes."""
    own = [(topic.name, tool, 31337, tokens, text) for topic in topics for tool, tokens, text in topic.episodes]
    crowd = [("", *each) for each in draw_crowd(EPISODES - len(own))]
    rows = [*own, *crowd]
    random.Random(SEED).shuffle(rows)
    wanted: dict[str, list[str]] = {}
    for name, tool, chain, tokens, text in rows:
        episode = store_episode(
            golem_id=golem.pk,
            tool_name=tool,
            action_type="",
            venue=tool.partition("_")[0],
            chain_id=chain,
            tokens=list(tokens),
            prediction={},
            outcome={},
            summary=text,
            importance="base",
            provenance={"written_by": "owner"},
            now=clock.now(),
            permit_id=uuid.uuid4(),
        )
        if name:
            wanted.setdefault(name, []).append(str(episode.pk))
    return wanted


def _make_golem() -> Golem:
    owner, _ = get_user_model().objects.get_or_create(username="bench-memory")
    archetype, _ = Archetype.objects.get_or_create(name="bench-memory", defaults={"category": "golem"})
    return Golem.objects.create(
        name=f"bench recall {uuid.uuid4().hex[:8]}", owner=owner, archetype=archetype, made_by=Maker.MEASUREMENT
    )


def _read_topics(half: str) -> list[Topic]:
    """The topics of a half, each by a name of its own."""
    return [Topic(f"{half}.{topic.name}", topic.episodes, topic.questions) for topic in _read_file(HALVES[half])]


def _read_further(topics: Sequence[Topic]) -> Iterator[tuple[str, list[Topic]]]:
    """`topics` with each further hundred of questions in place of their own."""
    for further, name in FURTHER.items():
        asked = {f"kept.{topic.name}": topic.questions for topic in _read_file(name)}
        yield further, [Topic(topic.name, topic.episodes, asked[topic.name]) for topic in topics]


def _read_file(name: str) -> list[Topic]:
    path = settings.BASE_DIR / "tests" / "memory_app" / "labelled" / name
    return read_labelled_set(path.read_text(encoding="utf-8"))
