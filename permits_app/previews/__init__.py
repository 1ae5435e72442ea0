"""What a preview puts together on the way from an agent's wish to a permit, before anything is reserved."""
