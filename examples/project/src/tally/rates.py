"""Exchange rates, one table a day, kept in SQLite."""

from decimal import Decimal

SCHEMA = "create table if not exists rates (day text, currency text, rate text, primary key (day, currency))"


class RateCache:
    def __init__(self, db):
        self.db = db
        db.execute(SCHEMA)

    def put(self, day: str, currency: str, rate: Decimal) -> None:
        with self.db:
            self.db.execute("insert or replace into rates values (?, ?, ?)", (day, currency, str(rate)))

    def rate(self, day: str, currency: str) -> Decimal:
        """The rate of a day, or of the latest day before it that has one."""
        row = self.db.execute(
            "select rate from rates where currency = ? and day <= ? order by day desc limit 1", (currency, day)
        ).fetchone()
        if row is None:
            raise LookupError(f"no rate for {currency} on or before {day}")
        return Decimal(row[0])
