"""Celery: one broker for tasks, results and cache; late acknowledgement, because every task is idempotent."""

from __future__ import annotations

from typing import Any

from golem_project.settings.environment import read_url
from golem_project.settings.safety import GOLEM_RECONCILE_EVERY_SECONDS, GOLEM_SWEEP_EVERY_SECONDS
from tools_app.core.broker_address import read_watched

REDIS_URL = read_url("REDIS_URL", "redis://127.0.0.1:6379/0")

_watched = read_watched(REDIS_URL)
CELERY_BROKER_URL = _watched.queue_address if _watched else REDIS_URL
CELERY_BROKER_TRANSPORT = f"golem_project.runtime.queue_transport:{'Watched' if _watched else ''}Transport"
CELERY_RESULT_BACKEND = f"tools_app.core.task_results:AnswerBackend+{REDIS_URL}"
CELERY_RESULT_EXPIRES = 120  # seconds; the permit row is the record, the result only wakes the waiter
CELERY_TASK_DEFAULT_QUEUE = "simulation"
CELERY_TASK_ROUTES: dict[str, dict[str, str]] = {
    # Celery deprecates the queue in a task's decorator; the first pattern that fits wins.
    "memory_app.tasks.*": {"queue": "memory"},
    "permits_app.tasks.preview_action_task": {"queue": "simulation"},
    "permits_app.tasks.remember_outcomes_task": {"queue": "memory"},
    "permits_app.tasks.try_policy_task": {"queue": "memory"},
    "permits_app.tasks.lay_away_records_task": {"queue": "memory"},
    "permits_app.tasks.sum_key_spends_task": {"queue": "memory"},
    "permits_app.tasks.commit_*": {"queue": "commit"},
    "permits_app.tasks.*": {"queue": "heartbeat"},
    "tools_app.tasks.poll_subscriptions_task": {"queue": "stream"},
    "tools_app.tasks.*_history_task": {"queue": "stream"},
    "tools_app.tasks.*": {"queue": "heartbeat"},
    "golem_project.heartbeat.tasks.*": {"queue": "heartbeat"},
    # What waits for a receiver's server, each kind on a queue of its own.
    "golem_project.stream.tasks.deliver_webhooks_task": {"queue": "webhooks"},
    "golem_project.a2a.tasks.notify_task": {"queue": "notices"},
    "golem_project.alerts.tasks.send_alerts_task": {"queue": "alerts"},
    "golem_project.people.tasks.*": {"queue": "heartbeat"},
    "golem_project.stream.tasks.*": {"queue": "stream"},
    "golem_project.a2a.tasks.*": {"queue": "stream"},
    "golem_project.alerts.tasks.*": {"queue": "stream"},
    "golem_project.chat.tasks.*": {"queue": "chat"},
}
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SOFT_TIME_LIMIT = 60  # seconds; a preview takes far less, a commit waits for receipts
CELERY_TASK_TIME_LIMIT = 90  # seconds
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = (
    None  # for ever: a worker that gave up would be of no use when the broker is back
)
CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, object] = {
    "visibility_timeout": 120,  # seconds until a task of a dead worker is delivered again
    "socket_timeout": 5,
    "socket_connect_timeout": 3,
    "max_retries": 1,
}
if _watched:
    CELERY_BROKER_TRANSPORT_OPTIONS |= {
        "master_name": _watched.service,
        "sentinel_kwargs": {"socket_timeout": 2, **_watched.watchers_credentials, **_watched.encryption},
    }
    if _watched.is_encrypted:
        CELERY_BROKER_USE_SSL = {name: value for name, value in _watched.encryption.items() if name != "ssl"} or True
