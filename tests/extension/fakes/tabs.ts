// The editor's tabs.
import { EventEmitter } from "./events";
import type { Uri } from "./vscode";

export interface FakeTab {
  readonly input: unknown;
  readonly isActive: boolean;
  readonly isDirty: boolean;
  readonly isPreview: boolean;
  readonly group: { readonly viewColumn: number; readonly isActive: boolean };
}

export class TabInputText {
  constructor(readonly uri: Uri) {}
}

export class TabInputWebview {
  constructor(readonly viewType: string) {}
}

export class TabInputTextDiff {
  constructor(
    readonly original: Uri,
    readonly modified: Uri,
  ) {}
}

const tabsChanged = new EventEmitter<void>();

export const tabGroups = {
  onDidChangeTabs: tabsChanged.event,
  onDidChangeTabGroups: tabsChanged.event,
  all: [] as { viewColumn: number; tabs: FakeTab[] }[],
  activeTabGroup: { activeTab: undefined as Partial<FakeTab> | undefined },
  close: (closed: FakeTab | readonly FakeTab[]) => {
    const all = new Set([closed].flat());
    const open = tabGroups.all.flatMap((group) => group.tabs);
    if ([...all].some((tab) => !open.includes(tab))) return Promise.reject(new Error("Tab close: Invalid tab not found!"));
    for (const group of tabGroups.all) group.tabs = group.tabs.filter((tab) => !all.has(tab));
    return Promise.resolve(true);
  },
};

/** A file that is shown as a preview takes the place of the one that is. */
export function replacePreview(uri: Uri): void {
  for (const group of tabGroups.all) group.tabs = group.tabs.map((tab) => (tab.isPreview && tab.isActive ? { ...tab, input: new TabInputText(uri) } : tab));
}

/** Brings the tab of a document to the front. */
export function activateTab(uri: Uri): void {
  tabGroups.activeTabGroup.activeTab = { input: { uri }, isPreview: true };
  tabsChanged.fire();
}

/** Opens the walkthrough in a preview tab, which the person sees, or another page of the editor. Returns what comes back to it. */
export function openWalkthroughTab(): () => void {
  const tab: FakeTab = { input: undefined, isActive: true, isDirty: false, isPreview: true, group: { viewColumn: 1, isActive: true } };
  const comeBack = (): void => {
    tabGroups.all = [{ viewColumn: 1, tabs: [tab] }];
    tabGroups.activeTabGroup.activeTab = tab;
    tabsChanged.fire();
  };
  comeBack();
  return comeBack;
}

/** Opens a file in a tab. */
export function openTab(uri: Uri, tab: Partial<FakeTab> = {}): void {
  const group = tabGroups.all[0] ?? { viewColumn: 1, tabs: [] };
  tabGroups.all = [group];
  group.tabs.push({ input: new TabInputText(uri), isActive: false, isDirty: false, isPreview: false, group: { viewColumn: 1, isActive: true }, ...tab });
}
