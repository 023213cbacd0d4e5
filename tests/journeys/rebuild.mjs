// A repository made again from what a Claude Code session itself recorded: the files it read, wrote and edited.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** The records of a transcript; lines that are no JSON object are passed over. */
export function records(file) {
  return readFileSync(file, "utf8").split("\n").flatMap((line) => {
    try {
      const record = JSON.parse(line);
      return record !== null && typeof record === "object" ? [record] : [];
    } catch {
      return [];
    }
  });
}

/** The top transcripts (no subagents') below `<sessions>/claude/projects`, sorted. */
export function transcripts(sessions) {
  const projects = join(sessions, "claude", "projects");
  return readdirSync(projects, { recursive: true })
    .filter((name) => name.endsWith(".jsonl") && !name.includes("subagents"))
    .map((name) => join(projects, name))
    .sort();
}

/** `{cwd, files}`: the folder the session was started in and the last known whole content of each file below it. */
export function recorded(file) {
  const files = new Map();
  let cwd = "";
  for (const record of records(file)) {
    cwd ||= typeof record.cwd === "string" ? record.cwd : "";
    const result = record.toolUseResult;
    if (result === null || typeof result !== "object") continue;
    const { path, text } = content(result, files);
    if (cwd !== "" && path.startsWith(`${cwd}/`) && !path.includes("/.") && text !== undefined) files.set(path, text);
  }
  return { cwd, files: new Map([...files].map(([path, text]) => [path.slice(cwd.length + 1), text])) };
}

/** What one tool result says a whole file holds now. */
function content(result, files) {
  const read = result.file;
  if (read !== null && typeof read === "object" && typeof read.content === "string") {
    const whole = read.startLine === 1 && read.numLines === read.totalLines;
    return { path: String(read.filePath), text: whole ? read.content : undefined };
  }
  const path = String(result.filePath ?? "");
  if (typeof result.newString === "string" && typeof result.oldString === "string") {
    const before = typeof result.originalFile === "string" ? result.originalFile : files.get(path);
    if (before === undefined || !before.includes(result.oldString)) return { path, text: undefined };
    const edited = result.replaceAll
      ? before.split(result.oldString).join(result.newString)
      : before.replace(result.oldString, () => result.newString);
    return { path, text: edited };
  }
  return { path, text: typeof result.content === "string" ? result.content : undefined };
}

/** Writes the files into a new git repository at `root` and commits them. */
export function makeRepository(root, files) {
  for (const [name, text] of files) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  const identity = ["-c", "user.name=A Tester", "-c", "user.email=tester@example.invalid", "-c", "commit.gpgsign=false"];
  for (const step of [["init", "-q", "-b", "main"], ["add", "-A"], [...identity, "commit", "-q", "-m", "Start"]]) {
    execFileSync("git", step, { cwd: root, stdio: ["ignore", "ignore", "inherit"] });
  }
}

/** The folder Claude Code keeps the sessions of `cwd` in. */
export function sessionsFolder(claude, cwd) {
  return join(claude, "projects", cwd.replaceAll(/[^A-Za-z0-9]/g, "-"));
}

/** Copies a transcript to where Claude Code would have put it, had the session run in `root`; the copy's path. */
export function moveTranscript(file, cwd, root, claude) {
  const target = join(sessionsFolder(claude, root), basename(file));
  mkdirSync(dirname(target), { recursive: true });
  // The folder as a whole word of a path, in JSON as in the texts inside it.
  const text = readFileSync(file, "utf8").replaceAll(new RegExp(`${RegExp.escape?.(cwd) ?? escaped(cwd)}(?![\\w-])`, "g"), () => root);
  writeFileSync(target, text);
  finish(target);
  return target;
}

/** Dates a transcript back, so that its last exchange is over. */
export function finish(file) {
  const hourAgo = Date.now() / 1000 - 3600;
  utimesSync(file, hourAgo, hourAgo);
}

function escaped(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, "\\$&");
}
