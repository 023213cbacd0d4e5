// First starts by windows that are real processes: what they start dies with them, and only one of them works at a time.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

/** A Python that writes what it is asked to `calls`; `stages` say in sh what it does instead of answering at once. */
function python(stages: { probe?: string; venv?: string; pip?: string }): string {
  return `#!/bin/sh
echo "$*" >> "$CALLS"
case "$*" in
  *version_info*) ${stages.probe ?? ":"}; echo "[[3, 12, 1], \\"$0\\"]";;
  *"-m venv"*) ${stages.venv ?? ":"}; for folder in "$@"; do :; done; mkdir -p "$folder/bin"; cp "$0" "$folder/bin/python";;
  *"pip install"*) ${stages.pip ?? ":"};;
esac
`;
}

const hangs = "trap '' TERM; sh -c 'trap \"\" TERM; sleep 60 & sleep 60' & wait; sleep 60";

let bundle: string;
let home: string;
let mark: string;

beforeAll(async () => {
  bundle = join(await mkdtemp(join(tmpdir(), "lerim-test-")), "window.cjs");
  await build({ entryPoints: ["tests/extension/fakes/window.ts"], bundle: true, platform: "node", outfile: bundle, logLevel: "warning" });
});

afterAll(() => rm(join(bundle, ".."), { recursive: true, force: true }));

beforeEach(async () => {
  mark = randomUUID();
  home = await mkdtemp(join(tmpdir(), "lerim-test-"));
  await mkdir(join(home, "bin"));
  await writeFile(join(home, "requirements.lock"), "pygls==2.1.1 --hash=sha256:00\n");
});

afterEach(async () => {
  for (const pid of processes()) process.kill(pid, "SIGKILL");
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

function open(): { window: ChildProcess; says: (wanted: string) => Promise<void>; said: () => string } {
  const env = { PATH: `${join(home, "bin")}:/usr/bin:/bin`, HOME: home, TMPDIR: home, CALLS: join(home, "calls"), MARK: mark };
  const window = spawn(process.execPath, [bundle, home], { env, stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  window.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return { window, says: (wanted) => until(() => text.includes(wanted)), said: () => text };
}

/** Processes that inherited this test's mark, live, and run `program`. */
function processes(program = ""): number[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readFileSync(`/proc/${pid}/environ`, "latin1").includes(`MARK=${mark}`)) return [];
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(program) ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}

/** Waits for a condition; the limit only ends a hang. */
async function until(check: () => boolean): Promise<void> {
  const end = Date.now() + 120_000;
  while (!check()) {
    await pause(20);
    if (Date.now() > end) throw new Error(`waited in vain: ${check.toString()}; ${String(processes())}`);
  }
}

describe.skipIf(process.platform !== "linux")("windows as processes", () => {
  test.each([
    ["looking for Python", { probe: hangs }],
    ["making the environment", { venv: hangs }],
    ["installing", { pip: hangs }],
  ])("a window killed while %s leaves no process", async (_when, stages) => {
    await writeFile(join(home, "bin", "python3"), python(stages), { mode: 0o755 });
    const { window } = open();
    await until(() => processes("sleep").length === 2);
    const ended = once(window, "exit");
    window.kill("SIGKILL");
    await ended;
    await until(() => processes().length === 0);
  });

  test("of two windows one makes the environment and the other waits and uses it", async () => {
    // the first window's installation ends when the second says that it waits
    await writeFile(join(home, "bin", "python3"), python({ pip: `while [ ! -e "${home}/go" ]; do sleep 0.05; done` }), { mode: 0o755 });
    const [one, other] = [open(), open()];
    await until(() => [one, other].some(({ said }) => said().includes("Another window is setting up Lerim…")));
    await writeFile(join(home, "go"), "");
    await Promise.all([one.says("made "), other.says("made ")]);
    const calls = await readFile(join(home, "calls"), "utf8");
    expect(calls.match(/-m venv/g)).toHaveLength(1);
    expect(one.said().match(/made .*/)?.[0]).toBe(other.said().match(/made .*/)?.[0]);
  });

  test("a window killed while it sets up is taken over from at once by one that waits", async () => {
    await writeFile(join(home, "bin", "python3"), python({ pip: `[ -e "${home}/go" ] || { ${hangs}; }` }), { mode: 0o755 });
    const first = open();
    await first.says("Installing packages");
    const second = open();
    await second.says("Another window is setting up Lerim…");
    await writeFile(join(home, "go"), "");
    first.window.kill("SIGKILL");
    await second.says("made ");
  });
});
