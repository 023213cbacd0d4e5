from decimal import Decimal

from tally.money import invoice_total, line_total


def test_lines_add_up():
    assert invoice_total([(2, Decimal("10.00")), (1, Decimal("5.50"))]) == Decimal("25.50")


def test_half_a_cent_is_rounded_up():
    assert line_total(1, Decimal("2.675")) == Decimal("2.68")
