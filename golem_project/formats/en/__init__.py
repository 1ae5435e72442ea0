"""English, the one language of this product."""
