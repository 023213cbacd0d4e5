"""Amounts of money."""

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")


def line_total(quantity: int, unit_price: Decimal) -> Decimal:
    """Quantity times price, rounded half up to the cent."""
    return (quantity * unit_price).quantize(CENT, rounding=ROUND_HALF_UP)


def invoice_total(lines: list[tuple[int, Decimal]]) -> Decimal:
    """The sum of the rounded lines, as the invoice prints it."""
    return sum((line_total(quantity, price) for quantity, price in lines), start=Decimal("0.00"))
