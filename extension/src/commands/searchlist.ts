import * as vscode from "vscode";

const typingMs = 120;

/** What a query found, and what stands above the list. */
export interface Found<Item> {
  readonly items: readonly Item[];
  readonly title: string | undefined;
}

/**
 * A list that follows what a person types, in the order of the sidecar; Enter opens what is chosen. VS Code moves items whose label
 * matches the typed text to the top: what is matched by the sidecar therefore stands in an item's description, which is not. `hidden` is called when the list goes, also after a choice.
 */
export async function searchList<Item extends vscode.QuickPickItem>(
  placeholder: string,
  find: (query: string, cancel: vscode.CancellationToken) => Promise<Found<Item>>,
  open: (chosen: Item) => Promise<void>,
  hidden: () => void = () => undefined,
): Promise<void> {
  const pick = vscode.window.createQuickPick<Item>();
  pick.placeholder = placeholder;
  let cancel = new vscode.CancellationTokenSource();
  let timer: NodeJS.Timeout | undefined;
  const look = async (query: string): Promise<void> => {
    cancel.cancel();
    cancel.dispose();
    const own = (cancel = new vscode.CancellationTokenSource());
    pick.busy = true;
    try {
      const { items, title } = await find(query, own.token);
      if (own.token.isCancellationRequested) return;
      pick.items = items;
      pick.title = title;
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
    const opened = open(chosen);
    pick.hide();
    opened.catch((error: unknown) => void vscode.window.showErrorMessage(`Lerim: ${error instanceof Error ? error.message : String(error)}`));
  });
  pick.onDidHide(() => {
    clearTimeout(timer);
    cancel.cancel();
    cancel.dispose();
    pick.dispose();
    hidden();
  });
  pick.show();
  await look("");
}
