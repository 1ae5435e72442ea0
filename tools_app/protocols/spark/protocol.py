"""SparkLend as the product knows it."""

from __future__ import annotations

from tools_app.protocols.spark.addresses import deployments
from tools_app.standards.aave_like.protocol import describe_lender

PROTOCOL = describe_lender(
    name="spark", label="SparkLend", prefix="spark", listed_as=("sparklend",), deployments=deployments
)
