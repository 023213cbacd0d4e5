// The wire is written down three times: here, in the sidecar, and in docs/PROTOCOL.md. They must say the same.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { linkCommands } from "../../extension/arguments";
import * as protocol from "../../extension/protocol";

const page = readFileSync("docs/PROTOCOL.md", "utf8");
const python = readFileSync("server/lerim/lsp/protocol.py", "utf8");
const typescript = ["protocol", "modelprotocol", "sessionprotocol", "livesprotocol"].map((name) => readFileSync(`extension/${name}.ts`, "utf8")).join("");
const methods = Object.values(protocol).map(({ method }) => method);

/** The fields of an interface of protocol.ts. */
function fieldsOf(name: string): string[] {
  const body = new RegExp(`export interface ${name} \\{\\n([^}]*)\\}`).exec(typescript)?.[1] ?? "";
  return [...body.matchAll(/^ {2}(\w+)\??:/gm)].map((match) => match[1] ?? "");
}

/** The fields the page lists for a type: `Name {a, b: "x"|"y", c[]}`, inner braces left out. */
function pageFieldsOf(name: string): string[] {
  const start = page.indexOf(`${name} {`) + name.length + 2;
  let depth = 1;
  let flat = "";
  for (const character of page.slice(start)) {
    if (character === "{") depth++;
    if (character === "}") depth--;
    if (depth === 0) break;
    if (depth === 1) flat += character;
  }
  return flat
    .split(",")
    .map((field) => /^\s*(\w+)/.exec(field)?.[1] ?? "")
    .filter((field) => field !== "");
}

test("both sides and the page name the same messages", () => {
  const inPython = [...python.matchAll(/= "(lerim\/[\w/]+)"/g)].map((match) => match[1]);
  const onPage = [...new Set([...page.matchAll(/^\| `(lerim\/[\w/]+)` \|/gm)].map((match) => match[1]))];
  expect([...methods].sort()).toEqual(inPython.sort());
  expect([...methods].sort()).toEqual(onPage.sort());
});

test("the commands that links may run are the ones the sidecar writes into them", () => {
  const inPython = [...python.matchAll(/= "(lerim\.\w+)"/g)].map((match) => match[1]);
  expect([...linkCommands].sort()).toEqual(inPython.sort());
});

test.each(["CandidateView", "EvidenceView", "MemoryView", "ReviewResult", "UndoView", "Problem", "DroppedView", "Withdrew", "SyncReport", "SessionView", "HitView", "SessionTurn", "CallView", "AgentView", "StoreView", "SkippedView", "JobView", "EditorModelView", "AskedView", "TreeGroup", "TreeProposal", "TreeMemory", "ActedView", "CitationView", "AnswerView"])("%s has the fields the page lists", (name) => {
  expect(pageFieldsOf(name).length).toBeGreaterThan(1);
  expect(fieldsOf(name).sort()).toEqual(pageFieldsOf(name).sort());
});
