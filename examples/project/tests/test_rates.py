import sqlite3
from decimal import Decimal

import pytest

from tally.rates import RateCache


def test_a_weekend_takes_the_rate_of_friday():
    cache = RateCache(sqlite3.connect(":memory:"))
    cache.put("2026-07-03", "USD", Decimal("1.0871"))
    assert cache.rate("2026-07-05", "USD") == Decimal("1.0871")


def test_an_unknown_currency_is_an_error():
    with pytest.raises(LookupError):
        RateCache(sqlite3.connect(":memory:")).rate("2026-07-05", "CHF")
