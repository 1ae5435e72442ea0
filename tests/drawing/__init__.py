"""`make test` runs what changed whole, and of a few expensive families a part that the commit's hash draws."""
