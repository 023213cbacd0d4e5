"""The program that coding agents run at their events: `~/.lerim/bin/hook` and the modules it imports.

These files are copied to `~/.lerim/bin/` and run there by a Python that cannot see the rest of Lerim, because
importing Lerim would take longer than the whole answer may take. So they import only the standard library, and of
that only modules that load in a few milliseconds: no dataclasses, typing, pathlib or subprocess.
"""
