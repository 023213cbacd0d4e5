import { expect, test } from "vitest";
import { askForTrust } from "../../extension/src/editor/trust";
import { answers, shown } from "./fakes/vscode";

test("a set-up asked for in Restricted Mode says in a dialog what is needed, and leads to the editor's page about trust", async () => {
  await askForTrust();
  expect(shown.messages).toMatchObject([{ modal: true, text: "Trust this workspace to set up Lerim.", detail: expect.stringContaining("Choose Trust on the next page, then close it.") as string, choices: ["Manage Workspace Trust"] }]);
  expect(shown.commands).toEqual([]);
  answers.choices.push("Manage Workspace Trust");
  await askForTrust();
  expect(shown.commands).toEqual([{ id: "workbench.trust.manage", args: [] }]);
});
