"""The JSON the web page reads."""

import json
from decimal import Decimal


def invoice_json(number: str, customer: str, total: Decimal) -> str:
    """One invoice for the web page; the amount is a string."""
    return json.dumps({"number": number, "customer": customer, "total": str(total)})
