"""The tables of archetypes_app as version 0.2.0 has them, for a new database. One that is older goes its own way through
the migrations that this one replaces.
"""

import django.contrib.postgres.fields
import django.core.validators
import django.db.models.deletion
import django.db.models.expressions
import tools_app.core.clock
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    replaces = [
        ("archetypes_app", "0001_initial"),
        ("archetypes_app", "0002_read_only_and_versions"),
        ("archetypes_app", "0003_vitality_record"),
        ("archetypes_app", "0004_co_owners"),
        ("archetypes_app", "0005_heartbeat"),
        ("archetypes_app", "0006_model_spend"),
        ("archetypes_app", "0007_golem_simulation_engine"),
        ("archetypes_app", "0008_sleepwalker_artifacts"),
        ("archetypes_app", "0009_words_of_switches"),
        ("archetypes_app", "0010_engine_words"),
        ("archetypes_app", "0011_api_key_sessions"),
        ("archetypes_app", "0012_retired_golems"),
        ("archetypes_app", "0013_approved_definitions"),
        ("archetypes_app", "0014_loaded_tools"),
        ("archetypes_app", "0015_coding_workspaces"),
        ("archetypes_app", "0016_conversations"),
        ("archetypes_app", "0017_seen_definitions"),
        ("archetypes_app", "0018_people"),
        ("archetypes_app", "0019_who_made_a_golem"),
        ("archetypes_app", "0020_accounts_that_were_stopped"),
        ("archetypes_app", "0021_services_outside"),
        ("archetypes_app", "0022_chains_of_a_golem"),
        ("archetypes_app", "0023_agents_sign_in"),
        ("archetypes_app", "0024_rules_stand_in"),
    ]

    initial = True

    dependencies = [
        ("auth", "0012_alter_user_first_name_max_length"),
        ("tools_app", "0001_squashed_0027_rates_that_are_asked"),
    ]

    operations = [
        migrations.CreateModel(
            name="SeenDefinition",
            fields=[
                ("definition_hash", models.CharField(max_length=66, primary_key=True, serialize=False)),
                ("body", models.JSONField(help_text="What a model was told of it and what it could do")),
            ],
            options={
                "verbose_name": "definition an owner saw",
            },
        ),
        migrations.CreateModel(
            name="StoppedAccount",
            fields=[
                (
                    "person",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="stopped_account",
                        serialize=False,
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                ("stopped_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "stopped account",
            },
        ),
        migrations.CreateModel(
            name="ServiceAccess",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("service", models.CharField(max_length=40)),
                ("sealed_key", models.BinaryField(default=b"")),
                ("questions_an_hour", models.PositiveIntegerField()),
                ("hour", models.DateTimeField(blank=True, null=True)),
                ("asked", models.PositiveIntegerField(default=0)),
                ("last_answer_at", models.DateTimeField(blank=True, null=True)),
                ("last_error", models.CharField(blank=True, default="", max_length=200)),
                ("last_error_at", models.DateTimeField(blank=True, null=True)),
                ("created_at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="service_accesses",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "service access",
                "verbose_name_plural": "service accesses",
                "constraints": [
                    models.UniqueConstraint(fields=("person", "service"), name="service_access_once_per_person"),
                    models.CheckConstraint(
                        condition=models.Q(("questions_an_hour__range", (1, 10000))), name="service_access_quota_range"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("asked__lte", models.F("questions_an_hour"))),
                        name="service_access_within_quota",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="SignIn",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("session_key", models.CharField(max_length=40, unique=True)),
                ("browser", models.CharField(blank=True, help_text="As the browser calls itself", max_length=200)),
                ("address", models.CharField(blank=True, max_length=45)),
                ("signed_in_at", models.DateTimeField()),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sign_ins",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "ordering": ["-signed_in_at"],
            },
        ),
        migrations.CreateModel(
            name="ToolProfile",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("name", models.SlugField(unique=True)),
                ("description", models.TextField(blank=True)),
                (
                    "categories",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("data", "data"),
                                ("trading", "trading"),
                                ("lending", "lending"),
                                ("staking", "staking"),
                                ("restaking", "restaking"),
                                ("derivatives", "derivatives"),
                                ("yield", "yield"),
                                ("lp", "lp"),
                                ("vault", "vault"),
                                ("safety", "safety"),
                                ("intelligence", "intelligence"),
                                ("memory", "memory"),
                                ("identity", "identity"),
                                ("wallet", "wallet"),
                                ("streaming", "streaming"),
                                ("testnet", "testnet"),
                                ("bootstrap", "bootstrap"),
                                ("fees", "fees"),
                                ("hook", "hook"),
                                ("self_improvement", "self_improvement"),
                                ("coding", "coding"),
                            ],
                            max_length=32,
                        ),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                (
                    "is_read_only",
                    models.BooleanField(default=False, help_text="Keeps reads only, whatever the categories hold"),
                ),
                ("is_builtin", models.BooleanField(default=False, editable=False)),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tool_profiles",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "is_conservative",
                    models.BooleanField(
                        default=False,
                        help_text="Keeps only plain writes of trading, liquidity, vaults and safety: no leverage, flash loans, bridges, swaps through several pools or ranges under 50 ticks; at most 10 writes an hour",
                    ),
                ),
                (
                    "builtin_digest",
                    models.CharField(
                        blank=True,
                        editable=False,
                        help_text="Digest of what sync_builtins last wrote here",
                        max_length=66,
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1, editable=False, help_text="Rises with every edit")),
            ],
            options={
                "verbose_name": "tool profile",
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("is_builtin", False), ("owner__isnull", True), _connector="OR"),
                        name="tool_profile_builtin_unowned",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="Archetype",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("name", models.SlugField(unique=True)),
                ("description", models.TextField(blank=True)),
                (
                    "category",
                    models.CharField(
                        choices=[
                            ("execution", "Execution"),
                            ("research", "Research"),
                            ("strategy", "Strategy"),
                            ("development", "Development"),
                            ("infrastructure", "Infrastructure"),
                            ("agent-capital-markets", "Agent capital markets"),
                            ("real-time-monitoring", "Real-time monitoring"),
                            ("vault", "Vault"),
                            ("golem", "Golem"),
                            ("observer", "Observer"),
                        ],
                        max_length=32,
                    ),
                ),
                (
                    "inference_tier",
                    models.CharField(
                        choices=[
                            ("T0", "T0: no model"),
                            ("T1", "T1: structured queries"),
                            ("T2", "T2: multi-step work"),
                        ],
                        default="T1",
                        max_length=2,
                    ),
                ),
                (
                    "tool_categories",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("data", "data"),
                                ("trading", "trading"),
                                ("lending", "lending"),
                                ("staking", "staking"),
                                ("restaking", "restaking"),
                                ("derivatives", "derivatives"),
                                ("yield", "yield"),
                                ("lp", "lp"),
                                ("vault", "vault"),
                                ("safety", "safety"),
                                ("intelligence", "intelligence"),
                                ("memory", "memory"),
                                ("identity", "identity"),
                                ("wallet", "wallet"),
                                ("streaming", "streaming"),
                                ("testnet", "testnet"),
                                ("bootstrap", "bootstrap"),
                                ("fees", "fees"),
                                ("hook", "hook"),
                                ("self_improvement", "self_improvement"),
                                ("coding", "coding"),
                            ],
                            max_length=32,
                        ),
                        blank=True,
                        default=list,
                        size=None,
                    ),
                ),
                ("is_terminal_node", models.BooleanField(default=False, help_text="Never delegates")),
                ("role", models.TextField(blank=True)),
                (
                    "safety_rules",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), blank=True, default=list, size=None
                    ),
                ),
                ("workflow", models.TextField(blank=True)),
                ("output_format", models.TextField(blank=True)),
                ("is_builtin", models.BooleanField(default=False, editable=False)),
                (
                    "delegates_to",
                    models.ManyToManyField(blank=True, related_name="delegated_from", to="archetypes_app.archetype"),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="archetypes",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "profiles",
                    models.ManyToManyField(blank=True, related_name="archetypes", to="archetypes_app.toolprofile"),
                ),
                (
                    "is_read_only",
                    models.BooleanField(
                        default=False,
                        help_text="Keeps reads only, whatever categories and profiles hold; an include still wins",
                    ),
                ),
                (
                    "keeps_local_writes",
                    models.BooleanField(
                        default=False,
                        help_text="Although read-only, writes that are no transaction (memory, alerts) stay",
                    ),
                ),
                (
                    "expertise",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.TextField(), blank=True, default=list, size=None
                    ),
                ),
                (
                    "builtin_digest",
                    models.CharField(
                        blank=True,
                        editable=False,
                        help_text="Digest of what sync_builtins last wrote here",
                        max_length=66,
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1, editable=False, help_text="Rises with every edit")),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("is_builtin", False), ("owner__isnull", True), _connector="OR"),
                        name="archetype_builtin_unowned",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("keeps_local_writes", False), ("is_read_only", True), _connector="OR"),
                        name="archetype_local_writes_of_read_only",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="KeptAnswer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("question", models.CharField(help_text="SHA-256 of the question", max_length=64)),
                ("value", models.JSONField()),
                ("answered_at", models.DateTimeField()),
                (
                    "access",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="kept_answers",
                        to="archetypes_app.serviceaccess",
                    ),
                ),
            ],
            options={
                "verbose_name": "kept answer",
                "indexes": [models.Index(fields=["access", "answered_at"], name="kept_answer_by_age")],
                "constraints": [
                    models.UniqueConstraint(fields=("access", "question"), name="kept_answer_once_per_question")
                ],
            },
        ),
        migrations.CreateModel(
            name="Golem",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("name", models.CharField(max_length=64)),
                (
                    "allowed_protocols",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.SlugField(),
                        blank=True,
                        default=list,
                        help_text="Empty: every protocol; else only these",
                        size=None,
                    ),
                ),
                (
                    "address",
                    models.CharField(
                        blank=True,
                        help_text="Its wallet, EIP-55",
                        max_length=42,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^0x[0-9a-fA-F]{40}$", "An address is 0x and 40 hex digits"
                            )
                        ],
                    ),
                ),
                ("home_chain_id", models.PositiveBigIntegerField(default=31337)),
                (
                    "base_asset",
                    models.CharField(
                        default="USDC", help_text="Symbol or address it measures itself in", max_length=42
                    ),
                ),
                (
                    "phase",
                    models.CharField(
                        choices=[
                            ("THRIVING", "Thriving"),
                            ("CAUTIOUS", "Cautious"),
                            ("DEFENSIVE", "Defensive"),
                            ("SURVIVAL", "Survival"),
                            ("TERMINAL", "Terminal"),
                        ],
                        default="THRIVING",
                        max_length=16,
                    ),
                ),
                ("is_memory_enabled", models.BooleanField(default=True)),
                (
                    "is_live",
                    models.BooleanField(
                        default=False, help_text="When off, the heartbeat only rehearses. REST calls are not affected"
                    ),
                ),
                (
                    "permit_ttl_seconds",
                    models.PositiveIntegerField(default=60, help_text="Seconds a permit stays valid"),
                ),
                ("heartbeat_tick", models.PositiveBigIntegerField(default=0, editable=False)),
                ("halt_epoch", models.PositiveBigIntegerField(default=0, editable=False)),
                ("halted_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("halt_reason", models.TextField(blank=True, editable=False)),
                (
                    "archetype",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="golems",
                        to="archetypes_app.archetype",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="golems", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "profiles",
                    models.ManyToManyField(
                        blank=True,
                        help_text="Replace the archetype's own categories and profiles; their union counts",
                        related_name="golems",
                        to="archetypes_app.toolprofile",
                    ),
                ),
                ("version", models.PositiveIntegerField(default=1, editable=False, help_text="Rises with every edit")),
                (
                    "co_owners",
                    models.ManyToManyField(
                        blank=True,
                        help_text="They see and decide what the owner does; a change of them is itself decided by an owner",
                        related_name="co_owned_golems",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "simulation_engine",
                    models.CharField(
                        choices=[
                            ("auto", "By risk: the node's, and from ELEVATED on both must agree"),
                            ("rpc", "The node's first, and never another in its place"),
                            ("pyevm", "The one in this process first; both where it may lack the chain's newest rules"),
                            ("both", "Always both; they must agree"),
                        ],
                        default="auto",
                        help_text="What runs its plans before a permit. From ELEVATED on two engines must agree, whatever is chosen",
                        max_length=8,
                    ),
                ),
                (
                    "retired_at",
                    models.DateTimeField(
                        blank=True, editable=False, help_text="Halted for good, kept for its history", null=True
                    ),
                ),
                (
                    "seen_definitions",
                    models.JSONField(
                        blank=True,
                        editable=False,
                        help_text="Fingerprint of each built-in tool as its owner saw it; a tool that reads otherwise is left out",
                        null=True,
                    ),
                ),
                (
                    "made_by",
                    models.CharField(
                        choices=[("OWNER", "Its owner"), ("DEMO", "The demo"), ("MEASUREMENT", "A measurement")],
                        default="OWNER",
                        editable=False,
                        max_length=12,
                    ),
                ),
                (
                    "other_chain_ids",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.PositiveBigIntegerField(),
                        blank=True,
                        default=list,
                        help_text="Chains it may act on besides its home chain; what it holds there counts in its value and its limits",
                        size=None,
                    ),
                ),
            ],
            options={
                "ordering": ["name"],
                "constraints": [
                    models.UniqueConstraint(fields=("owner", "name"), name="golem_name_once_per_owner"),
                    models.CheckConstraint(
                        condition=models.Q(("permit_ttl_seconds__range", (5, 3600))), name="golem_ttl_5_to_3600"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ApiKey",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("label", models.CharField(blank=True, max_length=64)),
                ("prefix", models.CharField(editable=False, max_length=16, unique=True)),
                (
                    "digest",
                    models.CharField(editable=False, help_text="SHA-256 of the token", max_length=64, unique=True),
                ),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("read", "read: query state and context"),
                                ("preview", "preview: ask for permits"),
                                ("commit", "commit: use permits"),
                                ("directive", "directive: write to the playbook"),
                                ("halt", "halt: stop the golem"),
                                ("events", "events: follow the event stream"),
                            ],
                            max_length=16,
                        ),
                        default=list,
                        size=None,
                    ),
                ),
                ("created_at", models.DateTimeField(editable=False)),
                ("expires_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(blank=True, editable=False, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "created_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "replaced_by",
                    models.ForeignKey(
                        blank=True,
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="replaces",
                        to="archetypes_app.apikey",
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="api_keys", to="archetypes_app.golem"
                    ),
                ),
                (
                    "session_id",
                    models.UUIDField(
                        db_index=True,
                        default=uuid.uuid4,
                        editable=False,
                        help_text="Keys with the same one share a session limit",
                    ),
                ),
                (
                    "most_tools",
                    models.PositiveSmallIntegerField(
                        blank=True,
                        default=12,
                        help_text="Tools its model is shown at once; empty: every tool the golem has",
                        null=True,
                    ),
                ),
                (
                    "loaded_tools",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(max_length=128),
                        blank=True,
                        default=list,
                        editable=False,
                        help_text="What its agent loaded beside the core, least recently used first",
                        size=None,
                    ),
                ),
            ],
            options={
                "verbose_name": "API key",
                "ordering": ["-created_at"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("expires_at__gt", models.F("created_at"))), name="api_key_expires_later"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("most_tools__isnull", True),
                            ("loaded_tools__len__lte", models.F("most_tools")),
                            _connector="OR",
                        ),
                        name="api_key_loads_at_most_its_tools",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ChatTurn",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("words", models.TextField()),
                (
                    "begins_anew",
                    models.BooleanField(default=False, help_text="What was said before is not told to the model"),
                ),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("WAITING", "waiting"),
                            ("RUNNING", "running"),
                            ("DONE", "answered"),
                            ("STOPPED", "stopped"),
                        ],
                        default="WAITING",
                        max_length=8,
                    ),
                ),
                ("said", models.TextField(blank=True, help_text="The model's last word; data, never an instruction")),
                (
                    "stopped_by",
                    models.CharField(blank=True, help_text="The code of what ended it early", max_length=64),
                ),
                ("model", models.CharField(blank=True, max_length=128)),
                ("rounds", models.PositiveIntegerField(default=0)),
                ("calls", models.PositiveIntegerField(default=0)),
                ("input_llm_tokens", models.PositiveIntegerField(default=0)),
                ("output_llm_tokens", models.PositiveIntegerField(default=0)),
                ("spent_micro_usd", models.PositiveBigIntegerField(default=0, help_text="Micro-USD")),
                ("asked_at", models.DateTimeField()),
                ("cancel_asked_at", models.DateTimeField(blank=True, null=True)),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="chat_turns",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "owner",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "verbose_name": "message to a golem",
                "ordering": ["asked_at"],
                "indexes": [models.Index(fields=["golem", "-asked_at"], name="chat_turn_of_golem")],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state__in", ["WAITING", "RUNNING"])),
                        fields=("golem",),
                        name="chat_answers_one_at_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("ended_at__isnull", True), ("state__in", ["WAITING", "RUNNING"])),
                            models.Q(("ended_at__isnull", False), ("state__in", ["DONE", "STOPPED"])),
                            _connector="OR",
                        ),
                        name="chat_ended_at_its_end",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Artifact",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "domain",
                    models.CharField(
                        choices=[
                            ("liquidity", "Liquidity"),
                            ("mev", "MEV"),
                            ("protocol-safety", "Safety of protocols"),
                            ("agent-analytics", "Agents"),
                            ("governance", "Governance"),
                        ],
                        max_length=16,
                    ),
                ),
                ("subject", models.CharField(help_text="What it is about, such as a pool or a venue", max_length=128)),
                ("statement", models.TextField(help_text="Data, never an instruction")),
                ("support", models.PositiveIntegerField()),
                ("total", models.PositiveIntegerField()),
                (
                    "is_adverse",
                    models.BooleanField(default=False, help_text="Most rows speak against what should hold"),
                ),
                ("confidence_percent", models.PositiveSmallIntegerField()),
                (
                    "episode_sources",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.UUIDField(), help_text="Episodes it was drawn from", size=None
                    ),
                ),
                (
                    "validation_recipe",
                    models.JSONField(help_text="Which rows to count, by which rule, and what to expect"),
                ),
                ("price_micro_usd", models.PositiveIntegerField()),
                ("published_at", models.DateTimeField()),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="artifacts", to="archetypes_app.golem"
                    ),
                ),
            ],
            options={
                "verbose_name": "artifact",
                "indexes": [models.Index(fields=["golem", "-published_at"], name="artifact_by_golem")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("confidence_percent__range", (60, 100))), name="artifact_is_confident"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("price_micro_usd__range", (50000, 500000))), name="artifact_price_in_range"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("episode_sources__len__gte", 1)), name="artifact_has_sources"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("support__lte", models.F("total"))), name="artifact_support_of_total"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="AlertBatch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("window_start", models.DateTimeField()),
                ("alerts", models.JSONField(default=list, help_text="Rule, what was observed, the limit")),
                ("created_at", models.DateTimeField()),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="alert_batches",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "source",
                    models.CharField(default="heartbeat-monitor", help_text="Which duty noticed it", max_length=32),
                ),
            ],
            options={
                "verbose_name": "alert batch",
                "verbose_name_plural": "alert batches",
                "constraints": [
                    models.UniqueConstraint(
                        fields=("golem", "window_start", "source"), name="alert_batch_once_per_window"
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GolemMember",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "role",
                    models.CharField(
                        choices=[("VIEWER", "Viewer"), ("OPERATOR", "Operator"), ("APPROVER", "Approver")],
                        default="VIEWER",
                        max_length=16,
                    ),
                ),
                ("since", models.DateTimeField()),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="members", to="archetypes_app.golem"
                    ),
                ),
                (
                    "person",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="golem_memberships",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "verbose_name": "member",
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "person"), name="golem_member_once"),
                    models.CheckConstraint(
                        condition=models.Q(("role__in", ["VIEWER", "OPERATOR", "APPROVER"])),
                        name="golem_member_has_a_role",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="HeartbeatTick",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.PositiveBigIntegerField(help_text="The golem's heartbeat tick")),
                ("fence", models.PositiveBigIntegerField()),
                (
                    "status",
                    models.CharField(
                        choices=[
                            ("RUNNING", "Running"),
                            ("COMPLETE", "Complete"),
                            ("ABANDONED", "Abandoned: its worker stopped"),
                            ("FAILED", "Failed: see its record"),
                        ],
                        default="RUNNING",
                        max_length=9,
                    ),
                ),
                ("scheduled_at", models.DateTimeField()),
                ("started_at", models.DateTimeField()),
                ("ended_at", models.DateTimeField(blank=True, null=True)),
                ("lateness_ms", models.PositiveIntegerField(default=0, help_text="Started this long after it was due")),
                ("duration_ms", models.PositiveIntegerField(blank=True, null=True)),
                (
                    "theta_seconds",
                    models.PositiveIntegerField(default=60, help_text="The interval that was expected before it"),
                ),
                (
                    "missed_before",
                    models.PositiveIntegerField(default=0, help_text="Ticks that were left out before it"),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="heartbeat_ticks",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "heartbeat tick",
                "indexes": [models.Index(fields=["golem", "-started_at"], name="heartbeat_tick_by_golem")],
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "number"), name="heartbeat_tick_once_per_number"),
                    models.UniqueConstraint(
                        condition=models.Q(("status", "RUNNING")), fields=("golem",), name="heartbeat_tick_one_running"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("status", "RUNNING"), ("ended_at__isnull", False), _connector="XOR"),
                        name="heartbeat_tick_ended_has_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Invitation",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("label", models.CharField(help_text="Whom it is for, in your words", max_length=60)),
                ("token_hash", models.CharField(max_length=64, unique=True)),
                ("created_at", models.DateTimeField()),
                ("expires_at", models.DateTimeField()),
                ("accepted_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                (
                    "accepted_by",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="invitations",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "invited_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("accepted_at__isnull", True), ("revoked_at__isnull", True), _connector="OR"
                        ),
                        name="invitation_ends_once",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="ModelSpendDay",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("day", models.DateField(help_text="UTC")),
                (
                    "cap_micro_usd",
                    models.PositiveBigIntegerField(help_text="Micro-USD; the cap in force at the last reservation"),
                ),
                (
                    "reserved_micro_usd",
                    models.PositiveBigIntegerField(default=0, help_text="Micro-USD of requests under way"),
                ),
                ("spent_micro_usd", models.PositiveBigIntegerField(default=0, help_text="Micro-USD")),
                ("requests", models.PositiveIntegerField(default=0)),
                ("refused", models.PositiveIntegerField(default=0, help_text="Requests the cap kept from being made")),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_spend_days",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "model spend of a day",
                "verbose_name_plural": "model spend by day",
                "constraints": [
                    models.UniqueConstraint(fields=("golem", "day"), name="model_spend_once_per_day"),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "cap_micro_usd__gte",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("reserved_micro_usd"), "+", models.F("spent_micro_usd")
                                ),
                            )
                        ),
                        name="model_spend_within_the_cap",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PhaseTransition",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "from_phase",
                    models.CharField(
                        choices=[
                            ("THRIVING", "Thriving"),
                            ("CAUTIOUS", "Cautious"),
                            ("DEFENSIVE", "Defensive"),
                            ("SURVIVAL", "Survival"),
                            ("TERMINAL", "Terminal"),
                        ],
                        max_length=16,
                    ),
                ),
                (
                    "to_phase",
                    models.CharField(
                        choices=[
                            ("THRIVING", "Thriving"),
                            ("CAUTIOUS", "Cautious"),
                            ("DEFENSIVE", "Defensive"),
                            ("SURVIVAL", "Survival"),
                            ("TERMINAL", "Terminal"),
                        ],
                        max_length=16,
                    ),
                ),
                ("reason", models.TextField()),
                ("actor", models.CharField(max_length=128)),
                ("occurred_at", models.DateTimeField()),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="phase_transitions",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "phase transition",
                "ordering": ["-occurred_at"],
            },
        ),
        migrations.CreateModel(
            name="ToolOverride",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("tool_name", models.CharField(max_length=96)),
                ("mode", models.CharField(choices=[("INCLUDE", "Include"), ("EXCLUDE", "Exclude")], max_length=8)),
                (
                    "archetype",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tool_overrides",
                        to="archetypes_app.archetype",
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tool_overrides",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "tool override",
                "ordering": ["tool_name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("archetype__isnull", True), ("golem__isnull", True), _connector="XOR"),
                        name="tool_override_one_subject",
                    ),
                    models.UniqueConstraint(
                        fields=("archetype", "golem", "tool_name"), name="tool_override_once", nulls_distinct=False
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Heartbeat",
            fields=[
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "golem",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="heartbeat",
                        serialize=False,
                        to="archetypes_app.golem",
                    ),
                ),
                ("is_on", models.BooleanField(default=False, help_text="When off, the golem does not tick")),
                (
                    "planner",
                    models.CharField(
                        choices=[
                            ("RULE", "Rules: keeps a liquidity position; needs no model"),
                            ("MODEL", "A language model, within its daily cost cap"),
                        ],
                        default="RULE",
                        max_length=8,
                    ),
                ),
                (
                    "base_interval_seconds",
                    models.PositiveIntegerField(
                        default=60, help_text="Seconds between ticks in a normal market; the regime makes it 30 to 120"
                    ),
                ),
                (
                    "liquidity_rule",
                    models.JSONField(
                        blank=True, default=dict, help_text="What the rule planner keeps; empty: it opens nothing"
                    ),
                ),
                (
                    "regime",
                    models.CharField(
                        choices=[
                            ("NORMAL", "Normal"),
                            ("VOLATILE", "Volatile"),
                            ("CRISIS", "Crisis"),
                            ("CALM", "Calm"),
                            ("TRENDING", "Trending"),
                        ],
                        default="NORMAL",
                        editable=False,
                        max_length=8,
                    ),
                ),
                ("next_tick_at", models.DateTimeField(default=tools_app.core.clock.now, editable=False)),
                (
                    "fence",
                    models.PositiveBigIntegerField(default=0, editable=False, help_text="Rises with every claim"),
                ),
                (
                    "begun_fence",
                    models.PositiveBigIntegerField(
                        default=0, editable=False, help_text="The last claim to begin a tick"
                    ),
                ),
                ("lease_expires_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "missed_ticks",
                    models.PositiveBigIntegerField(
                        default=0,
                        editable=False,
                        help_text="Ticks that fell into the time of another one, or of an outage",
                    ),
                ),
                (
                    "pending_steers",
                    models.JSONField(default=list, editable=False, help_text="The owner's words for the next tick"),
                ),
                (
                    "state",
                    models.JSONField(default=dict, editable=False, help_text="What a tick remembers of the one before"),
                ),
                ("consolidated_at_tick", models.PositiveBigIntegerField(default=0, editable=False)),
                ("monitored_at", models.DateTimeField(blank=True, editable=False, null=True)),
                (
                    "observed_at",
                    models.DateTimeField(blank=True, editable=False, help_text="A sleepwalker's last look", null=True),
                ),
                (
                    "rules_stand_in",
                    models.BooleanField(
                        default=True,
                        help_text="When its language model does not answer or its budget is spent, the rules below act in its place",
                        verbose_name="rules act when the model fails",
                    ),
                ),
            ],
            options={
                "verbose_name": "heartbeat",
                "indexes": [
                    models.Index(condition=models.Q(("is_on", True)), fields=["next_tick_at"], name="heartbeat_due")
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("base_interval_seconds__range", (30, 120))),
                        name="heartbeat_interval_30_to_120",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("begun_fence__lte", models.F("fence"))), name="heartbeat_began_what_it_got"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="VitalityRecord",
            fields=[
                (
                    "golem",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="vitality_record",
                        serialize=False,
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "starting_budget_micro_usd",
                    models.BigIntegerField(
                        help_text="Micro-USD the golem set out with; empty after an owner's reset, until the next reading",
                        null=True,
                    ),
                ),
                ("balance_micro_usd", models.BigIntegerField(help_text="Micro-USD it was worth at this tick")),
                ("predictions", models.PositiveIntegerField(default=0)),
                ("correct_predictions", models.PositiveIntegerField(default=0)),
                (
                    "hazard_millionths",
                    models.PositiveIntegerField(default=0, help_text="Accumulated since `since_tick`"),
                ),
                ("economic", models.PositiveIntegerField(help_text="Millionths")),
                ("epistemic", models.PositiveIntegerField(help_text="Millionths")),
                ("stochastic", models.PositiveIntegerField(help_text="Millionths")),
                ("value", models.PositiveIntegerField(help_text="The product, millionths")),
                (
                    "since_tick",
                    models.PositiveBigIntegerField(
                        help_text="Heartbeat tick this life began at; an owner's reset moves it"
                    ),
                ),
                ("heartbeat_tick", models.PositiveBigIntegerField(help_text="Heartbeat tick of these figures")),
                ("measured_at", models.DateTimeField()),
            ],
            options={
                "verbose_name": "vitality",
                "verbose_name_plural": "vitality",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("economic__range", (0, 1000000))), name="vitality_record_economic"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("epistemic__range", (0, 1000000))), name="vitality_record_epistemic"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("stochastic__range", (0, 1000000))), name="vitality_record_stochastic"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("value__range", (0, 1000000))), name="vitality_record_value"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("hazard_millionths__range", (0, 1000000))),
                        name="vitality_record_hazard_millionths",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("starting_budget_micro_usd__isnull", True),
                            ("starting_budget_micro_usd__gt", 0),
                            _connector="OR",
                        ),
                        name="vitality_record_budget_positive",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("correct_predictions__lte", models.F("predictions"))),
                        name="vitality_record_correct_within_made",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("heartbeat_tick__gte", models.F("since_tick"))),
                        name="vitality_record_ticks_in_order",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DefinitionApproval",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("tool_name", models.CharField(max_length=64)),
                ("definition_hash", models.CharField(max_length=66)),
                ("approved_at", models.DateTimeField()),
                ("revoked_at", models.DateTimeField(blank=True, null=True)),
                ("revoked_reason", models.TextField(blank=True)),
                (
                    "approved_by",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
                    ),
                ),
                (
                    "definition",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="approvals",
                        to="tools_app.tooldefinition",
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="definition_approvals",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "approved definition",
                "ordering": ["-approved_at"],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("revoked_at__isnull", True)),
                        fields=("golem", "tool_name"),
                        name="definition_approved_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("revoked_at__isnull", True),
                            models.Q(("revoked_reason", ""), _negated=True),
                            _connector="OR",
                        ),
                        name="definition_revoked_for_a_reason",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CodingWorkspace",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                (
                    "place",
                    models.CharField(
                        choices=[
                            ("LOCAL", "A folder of its own on this server"),
                            ("SSH", "A folder on another machine, by SSH"),
                        ],
                        default="LOCAL",
                        max_length=8,
                    ),
                ),
                (
                    "needs_owner",
                    models.CharField(
                        choices=[
                            ("EVERYTHING", "Commands and writes"),
                            ("COMMANDS", "Commands"),
                            ("NOTHING", "Nothing"),
                        ],
                        default="EVERYTHING",
                        help_text="Each waiting permit shows the diff or the command, and any owner decides it",
                        max_length=16,
                        verbose_name="waits for an owner",
                    ),
                ),
                (
                    "allows_network",
                    models.BooleanField(
                        default=False,
                        help_text="Commands on this server reach the network, this server's own services included",
                    ),
                ),
                (
                    "host",
                    models.CharField(
                        blank=True,
                        max_length=253,
                        validators=[django.core.validators.RegexValidator("^[A-Za-z0-9.:\\-]+$")],
                    ),
                ),
                (
                    "port",
                    models.PositiveIntegerField(
                        default=22,
                        validators=[
                            django.core.validators.MinValueValidator(1),
                            django.core.validators.MaxValueValidator(65535),
                        ],
                    ),
                ),
                (
                    "username",
                    models.CharField(
                        blank=True,
                        max_length=32,
                        validators=[django.core.validators.RegexValidator("^[a-z_][a-z0-9_.\\-]*$")],
                    ),
                ),
                (
                    "folder",
                    models.CharField(
                        blank=True,
                        help_text="Its folder on the other machine, from / on",
                        max_length=500,
                        validators=[django.core.validators.RegexValidator("^/[^\\x00-\\x1f]*[^/\\x00-\\x1f]$")],
                    ),
                ),
                (
                    "host_key",
                    models.CharField(
                        blank=True,
                        help_text="The other machine's public key, such as: ssh-ed25519 AAAA…; any other key is refused",
                        max_length=1000,
                    ),
                ),
                (
                    "golem",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="coding_workspace",
                        to="archetypes_app.golem",
                    ),
                ),
            ],
            options={
                "verbose_name": "coding workspace",
                "ordering": ["golem__name"],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("place", "SSH"), _negated=True),
                            models.Q(
                                ("host", ""),
                                ("username", ""),
                                ("folder", ""),
                                ("host_key", ""),
                                _connector="OR",
                                _negated=True,
                            ),
                            _connector="OR",
                        ),
                        name="coding_workspace_names_its_machine",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="AccessToken",
            fields=[
                (
                    "digest",
                    models.CharField(
                        help_text="SHA-256 of the token", max_length=64, primary_key=True, serialize=False
                    ),
                ),
                ("ends_at", models.DateTimeField()),
                (
                    "key",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="access_tokens",
                        to="archetypes_app.apikey",
                    ),
                ),
            ],
            options={
                "verbose_name": "access token",
            },
        ),
        migrations.CreateModel(
            name="ChatStep",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                (
                    "kind",
                    models.CharField(
                        choices=[("SAID", "said"), ("CALL", "call"), ("RETRY", "asked again")], max_length=5
                    ),
                ),
                ("name", models.CharField(blank=True, max_length=64)),
                ("arguments", models.TextField(blank=True)),
                ("answer", models.TextField(blank=True)),
                (
                    "code",
                    models.CharField(blank=True, help_text="Of the refusal; empty where there was none", max_length=64),
                ),
                ("permit_id", models.UUIDField(blank=True, null=True)),
                ("is_answered", models.BooleanField(default=False)),
                (
                    "turn",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="steps", to="archetypes_app.chatturn"
                    ),
                ),
            ],
            options={
                "verbose_name": "step of an answer",
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="AgentSignIn",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                (
                    "device_digest",
                    models.CharField(help_text="SHA-256 of what the agent asks again with", max_length=64, unique=True),
                ),
                ("user_code", models.CharField(help_text="What its owner types", max_length=9)),
                (
                    "agent",
                    models.CharField(help_text="How the agent calls itself; nobody has checked it", max_length=64),
                ),
                (
                    "asked_scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("read", "read: query state and context"),
                                ("preview", "preview: ask for permits"),
                                ("commit", "commit: use permits"),
                                ("directive", "directive: write to the playbook"),
                                ("halt", "halt: stop the golem"),
                                ("events", "events: follow the event stream"),
                            ],
                            max_length=16,
                        ),
                        default=list,
                        size=None,
                    ),
                ),
                ("asked_from", models.CharField(help_text="The network it asked from", max_length=64)),
                ("asked_at", models.DateTimeField()),
                ("ends_at", models.DateTimeField(help_text="Until when it can be approved and collected")),
                ("polled_at", models.DateTimeField(null=True)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("WAITING", "waits for an owner"),
                            ("APPROVED", "approved"),
                            ("DENIED", "denied"),
                            ("COLLECTED", "signed in"),
                        ],
                        default="WAITING",
                        max_length=16,
                    ),
                ),
                (
                    "scopes",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=models.CharField(
                            choices=[
                                ("read", "read: query state and context"),
                                ("preview", "preview: ask for permits"),
                                ("commit", "commit: use permits"),
                                ("directive", "directive: write to the playbook"),
                                ("halt", "halt: stop the golem"),
                                ("events", "events: follow the event stream"),
                            ],
                            max_length=16,
                        ),
                        default=list,
                        size=None,
                    ),
                ),
                ("lifetime_days", models.PositiveSmallIntegerField(null=True)),
                ("decided_at", models.DateTimeField(null=True)),
                (
                    "renewal_digest",
                    models.CharField(help_text="SHA-256 of its refresh token", max_length=64, null=True, unique=True),
                ),
                (
                    "used_digest",
                    models.CharField(help_text="SHA-256 of the one used last", max_length=64, null=True, unique=True),
                ),
                ("renewed_at", models.DateTimeField(null=True)),
                ("renewals", models.PositiveIntegerField(default=0)),
                (
                    "decided_by",
                    models.ForeignKey(
                        editable=False,
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "golem",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sign_ins",
                        to="archetypes_app.golem",
                    ),
                ),
                (
                    "key",
                    models.OneToOneField(
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="sign_in",
                        to="archetypes_app.apikey",
                    ),
                ),
            ],
            options={
                "verbose_name": "sign-in of an agent",
                "verbose_name_plural": "sign-ins of agents",
                "indexes": [
                    models.Index(
                        condition=models.Q(("state", "WAITING")), fields=["asked_from"], name="agent_sign_in_of"
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("state", "WAITING")), fields=("user_code",), name="agent_sign_in_code_once"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ends_at__gt", models.F("asked_at"))), name="agent_sign_in_ends_later"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["WAITING", "DENIED"]),
                            models.Q(
                                ("decided_at__isnull", False),
                                ("golem__isnull", False),
                                ("lifetime_days__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="agent_sign_in_approved_for_a_golem",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("key__isnull", False), ("renewal_digest__isnull", False), ("state", "COLLECTED")),
                            models.Q(
                                models.Q(("state", "COLLECTED"), _negated=True),
                                ("key__isnull", True),
                                ("renewal_digest__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="agent_sign_in_collected_once",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="DecisionCycleRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("heartbeat_tick", models.PositiveBigIntegerField()),
                ("decided_at", models.DateTimeField()),
                ("is_live", models.BooleanField(help_text="When off, a dry run: nothing was committed")),
                ("observation", models.TextField(blank=True)),
                (
                    "regime",
                    models.CharField(
                        choices=[
                            ("NORMAL", "Normal"),
                            ("VOLATILE", "Volatile"),
                            ("CRISIS", "Crisis"),
                            ("CALM", "Calm"),
                            ("TRENDING", "Trending"),
                        ],
                        default="NORMAL",
                        max_length=8,
                    ),
                ),
                ("probes", models.JSONField(default=dict)),
                ("anomalies", models.JSONField(default=list)),
                ("pad_before", models.JSONField(default=dict, help_text="Pleasure, arousal, dominance in millionths")),
                ("pad_after", models.JSONField(default=dict)),
                ("prediction_error", models.PositiveIntegerField(default=0, help_text="Millionths")),
                ("threshold", models.PositiveIntegerField(default=0, help_text="Millionths")),
                (
                    "tier",
                    models.CharField(
                        choices=[
                            ("T0", "T0: no model"),
                            ("T1", "T1: structured queries"),
                            ("T2", "T2: multi-step work"),
                        ],
                        default="T0",
                        max_length=2,
                    ),
                ),
                ("gating_reason", models.TextField(blank=True)),
                ("context_summary", models.TextField(blank=True)),
                ("interventions", models.JSONField(default=list)),
                ("deliberation", models.JSONField(default=dict)),
                ("outcome", models.JSONField(default=dict)),
                ("episodes_written", models.JSONField(default=list)),
                (
                    "mutations",
                    models.JSONField(
                        default=list, help_text="What the tick changed of the golem itself: phase, backoff"
                    ),
                ),
                (
                    "vitality",
                    models.PositiveIntegerField(blank=True, help_text="Millionths; empty while unmeasured", null=True),
                ),
                (
                    "phase",
                    models.CharField(
                        choices=[
                            ("THRIVING", "Thriving"),
                            ("CAUTIOUS", "Cautious"),
                            ("DEFENSIVE", "Defensive"),
                            ("SURVIVAL", "Survival"),
                            ("TERMINAL", "Terminal"),
                        ],
                        max_length=16,
                    ),
                ),
                ("costs", models.JSONField(default=dict, help_text="Micro-USD of model and gas, tokens of the model")),
                (
                    "golem",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="decisions", to="archetypes_app.golem"
                    ),
                ),
                (
                    "tick",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="decision",
                        to="archetypes_app.heartbeattick",
                    ),
                ),
            ],
            options={
                "verbose_name": "decision",
                "indexes": [
                    models.Index(fields=["golem", "-heartbeat_tick"], name="decision_by_golem"),
                    models.Index(
                        condition=models.Q(("tier", "T0")), fields=["decided_at"], name="decision_quiet_by_age"
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("prediction_error__lte", 1000000)), name="decision_error_at_most_one"
                    )
                ],
            },
        ),
    ]
