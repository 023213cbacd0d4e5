import { type Child, h } from "./dom";
import { pieces } from "./text";

const codeSpan = /(?<!`)`([^`\s](?:[^`]{0,118}[^`\s])?)`(?!`)/;

/** Our own words: what stands between backticks is set as code. Quotes are shown to the letter instead. */
export function prose(text: string): Child[] {
  return text.split(codeSpan).flatMap((part, at) => (at % 2 === 1 ? [h("code", {}, ...shown(part))] : shown(part)));
}

/** A text to the letter, hidden characters written out. */
export function shown(text: string): Child[] {
  return pieces(text).map((piece) => (piece.hidden ? h("span", { class: "hidden-character", title: "hidden character" }, piece.text) : piece.text));
}
