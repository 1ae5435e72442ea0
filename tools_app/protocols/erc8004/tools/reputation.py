"""Tells what others say of an agent, weighed: reputation, trust, tier, eligibility. All of it informs and decides
nothing.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Final

from pydantic import BeforeValidator, Field

from tools_app.protocols.erc8004 import math
from tools_app.protocols.erc8004.addresses import registries_on
from tools_app.protocols.erc8004.agent_ids import AgentIdText, parse_agent_id
from tools_app.protocols.erc8004.agent_reputation import Standing, read_standing
from tools_app.protocols.erc8004.reads import count_passed, read_agent, read_recent, read_voices
from tools_app.protocols.erc8004.tools.family import Score, identity, line, percent
from tools_app.toolkit.answer import OfChain, Told
from tools_app.toolkit.context import ReadContext
from tools_app.toolkit.enums import TickBudget
from tools_app.toolkit.foreign_text import ForeignText
from tools_app.toolkit.params import Flag, check_whole

Track = Annotated[
    str, Field(pattern=r"^[a-z0-9_-]{1,32}$", description="First tag of feedback, such as infrastructure.")
]
TREND_DAYS: Final = 30
MOST_TAGS: Final = 20
MOST_PROVIDERS: Final = 10
Voters = Annotated[
    int, Field(ge=0, le=1_000, description="Least number of clients who rated."), BeforeValidator(check_whole)
]


class TagCount(Told):
    """How often a tag was given."""

    tag: ForeignText
    count: int


class Provider(Told):
    """A client and how often it spoke."""

    client: str
    feedback: int


class BetaDistribution(Told):
    """Beta(alpha, beta) from the prior Beta(1, 1), one voice a client; `mean` and `least`, two deviations below it."""

    alpha: str
    beta: str
    mean: str
    least: str


class ReputationSummary(OfChain):
    """What clients said, each counted once by its newest rating. Scores in hundredths of a star."""

    agent_id: str
    total_feedback: int
    average_score: int | None
    clients: int
    tag_breakdown: tuple[TagCount, ...]
    recent_trend: str
    top_providers: tuple[Provider, ...]
    beta_distribution: BetaDistribution
    is_whole: bool


class TrustBreakdown(Told):
    """Each 0 to 100; identity weighs 20, reputation 50, validation 30."""

    identity_score: int
    reputation_score: int
    validation_score: int


class TrustReport(OfChain):
    """A figure of 0 to 100 out of what is public, and what is odd about it."""

    agent_id: str
    trust_score: int
    breakdown: TrustBreakdown
    confidence: str
    flags: tuple[str, ...]
    recommendation: str


class AgentTier(OfChain):
    """How much was said of an agent, in a word. `next_tier_threshold` is null at the last."""

    agent_id: str
    tier: math.Tier
    points: int
    next_tier_threshold: int | None
    tier_benefits: tuple[str, ...]


class Eligibility(OfChain):
    """Whether an agent meets what was asked, and what is missing."""

    agent_id: str
    eligible: bool
    missing: tuple[str, ...]


@identity.read(
    query="agent_reputation",
    schema_version=2,
    aliases=("identity_get_reputation", "query_reputation", "erc8004_get_reputation_summary"),
    snippet="agent_reputation: what clients said of an agent, one voice each, with a Beta posterior and the trend.",
    guidelines=(
        "Compare `least` and not the mean: a handful of voices proves little, and one person can speak through many "
        "accounts.",
    ),
)
def identity_get_reputation_summary(
    ctx: ReadContext, agent_id: AgentIdText, track: Track | None = None
) -> ReputationSummary:
    """Read what clients said of an agent, as counts, a mean and a Beta posterior.

    Use to compare agents; `least` is small where few spoke. The trend is that of 30 days. `track` counts what was said
    under one first tag alone: `infrastructure` is what clients found of an agent that stands for a server.
    Does not tell apart clients who are one person: many accounts are many voices.
    """
    named = parse_agent_id(agent_id)
    reader = ctx.chain(named.chain_id)
    at = registries_on(reader)
    ctx.step("Reading feedback")
    read_agent(reader, at, named.number)
    voices = read_voices(reader, at, [named.number])[named.number].on_track(track)
    ctx.step("Reading the logs")
    recent = read_recent(reader, at, named.number, days=TREND_DAYS)
    late: list[int] = []
    before: list[int] = []
    for each in voices.said:
        if (rating := each.rating) is not None:
            (late if (each.client, each.index) in recent else before).append(rating)
    ratings = list(voices.ratings.values())
    posterior = math.make_posterior(ratings)
    standing = [each for each in voices.said if not each.is_revoked]
    tags = Counter(tag for each in standing for tag in (each.tag1, each.tag2) if tag)
    return ReputationSummary(
        agent_id=agent_id,
        total_feedback=len(standing),
        average_score=math.mean_score(ratings) if ratings else None,
        clients=voices.clients,
        tag_breakdown=tuple(TagCount(line(tag), count) for tag, count in tags.most_common(MOST_TAGS)),
        recent_trend=math.name_trend(before, late),
        top_providers=tuple(
            Provider(client, count)
            for client, count in Counter(each.client for each in standing).most_common(MOST_PROVIDERS)
        ),
        beta_distribution=BetaDistribution(
            percent(posterior.alpha), percent(posterior.beta), percent(posterior.mean), percent(posterior.least)
        ),
        is_whole=voices.is_whole,
    )


@identity.read(
    query="agent_trust",
    snippet="agent_trust: 0 to 100 for an agent out of three registries, with what is odd about it; information only.",
    guidelines=(
        "Sort by it, then look closer: a high figure permits nothing, and whatever it calls odd deserves a look at "
        "the profile.",
    ),
)
def identity_evaluate_agent_trust(ctx: ReadContext, agent_id: AgentIdText) -> TrustReport:
    """Weigh what three registries say of an agent into a figure of 0 to 100.

    Use to sort agents before looking closer. Reputation counts at what it is at least, so few voices weigh little.
    Does not give the agent any right here: limits and permissions are this golem's own and never follow from it.
    """
    named = parse_agent_id(agent_id)
    reader = ctx.chain(named.chain_id)
    ctx.step("Reading the registries")
    found = read_standing(reader, registries_on(reader), named.number)
    score = math.score_trust(
        identity=found.identity_score, reputation=found.reputation_score, validation=found.validation_score
    )
    flags = _list_flags(found)
    return TrustReport(
        agent_id=agent_id,
        trust_score=score,
        breakdown=TrustBreakdown(found.identity_score, found.reputation_score, found.validation_score),
        confidence=math.name_confidence(len(found.ratings)),
        flags=flags,
        recommendation=_recommend(score, len(found.ratings)),
    )


@identity.read(
    query="agent_tier",
    budget=TickBudget.FAST,
    snippet="agent_tier: bronze, silver, gold or platinum by points of an agent; a word for others, no right here.",
    guidelines=(
        "A tier says how much was said of an agent; read identity_get_reputation_summary for what was said before "
        "you rely on its work.",
    ),
)
def identity_get_tier(ctx: ReadContext, agent_id: AgentIdText) -> AgentTier:
    """Read an agent's tier and how many points the next one takes.

    Use to see how much was said of it: 10 points for its file, up to 10 a client, 20 a validator that passed it.
    Does not raise or lower anything a golem may do.
    """
    named = parse_agent_id(agent_id)
    reader = ctx.chain(named.chain_id)
    ctx.step("Counting points")
    points = read_standing(reader, registries_on(reader), named.number).points
    return AgentTier(
        agent_id=agent_id,
        tier=math.tier_of(points),
        points=points,
        next_tier_threshold=math.next_threshold(points),
        tier_benefits=("Information for others. No limit, phase or permission of a golem follows from it.",),
    )


@identity.read(
    query="agent_eligibility",
    budget=TickBudget.FAST,
    snippet="agent_eligibility: whether an agent has the stars, voices and validation asked for; information only.",
    guidelines=(
        "Ask with the figures that the door itself names; passing here is no promise, since its keeper decides and "
        "may ask for more.",
    ),
)
def identity_check_eligibility(
    ctx: ReadContext,
    agent_id: AgentIdText,
    min_reputation: Score | None = None,
    min_clients: Voters | None = None,
    requires_validation: Flag = False,
) -> Eligibility:
    """Check an agent against what somebody asks of agents.

    Use before a door that asks for a reputation, as a vault with an identity gate does. It has to be active at all.
    Does not open the door: who keeps it decides.
    """
    named = parse_agent_id(agent_id)
    reader = ctx.chain(named.chain_id)
    ctx.step("Reading the registries")
    found = read_standing(reader, registries_on(reader), named.number)
    score, clients = math.mean_score(found.ratings), len(found.ratings)
    checks = (
        (found.file.is_active, "a file on the chain that says it is active"),
        (min_reputation is None or score >= min_reputation, f"{min_reputation} of 500; it has {score}"),
        (min_clients is None or clients >= min_clients, f"{min_clients} clients who rated; it has {clients}"),
        (not requires_validation or count_passed(found.validations) > 0, "a validator that passed it"),
    )
    missing = tuple(words for is_met, words in checks if not is_met)
    return Eligibility(agent_id, not missing, missing)


def _list_flags(found: Standing) -> tuple[str, ...]:
    clients = set(found.voices.ratings)
    told = (
        (not found.file.is_read, "its file does not lie on the chain or cannot be read"),
        (found.file.is_read and not found.file.is_active, "it says that it is not active"),
        (found.agent.wallet is None, "it has no wallet of its own set, as after it changed hands"),
        (0 < len(clients) < 3, "fewer than three clients rated it"),
        (not clients, "nobody rated it"),
        (any(each.validator in clients for each in found.validations), "a validator of it is also a client"),
        (
            any(each.validator == found.agent.owner for each in found.validations),
            "its owner validated it himself",
        ),
        (not found.voices.is_whole, "more was said of it than was read"),
    )
    return tuple(words for is_so, words in told if is_so)


def _recommend(score: int, clients: int) -> str:
    if not clients:
        return "unknown: nobody has said anything of it"
    if score < 40:
        return "be careful: little speaks for it"
    return (
        "some speaks for it: begin with little" if score < 70 else "much speaks for it: check what is at stake yourself"
    )
