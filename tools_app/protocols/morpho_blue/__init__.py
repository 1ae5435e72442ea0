"""Morpho Blue: isolated lending markets of one contract, their exact maths, plans, positions and effects."""
