import * as vscode from "vscode";
import type { Context } from "./context";
import * as protocol from "./protocol";
import { hitDetail, withoutIcons } from "./sessionwording";
import { agentIcon } from "./views/icons";

interface HitItem extends vscode.QuickPickItem {
  readonly hit: protocol.HitView;
}

const searchLimit = 50;
const typingMs = 150;

/** Lerim: Search Sessions. A live list in the sidecar's order; Enter opens the transcript at the turn. */
export function searchSessions(
  context: Pick<Context, "request" | "extension">,
  everywhere: boolean,
  open: (id: string, turn: string) => Promise<void>,
): void {
  const pick = vscode.window.createQuickPick<HitItem>();
  pick.placeholder = "Search what was said: words, and agent:codex repo:shop branch:main file:src/a.py model:opus since:7d failed:";
  const first = everywhere ? "Search the sessions of this machine" : "Search the sessions of this window's repositories";
  pick.title = first;
  let cancel = new vscode.CancellationTokenSource();
  let timer: NodeJS.Timeout | undefined;
  const look = async (query: string): Promise<void> => {
    cancel.cancel();
    cancel.dispose();
    const own = (cancel = new vscode.CancellationTokenSource());
    if (query.trim() === "") {
      pick.items = [];
      pick.title = first;
      pick.busy = false;
      return;
    }
    pick.busy = true;
    try {
      const { hits, problems } = await context.request(protocol.sessionsSearch, { query, everywhere, limit: searchLimit }, own.token);
      if (own.token.isCancellationRequested) return;
      pick.items = hits.map((hit) => itemOf(hit, context.extension.extensionUri));
      pick.title = problems.length > 0 ? problems.join(" ") : hits.length === 0 ? "Nothing that was said matches" : first;
    } catch (error) {
      if (own.token.isCancellationRequested) return;
      pick.items = [];
      pick.title = `Search failed: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      if (!own.token.isCancellationRequested) pick.busy = false;
    }
  };
  pick.onDidChangeValue((value) => {
    clearTimeout(timer);
    timer = setTimeout(() => void look(value), typingMs);
  });
  pick.onDidAccept(() => {
    const [chosen] = pick.selectedItems;
    if (chosen === undefined) return;
    pick.hide();
    open(chosen.hit.id, chosen.hit.turn).catch((error: unknown) => void vscode.window.showErrorMessage(`Lerim: ${error instanceof Error ? error.message : String(error)}`));
  });
  pick.onDidHide(() => {
    clearTimeout(timer);
    cancel.cancel();
    cancel.dispose();
    pick.dispose();
  });
  pick.show();
}

/** The snippet stands in the description, which is not matched against what is typed, so that the sidecar's ranking stays. */
function itemOf(hit: protocol.HitView, extension: vscode.Uri): HitItem {
  return {
    label: "",
    iconPath: agentIcon(extension, hit.platform),
    description: withoutIcons(hit.snippet),
    detail: withoutIcons(`${hitDetail(hit)} · ${hit.title}`),
    alwaysShow: true,
    hit,
  };
}
