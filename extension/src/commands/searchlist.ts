import { errorText } from "../editor/errors";
import * as vscode from "vscode";
import { reportError } from "../editor/notifications";

const searchDelayMs = 120;

/** The items a query found, and the title above the list. */
export interface SearchResults<Item> {
  readonly items: readonly Item[];
  readonly title: string | undefined;
}

/**
 * A quick pick that searches while the person types and keeps the sidecar's order; Enter opens the chosen item. VS Code moves items
 * whose label matches the typed text to the top, so the matched text belongs in an item's description, which does not affect the order.
 * `onHidden` is called when the list closes, also after a choice. `typed` is the query it opens with.
 */
export async function searchList<Item extends vscode.QuickPickItem>(
  placeholder: string,
  find: (query: string, cancel: vscode.CancellationToken) => Promise<SearchResults<Item>>,
  open: (chosen: Item) => Promise<void>,
  onHidden: () => void = () => undefined,
  typed = "",
): Promise<void> {
  const pick = vscode.window.createQuickPick<Item>();
  pick.placeholder = placeholder;
  pick.matchOnDescription = true; // highlights what was typed
  pick.value = typed;
  let cancel = new vscode.CancellationTokenSource();
  let timer: NodeJS.Timeout | undefined;
  const runSearch = async (query: string): Promise<void> => {
    cancel.cancel();
    cancel.dispose();
    const source = (cancel = new vscode.CancellationTokenSource());
    pick.busy = true;
    try {
      const { items, title } = await find(query, source.token);
      if (source.token.isCancellationRequested) return;
      pick.items = items;
      pick.title = title;
    } catch (error) {
      if (source.token.isCancellationRequested) return;
      pick.items = [];
      pick.title = `Search failed: ${errorText(error)}`;
    } finally {
      if (!source.token.isCancellationRequested) pick.busy = false;
    }
  };
  pick.onDidChangeValue((value) => {
    clearTimeout(timer);
    timer = setTimeout(() => void runSearch(value), searchDelayMs);
  });
  pick.onDidAccept(() => {
    const [chosen] = pick.selectedItems;
    if (chosen === undefined) return;
    const opened = open(chosen);
    pick.hide();
    opened.catch(reportError);
  });
  pick.onDidHide(() => {
    clearTimeout(timer);
    cancel.cancel();
    cancel.dispose();
    pick.dispose();
    onHidden();
  });
  pick.show();
  await runSearch(typed);
}
