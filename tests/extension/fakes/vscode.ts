// The editor's API as far as the extension uses it, working in memory. A test reads what was shown from `shown` and answers through `answers`.
import { CancellationTokenSource, Disposable, EventEmitter } from "./events";
import { commentThreads } from "./comments";
import { offer } from "./models";
import { FakePanel } from "./panels";
import { replacePreview, tabGroups } from "./tabs";
import { FakeTree } from "./tree";

export { comments, CommentMode, CommentThreadCollapsibleState } from "./comments";
export { chat, LanguageModelTextPart, LanguageModelToolResult, MarkdownString } from "./chat";
export * from "./events";
export { FakePanel } from "./panels";
export { LanguageModelChatMessage, LanguageModelError, lm } from "./models";
export { TabInputText, TabInputTextDiff, TabInputWebview } from "./tabs";
export * from "./tree";

export class Uri {
  private constructor(
    readonly scheme: string,
    readonly path: string,
    readonly query = "",
  ) {}

  static file(path: string): Uri {
    return new Uri("file", path);
  }

  static parse(text: string): Uri {
    const url = new URL(text);
    return new Uri(url.protocol.slice(0, -1), decodeURIComponent(url.pathname), decodeURIComponent(url.search.slice(1)));
  }

  static from(parts: { scheme: string; path: string; query?: string }): Uri {
    return new Uri(parts.scheme, parts.path, parts.query ?? "");
  }

  static joinPath(base: Uri, ...parts: string[]): Uri {
    return new Uri(base.scheme, [base.path.replace(/\/$/, ""), ...parts].join("/"), base.query);
  }

  get fsPath(): string {
    return this.path;
  }

  with({ path }: { path: string }): Uri {
    return new Uri(this.scheme, path, this.query);
  }

  toString(): string {
    const query = this.query === "" ? "" : `?${encodeURIComponent(this.query)}`;
    return `${this.scheme}://${encodeURI(this.path)}${query}`;
  }
}

export class Range {
  constructor(
    readonly startLine: number,
    readonly startCharacter: number,
    readonly endLine: number,
    readonly endCharacter: number,
  ) {}

  get start(): { readonly line: number; readonly character: number } {
    return { line: this.startLine, character: this.startCharacter };
  }

  get end(): { readonly line: number; readonly character: number } {
    return { line: this.endLine, character: this.endCharacter };
  }

  contains({ startLine, endLine }: Range): boolean {
    return this.startLine <= startLine && endLine <= this.endLine;
  }
}

export const SymbolKind = { Module: 1, Namespace: 2, Class: 4, Method: 5, Property: 6, Constructor: 8, Enum: 9, Interface: 10, Function: 11, Variable: 12, Constant: 13, Struct: 22 };

export class ThemeColor {
  constructor(readonly id: string) {}
}

export const ProgressLocation = { Notification: 15 };
export const StatusBarAlignment = { Right: 2 };
export const ViewColumn = { Active: -1 };
export const ConfigurationTarget = { Global: 1 };
export const QuickPickItemKind = { Separator: -1 };
export const TextEditorRevealType = { AtTop: 3 };

/** What the person saw, in order. */
export const shown = {
  messages: [] as { severity: "info" | "warning" | "error"; text: string; modal: boolean; choices: string[]; detail?: string }[],
  progress: [] as string[],
  documents: [] as { uri: Uri; line: number | undefined; preview?: boolean }[],
  commands: [] as { id: string; args: unknown[] }[],
  copied: [] as string[],
  terminals: [] as { name: string; lines: string[] }[],
  panels: [] as FakePanel[],
  quickPicks: [] as FakeQuickPick[],
  lists: [] as { title: string; placeHolder: string; items: readonly FakeItem[] }[],
  inputs: [] as { title: string; prompt: string; password: boolean; value: string; refused: string | undefined }[],
  /** Settings that were written, in order. */
  written: [] as { name: string; value: unknown; target: unknown }[],
  statusItems: [] as FakeStatusItem[],
  trees: [] as FakeTree[],
};