CELERY_TASK_PUBLISH_RETRY = False  # the caller is told at once that the queue is down
CELERY_REDIS_SOCKET_TIMEOUT = 20.0
CELERY_REDIS_SOCKET_CONNECT_TIMEOUT = 3.0
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_BEAT_SCHEDULER = "golem_project.runtime.beat_schedule:Schedule"
CELERY_BEAT_SCHEDULE: dict[str, Any] = {  # Any: as Celery reads it
    "sweep-permits": {"task": "permits_app.tasks.sweep_permits_task", "schedule": float(GOLEM_SWEEP_EVERY_SECONDS)},
    "reconcile-transactions": {
        "task": "permits_app.tasks.commit_reconciliation_task",
        "schedule": float(GOLEM_RECONCILE_EVERY_SECONDS),
        "options": {"expires": GOLEM_RECONCILE_EVERY_SECONDS},
    },
    "sync-policy-cages": {
        "task": "permits_app.tasks.sync_policy_cages_task",
        "schedule": 3.0,
        "options": {"expires": 3},
    },
    "renew-sessions": {
        "task": "permits_app.tasks.commit_sessions_task",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "follow-requests": {
        "task": "permits_app.tasks.follow_requests_task",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "follow-promises": {
        "task": "permits_app.tasks.follow_promises_task",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "follow-rights": {
        "task": "permits_app.tasks.follow_rights_task",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "follow-deaths": {
        "task": "permits_app.tasks.commit_deaths_task",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "stop-accounts": {"task": "golem_project.people.tasks.stop_accounts_task", "schedule": 5.0},
    "find-openings": {
        "task": "permits_app.tasks.commit_openings_task",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "sweep-changes": {"task": "permits_app.tasks.sweep_changes_task", "schedule": 5.0},
    "apply-cage-changes": {
        "task": "permits_app.tasks.commit_cage_changes_task",
        "schedule": 10.0,
        "options": {"expires": 10},
    },
    "sign-audit-checkpoints": {"task": "tools_app.tasks.sign_audit_checkpoints_task", "schedule": 600.0},
    "lay-away-records": {
        "task": "permits_app.tasks.lay_away_records_task",
        "schedule": 3_600.0,
        "options": {"expires": 3_600},
    },
    "sum-key-spends": {
        "task": "permits_app.tasks.sum_key_spends_task",
        "schedule": 3_600.0,
        "options": {"expires": 3_600},
    },
    "publish-events": {"task": "tools_app.tasks.publish_events_task", "schedule": 5.0},
    "embed-episodes": {"task": "memory_app.tasks.embed_episodes_task", "schedule": 60.0},
    "consolidate-memory": {"task": "memory_app.tasks.consolidate_memory_task", "schedule": 14_400.0},
    # A look that comes late is worth nothing: the next one sees the same golems.
    "claim-heartbeats": {
        "task": "golem_project.heartbeat.tasks.claim_heartbeats_task",
        "schedule": 1.0,
        "options": {"expires": 3},
    },
    "poll-subscriptions": {
        "task": "tools_app.tasks.poll_subscriptions_task",
        "schedule": 1.0,
        "options": {"expires": 3},
    },
    "follow-history": {
        "task": "tools_app.tasks.follow_history_task",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "fill-history": {
        "task": "tools_app.tasks.fill_history_task",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "renew-history": {
        "task": "tools_app.tasks.renew_history_task",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "clean-history": {"task": "tools_app.tasks.clean_history_task", "schedule": 3_600.0},
    "spread-webhooks": {
        "task": "golem_project.stream.tasks.spread_webhooks_task",
        "schedule": 2.0,
        "options": {"expires": 10},
    },
    "gather-alerts": {
        "task": "golem_project.alerts.tasks.gather_alerts_task",
        "schedule": 5.0,
        "options": {"expires": 10},
    },
    "follow-a2a-tasks": {
        "task": "golem_project.a2a.tasks.follow_tasks_task",
        "schedule": 2.0,
        "options": {"expires": 5},
    },
    "watch-sales": {
        "task": "golem_project.a2a.tasks.watch_sales_task",
        "schedule": 5.0,
        "options": {"expires": 5},
    },
    "notify-a2a-tasks": {
        "task": "golem_project.a2a.tasks.notify_due_task",
        "schedule": 2.0,
        "options": {"expires": 5},
    },
    "forget-a2a-rows": {"task": "golem_project.a2a.tasks.forget_old_rows_task", "schedule": 3_600.0},
    "forget-events": {"task": "golem_project.stream.tasks.forget_old_events_task", "schedule": 3_600.0},
    "run-heartbeat-duties": {"task": "golem_project.heartbeat.tasks.run_duties_task", "schedule": 60.0},
    "value-unattended-golems": {
        "task": "golem_project.heartbeat.tasks.value_unattended_task",
        "schedule": 60.0,
        "options": {"expires": 60},
    },
    "value-after-outcomes": {
        "task": "golem_project.heartbeat.tasks.value_after_outcomes_task",
        "schedule": 15.0,
        "options": {"expires": 15},
    },
    "scan-memory": {"task": "memory_app.tasks.scan_memory_task", "schedule": 3_600.0},
    "dream": {"task": "memory_app.tasks.dream_golems_task", "schedule": 21_600.0},
    "forget-episodes": {"task": "memory_app.tasks.forget_episodes_task", "schedule": 3_600.0},
}
# Each queue gives a sign of life, which is looked for from outside (`tools_app/core/liveness.py`).
CELERY_BEAT_SCHEDULE |= {
    f"pulse-{queue}": {
        "task": "tools_app.tasks.note_pulse_task",
        "schedule": 10.0,
        "kwargs": {"queue": queue},
        "options": {"expires": 10, "queue": queue},
    }
    for queue in sorted({route["queue"] for route in CELERY_TASK_ROUTES.values()})
}

CACHES: dict[str, dict[str, object]] = {
    "default": {
        "BACKEND": "django.core.cache.backends.redis.RedisCache",
        # Not a text: the framework would take each comma for the end of an address.
        "LOCATION": [REDIS_URL],
        "KEY_PREFIX": "golem",
        "OPTIONS": {
            "socket_timeout": 3,
            "socket_connect_timeout": 2,
            **({"pool_class": "tools_app.core.broker.WatchedPool"} if _watched else {}),
        },
    }
}
