import { type Child, h } from "./dom";
import { splitHiddenCharacters } from "./text";

const codeSpan = /(?<!`)`([^`\s](?:[^`]{0,118}[^`\s])?)`(?!`)/;

/** Renders text with backticks as code. Quotes are shown literally by `shown` instead. */
export function prose(text: string): Child[] {
  return text.split(codeSpan).flatMap((part, at) => (at % 2 === 1 ? [h("code", {}, ...literalText(part))] : literalText(part)));
}

/** Renders text literally, with hidden characters spelled out. */
export function literalText(text: string): Child[] {
  return splitHiddenCharacters(text).map((piece) => (piece.hidden ? h("span", { class: "hidden-character", title: "hidden character" }, piece.text) : piece.text));
}
