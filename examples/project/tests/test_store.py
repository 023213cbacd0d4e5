from tally.store import InvoiceStore


def test_numbers_start_over_every_year(tmp_path):
    store = InvoiceStore(tmp_path / "tally.db")
    numbers = [store.add("Studio Nord", day, "10.00") for day in ("2026-12-30", "2026-12-31", "2027-01-02")]
    assert numbers == ["2026-0001", "2026-0002", "2027-0001"]
