import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";

/** How long VS Code's symbol provider may take before lenses are shown, and files opened, without it. */
const symbolTimeoutMs = 1000;

/** What a memory can be about; a variable within a function is too small. */
const namedKinds: ReadonlySet<vscode.SymbolKind> = new Set([
  ...[vscode.SymbolKind.Class, vscode.SymbolKind.Interface, vscode.SymbolKind.Struct, vscode.SymbolKind.Enum, vscode.SymbolKind.Namespace, vscode.SymbolKind.Module],
  ...[vscode.SymbolKind.Function, vscode.SymbolKind.Method, vscode.SymbolKind.Constructor, vscode.SymbolKind.Property, vscode.SymbolKind.Constant],
]);

export type Symbols = readonly (vscode.DocumentSymbol | vscode.SymbolInformation)[];

/**
 * Middleware that moves a symbol's lens to where VS Code finds the symbol. If VS Code knows the document's symbols but this one is
 * missing or ambiguous, the lens is dropped, since the file's own lens counts its memories as well. The line found by the sidecar is
 * only used for documents without symbols in VS Code. Where memories name a symbol both `save` and `Store.save`, the lens of `save` counts
 * them all, and stands alone.
 */
export function placeLensesOnSymbols(): Middleware {
  const documentsWithSymbols = new WeakSet<vscode.TextDocument>();
  return {
    provideCodeLenses: async (document, token, next) => {
      const lenses = (await next(document, token)) ?? [];
      if (!lenses.some((lens) => lensSubject(lens) !== undefined)) return lenses;
      const symbols = (await symbolsOf(document.uri)) ?? [];
      if (symbols.length > 0) documentsWithSymbols.add(document);
      const placed = lenses.flatMap((lens) => {
        const subject = lensSubject(lens);
        if (subject === undefined) return [lens];
        if (!documentsWithSymbols.has(document)) return subject.found ? [lens] : [];
        const range = findSymbolRange(symbols, subject.symbol);
        if (range === undefined) return [];
        lens.range = range;
        return [lens];
      });
      const lineOf = (lens: vscode.CodeLens, symbol: string): string => `${lens.range.start.line} ${symbol}`;
      const taken = new Set(placed.map((lens) => lineOf(lens, lensSubject(lens)?.symbol ?? "")));
      return placed.filter((lens) => {
        const { symbol = "" } = lensSubject(lens) ?? {};
        const last = symbol.slice(symbol.lastIndexOf(".") + 1);
        return last === symbol || !taken.has(lineOf(lens, last));
      });
    },
  };
}

/** Where the symbol `name` (`save`, `Store.save`) is defined, if exactly one has that name. */
export function findSymbolRange(symbols: Symbols, name: string): vscode.Range | undefined {
  const nameParts = name.replaceAll("::", ".").split(".");
  const matches = [...walkSymbols(symbols, [])].filter(({ path }) => nameParts.every((part, at) => path.at(at - nameParts.length) === part));
  return matches.length === 1 ? matches[0]?.range : undefined;
}

/** The innermost symbol that contains a range, with its owners: `Store.save`; undefined if none does. */
export function findEnclosingSymbol(symbols: Symbols, range: vscode.Range): string | undefined {
  const path: string[] = [];
  for (let level = symbols; ; ) {
    const found = level.find((symbol): symbol is vscode.DocumentSymbol => "children" in symbol && symbol.range.contains(range));
    if (found === undefined || !namedKinds.has(found.kind)) return path.length === 0 ? undefined : path.join(".");
    path.push(plainName(found.name));
    level = found.children;
  }
}

function* walkSymbols(symbols: Symbols, parents: readonly string[]): Generator<{ readonly path: readonly string[]; readonly range: vscode.Range }> {
  for (const symbol of symbols) {
    const path = [...parents, plainName(symbol.name)];
    if ("location" in symbol) {
      yield { path: symbol.containerName === "" ? path : [symbol.containerName, ...path], range: symbol.location.range };
    } else {
      yield { path, range: symbol.selectionRange };
      yield* walkSymbols(symbol.children, path);
    }
  }
}

/** Some providers name a function with its parameters, or a method with its receiver. */
function plainName(name: string): string {
  return name.replace(/^\([^()]*\)\.?/, "").replace(/\(.*$/s, "") || name;
}

/** The symbol that a lens is for, and whether the sidecar found its line: one that it did not find is on the first line, where no symbol has a lens. */
function lensSubject({ command, range }: vscode.CodeLens): { readonly symbol: string; readonly found: boolean } | undefined {
  const symbol: unknown = command?.arguments?.[1];
  return typeof symbol === "string" ? { symbol, found: range.start.line > 0 } : undefined;
}

/** The symbols of a document, as the editor's providers know them; undefined if they fail or take too long. */
export async function symbolsOf(uri: vscode.Uri): Promise<Symbols | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), symbolTimeoutMs);
  });
  const loaded = Promise.resolve(vscode.commands.executeCommand<Symbols | undefined>("vscode.executeDocumentSymbolProvider", uri)).catch(() => undefined);
  return Promise.race([loaded, timeout]).finally(() => clearTimeout(timer));
}
