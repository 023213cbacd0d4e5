import { randomBytes } from "node:crypto";
import * as vscode from "vscode";

/** Shows a page in a panel that the script of this name fills. The page may only load that script and its style. */
export function showPage({ webview }: vscode.WebviewPanel, { extensionUri }: Pick<vscode.ExtensionContext, "extensionUri">, main: string, title: string): void {
  const folder = vscode.Uri.joinPath(extensionUri, "extension", "dist", "webview");
  const assetUri = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(folder, name)).toString();
  webview.options = { enableScripts: true, enableForms: false, localResourceRoots: [folder] };
  webview.html = pageHtml({ main, title, cspSource: webview.cspSource, nonce: randomBytes(16).toString("base64url"), script: assetUri(`${main}.js`), style: assetUri(`${main}.css`) });
}

export interface PageParts {
  /** The id of the element that the script fills. */
  readonly main: string;
  readonly title: string;
  readonly cspSource: string;
  readonly nonce: string;
  readonly script: string;
  readonly style: string;
}

/** A panel's page, without inline code or styles and without outside resources; its script builds the content. */
export function pageHtml(parts: PageParts): string {
  const { main, title, cspSource, nonce, script, style } = parts;
  const policy = `default-src 'none'; style-src ${cspSource}; script-src 'nonce-${nonce}'; base-uri 'none'; form-action 'none'`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeAttribute(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="${escapeAttribute(style)}">
<title>${escapeAttribute(title)}</title>
</head>
<body>
<main id="${escapeAttribute(main)}" class="${escapeAttribute(main)}"></main>
<script nonce="${escapeAttribute(nonce)}" src="${escapeAttribute(script)}"></script>
</body>
</html>
`;
}

function escapeAttribute(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}