/** What the person answers: the next choices of messages and lists; nothing left means Escape. */
export const answers = {
  choices: [] as string[],
  /** A position, or the beginning of a label without its icon. */
  picks: [] as (number | string)[],
  /** Beginnings of the labels chosen in the lists of which several can be chosen; nothing left means Escape. */
  many: [] as string[][],
  /** What is typed into the boxes to come; nothing left means Escape. */
  inputs: [] as string[],
  /** Paths picked in the dialogs to come; nothing left means Escape. */
  files: [] as string[],
  /** Paths of files that cannot be opened. */
  broken: [] as string[],
  /** What the editor's symbol provider says next; nothing left means that there is none. */
  symbols: [] as unknown[],
};

/** The running progress notification's Cancel. */
export const cancelProgress = { isShown: false, press: (): void => undefined };

/** The person's settings, by their names without `lerim.`. */
export const configured = new Map<string, unknown>();

export const providers = new Map<string, Provider>();
const granted = new EventEmitter<void>();
const folders = new EventEmitter<void>();
const filesCreated = new EventEmitter<Uri>();
const editorsChanged = new EventEmitter<void>();
const documentClosed = new EventEmitter<{ uri: Uri }>();

/** A document of a provider. */
export interface FakeDocument {
  readonly uri: Uri;
  readonly lineCount: number;
  getText(): string;
}

interface Provider {
  provideTextDocumentContent(uri: Uri): Promise<string> | string;
}

export function reset(): void {
  for (const list of [...Object.values(shown), ...Object.values(answers)]) list.length = 0;
  providers.clear();
  configured.clear();
  differencesShown.length = 0;
  offer.models = [];
  workspace.isTrusted = true;
  workspace.workspaceFolders = [{ uri: Uri.file("/repo"), name: "repo", index: 0 }];
  workspace.textDocuments = [];
  Object.assign(window, { activeTextEditor: undefined, visibleTextEditors: [] });
  tabGroups.all = [];
  tabGroups.activeTabGroup.activeTab = undefined;
  commentThreads.length = 0;
  cancelProgress.isShown = false;
}

export interface FakeItem {
  readonly label: string;
  readonly description?: string;
  readonly detail?: string;
  readonly alwaysShow?: boolean;
  readonly kind?: number;
}

/** An item that can be shown and hidden. */
class Hideable {
  visible = false;

  show(): void {
    this.visible = true;
  }

  hide(): void {
    this.visible = false;
  }

  dispose(): void {
    this.visible = false;
  }
}

export class FakeQuickPick extends Hideable {
  items: readonly FakeItem[] = [];
  selectedItems: readonly FakeItem[] = [];
  value = "";
  placeholder = "";
  title: string | undefined;
  busy = false;
  readonly #changed = new EventEmitter<string>();
  readonly #accepted = new EventEmitter<void>();
  readonly #hidden = new EventEmitter<void>();
  readonly onDidChangeValue = this.#changed.event;
  readonly onDidAccept = this.#accepted.event;
  readonly onDidHide = this.#hidden.event;
  type(value: string): void {
    this.#changed.fire(value);
  }

  accept(position: number): void {
    this.selectedItems = this.items.slice(position, position + 1);
    this.#accepted.fire();
  }

  override hide(): void {
    super.hide();
    this.#hidden.fire();
  }
}

export class FakeStatusItem extends Hideable {
  name = "";
  text = "";
  tooltip = "";
  command = "";
  backgroundColor: ThemeColor | undefined;
  accessibilityInformation: { label: string } | undefined;
}

function added<T>(list: T[], item: T): T {
  list.push(item);
  return item;
}

function message(severity: "info" | "warning" | "error") {
  return (text: string, ...rest: (string | { modal: boolean; detail?: string })[]): Promise<string | undefined> => {
    const choices = rest.filter((item) => typeof item === "string");
    const options = rest.find((item) => typeof item === "object");
    shown.messages.push({ severity, text, modal: options?.modal === true, choices, ...(options?.detail === undefined ? {} : { detail: options.detail }) });
    const answer = choices.length > 0 ? answers.choices.shift() : undefined;
    return Promise.resolve(answer);
  };
}

