import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";

/** How long VS Code's symbol provider may take before lenses are shown without it. */
const patienceMs = 1000;

type Symbols = readonly (vscode.DocumentSymbol | vscode.SymbolInformation)[];

/**
 * A lens about a symbol stands where VS Code sees that symbol. Where VS Code knows the document's symbols, a lens whose symbol is
 * not among them, or may be one of several, is left to the file's own lens, which counts its memories as well; the sidecar's
 * search of lines is for documents VS Code knows no symbols of.
 */
export function lensesOnSymbols(): Middleware {
  const known = new WeakSet<vscode.TextDocument>();
  return {
    provideCodeLenses: async (document, token, next) => {
      const lenses = (await next(document, token)) ?? [];
      if (!lenses.some((lens) => about(lens) !== undefined)) return lenses;
      const symbols = (await symbolsOf(document.uri)) ?? [];
      if (symbols.length > 0) known.add(document);
      return lenses.flatMap((lens) => {
        const subject = about(lens);
        if (subject === undefined) return [lens];
        if (!known.has(document)) return subject.found ? [lens] : [];
        const range = placeOf(symbols, subject.symbol);
        if (range === undefined) return [];
        lens.range = range;
        return [lens];
      });
    },
  };
}

/** Where the symbol `name` (`save`, `Store.save`) is defined, if exactly one is called so. */
export function placeOf(symbols: Symbols, name: string): vscode.Range | undefined {
  const wanted = name.replaceAll("::", ".").split(".");
  const found = [...walk(symbols, [])].filter(({ path }) => wanted.every((part, at) => path.at(at - wanted.length) === part));
  return found.length === 1 ? found[0]?.range : undefined;
}

function* walk(symbols: Symbols, above: readonly string[]): Generator<{ readonly path: readonly string[]; readonly range: vscode.Range }> {
  for (const symbol of symbols) {
    // some providers name a function with its parameters, or a method with its receiver
    const path = [...above, symbol.name.replace(/^\([^()]*\)\.?/, "").replace(/\(.*$/s, "") || symbol.name];
    if ("location" in symbol) {
      yield { path: symbol.containerName === "" ? path : [symbol.containerName, ...path], range: symbol.location.range };
    } else {
      yield { path, range: symbol.selectionRange };
      yield* walk(symbol.children, path);
    }
  }
}

function about(lens: vscode.CodeLens): { readonly symbol: string; readonly found: boolean } | undefined {
  const data: unknown = "data" in lens ? lens.data : undefined;
  if (typeof data !== "object" || data === null || !("symbol" in data) || typeof data.symbol !== "string") return undefined;
  return { symbol: data.symbol, found: "found" in data && data.found === true };
}

async function symbolsOf(uri: vscode.Uri): Promise<Symbols | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), patienceMs);
  });
  const asked = Promise.resolve(vscode.commands.executeCommand<Symbols | undefined>("vscode.executeDocumentSymbolProvider", uri)).catch(() => undefined);
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
}
