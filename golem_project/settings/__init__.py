"""Settings, one file per concern; `local` is the default, `production` and `test` change what must differ."""
