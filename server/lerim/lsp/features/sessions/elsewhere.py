"""Sessions that ran in another folder, for a repository that was moved, renamed or cloned anew. In a file of its own,
because it needs the readers of sessions, which the Sessions view does without."""

from __future__ import annotations

import msgspec

from lerim.jobs import OtherFolder, find_other_folders, register_aliases, with_alias
from lerim.lsp.protocol import OutcomeView, RootParams, UseSessionsParams
from lerim.lsp.window import Sidecar


class OtherFoldersView(msgspec.Struct, frozen=True):
    """The folders to offer, those with the most sessions first."""

    folders: list[OtherFolder]


async def list_other_folders(sidecar: Sidecar, params: RootParams) -> OtherFoldersView:
    """Lists the folders whose sessions look like those of a repository."""
    repo = await sidecar.find_trusted_repo(params.root, "The list of sessions")
    found = await sidecar.run_in_thread(find_other_folders, repo.project, sidecar.home)
    return OtherFoldersView(found)


async def use_sessions(sidecar: Sidecar, params: UseSessionsParams) -> OutcomeView:
    """Assigns the sessions of a folder to a repository for good; the next sync reads them.

    The editor restarts the sidecar afterwards: the repository may have taken over the review of a moved one.
    """
    repo = await sidecar.find_trusted_repo(params.root, "Using other sessions")

    aliased = await sidecar.run_in_thread(with_alias, repo.project, params.folder, sidecar.home)
    await sidecar.run_in_thread(register_aliases, aliased, sidecar.home)
    return OutcomeView(True, "")
