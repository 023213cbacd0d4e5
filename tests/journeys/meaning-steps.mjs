// A search by meaning whose packages are not downloaded: a stand-in for uv installs a Python with the sentence model of the Python tests.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "./machine.mjs";
import { until } from "./until.mjs";

const program = `
import sys
sys.path.insert(0, ${JSON.stringify(join(repository, "tests", "services"))})
from concept_model import ConceptModel
from lerim.memory.search import meaning_process
meaning_process.load_sentence_model = ConceptModel
sys.exit(meaning_process.main())
`;

/** Puts the stand-in before what the real machine has. */
export function standInForMeaning(machine) {
  const python = join(process.env.LERIM_JOURNEY_ENV, "bin", "python");
  const tools = machine.tools();
  const script = (name, text) => writeFileSync(join(tools, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  script("python-with-model", `case "$*" in\n*"lerim meaning") exec ${python} -c '${program}' ;;\n*) exec ${python} "$@" ;;\nesac`);
  script("uv", `case "$1" in\n--version) echo uv 1.0 ;;\nvenv) for folder; do :; done; mkdir -p "$folder/bin"; cp ${join(tools, "python-with-model")} "$folder/bin/python" ;;\nesac`);
}

/** The steps of a person whose words find nothing, and who then searches by meaning. Only one memory is about prices. */
export async function searchByMeaning(run, person) {
  const { machine, screen } = person;
  const question = "How is money handled?";
  const lists = (what, pattern) => until(what, async () => pattern.test((await screen.listRows()).join("\n")));

  await run("where words find nothing, Search and Ask offer a search by meaning, which says what it downloads", async () => {
    await screen.command("Lerim: Search Memories", { further: true });
    await screen.page.locator('.quick-input-widget input.input[placeholder^="Search memories"]').fill(question);
    await lists("only the search by meaning is offered", /^Search by meaning…/);
    await screen.shot("meaning-offered");
    await screen.page.keyboard.press("Escape");
    await screen.command("Lerim: Ask a Question");
    const frame = await screen.frame("#ask .question");
    await frame.locator(".question").fill(question);
    await screen.page.keyboard.press("Enter");
    await frame.getByRole("button", { name: "Search Memories by Meaning" }).click();
    await screen.dialog(/Search by meaning downloads 65 MB of packages, once/);
  });

  await run("once the person agrees, it finds what is said in other words, and the setting turns it off again", async () => {
    await screen.button("Download");
    await lists("the memory is found", /^Always keep the prices in .*similar meaning · decision/);
    await screen.shot("meaning-found");
    await screen.page.keyboard.press("Enter");
    await until("the memory is shown", async () => /^title: Always keep the prices/m.test(await screen.editorText()));
    const processes = () => machine.processes(/meaning_process/).length;
    assert.equal(processes(), 1);
    person.settings();
    await until("the process with the model has ended", () => processes() === 0);
  });
}
