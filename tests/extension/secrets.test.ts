import { readFileSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { keyVariables, ModelKeys } from "../../extension/src/editor/secrets";
import { FakeSecrets } from "./fakes/sidecar";

let secrets: FakeSecrets;
let environ: Record<string, string>;
let logged: string[];
let keys: ModelKeys;

beforeEach(() => {
  secrets = new FakeSecrets();
  environ = {};
  logged = [];
  keys = new ModelKeys(secrets, environ, (line) => logged.push(line));
});

test("the variables are those of the sidecar's providers", () => {
  const python = readFileSync("server/lerim/config/providers.py", "utf8");
  expect([...new Set(python.match(/\w+_API_KEY|LERIM_MODEL_KEY/g))].sort()).toEqual([...keyVariables].sort());
});

test("a stored key reaches the sidecar's environment where the person's own has none", async () => {
  await keys.store("OPENAI_API_KEY", " sk-1 ");
  await keys.store("ZAI_API_KEY", "z-1");
  environ["ZAI_API_KEY"] = "mine";
  environ["OPENAI_API_KEY"] = " ";
  expect(await keys.loadForStart(true)).toEqual({ LERIM_KEY_OPENAI_API_KEY: "sk-1" });
  expect(await keys.loadForStart(false), "in Restricted Mode no key leaves the storage").toEqual({});
  expect([keys.isInEnvironment("ZAI_API_KEY"), keys.isInEnvironment("OPENAI_API_KEY")]).toEqual([true, false]);
  expect(await keys.stored()).toEqual(["OPENAI_API_KEY", "ZAI_API_KEY"]);
});

test("a key that changed restarts the sidecar once, however often the change is told", async () => {
  let restarts = 0;
  const restart = async (): Promise<void> => {
    restarts++;
    await keys.loadForStart(true);
  };
  await keys.loadForStart(true);
  await keys.restartIfChanged(true, restart);
  expect(restarts).toBe(0);
  await keys.store("OPENAI_API_KEY", "sk-1");
  await Promise.all([keys.restartIfChanged(true, restart), keys.restartIfChanged(true, restart)]);
  expect(restarts).toBe(1);
  await keys.forget("OPENAI_API_KEY");
  await expect(keys.restartIfChanged(true, () => Promise.reject(new Error("no"))), "a restart that failed is tried again with the next change").rejects.toThrow("no");
  await keys.restartIfChanged(true, restart);
  expect(restarts).toBe(2);
});

test("a storage that is locked keeps nothing from starting, and is logged without a key", async () => {
  secrets.broken = true;
  expect(await keys.loadForStart(true)).toEqual({});
  expect(logged[0]).toBe("OPENROUTER_API_KEY could not be read from the editor's secret storage: the keyring is locked");
});
