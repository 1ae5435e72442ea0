"""The words every app uses. Imports nothing of ours."""
