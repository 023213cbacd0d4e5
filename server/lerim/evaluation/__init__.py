"""How good extraction is: labelled sessions, what an extractor proposes of them, and the figures."""
