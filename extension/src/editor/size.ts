import { Buffer } from "node:buffer";
import type * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";

/** Middleware that ignores documents larger than `limit` bytes when opened: neither they nor hovers on them reach the sidecar. `onHover` is called when a hover is shown. */
export function limitSize(limit: number, onHover: () => void): Middleware {
  const skipped = new Set<string>();
  const isSkipped = (document: vscode.TextDocument): boolean => skipped.has(document.uri.toString());
  return {
    didOpen: async (document, next) => {
      skipped.delete(document.uri.toString()); // a restarted sidecar gets all open documents again
      if (Buffer.byteLength(document.getText(), "utf8") > limit) skipped.add(document.uri.toString());
      else await next(document);
    },
    didChange: async (event, next) => {
      if (!isSkipped(event.document)) await next(event);
    },
    didSave: async (document, next) => {
      if (!isSkipped(document)) await next(document);
    },
    didClose: async (document, next) => {
      if (!skipped.delete(document.uri.toString())) await next(document);
    },
    provideHover: async (document, position, token, next) => {
      const hover = isSkipped(document) ? null : await next(document, position, token);
      if (hover) onHover();
      return hover;
    },
  };
}
