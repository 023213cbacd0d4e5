"""`lerim` and `python -m lerim`: dispatches to a server, the worker or the command line.

Servers and worker start without importing typer and pydantic."""

from __future__ import annotations

import sys

from lerim.streams import open_closed_streams


def main() -> int:
    """Runs the program that the arguments select; returns the exit code."""
    open_closed_streams()
    arguments = sys.argv[1:]
    match arguments[:1]:
        case ["lsp"] if not {"--help", "-h"} & set(arguments):
            from lerim.lsp import main as lsp

            return lsp(arguments[1:])
        case ["worker"] if arguments[1:] == ["extract"]:  # started by a sync
            from lerim.jobs import run_extraction_process

            return run_extraction_process()
        case ["worker"] if not {"--help", "-h"} & set(arguments):
            from lerim.jobs import main as worker

            return worker(arguments[1:])
        case ["mcp"] if len(arguments) == 1 or (len(arguments) == 3 and arguments[1] == "--repo"):
            from lerim.mcp import main as mcp

            return mcp(arguments[2] if len(arguments) == 3 else "")
        case ["meaning"] if len(arguments) == 1:  # started by the sidecar, not by a person
            from lerim.memory import meaning_process

            return meaning_process.main()
        case ["server"] if len(arguments) == 2:  # started by `lerim up`, not by a person
            from lerim.web import main as server

            return server(arguments[1:])
        case ["hook-refresh"] if len(arguments) == 2:  # started by the hook program and the sidecar, not by a person
            from lerim.hook import main as refresh

            return refresh(arguments[1])
        case ["--version"] | ["-V"]:
            from lerim import __version__
            from lerim.cli import output

            try:
                output.print_line(f"lerim {__version__}")
                output.flush_output()
            except output.OutputError as error:
                output.show_error(error, as_json=False)
                return error.exit_code
            return 0
    from lerim.cli import main as cli

    return cli(arguments)


if __name__ == "__main__":
    sys.exit(main())
