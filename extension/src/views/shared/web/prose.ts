import { type Child, h } from "./dom";
import { pieces } from "./text";

const codeSpan = /(?<!`)`([^`\s](?:[^`]{0,118}[^`\s])?)`(?!`)/;

/** Renders text with backticks as code. Quotes are shown literally by `shown` instead. */
export function prose(text: string): Child[] {
  return text.split(codeSpan).flatMap((part, at) => (at % 2 === 1 ? [h("code", {}, ...shown(part))] : shown(part)));
}

/** Renders text literally, with hidden characters spelled out. */
export function shown(text: string): Child[] {
  return pieces(text).map((piece) => (piece.hidden ? h("span", { class: "hidden-character", title: "hidden character" }, piece.text) : piece.text));
}
