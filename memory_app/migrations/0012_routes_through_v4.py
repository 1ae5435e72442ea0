"""A learned route may go through V4 pools."""

from __future__ import annotations

from django.db import migrations, models

_POOL = "(v2|v[34]:[0-9]{1,6}|v4:0x[0-9a-fA-F]{64})"


class Migration(migrations.Migration):
    dependencies = (("memory_app", "0011_origin_of_imports"),)
    operations = (
        migrations.RemoveConstraint(model_name="insight", name="insight_route_is_a_route"),
        migrations.AddConstraint(
            model_name="insight",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    models.Q(
                        ("factor_bps", 10000),
                        ("parameter", "route"),
                        (
                            "route__regex",
                            f"^{_POOL}(>(0x[0-9a-fA-F]{{40}}|[A-Za-z0-9.+\\-]{{1,20}})>{_POOL})?(@[0-9]{{1,4}})?$",
                        ),
                        models.Q(("route_from", ""), _negated=True),
                    ),
                    models.Q(models.Q(("parameter", "route"), _negated=True), ("route", ""), ("route_from", "")),
                    _connector="OR",
                ),
                name="insight_route_is_a_route",
            ),
        ),
    )