export const window = {
  activeTextEditor: undefined as { document: { uri: Uri; getText?: () => string }; selection?: unknown } | undefined,
  setStatusBarMessage: (text: string) => void shown.progress.push(text),
  showInformationMessage: message("info"),
  showWarningMessage: message("warning"),
  showErrorMessage: message("error"),
  visibleTextEditors: [] as { document: FakeDocument }[],
  onDidChangeVisibleTextEditors: editorsChanged.event,
  createOutputChannel: () => ({ info: () => undefined, warn: () => undefined, error: () => undefined, dispose: () => undefined }),
  createStatusBarItem: () => added(shown.statusItems, new FakeStatusItem()),
  createWebviewPanel: (_viewType: string, title: string) => added(shown.panels, new FakePanel(title)),
  ...{ registerCustomEditorProvider: () => new Disposable(() => undefined), registerWebviewPanelSerializer: () => new Disposable(() => undefined) },
  createTreeView: (id: string) => added(shown.trees, new FakeTree(id)),
  showOpenDialog: (): Promise<Uri[] | undefined> => {
    const path = answers.files.shift();
    return Promise.resolve(path === undefined ? undefined : [Uri.file(path)]);
  },
  createTerminal: ({ name }: { name: string }) => {
    const { lines } = added(shown.terminals, { name, lines: [] as string[] });
    return { show: () => undefined, sendText: (line: string) => void lines.push(line) };
  },
  createQuickPick: () => added(shown.quickPicks, new FakeQuickPick()),
  showQuickPick: (items: readonly (FakeItem | string)[], options?: { title?: string; placeHolder?: string; canPickMany?: boolean }): Promise<FakeItem | string | (FakeItem | string)[] | undefined> => {
    shown.lists.push({ title: options?.title ?? "", placeHolder: options?.placeHolder ?? "", items: items.map((item) => (typeof item === "string" ? { label: item } : item)) });
    if (options?.canPickMany === true) {
      const labels = answers.many.shift();
      return Promise.resolve(labels && items.filter((item) => labels.includes(typeof item === "string" ? item : item.label)));
    }
    const picked = answers.picks.shift();
    if (typeof picked !== "string") return Promise.resolve(picked === undefined ? undefined : items[picked]);
    return Promise.resolve(items.find((item) => (typeof item === "string" ? item : item.label).replace(/^\$\([\w-]+\) /, "").startsWith(picked)));
  },
  /** What is typed and refused is not taken: the person leaves the box. */
  showInputBox: (options: { title: string; prompt?: string; password?: boolean; value?: string; validateInput?: (text: string) => string | undefined }): Promise<string | undefined> => {
    const typed = answers.inputs.shift();
    const refused = typed === undefined ? undefined : options.validateInput?.(typed);
    shown.inputs.push({ title: options.title, prompt: options.prompt ?? "", password: options.password ?? false, value: options.value ?? "", refused });
    return Promise.resolve(refused === undefined ? typed : undefined);
  },
  tabGroups,
  withProgress: async <T>(options: { title: string }, work: (progress: { report(step: { message?: string }): void }, token: CancellationTokenSource["token"]) => Promise<T>): Promise<T> => {
    const cancel = new CancellationTokenSource();
    Object.assign(cancelProgress, { isShown: true, press: () => cancel.cancel() });
    return work({ report: (step) => shown.progress.push(`${options.title}: ${step.message ?? ""}`) }, cancel.token);
  },
  showTextDocument: (target: Uri | { uri: Uri }, options?: { selection?: Range; preview?: boolean }) => {
    const uri = target instanceof Uri ? target : target.uri;
    if (answers.broken.includes(uri.path)) return Promise.reject(new Error(`cannot open ${uri.path}`));
    if (options?.preview === true) replacePreview(uri);
    shown.documents.push({ uri, line: options?.selection?.startLine, ...(options?.preview === false ? { preview: false } : {}) });
    return Promise.resolve({ revealRange: () => undefined });
  },
};

