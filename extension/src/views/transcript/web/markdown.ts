// Draws what an agent or a person wrote, which is markdown. It is parsed into a tree, and the tree becomes elements and text nodes: HTML in it is shown as
// text, images as their description, and addresses are not links, because whoever wrote a web page may have written them.
import type { Nodes, Parents, Root, RootContent, Table } from "mdast";
import { fromMarkdown } from "mdast-util-from-markdown";
import { gfmTableFromMarkdown } from "mdast-util-gfm-table";
import { gfmTable } from "micromark-extension-gfm-table";
import { button, type Child, h } from "../../shared/web/dom";
import { highlightedCode } from "../../shared/web/highlighting";
import { literalText, prose } from "../../shared/web/prose";
import { splitColumns } from "./columns";
import { parseFilePlace, type FilePlace } from "./fileplaces";

export interface MarkdownActions {
  readonly openFile: (place: FilePlace) => void;
  readonly copy: (text: string) => void;
}

/** Longer texts are shown as they are written: parsing them would hold up scrolling. */
const maxMarkdown = 60_000;
/** How many quotes and lists may begin in one line. */
const deepLine = /^(?:[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t])){32}/m;
/** How many marks of emphasis may stand in one paragraph: each is compared with those before it. */
const maxMarks = 2000;
const emphasisMark = /\*|(?<![a-z\d])_|_(?![a-z\d])/gi;

/** What a person types outside code without meaning markdown: the backslash of a path, `&` and what follows it. */
const asTyped = { disable: { null: ["characterEscape", "characterReference"] } };

/** The blocks of a markdown text. In what a person `typed`, a backslash is a backslash, and columns stay columns. */
export function markdownBlocks(text: string, actions: MarkdownActions, typed = false): Child[] {
  const tree = parseMarkdown(text, typed);
  if (tree === undefined) return [h("p", { class: "as-written" }, ...prose(text))];
  const parts = typed ? splitColumns(text, tree.children) : [];
  if (parts.some(({ hasColumns }) => hasColumns)) return parts.flatMap((part) => (part.hasColumns ? [codeBlock(part.text, "", actions)] : markdownBlocks(part.text, actions, typed)));
  return tree.children.flatMap((node) => (node.type === "html" ? [h("p", { class: "as-written" }, ...literalText(node.value))] : drawNode(node, actions)));
}

/**
 * The tree of a markdown text, in which `__init__` is a name and not bold, and no level of headings is left out. Undefined for a text that
 * would take long to parse, or whose tree would be so deep that it cannot be drawn.
 */
export function parseMarkdown(text: string, typed = false): Root | undefined {
  if (text.length > maxMarkdown || deepLine.test(text)) return undefined;
  if (text.split(/\n[ \t\r]*\n/).some((paragraph) => [...paragraph.matchAll(emphasisMark)].length > maxMarks)) return undefined;
  const tree = fromMarkdown(text, { extensions: [gfmTable(), ...(typed ? [asTyped] : [])], mdastExtensions: [gfmTableFromMarkdown()] });
  keepNames(tree, text);
  closeHeadingGaps(tree);
  return tree;
}

function closeHeadingGaps(tree: Root): void {
  const above: number[] = [];
  for (const node of tree.children) {
    if (node.type !== "heading") continue;
    while ((above.at(-1) ?? 0) >= node.depth) above.pop();
    above.push(node.depth);
    node.depth = above.length as typeof node.depth; // at most six are above each other, as there are six depths
  }
}

function keepNames(node: Parents, text: string): void {
  for (const [at, child] of node.children.entries()) {
    const written = text.slice(child.position?.start.offset, child.position?.end.offset);
    if (child.type === "strong" && /^__\w+__$/.test(written)) node.children[at] = { type: "text", value: written };
    else if ("children" in child) keepNames(child, text);
  }
}

function drawChildren(node: Parents, actions: MarkdownActions): Child[] {
  return node.children.flatMap((child: RootContent) => drawNode(child, actions));
}

