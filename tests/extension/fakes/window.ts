// A window of the editor as a process of its own: sets Lerim up in the folder it is told, and prints the interpreter it got.
import { join } from "node:path";
import { ensureEnvironment } from "../../../extension/src/sidecar/bootstrap";
import { isAlive, run } from "../../../extension/src/sidecar/process";

const home = process.argv[2] ?? "";

ensureEnvironment(
  { lockFiles: [join(home, "requirements.lock")], environments: join(home, "env"), megabytes: 11 },
  {
    platform: process.platform,
    environ: process.env,
    proxy: "",
    run,
    isAlive,
    signal: new AbortController().signal,
    report: (message) => process.stdout.write(`${message}\n`),
    log: (line) => process.stdout.write(`${line}\n`),
  },
).then(
  (python) => process.stdout.write(`made ${python}\n`),
  (error: unknown) => {
    process.stdout.write(`failed ${String(error)}\n`);
    process.exitCode = 1;
  },
);
