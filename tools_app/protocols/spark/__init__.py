"""SparkLend: a lender that runs on the code of Aave V3."""
