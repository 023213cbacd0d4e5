"""The monthly export for the accountant."""

import csv
import sys

from tally.store import InvoiceStore


def export_month(store: InvoiceStore, month, out=sys.stdout):
    writer = csv.writer(out, delimiter=";")
    writer.writerow(["number", "customer", "issued", "total"])
    writer.writerows(store.of_month(month))
