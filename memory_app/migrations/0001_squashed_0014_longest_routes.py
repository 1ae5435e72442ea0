"""The tables of memory_app as version 0.2.0 has them, for a new database. One that is older goes its own way through
the migrations that this one replaces.
"""

import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.contrib.postgres.search
import django.core.validators
import django.db.models.deletion
import django.db.models.functions.comparison
import pgvector.django.extensions
import pgvector.django.halfvec
import pgvector.django.indexes
import pgvector.django.vector
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("memory_app", "0001_initial"),
        ("memory_app", "0002_filter_indexes"),
        ("memory_app", "0003_insights"),
        ("memory_app", "0004_grimoire_complete"),
        ("memory_app", "0005_dreams"),
        ("memory_app", "0006_live_episodes"),
        ("memory_app", "0007_route_heuristics"),
        ("memory_app", "0008_half_precision_index"),
        ("memory_app", "0009_route_amounts"),
        ("memory_app", "0010_situation_vectors"),
        ("memory_app", "0011_origin_of_imports"),
        ("memory_app", "0012_routes_through_v4"),
        ("memory_app", "0013_newest_episodes"),
        ("memory_app", "0014_longest_routes"),
    ]

    initial = True

    dependencies = [
        ("archetypes_app", "0001_squashed_0024_rules_stand_in"),
    ]

    operations = [
        pgvector.django.extensions.VectorExtension(),
        migrations.CreateModel(
            name="Episode",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("permit_id", models.UUIDField(blank=True, null=True)),
                ("chain_id", models.PositiveBigIntegerField(blank=True, null=True)),
                ("tool_name", models.CharField(max_length=96)),
                ("action_type", models.CharField(blank=True, max_length=64)),
                ("venue", models.CharField(blank=True, max_length=64)),
                (
                    "tokens",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64),
                        blank=True,
                        default=list,
                        help_text="Symbols or addresses, as they were given",
                        size=None,
                    ),
                ),
                (
                    "token_keys",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64),
                        blank=True,
                        default=list,
                        editable=False,
                        help_text="Tokens in lower case",
                        size=None,
                    ),
                ),
                ("summary", models.TextField(help_text="The text that is embedded; data, never an instruction")),
                ("prediction", models.JSONField(blank=True, default=dict, help_text="What the permit expected")),
                ("outcome", models.JSONField(blank=True, default=dict, help_text="What the receipt showed")),
                (
                    "reflection",
                    models.JSONField(blank=True, default=dict, help_text="Expected, happened, why, next time"),
                ),
                (
                    "prediction_error_bps",
                    models.PositiveIntegerField(
                        blank=True,
                        help_text="Largest difference to the prediction; empty: nothing to compare",
                        null=True,
                    ),
                ),
                (
                    "importance",
                    models.CharField(
                        choices=[
                            ("BASE", "Base"),
                            ("NOTABLE", "Notable"),
                            ("MEV", "Mev"),
                            ("CRITICAL", "Critical"),
                            ("EMERGENCY", "Emergency"),
                        ],
                        default="BASE",
                        max_length=16,
                    ),
                ),
                (
                    "stability_days",
                    models.FloatField(
                        help_text="Days until retention has fallen to 37%",
                        validators=[django.core.validators.MinValueValidator(0.01)],
                    ),
                ),
                ("last_accessed_at", models.DateTimeField()),
                ("access_count", models.PositiveIntegerField(default=0)),
                ("is_pinned", models.BooleanField(default=False, help_text="Never archived")),
                (
                    "is_quarantined",
                    models.BooleanField(default=False, help_text="Kept out of every answer to the agent"),
                ),
                ("quarantine_reason", models.CharField(blank=True, max_length=200)),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                ("occurred_at", models.DateTimeField()),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("RUNTIME", "Runtime: the outcome of a permit"),
                            ("AGENT", "The agent itself"),
                            ("OWNER", "The owner"),
                            ("IMPORT", "Imported from another golem"),
                        ],
                        default="RUNTIME",
                        max_length=16,
                    ),
                ),
                (
                    "trust",
                    models.CharField(
                        choices=[
                            ("VERIFIED", "Verified: read from a receipt or the chain"),
                            ("REPORTED", "Reported by the agent or its owner"),
                            ("UNTRUSTED", "Untrusted: text from outside"),
                        ],
                        default="VERIFIED",
                        max_length=16,
                    ),
                ),
                (
                    "recorded_by",
                    models.CharField(help_text="key:<prefix>, owner:<id> or system:<part>", max_length=128),
                ),
                ("block_number", models.PositiveBigIntegerField(blank=True, null=True)),
                ("block_hash", models.CharField(blank=True, max_length=66)),
                ("content_hash", models.CharField(editable=False, max_length=66)),
                (
                    "search_text",
                    models.TextField(
                        editable=False, help_text="Tool, venue, tokens and lesson, searched beside the summary"
                    ),
                ),
                (
                    "search",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.contrib.postgres.search.CombinedSearchVector(
                            django.contrib.postgres.search.SearchVector("summary", config="english", weight="A"),
                            "||",
                            django.contrib.postgres.search.SearchVector("search_text", config="english", weight="B"),
                            django.contrib.postgres.search.SearchConfig("english"),
                        ),
                        output_field=django.contrib.postgres.search.SearchVectorField(),
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="episodes", to="archetypes_app.golem"
                    ),
                ),
                (
                    "consolidated_at",
                    models.DateTimeField(blank=True, help_text="When insights were drawn from it", null=True),
                ),
                (
                    "calls",
                    models.JSONField(
                        blank=True, default=list, help_text="to, data, value and sender of each call that ran"
                    ),
                ),
                ("dream_tag", models.CharField(blank=True, help_text="A word that dreams group by", max_length=64)),
                (
                    "near_keys",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.BigIntegerField(),
                        blank=True,
                        default=list,
                        editable=False,
                        help_text="Bands that near duplicates share",
                        size=None,
                    ),
                ),
                (
                    "params",
                    models.JSONField(
                        blank=True, default=dict, help_text="What the tool was asked, for counterfactuals"
                    ),
                ),
                (
                    "recorded_permit_id",
                    models.UUIDField(blank=True, help_text="The permit it was written under", null=True),
                ),
                (
                    "recorded_tool",
                    models.CharField(blank=True, help_text="Empty: written by the runtime", max_length=96),
                ),
                (
                    "scanned_at",
                    models.DateTimeField(blank=True, help_text="When it was last searched for poison", null=True),
                ),
                (
                    "dreamt_at",
                    models.DateTimeField(blank=True, help_text="When it was last replayed in a dream", null=True),
                ),
                (
                    "origin_id",
                    models.UUIDField(
                        blank=True,
                        editable=False,
                        help_text="The memory it was first stored as, in whichever golem; empty: this one",
                        null=True,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["golem", "-occurred_at"], name="episode_by_golem"),
                    models.Index(fields=["golem", "tool_name", "-occurred_at"], name="episode_by_tool"),
                    django.contrib.postgres.indexes.GinIndex(fields=["search"], name="episode_search"),
                    models.Index(fields=["golem", "chain_id", "-occurred_at"], name="episode_by_chain"),
                    models.Index(fields=["golem", "importance", "-occurred_at"], name="episode_by_importance"),
                    django.contrib.postgres.indexes.GinIndex(fields=["token_keys"], name="episode_tokens"),
                    django.contrib.postgres.indexes.GinIndex(fields=["near_keys"], name="episode_near"),
                    models.Index(
                        condition=models.Q(("archived_at__isnull", True), ("is_quarantined", False)),
                        fields=["golem"],
                        include=("id",),
                        name="episode_live",
                    ),
                    models.Index(fields=["-occurred_at", "-id"], name="episode_newest"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "permit_id"), name="episode_once_per_permit"),
                    models.UniqueConstraint(fields=("golem", "content_hash"), name="episode_once_per_content"),
                    models.CheckConstraint(
                        condition=models.Q(("stability_days__gt", 0)), name="episode_stability_positive"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("is_quarantined", True), models.Q(("trust", "UNTRUSTED"), _negated=True), _connector="OR"
                        ),
                        name="episode_untrusted_is_quarantined",
                    ),
                    models.UniqueConstraint(fields=("golem", "origin_id"), name="episode_once_per_origin"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Execution",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("RUNTIME", "Runtime: the outcome of a permit"),
                            ("AGENT", "The agent itself"),
                            ("OWNER", "The owner"),
                            ("IMPORT", "Imported from another golem"),
                        ],
                        default="RUNTIME",
                        max_length=16,
                    ),
                ),
                (
                    "trust",
                    models.CharField(
                        choices=[
                            ("VERIFIED", "Verified: read from a receipt or the chain"),
                            ("REPORTED", "Reported by the agent or its owner"),
                            ("UNTRUSTED", "Untrusted: text from outside"),
                        ],
                        default="REPORTED",
                        max_length=16,
                    ),
                ),
                (
                    "recorded_by",
                    models.CharField(help_text="key:<prefix>, golem:<id>, owner:<id> or system:<part>", max_length=128),
                ),
                (
                    "recorded_tool",
                    models.CharField(blank=True, help_text="Empty: written by the runtime or a person", max_length=96),
                ),
                (
                    "recorded_permit_id",
                    models.UUIDField(blank=True, help_text="The permit it was written under", null=True),
                ),
                ("recorded_block", models.PositiveBigIntegerField(blank=True, null=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("execution_id", models.CharField(max_length=96)),
                ("strategy_name", models.CharField(max_length=80)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("SWAP", "Swap"),
                            ("ADD_LIQUIDITY", "Add liquidity"),
                            ("REMOVE_LIQUIDITY", "Remove liquidity"),
                            ("REBALANCE", "Rebalance"),
                            ("DEPOSIT", "Deposit"),
                            ("WITHDRAW", "Withdraw"),
                        ],
                        max_length=20,
                    ),
                ),
                ("portfolio_snapshot", models.JSONField(default=dict)),
                ("market_conditions", models.JSONField(default=dict)),
                ("decision_params", models.JSONField(default=dict)),
                ("predicted_outcome", models.JSONField(default=dict)),
                ("reasoning_chain", models.TextField(blank=True)),
                ("tx_hash", models.CharField(blank=True, max_length=66)),
                ("reflection", models.TextField(blank=True)),
                ("recorded_at", models.DateTimeField()),
                ("predicted_pnl_micro_usd", models.BigIntegerField(blank=True, null=True)),
                ("predicted_confidence_bps", models.PositiveIntegerField(blank=True, null=True)),
                ("realized_pnl_micro_usd", models.BigIntegerField(blank=True, null=True)),
                ("unrealized_pnl_micro_usd", models.BigIntegerField(blank=True, null=True)),
                ("gas_used_micro_usd", models.BigIntegerField(blank=True, null=True)),
                ("fees_earned_micro_usd", models.BigIntegerField(blank=True, null=True)),
                ("impermanent_loss_micro_usd", models.BigIntegerField(blank=True, null=True)),
                ("slippage_actual_bps", models.PositiveIntegerField(blank=True, null=True)),
                ("prediction_error_bps", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "is_quarantined",
                    models.BooleanField(default=False, help_text="Kept out of every answer to the agent"),
                ),
                ("quarantine_reason", models.CharField(blank=True, max_length=200)),
                ("settled_at", models.DateTimeField(blank=True, null=True)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="executions",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["golem", "strategy_name", "-recorded_at"], name="execution_by_strategy")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "execution_id"), name="execution_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("settled_at__isnull", True), ("realized_pnl_micro_usd__isnull", False), _connector="OR"
                        ),
                        name="execution_settled_with_result",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Insight",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "kind",
                    models.CharField(
                        choices=[
                            ("INSIGHT", "Insight: holds for like actions"),
                            ("WARNING", "Warning: like actions failed"),
                            ("HEURISTIC", "Heuristic: tunes a soft parameter"),
                            ("CAUSAL_LINK", "Causal link: one memory led to another"),
                        ],
                        default="INSIGHT",
                        max_length=16,
                    ),
                ),
                ("text", models.TextField(help_text="Data, never an instruction")),
                (
                    "category",
                    models.CharField(
                        choices=[
                            ("slippage", "Slippage"),
                            ("gas_timing", "Gas and timing"),
                            ("route_selection", "Route selection"),
                            ("pool_behavior", "Pool behaviour"),
                            ("mev_pattern", "MEV pattern"),
                            ("liquidity_depth", "Liquidity depth"),
                            ("volatility", "Volatility"),
                            ("fee_optimization", "Fee optimisation"),
                            ("rebalance_timing", "Rebalance timing"),
                            ("vault_strategy", "Vault strategy"),
                            ("emergency", "Emergency"),
                            ("general", "General"),
                        ],
                        default="general",
                        max_length=24,
                    ),
                ),
                (
                    "confidence_percent",
                    models.PositiveSmallIntegerField(help_text="60 at first, +10 confirmed, -15 contradicted"),
                ),
                ("tool_name", models.CharField(blank=True, max_length=96)),
                ("chain_id", models.PositiveBigIntegerField(blank=True, null=True)),
                (
                    "token_keys",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=64), blank=True, default=list, size=None
                    ),
                ),
                (
                    "episode_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(),
                        blank=True,
                        default=list,
                        help_text="Episodes behind it",
                        size=None,
                    ),
                ),
                ("upvotes", models.PositiveIntegerField(default=0)),
                ("downvotes", models.PositiveIntegerField(default=0)),
                (
                    "parameter",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("", "Nothing"),
                            ("slippage_bps", "Slippage"),
                            ("deadline", "Deadline in seconds"),
                            ("route", "Route"),
                        ],
                        default="",
                        max_length=16,
                    ),
                ),
                (
                    "factor_bps",
                    models.PositiveIntegerField(
                        default=10000, help_text="Part of the asked parameter; 10,000 is all of it"
                    ),
                ),
                ("tuned_at", models.DateTimeField(blank=True, null=True)),
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("RUNTIME", "Runtime: the outcome of a permit"),
                            ("AGENT", "The agent itself"),
                            ("OWNER", "The owner"),
                            ("IMPORT", "Imported from another golem"),
                        ],
                        default="RUNTIME",
                        max_length=16,
                    ),
                ),
                (
                    "recorded_by",
                    models.CharField(help_text="key:<prefix>, golem:<id>, owner:<id> or system:<part>", max_length=128),
                ),
                (
                    "is_quarantined",
                    models.BooleanField(default=False, help_text="Kept out of every answer to the agent"),
                ),
                ("stability_days", models.FloatField(default=30.0)),
                ("last_accessed_at", models.DateTimeField()),
                ("access_count", models.PositiveIntegerField(default=0)),
                (
                    "identity_hash",
                    models.CharField(editable=False, help_text="Of its subject, or of its text", max_length=66),
                ),
                ("embedding", pgvector.django.vector.VectorField(blank=True, dimensions=384, null=True)),
                (
                    "search",
                    models.GeneratedField(
                        db_persist=True,
                        expression=django.contrib.postgres.search.SearchVector("text", config="english"),
                        output_field=django.contrib.postgres.search.SearchVectorField(),
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="insights", to="archetypes_app.golem"
                    ),
                ),
                ("archived_at", models.DateTimeField(blank=True, null=True)),
                (
                    "cause_id",
                    models.UUIDField(blank=True, help_text="Of a causal link: the memory it starts from", null=True),
                ),
                (
                    "effect_id",
                    models.UUIDField(blank=True, help_text="Of a causal link: the memory it leads to", null=True),
                ),
                ("is_pinned", models.BooleanField(default=False, help_text="Never archived")),
                ("quarantine_reason", models.CharField(blank=True, max_length=200)),
                ("recorded_block", models.PositiveBigIntegerField(blank=True, null=True)),
                (
                    "recorded_permit_id",
                    models.UUIDField(blank=True, help_text="The permit it was written under", null=True),
                ),
                (
                    "recorded_tool",
                    models.CharField(blank=True, help_text="Empty: written by the runtime or a person", max_length=96),
                ),
                (
                    "scanned_at",
                    models.DateTimeField(blank=True, help_text="When it was last searched for poison", null=True),
                ),
                (
                    "trust",
                    models.CharField(
                        choices=[
                            ("VERIFIED", "Verified: read from a receipt or the chain"),
                            ("REPORTED", "Reported by the agent or its owner"),
                            ("UNTRUSTED", "Untrusted: text from outside"),
                        ],
                        default="REPORTED",
                        max_length=16,
                    ),
                ),
                (
                    "route",
                    models.CharField(
                        blank=True,
                        help_text="To prefer, with @ and how many bps more than the best quote it may cost",
                        max_length=192,
                    ),
                ),
                (
                    "route_from",
                    models.CharField(blank=True, help_text="Token in lower case the route starts from", max_length=64),
                ),
                (
                    "route_most_amount",
                    models.DecimalField(
                        blank=True,
                        decimal_places=0,
                        help_text="Largest swap the route is preferred for, in base units of the token it starts from; empty: any",
                        max_digits=78,
                        null=True,
                    ),
                ),
                (
                    "origin_id",
                    models.UUIDField(
                        blank=True,
                        editable=False,
                        help_text="The memory it was first stored as, in whichever golem; empty: this one",
                        null=True,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["golem", "kind", "tool_name"], name="insight_by_tool"),
                    django.contrib.postgres.indexes.GinIndex(fields=["search"], name="insight_search"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "identity_hash"), name="insight_once"),
                    models.CheckConstraint(
                        condition=models.Q(("confidence_percent__lte", 100)), name="insight_confidence_at_most_100"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("stability_days__gt", 0)), name="insight_stability_positive"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "HEURISTIC"), _negated=True),
                            ("episode_ids__len__gte", 5),
                            _connector="OR",
                        ),
                        name="insight_heuristic_has_episodes",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("factor_bps__gte", 5000), ("factor_bps__lte", 10000)),
                            models.Q(("factor_bps__gte", 5000), ("factor_bps__lte", 15000), ("parameter", "deadline")),
                            _connector="OR",
                        ),
                        name="insight_factor_only_tightens",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("cause_id__isnull", False), ("effect_id__isnull", False), ("kind", "CAUSAL_LINK")
                            ),
                            models.Q(
                                models.Q(("kind", "CAUSAL_LINK"), _negated=True),
                                ("cause_id__isnull", True),
                                ("effect_id__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="insight_only_links_have_ends",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("kind", "HEURISTIC"), ("parameter__in", ["slippage_bps", "deadline", "route"])),
                            models.Q(
                                models.Q(("kind", "HEURISTIC"), _negated=True), ("factor_bps", 10000), ("parameter", "")
                            ),
                            _connector="OR",
                        ),
                        name="insight_only_heuristics_tune",
                    ),
                    models.UniqueConstraint(fields=("golem", "origin_id"), name="insight_once_per_origin"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("factor_bps", 10000),
                                ("parameter", "route"),
                                (
                                    "route__regex",
                                    "^(v2|v[34]:[0-9]{1,6}|v4:0x[0-9a-fA-F]{64})(>(0x[0-9a-fA-F]{40}|[A-Za-z0-9.+\\-]{1,20})>(v2|v[34]:[0-9]{1,6}|v4:0x[0-9a-fA-F]{64}))?(@[0-9]{1,4})?$",
                                ),
                                models.Q(("route_from", ""), _negated=True),
                            ),
                            models.Q(
                                models.Q(("parameter", "route"), _negated=True), ("route", ""), ("route_from", "")
                            ),
                            _connector="OR",
                        ),
                        name="insight_route_is_a_route",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SituationVector",
            fields=[
                ("text_hash", models.CharField(max_length=66, primary_key=True, serialize=False)),
                ("text", models.TextField()),
                ("embedding", pgvector.django.vector.VectorField(blank=True, dimensions=384, null=True)),
                ("created_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "situation",
                "indexes": [models.Index(fields=["created_at"], name="situation_by_age")],
            },
        ),
        migrations.CreateModel(
            name="Strategy",
            fields=[
                (
                    "source",
                    models.CharField(
                        choices=[
                            ("RUNTIME", "Runtime: the outcome of a permit"),
                            ("AGENT", "The agent itself"),
                            ("OWNER", "The owner"),
                            ("IMPORT", "Imported from another golem"),
                        ],
                        default="RUNTIME",
                        max_length=16,
                    ),
                ),
                (
                    "trust",
                    models.CharField(
                        choices=[
                            ("VERIFIED", "Verified: read from a receipt or the chain"),
                            ("REPORTED", "Reported by the agent or its owner"),
                            ("UNTRUSTED", "Untrusted: text from outside"),
                        ],
                        default="REPORTED",
                        max_length=16,
                    ),
                ),
                (
                    "recorded_by",
                    models.CharField(help_text="key:<prefix>, golem:<id>, owner:<id> or system:<part>", max_length=128),
                ),
                (
                    "recorded_tool",
                    models.CharField(blank=True, help_text="Empty: written by the runtime or a person", max_length=96),
                ),
                (
                    "recorded_permit_id",
                    models.UUIDField(blank=True, help_text="The permit it was written under", null=True),
                ),
                ("recorded_block", models.PositiveBigIntegerField(blank=True, null=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=80)),
                ("version", models.PositiveIntegerField()),
                (
                    "parameters",
                    models.JSONField(default=dict, help_text="Strings, whole numbers, booleans, lists and objects"),
                ),
                ("description", models.TextField()),
                (
                    "chains",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveBigIntegerField(), blank=True, default=list, size=None
                    ),
                ),
                (
                    "token_pairs",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=129), blank=True, default=list, size=None
                    ),
                ),
                ("diff", models.TextField(blank=True, help_text="Unified diff of its TOML to the version before")),
                (
                    "is_quarantined",
                    models.BooleanField(default=False, help_text="Kept out of every answer to the agent"),
                ),
                ("quarantine_reason", models.CharField(blank=True, max_length=200)),
                ("created_at", models.DateTimeField()),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="strategies",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "strategy version",
                "verbose_name_plural": "strategies",
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "name", "version"), name="strategy_one_per_version"),
                    models.CheckConstraint(condition=models.Q(("version__gte", 1)), name="strategy_version_from_1"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Directive",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "document",
                    models.CharField(
                        choices=[("PLAYBOOK", "Playbook"), ("STRATEGY", "Strategy"), ("HEURISTICS", "Heuristics")],
                        default="PLAYBOOK",
                        max_length=16,
                    ),
                ),
                ("version", models.PositiveIntegerField()),
                ("section", models.CharField(help_text="The section this version changed", max_length=80)),
                ("text", models.TextField(help_text="Markdown with one `## ` heading per section; HEURISTICS is TOML")),
                ("diff", models.TextField(help_text="Unified diff to the version before")),
                ("reason", models.CharField(max_length=2000)),
                ("actor", models.CharField(max_length=128)),
                ("created_at", models.DateTimeField()),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="directives",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "directive version",
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "document", "version"), name="directive_one_per_version"),
                    models.CheckConstraint(condition=models.Q(("version__gte", 1)), name="directive_version_from_1"),
                ],
            },
        ),
        migrations.CreateModel(
            name="DreamJournal",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("dream_id", models.UUIDField(help_text="The phases of one dream share it")),
                (
                    "phase",
                    models.CharField(
                        choices=[
                            ("NREM", "NREM: replay of the largest prediction errors"),
                            ("REM", "REM: counterfactuals on the local engine"),
                            ("INTEGRATION", "Integration: heuristics written or revised"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("RUNNING", "Running"),
                            ("DONE", "Done"),
                            ("INTERRUPTED", "Interrupted"),
                            ("FAILED", "Failed"),
                        ],
                        default="RUNNING",
                        max_length=16,
                    ),
                ),
                ("trigger", models.CharField(max_length=64)),
                ("entries", models.JSONField(default=list)),
                ("note", models.TextField(blank=True)),
                (
                    "wants_stop",
                    models.BooleanField(default=False, help_text="An owner asked the dream to end after this entry"),
                ),
                ("started_at", models.DateTimeField()),
                ("finished_at", models.DateTimeField(blank=True, null=True)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="dreams", to="archetypes_app.golem"
                    ),
                ),
            ],
            options={
                "verbose_name": "dream journal",
                "indexes": [models.Index(fields=["golem", "-started_at"], name="dream_by_golem")],
                "constraints": [
                    models.UniqueConstraint(fields=("dream_id", "phase"), name="dream_journal_once_per_phase")
                ],
            },
        ),
        migrations.CreateModel(
            name="EpisodeVector",
            fields=[
                (
                    "episode",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="vector",
                        serialize=False,
                        to="memory_app.episode",
                    ),
                ),
                ("embedding", pgvector.django.vector.VectorField(dimensions=384)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="archetypes_app.golem"
                    ),
                ),
            ],
            options={
                "verbose_name": "episode vector",
                "indexes": [
                    pgvector.django.indexes.HnswIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.comparison.Cast(
                                "embedding", pgvector.django.halfvec.HalfVectorField(dimensions=384)
                            ),
                            name="halfvec_cosine_ops",
                        ),
                        ef_construction=128,
                        m=24,
                        name="episode_vector_hnsw",
                    )
                ],
            },
        ),
        migrations.RunSQL(
            "ALTER TABLE memory_app_episode SET (fillfactor = 75)", "ALTER TABLE memory_app_episode RESET (fillfactor)"
        ),
    ]
