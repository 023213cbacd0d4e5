// No file of the extension imports itself by way of others, types included.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { expect, test } from "vitest";

const source = join(__dirname, "../../extension/src");
const files = readdirSync(source, { recursive: true, encoding: "utf-8" })
  .map((name) => join(source, name))
  .filter((path) => path.endsWith(".ts"));

function imports(path: string): string[] {
  const named = [...readFileSync(path, "utf-8").matchAll(/^(?:import|export)\s[^"]*?"(\.[^"]*)"/gm)].map(([, name = ""]) => join(dirname(path), name));
  return named.flatMap((name) => [`${name}.ts`, join(name, "index.ts")]).filter((name) => files.includes(name));
}

test("no file imports in a circle", () => {
  const left = new Map(files.map((path) => [path, imports(path)]));
  expect([...left.values()].flat().length).toBeGreaterThan(files.length);
  const isFree = (path: string): boolean => left.get(path)?.every((name) => !left.has(name)) ?? false;
  for (let free = files.filter(isFree); free.length > 0; free = [...left.keys()].filter(isFree)) free.forEach((path) => left.delete(path));
  expect([...left.keys()].map((path) => relative(source, path))).toEqual([]);
});
