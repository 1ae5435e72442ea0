"""Work that hangs on the pulse but is not part of a tick: memory, monitoring, tidying."""
