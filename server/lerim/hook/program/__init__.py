"""The program that coding agents run at their events: `~/.lerim/bin/hook` and the modules it imports.

These files are copied to `~/.lerim/bin/` and run there by a Python that sees nothing of Lerim, because importing Lerim
would cost more than the whole answer may take. So they import only the standard library, and only modules that load in
a few milliseconds: no dataclasses, typing, pathlib or subprocess.
"""
