// Lerim's plugin for OpenCode: puts what was decided and learned in this repository before the model.
// Written by `lerim agents install opencode`; `lerim agents remove opencode` removes it.
// It runs Lerim's hook program, waits at most 300 ms for it, and stays silent whatever goes wrong.
import { spawn } from "node:child_process"
import { existsSync, readFileSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"

const LIMIT_MS = 300
const MAX_OUTPUT = 4000
const MAX_SESSIONS = 100
const windows = process.platform === "win32"
const folder = join(process.env.LERIM_HOME || join(homedir(), ".lerim"), "bin")
const program = join(folder, windows ? "hook.py" : "hook")

/** The command that runs the hook program; Windows starts no scripts, so there its interpreter is named. */
const command = () => (windows ? [readFileSync(join(folder, "hook-python"), "utf8").split(/\r?\n/)[0], "-I", "-S", program] : [program])

/** Runs the hook program with one event and returns its answer, {} if there is none in time. */
function ask(question) {
  return new Promise((resolve) => {
    const done = (answer) => {
      clearTimeout(timer)
      resolve(answer)
    }
    let child
    const timer = setTimeout(() => {
      resolve({})
      child?.kill()
    }, LIMIT_MS)
    try {
      if (!existsSync(program)) return done({})
      const [first, ...others] = command()
      child = spawn(first, [...others, "opencode"], { stdio: ["pipe", "pipe", "ignore"], windowsHide: true })
      let text = ""
      child.stdout.setEncoding("utf8")
      child.stdout.on("data", (part) => {
        text += part
      })
      child.on("error", () => done({}))
      child.on("close", () => {
        try {
          const answer = JSON.parse(text)
          done(answer !== null && typeof answer === "object" ? answer : {})
        } catch {
          done({})
        }
      })
      child.stdin.on("error", () => {})
      child.stdin.end(JSON.stringify(question))
    } catch {
      done({})
    }
  })
}

const textOf = (answer) => (typeof answer.text === "string" && answer.text !== "" ? answer.text : undefined)
const pathOf = (args) => [args?.filePath, args?.path].find((path) => typeof path === "string")

export const Lerim = async ({ directory, worktree }) => {
  const cwd = directory || worktree
  const starts = new Map() // the text of each session's start: the system prompt is made anew for every request

  const startOf = (session) => {
    if (!starts.has(session)) {
      if (starts.size >= MAX_SESSIONS) starts.delete(starts.keys().next().value)
      starts.set(session, ask({ event: "start", session, cwd }).then(textOf))
    }
    return starts.get(session)
  }

  return {
    "experimental.chat.system.transform": async (input, output) => {
      try {
        const text = await startOf(input?.sessionID ?? "")
        if (text !== undefined) output.system.push(text)
      } catch {}
    },
    "chat.message": async (input, output) => {
      try {
        const prompt = output.parts.filter((part) => part.type === "text" && part.synthetic !== true).map((part) => part.text).join("\n")
        if (prompt.trim() === "") return
        const text = textOf(await ask({ event: "prompt", session: input.sessionID, cwd, prompt }))
        const { messageID } = output.parts[0]
        if (text !== undefined) output.parts.push({ id: `prt_lerim${Date.now()}`, sessionID: input.sessionID, messageID, type: "text", text, synthetic: true })
      } catch {}
    },
    "tool.execute.before": async (input, output) => {
      let answer = {}
      try {
        const path = pathOf(output.args)
        if ((input.tool === "edit" || input.tool === "write") && path !== undefined) answer = await ask({ event: "edit", session: input.sessionID, cwd, path })
      } catch {}
      if (typeof answer.deny === "string" && answer.deny !== "") throw new Error(answer.deny)
    },
    "tool.execute.after": async (input, output) => {
      try {
        const args = input.args ?? output.args
        const common = { session: input.sessionID, cwd }
        let question
        if (input.tool === "read" && pathOf(args) !== undefined) question = { ...common, event: "read", path: pathOf(args) }
        else if (input.tool === "bash" && failed(output)) question = { ...common, event: "failure", command: String(args?.command ?? ""), output: String(output.output ?? "").slice(-MAX_OUTPUT) }
        if (question === undefined) return
        const text = textOf(await ask(question))
        if (text === undefined) return
        if (typeof output.output === "string") output.output += `\n${text}`
        else if (Array.isArray(output.content)) output.content.push({ type: "text", text })
      } catch {}
    },
  }
}

/** Whether a shell command ended with an exit code other than 0. */
function failed(output) {
  const code = output.metadata?.exit ?? output.metadata?.exitCode
  return typeof code === "number" && code !== 0
}
