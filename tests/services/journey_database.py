"""An organisation's database for a journey: prints its address, or nothing where PostgreSQL is not installed, and ends
with its server when its input ends."""

from __future__ import annotations

import sys

from postgres import PostgresServer, find_programs

if __name__ == "__main__" and (programs := find_programs()) is not None:
    sys.stdout.write(PostgresServer(programs).make_database().replace("admin@", "platform_worker@") + "\n")
    sys.stdout.flush()
    sys.stdin.read()
