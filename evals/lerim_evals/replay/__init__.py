"""Replays the sessions of real projects in date order, to see which repeats memories would have prevented."""
