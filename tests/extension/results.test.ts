// What the review panel says of a candidate in one line: in its row, and after an accept.
import { expect, test } from "vitest";
import type { ReferenceProblem } from "../../extension/src/protocol";
import type { ActionResultMessage } from "../../extension/src/views/review/messages";
import { rowMeta } from "../../extension/src/views/review/web/list";
import { lastAction } from "../../extension/src/views/review/web/results";
import { candidate } from "./fakes/sidecar";

test("the line after an accept has the whole title, and leads to the first place that was found", () => {
  const title = "Keep the ids in sessions, not the paths in the folders of the projects, because projects may be moved anywhere";
  const one = candidate("a", { title, references: ["src/paths.py#check", "src/app.py"] });
  const message: ActionResultMessage = { type: "actionResult", id: "a", action: "accept", ok: true, message: `Accepted: ${title}`, undo: { action: "u1", label: "" }, decided: ["a"], diff: "", note: "check was not found in src/paths.py.", waiting: [] };
  const missing = (reference: string): ReferenceProblem => ({ reference, state: "not-found", likely: [] });
  const said = lastAction(message, title, "", one, [missing("src/paths.py#check")]);
  expect(said.reference).toBe("src/app.py");
  expect(said.text).toBe(`Accepted: ${title}. check was not found in src/paths.py. Hover over line 1 of app.py to see it.`);
  expect(lastAction({ ...message, note: "" }, title, "", one).text.split(/\s+/).length).toBeLessThanOrEqual(30);
  expect(lastAction(message, title, "", one, one.references.map(missing)).reference).toBe("src/paths.py");
});

test("the line after an accept ends a title that is as long as a paragraph", () => {
  const message: ActionResultMessage = { type: "actionResult", id: "a", action: "accept", ok: true, message: `Accepted: ${"Keep the ids, ".repeat(40)}`, undo: { action: "u1", label: "" }, decided: ["a"], diff: "", note: "", waiting: [] };
  expect(lastAction(message, "", "", candidate("a", { references: [] })).text).toMatch(/^Accepted: [^…]{150,250}… It refers to no file/);
});

test("the line after an accept does not lead to a file that was not found", () => {
  const one = candidate("a", { references: ["gone.py", "gone.py#run"] });
  const message: ActionResultMessage = { type: "actionResult", id: "a", action: "accept", ok: true, message: "Accepted: A", undo: { action: "u1", label: "" }, decided: ["a"], diff: "", note: "2 references were not found.", waiting: [] };
  const said = lastAction(message, "A", "", one, one.references.map((reference): ReferenceProblem => ({ reference, state: "not-found", likely: [] })));
  expect(said.reference).toBe("");
  expect(said.text).toBe("Accepted: A. 2 references were not found.");
});

test("a row names the file that its candidate is about", () => {
  expect(rowMeta(candidate("a", { confidence: 0.5, references: ["src/app.py#run", "b.py"] }))).toBe("decision · 50 % · app.py");
  expect(rowMeta(candidate("a", { confidence: 0.5, references: [] }))).toBe("decision · 50 %");
});
