// First starts by windows that are real processes: what they start dies with them, and only one of them works at a time.
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { expect, test } from "vitest";

const hangs = "trap '' TERM; sh -c 'trap \"\" TERM; sleep 60 & sleep 60' & wait; sleep 60";

/** A Python that hangs while it installs packages, unless the file `go` exists. */
const python = (home: string): string => `#!/bin/sh
case "$*" in
  *version_info*) echo "[[3, 12, 1], \\"$0\\"]";;
  *"-m venv"*) for folder in "$@"; do :; done; mkdir -p "$folder/bin"; cp "$0" "$folder/bin/python";;
  *"pip install"*) [ -e "${home}/go" ] || { ${hangs}; };;
esac
`;

/** Processes that inherited a test's mark, live, and run `program`. */
function processes(mark: string, program = ""): number[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !readFileSync(`/proc/${pid}/environ`, "latin1").includes(`MARK=${mark}`)) return [];
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").startsWith(program) ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });
}

test.runIf(process.platform === "linux")("a window killed while it sets up leaves no process, and is taken over from at once by one that waits", async () => {
  const home = await mkdtemp(join(tmpdir(), "lerim-test-"));
  const marks = [randomUUID(), randomUUID()] as const;
  const open = (mark: string): { window: ChildProcess; says: (wanted: string) => Promise<void> } => {
    const env = { PATH: `${join(home, "bin")}:/usr/bin:/bin`, HOME: home, TMPDIR: home, MARK: mark };
    const window = spawn(process.execPath, [join(home, "window.cjs"), home], { env, stdio: ["ignore", "pipe", "inherit"] });
    let text = "";
    window.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
    return { window, says: (wanted) => expect.poll(() => text).toContain(wanted) };
  };
  try {
    await build({ entryPoints: ["tests/extension/fakes/window.ts"], bundle: true, platform: "node", outfile: join(home, "window.cjs"), logLevel: "warning" });
    await mkdir(join(home, "bin"));
    await writeFile(join(home, "requirements.lock"), "pygls==2.1.1 --hash=sha256:00\n");
    await writeFile(join(home, "bin", "python3"), python(home), { mode: 0o755 });
    const first = open(marks[0]);
    await expect.poll(() => processes(marks[0], "sleep").length).toBe(2);
    const second = open(marks[1]);
    await second.says("Another window is setting up Lerim…");
    await writeFile(join(home, "go"), "");
    const ended = once(first.window, "exit");
    first.window.kill("SIGKILL");
    await ended;
    await second.says("made ");
    await expect.poll(() => marks.flatMap((mark) => processes(mark))).toEqual([]);
  } finally {
    for (const pid of marks.flatMap((mark) => processes(mark))) process.kill(pid, "SIGKILL");
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
});
