"""One package per prefix that belongs to no protocol."""
