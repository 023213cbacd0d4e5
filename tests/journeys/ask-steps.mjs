// Asking questions about a repository: passages without a model, and with one an answer that comes sentence by sentence.
import assert from "node:assert/strict";
import { barriersInThemes } from "./barriers.mjs";
import { until } from "./until.mjs";

/** The steps of a person who asks where the cache is kept; `model` is an `Answering` that is held back. */
export async function askQuestions(run, person, model) {
  const { machine, screen } = person;

  await run("without a model, ask shows the passages, and what is cited opens", async () => {
    await screen.command("Lerim: Ask a Question");
    const frame = await screen.frame("#ask .question");
    await until("the field has the focus", () => frame.locator(".question").evaluate((field) => document.hasFocus() && field === document.activeElement));
    await screen.page.keyboard.type("Where is the cache kept, in Redis or in SQLite?");
    await screen.page.keyboard.press("Enter");
    await until("the passages are shown", async () => (await frame.locator(".passage").count()) > 0);
    assert.match(await frame.locator(".sources h3").innerText(), /What your memories and sessions say/);
    assert.match(await frame.locator(".passage").first().innerText(), /SQLite/);
    assert.deepEqual(await barriersInThemes(person, frame, "passages"), []);
    const turn = frame.locator(".passage", { hasText: "session “" }).first();
    assert.match(await turn.innerText(), /(You|Claude Code), \d{1,2} \w+ \d{4}, \d\d:\d\d\s+session “.+”/);
    await frame.locator(".question").fill("And why?");
    await turn.locator("blockquote").click();
    await until("the transcript is shown at the turn", async () => (await screen.turnText()).includes("in SQLite, not in Redis"));
    await screen.command("Lerim: Ask a Question");
    const again = await screen.frame("#ask .question");
    await until("what was being typed is still there", async () => (await again.locator(".question").inputValue()) === "And why?");
  });

  await run("with a model the answer comes sentence by sentence, each with what it rests on", async () => {
    person.settings({ "lerim.model.provider": "openai", "lerim.model.name": "tiny", "lerim.model.baseUrl": model.url });
    await screen.status(/Model: openai:tiny/);
    await screen.command("Lerim: Ask a Question");
    const frame = await screen.frame("#ask .question");
    await until("the page has the focus", () => frame.locator(".question").evaluate(() => document.hasFocus())); // else the editor's input takes what is typed
    await frame.locator(".question").fill("Where is the cache kept, and what are the prices in?");
    await screen.page.keyboard.press("Enter");
    await until("the first sentence is there before the answer is whole", async () => (await frame.locator(".sentence").count()) === 1);
    assert.equal(await frame.locator(".cancel").isVisible(), true);
    await screen.shot("streaming");
    model.release();
    await until("the answer is whole", async () => (await frame.locator(".sentence").count()) === 2 && !(await frame.locator(".cancel").isVisible()));
    assert.match(await frame.locator(".sentences").innerText(), /kept in SQLite\. \d+\s+Prices in src\/cart\.py are integer cents\. \d+/);
    assert.equal(await frame.locator("#ask a, #ask script, #ask img").count(), 0);
    await screen.shot("answer");
    await frame.locator(".source-row .source-title").first().click();
    await until("the memory is shown", async () => /^title: Keep the cache in src\/cache\.py in SQLite/m.test(await screen.editorText()));
  });

  await run("an answer on its way can be cancelled, and asked again", async () => {
    model.hold();
    await screen.command("Lerim: Ask a Question");
    const frame = await screen.frame("#ask .question");
    await frame.locator(".ask-button").click();
    await until("the first sentence is there", async () => (await frame.locator(".sentence").count()) === 1 && (await frame.locator(".cancel").isVisible()));
    await frame.locator(".cancel").click();
    await until("it says so", async () => /Cancelled/.test(await frame.locator(".note").innerText()));
    assert.equal(await frame.locator(".question").evaluate((field) => field === document.activeElement), true, "the keyboard is lost with the button");
    await until("nothing is asked any more", () => machine.processes(/-m lerim worker/).length === 0);
    await screen.shot("ask-cancelled");
    assert.deepEqual(await barriersInThemes(person, frame, "answer"), []);
    person.settings();
  });
}
