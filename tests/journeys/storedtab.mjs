// Which tab the editor brings to the front when its window is reloaded.
import { until } from "./until.mjs";

/** Waits until the editor has stored that the tab of this title is in front: it does so some seconds late, and a window that is reloaded
 * before then comes back as it was earlier. */
export function untilTabStored(page, title) {
  return until(`the editor has stored that the tab ${title} is in front`, async () => (await page.evaluate(storedTitle))?.startsWith(title));
}

/** Runs in the page: the title of the tab that the editor would bring to the front in the next window of this folder, where it is one with a title. */
async function storedTitle() {
  const answer = (request) => new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  for (const { name } of await indexedDB.databases()) {
    if (!/^vscode-web-state-db-(?!global)/.test(name)) continue;
    const database = await answer(indexedDB.open(name));
    try {
      const stored = await answer(database.transaction("ItemTable").objectStore("ItemTable").get("memento/workbench.parts.editor"));
      const leaf = JSON.parse(stored ?? "{}")["editorpart.state"]?.serializedGrid.root.data[0].data;
      if (leaf !== undefined) return JSON.parse(leaf.editors[leaf.mru[0]].value).title;
    } finally {
      database.close();
    }
  }
  return undefined;
}