function drawNode(node: Nodes, actions: MarkdownActions): Child[] {
  switch (node.type) {
    case "paragraph":
      return [h("p", {}, ...drawChildren(node, actions))];
    case "heading":
      return [h(headingTag(node.depth), {}, ...drawChildren(node, actions))];
    case "blockquote":
      return [h("blockquote", {}, ...drawChildren(node, actions))];
    case "list": {
      const items = node.children.map((item) => h("li", {}, ...drawItem(drawChildren(item, actions), node.spread === true)));
      return [node.ordered === true ? h("ol", { attributes: { start: String(node.start ?? 1) } }, ...items) : h("ul", {}, ...items)];
    }
    case "code":
      return [codeBlock(node.value, node.lang ?? "", actions)];
    case "inlineCode":
      return [inlineCode(node.value, actions)];
    case "strong":
      return [h("strong", {}, ...drawChildren(node, actions))];
    case "emphasis":
      return [h("em", {}, ...drawChildren(node, actions))];
    case "break":
      return [h("br")];
    case "thematicBreak":
      return [h("hr")];
    case "table":
      return [drawTable(node, actions)];
    case "link":
      return drawLink(drawChildren(node, actions), node.url, actions);
    case "image":
      return literalText(`[image: ${node.alt ?? ""}]`);
    case "text":
    case "html":
      return literalText(node.value);
    case "definition":
      return [h("p", {}, ...literalText(`[${node.label ?? node.identifier}]: ${node.url}`))];
    case "imageReference":
      return literalText(`[image: ${node.alt ?? ""}]`);
    case "delete":
    case "linkReference":
    case "listItem":
    case "root":
    case "tableCell":
    case "tableRow":
      return drawChildren(node, actions);
    case "footnoteDefinition":
    case "footnoteReference":
    case "yaml":
      return []; // the parser makes none without extensions
  }
}

/** Headings of a message are below the head of its turn, which is a second-level heading. */
function headingTag(depth: number): "h3" | "h4" | "h5" | "h6" {
  return depth === 1 ? "h3" : depth === 2 ? "h4" : depth === 3 ? "h5" : "h6";
}

/** The content of an item, whose only paragraph needs no space around it. */
function drawItem(content: readonly Child[], isLoose: boolean): Child[] {
  return isLoose ? [...content] : content.flatMap((child) => (child instanceof HTMLParagraphElement ? [...child.childNodes] : [child]));
}

/** A block of code with a button that copies it. */
export function codeBlock(code: string, language: string, actions: Pick<MarkdownActions, "copy">): HTMLElement {
  return h(
    "div",
    { class: "code-block" },
    h("pre", { attributes: { tabindex: "0" } }, h("code", {}, ...highlightedCode(code, language.toLowerCase()))),
    button("Copy", () => actions.copy(code), { class: "link copy", label: "Copy this code" }),
  );
}

/** Code within a sentence; the name of a file opens it. */
export function inlineCode(text: string, actions: Pick<MarkdownActions, "openFile">): HTMLElement {
  const code = h("code", {}, ...literalText(text));
  const place = parseFilePlace(text);
  return place === undefined ? code : openFileButton(code, place, actions);
}

function openFileButton(content: HTMLElement, place: FilePlace, actions: Pick<MarkdownActions, "openFile">): HTMLElement {
  const opener = button("", () => actions.openFile(place), { class: "link file", title: "Open this file" });
  opener.append(content);
  return opener;
}

function drawLink(content: readonly Child[], url: string, actions: MarkdownActions): Child[] {
  const place = parseFilePlace(url);
  if (place !== undefined) return [openFileButton(h("span", {}, ...content), place, actions)];
  const text = content.map((child) => (typeof child === "string" ? child : (child.textContent ?? ""))).join("");
  return text === url ? [...content] : [...content, " (", ...literalText(url), ")"];
}

function drawTable(table: Table, actions: MarkdownActions): HTMLElement {
  const [head, ...body] = table.children.map((row, at) => h("tr", {}, ...row.children.map((cell) => h(at === 0 ? "th" : "td", {}, ...drawChildren(cell, actions)))));
  return h("table", {}, h("thead", {}, ...(head === undefined ? [] : [head])), h("tbody", {}, ...body));
}
