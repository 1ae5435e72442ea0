"""What a golem learned: episodes, the directive it wrote for itself, and how both are found again.

Memory lies below the safety layer and cannot import it, so nothing remembered can loosen a limit.
"""
