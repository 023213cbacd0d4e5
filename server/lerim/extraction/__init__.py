"""From turns to candidates: redaction, gate, pipeline."""
