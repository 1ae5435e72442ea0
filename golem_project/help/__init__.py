"""The guides as pages of the admin, and which of their paragraphs explains which page."""
