// Colours code as highlight.js sees it. The result is a tree, which becomes elements and text nodes: nothing is parsed as HTML.
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";
import { createLowlight } from "lowlight";
import { type Child, h } from "./dom";
import { literalText } from "./prose";

const lowlight = createLowlight({ bash, c, cpp, csharp, css, diff, go, ini, java, json, python, ruby, rust, sql, typescript, xml, yaml });
lowlight.registerAlias({ bash: ["console", "shell", "shell-session", "zsh"], typescript: ["javascript", "js", "jsx", "mjs", "cjs"], ini: ["toml"] });
/** Longer code stays plain: colouring it would hold up scrolling. */
const maxHighlighted = 20_000;

/** The content of a code block in a language ("": unknown), coloured if the language is known. */
export function highlightedCode(code: string, language: string): Child[] {
  if (code.length > maxHighlighted || !lowlight.registered(language)) return literalText(code);
  return lowlight.highlight(language, code).children.flatMap(toChildren);
}

type HighlightNode = ReturnType<typeof lowlight.highlight>["children"][number];

function toChildren(node: HighlightNode): Child[] {
  if (node.type === "text") return literalText(node.value);
  if (node.type !== "element") return [];
  const names = node.properties["className"];
  return [h("span", { class: Array.isArray(names) ? names.join(" ") : "" }, ...node.children.flatMap(toChildren))];
}
