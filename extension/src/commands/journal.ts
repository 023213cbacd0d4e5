import * as vscode from "vscode";
import { chooseRoot } from "../editor/roots";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";

const scheme = "lerim-journal";
/** The editor of VS Code that shows a markdown document as it is meant to be read. */
const markdownPreview = "vscode.markdown.preview.editor";

/** What the URI of a journal document names: a root and a local day. */
interface Place {
  readonly root: string;
  readonly day: string;
}

/** Shows the journal day by day, each day as a read-only markdown document. */
export class JournalDocuments implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  /** The pages that were opened, by URI. */
  readonly #pages = new Map<string, protocol.JournalPage>();
  /** The root of the page that was in front last. */
  lastRoot: vscode.Uri | undefined;
  readonly #subscriptions = [
    vscode.workspace.registerTextDocumentContentProvider(scheme, this),
    vscode.window.tabGroups.onDidChangeTabs(() => this.#noteRoot(activeUri())),
    vscode.window.tabGroups.onDidChangeTabGroups(() => this.#noteRoot(activeUri())),
    this.#changed,
  ];

  constructor(private readonly context: Pick<Context, "request">) {}

  /** Lerim: Open Journal. Shows a day, by default today. */
  async show(day = ""): Promise<void> {
    const folder = await chooseRoot();
    if (folder !== undefined) await this.#open({ root: folder.uri.toString(), day });
  }

  /** Shows the nearest day before or after the one of `target`, or else of the active tab, that has something to tell. */
  async move(step: "previous" | "next", target?: vscode.Uri): Promise<void> {
    const uri = target ?? activeUri();
    const place = uri === undefined ? undefined : placeOf(uri);
    if (uri === undefined || place === undefined) throw new Error("Open the journal first.");
    const page = await this.context.request(protocol.journal, place); // since it was opened, there may be more days
    if (page[step] === "") {
      void vscode.window.showInformationMessage(step === "next" ? "There is no later day in the journal." : "There is no earlier day in the journal.");
      return;
    }
    await this.#open({ root: place.root, day: page[step] });
    await closeTabs(uri);
  }

  /** Called by VS Code, also for a tab restored from an earlier session. */
  async provideTextDocumentContent(uri: vscode.Uri): Promise<string> {
    const place = placeOf(uri);
    if (place === undefined) return "";
    this.#noteRoot(uri);
    const page = this.#pages.get(uri.toString()) ?? (await this.context.request(protocol.journal, place));
    this.#pages.set(uri.toString(), page);
    return page.markdown;
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }

  #noteRoot(uri: vscode.Uri | undefined): void {
    const place = uri === undefined ? undefined : placeOf(uri);
    if (place !== undefined) this.lastRoot = vscode.Uri.parse(place.root);
  }

  async #open(place: Place): Promise<void> {
    const progress = { location: vscode.ProgressLocation.Window, title: "Lerim: Opening the journal" };
    const page = await vscode.window.withProgress(progress, () => Promise.resolve(this.context.request(protocol.journal, place)));
    const uri = vscode.Uri.from({ scheme, path: `/${page.title}.md`, query: JSON.stringify({ root: place.root, day: page.day }) });
    if (!this.#pages.has(uri.toString())) await closeTabs(uri); // one restored with the window may have failed, and would only come to the front
    this.#pages.set(uri.toString(), page);
    this.#changed.fire(uri); // today's document may be open with an earlier text
    await vscode.commands.executeCommand("vscode.openWith", uri, markdownPreview, { preview: false }); // a link must not replace it
  }
}

/** The document of the active tab, in whichever editor it is shown. */
function activeUri(): vscode.Uri | undefined {
  return uriOf(vscode.window.tabGroups.activeTabGroup.activeTab?.input);
}

async function closeTabs(uri: vscode.Uri): Promise<void> {
  const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs).filter(({ input }) => uriOf(input)?.toString() === uri.toString());
  await vscode.window.tabGroups.close(tabs, true);
}

/** The document of a tab. */
function uriOf(input: unknown): vscode.Uri | undefined {
  return typeof input === "object" && input !== null && "uri" in input && input.uri instanceof vscode.Uri ? input.uri : undefined;
}

function placeOf(uri: vscode.Uri): Place | undefined {
  if (uri.scheme !== scheme) return undefined;
  try {
    const { root, day } = JSON.parse(uri.query) as Partial<Record<keyof Place, unknown>>;
    return typeof root === "string" && typeof day === "string" ? { root, day } : undefined;
  } catch {
    return undefined;
  }
}
