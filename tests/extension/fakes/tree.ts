// The parts of the editor's API that trees are made of.

export class ThemeIcon {
  static readonly File = new ThemeIcon("file");

  constructor(
    readonly id: string,
    readonly color?: { readonly id: string },
  ) {}
}

export enum TreeItemCollapsibleState {
  None,
  Collapsed,
  Expanded,
}

/** A row of a tree, as the extension filled it in. */
export class TreeItem {
  id?: string;
  description?: string;
  tooltip?: unknown;
  iconPath?: unknown;
  contextValue?: string;
  command?: { command: string; arguments?: unknown[] };

  constructor(
    readonly label: string,
    readonly collapsibleState = TreeItemCollapsibleState.None,
  ) {}
}

export class FakeTree {
  message = "";
  description = "";
  visible = true;

  constructor(readonly id: string) {}

  dispose(): void {
    this.message = "disposed";
  }
}
