"""What memory does, one file each."""