export const workspace = {
  isTrusted: true,
  getConfiguration: (section: string) => ({
    get: (name: string, fallback?: unknown) => configured.get(name) ?? fallback,
    update: (name: string, value: unknown, target: unknown) => Promise.resolve(void shown.written.push({ name: `${section}.${name}`, value, target })),
  }),
  workspaceFolders: [{ uri: Uri.file("/repo"), name: "repo", index: 0 }],
  onDidGrantWorkspaceTrust: granted.event,
  onDidChangeWorkspaceFolders: folders.event,
  createFileSystemWatcher: () => ({ onDidCreate: filesCreated.event, dispose: () => undefined }),
  textDocuments: [] as FakeDocument[],
  getWorkspaceFolder: (uri: Uri) => workspace.workspaceFolders.find((folder) => uri.path.startsWith(`${folder.uri.path}/`)),
  onDidCloseTextDocument: documentClosed.event,
  registerTextDocumentContentProvider: (scheme: string, provider: Provider) => {
    providers.set(scheme, provider);
    return new Disposable(() => providers.delete(scheme));
  },
  openTextDocument: async (uri: Uri) => {
    const open = workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
    if (open !== undefined) return open;
    const text = (await providers.get(uri.scheme)?.provideTextDocumentContent(uri)) ?? "";
    const document = { uri, lineCount: text.split("\n").length, getText: () => text };
    workspace.textDocuments.push(document);
    return document;
  },
};

export const commands = {
  executeCommand: (id: string, ...args: unknown[]): Promise<unknown> => {
    shown.commands.push({ id, args });
    keepDifferences(id, args);
    return Promise.resolve(id === "vscode.executeDocumentSymbolProvider" ? answers.symbols.shift() : undefined);
  },
};

const differencesShown: string[][] = [];

/** The texts of the differences that were shown, each with what was before and after. */
export function differences(): string[][] {
  return differencesShown;
}

/** What an editor of differences reads when it is opened. */
function keepDifferences(id: string, args: readonly unknown[]): void {
  const pairs = id === "vscode.diff" ? [args] : id === "vscode.changes" ? (args[1] as unknown[][]).map(([, before, after]) => [before, after]) : [];
  for (const [before, after] of pairs) differencesShown.push([readProvided(before as Uri), readProvided(after as Uri)]);
}

function readProvided(uri: Uri): string {
  const text = providers.get(uri.scheme)?.provideTextDocumentContent(uri);
  return typeof text === "string" ? text : "";
}

interface FakeDiagnostic {
  readonly code: string;
  readonly range: Range;
}

const diagnosed = new Map<string, readonly FakeDiagnostic[]>();
const diagnosticsChanged = new EventEmitter<void>();
export const languages = { getDiagnostics: (uri: Uri) => diagnosed.get(uri.path) ?? [], onDidChangeDiagnostics: diagnosticsChanged.event };

export const env = { clipboard: { writeText: (text: string) => Promise.resolve(void shown.copied.push(text)) } };

/** The person changes the window's folders, or trusts the workspace. */
export const act = {
  folders: (...paths: string[]) => {
    workspace.workspaceFolders = paths.map((path, index) => ({ uri: Uri.file(path), name: path.slice(1), index }));
    folders.fire();
  },
  create: (path: string) => filesCreated.fire(Uri.file(path)),
  /** The files that can be seen; those no longer named are closed. */
  look: async (...paths: string[]) => {
    const closed = workspace.textDocuments.filter(({ uri }) => !paths.includes(uri.path));
    workspace.textDocuments = workspace.textDocuments.filter(({ uri }) => paths.includes(uri.path));
    const documents = await Promise.all(paths.map((path) => workspace.openTextDocument(Uri.file(path))));
    window.visibleTextEditors = documents.map((document) => ({ document }));
    for (const { uri } of closed) documentClosed.fire({ uri });
    editorsChanged.fire();
  },
  diagnose: (path: string, ...found: { code: string; line: number }[]) => {
    diagnosed.set(path, found.map(({ code, line }) => ({ code, range: new Range(line, 0, line, 1) })));
    diagnosticsChanged.fire();
  },
  trust: () => {
    workspace.isTrusted = true;
    granted.fire();
  },
};
