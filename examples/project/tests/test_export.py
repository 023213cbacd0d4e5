import io

from tally.export import export_month
from tally.store import InvoiceStore


def test_a_month_is_exported_with_its_header(tmp_path):
    store = InvoiceStore(tmp_path / "tally.db")
    store.add("Studio Nord", "2026-06-03", "119.00")
    out = io.StringIO()
    export_month(store, "2026-06", out)
    assert out.getvalue().splitlines() == ["number;customer;issued;total", "2026-0001;Studio Nord;2026-06-03;119.00"]
