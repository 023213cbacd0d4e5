"""From turns to candidates: gate and pipeline."""
