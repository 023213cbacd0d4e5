"""Invoices for a small studio."""
