"""The queue of candidates: propose, accept, edit, reject, undo."""
