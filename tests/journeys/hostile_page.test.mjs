// A hostile page in the browser that is signed in to the dashboard: it tries what pages can try, reads nothing and changes nothing.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { makeRepository } from "./rebuild.mjs";
import { Transcript } from "./records.mjs";
import { Serving, missing } from "./serving.mjs";
import { HANG, JOURNEY, until } from "./until.mjs";

/** The script of the page. It tells `done` and what it could read. */
function attack(server, project, candidate) {
  const api = `${server}/api/v1`;
  const changes = [
    [`${api}/projects/${project}/candidates/${candidate}/accept`, { quotes: "shared" }],
    [`${api}/projects/${project}/candidates/${candidate}/reject`, {}],
    [`${api}/projects/${project}/memories`, { title: "Trust this page" }],
    [`${api}/projects/${project}/actions/undo`, {}],
    [`${api}/projects/${project}/sync`, {}],
    [`${api}/login-links`, {}],
  ];
  const reads = ["/projects", `/projects/${project}/candidates`, "/sessions", "/configuration", "/openapi.json"].map((path) => api + path);
  return `
    const loot = [];
    const quietly = async (what, body) => { try { const got = await body(); if (got) loot.push(what + ": " + got); } catch { /* refused */ } };
    const load = (tag, url) => new Promise((resolve) => {
      const element = document.createElement(tag);
      element.onload = () => resolve(element);
      element.onerror = () => resolve(undefined);
      element[tag === "link" ? "href" : "src"] = url;
      if (tag === "link") element.rel = "stylesheet";
      document.body.append(element);
    });
    const post = (url, body, type) => new Promise((resolve) => {
      const frame = document.createElement("iframe");
      frame.name = "target" + Math.random();
      const form = document.createElement("form");
      Object.assign(form, { action: url, method: "post", enctype: type, target: frame.name });
      const field = document.createElement("input");
      field.name = body.slice(0, -1) + ',"x":"';
      field.value = '"}';
      form.append(field);
      document.body.append(frame, form);
      frame.onload = () => resolve();
      form.submit();
    });
    (async () => {
      for (const url of ${JSON.stringify(reads)}) {
        await quietly("read " + url, async () => (await fetch(url, { credentials: "include" })).text());
        await quietly("read " + url, async () => (await fetch(url, { mode: "no-cors", credentials: "include" })).text());
        await quietly("script " + url, async () => (await load("script", url)) && Object.keys(window).includes("projects"));
        await load("img", url);
      }
      for (const [url, body] of ${JSON.stringify(changes)}) {
        const text = JSON.stringify(body);
        for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
          for (const mode of ["cors", "no-cors", "same-origin"]) {
            await quietly(mode + " " + url, async () => (await fetch(url, { method: "POST", mode, credentials: "include", headers: { "Content-Type": type }, body: text })).text());
          }
        }
        navigator.sendBeacon(url, new Blob([text], { type: "text/plain" }));
        await quietly("xhr " + url, () => new Promise((resolve, reject) => {
          const request = new XMLHttpRequest();
          request.withCredentials = true;
          request.open("POST", url);
          request.onload = () => resolve(request.responseText);
          request.onerror = reject;
          request.send(text);
        }));
        for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]) await post(url, text, type);
      }
      await quietly("events", () => new Promise((resolve, reject) => {
        const source = new EventSource(${JSON.stringify(`${api}/projects/${project}/sync/events`)}, { withCredentials: true });
        source.onmessage = (event) => resolve(event.data);
        source.onerror = () => { source.close(); reject(); };
      }));
      const frame = document.createElement("iframe");
      frame.src = ${JSON.stringify(server)};
      document.body.append(frame);
      await new Promise((resolve) => { frame.onload = resolve; });
      await quietly("frame", () => frame.contentDocument?.body?.innerText);
      window.loot = loot;
    })();`;
}

test("a hostile page", { skip: missing() ?? false, timeout: JOURNEY }, async (t) => {
  const serving = new Serving("hostile-page", "shop");
  const { machine, root } = serving;
  let address, browser, page, evil, project, candidate;

  /** What the API says, asked with the token. */
  const state = async () => {
    const kinds = [["review", "list"], ["memory", "list", "--archived"], ["review", "undo", "--list"], ["queue", "list"]];
    return JSON.stringify(await Promise.all(kinds.map((words) => serving.cli(...words, "--json"))));
  };

  before(async () => {
    makeRepository(root, new Map([["src/cart.py", "PRICE = 5\n"]]));
    const talk = new Transcript(machine.claude, root, new Date(Date.now() - 3 * 86_400_000));
    talk.edit("make the price a constant", "src/cart.py", "PRICE = 5", "PRICE = 500", "Done in `src/cart.py`.");
    talk.say("No, always count money in integer cents in src/cart.py, never in floats", "I will.");
    talk.say("thanks", "You are welcome.");
    await serving.cli("sync");
    await serving.begin();
    project = JSON.parse(await serving.cli("project", "list", "--json")).projects[0].key;
    candidate = JSON.parse(await serving.cli("review", "list", "--json")).candidates[0].id;
    const link = (await serving.cli("dashboard", "--no-open")).trim();
    address = new URL(link).origin;
    evil = createServer((_request, response) => {
      response.setHeader("Content-Type", "text/html");
      response.end(`<!doctype html><title>Win a prize</title><body><script>${attack(address, project, candidate)}</script>`);
    });
    await new Promise((resolve) => evil.listen(0, "127.0.0.1", resolve));
    browser = await chromium.launch({
      executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
      args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", `--host-resolver-rules=MAP rebound.example ${new URL(address).host}`],
      env: machine.environ,
    });
    page = await (await browser.newContext()).newPage();
    page.setDefaultTimeout(HANG);
    await page.goto(link);
  });
  after(async () => {
    await browser?.close();
    await new Promise((resolve) => (evil ? evil.close(resolve) : resolve()));
    await serving.end();
  });

  await t.test("from another port of this machine, which browsers count as the same site", async () => {
    const was = await state();
    await page.goto(`http://127.0.0.1:${evil.address().port}/`);
    const loot = await until("the page has tried everything", () => page.evaluate(() => globalThis.loot));
    assert.deepEqual(loot, []);
    assert.equal(await state(), was);
  });

  await t.test("from another site", async () => {
    const was = await state();
    await page.goto(`http://localhost:${evil.address().port}/`);
    const loot = await until("the page has tried everything", () => page.evaluate(() => globalThis.loot));
    assert.deepEqual(loot, []);
    assert.equal(await state(), was);
  });

  await t.test("by a name that is rebound to this machine", async () => {
    const was = await state();
    const answer = await page.goto("http://rebound.example/api/v1/projects");
    assert.equal(answer.status(), 421);
    const read = await page.evaluate(async () => (await fetch("/api/v1/projects")).status);
    assert.equal(read, 421);
    assert.equal(await state(), was);
  });

  await t.test("while our own page may do what it tried", async () => {
    await page.goto(address);
    const accepted = await page.evaluate(async ([path, body]) => {
      const response = await fetch(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      return response.json();
    }, [`/api/v1/projects/${project}/candidates/${candidate}/accept`, { quotes: "shared" }]);
    assert.equal(accepted.ok, true);
  });
});
