import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { linkCommands } from "../../extension/src/editor/arguments";
import { flagText, signalText } from "../../extension/src/views/shared/web/text";

test("the commands that links may run are the ones the sidecar writes into them", () => {
  const python = readFileSync("server/lerim/lsp/protocol/core.py", "utf8");
  const inPython = [...python.matchAll(/= "(lerim\.\w+)"/g)].map((match) => match[1]);
  expect([...linkCommands].sort()).toEqual(inPython.sort());
});

test("the review says in words where each candidate comes from", () => {
  const draft = readFileSync("server/lerim/extraction/signals/draft.py", "utf8");
  const signals = [...(/^Signal = Literal\[(.+)\]$/m.exec(draft)?.[1] ?? "").matchAll(/"([a-z-]+)"/g)].map((found) => found[1] ?? "");
  expect(signals.length).toBeGreaterThan(5);
  expect(signals.filter((signal) => signalText(signal) === signal)).toEqual([]);
});

test("the review says in words what to look at in what maintenance proposes", () => {
  const python = readFileSync("server/lerim/maintenance/plan.py", "utf8");
  const flags = [...python.matchAll(/^[A-Z_]+ = "([a-z-]+)"$/gm)].map((match) => match[1] ?? "");
  expect(flags).toContain("differs");
  expect(flags.filter((flag) => flagText(flag) === flag)).toEqual([]);
});
