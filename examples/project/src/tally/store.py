"""Invoices in SQLite."""

import sqlite3

SCHEMA = """
create table if not exists invoices (number text primary key, customer text not null, issued text not null, total text not null);
create table if not exists sequences (year integer primary key, last integer not null);
"""


class InvoiceStore:
    def __init__(self, path):
        self.db = sqlite3.connect(path)
        self.db.executescript(SCHEMA)

    def next_number(self, year):
        """The next invoice number of a year; call it inside the transaction that writes the invoice."""
        row = self.db.execute(
            "insert into sequences values (?, 1) on conflict (year) do update set last = last + 1 returning last", (year,)
        ).fetchone()
        return f"{year}-{row[0]:04d}"

    def add(self, customer, issued, total):
        with self.db:
            number = self.next_number(int(issued[:4]))
            self.db.execute("insert into invoices values (?, ?, ?, ?)", (number, customer, issued, str(total)))
        return number

    def of_month(self, month):
        return self.db.execute("select * from invoices where issued like ? order by number", (month + "%",)).fetchall()
