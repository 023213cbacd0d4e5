// Texts about what agents are given.
import type { AgentChannel, ChannelState, ChannelView, ConnectionView, InstallLevel } from "../protocol";

export const channelNames: Readonly<Record<AgentChannel, string>> = { mcp: "MCP server", hooks: "Hooks", skill: "Skill" };

const stateTexts: Readonly<Record<ChannelState, string>> = {
  installed: "installed",
  untrusted: "installed, untrusted",
  changed: "changed by hand",
  missing: "not installed",
  unreadable: "unreadable",
  extension: "by this extension",
};

const levelTexts: Readonly<Record<InstallLevel, string>> = { user: "your files", project: "this repository" };

/** "installed · your files". */
export function channelDescription({ state, level }: ChannelView): string {
  return state === "extension" ? stateTexts[state] : `${stateTexts[state]} · ${levelTexts[level]}`;
}

/** "MCP server, hooks"; "no memories yet" if an agent gets none. */
export function connectionDescription({ channels, findings }: Pick<ConnectionView, "channels" | "findings">): string {
  const installed = new Set(channels.filter(({ state }) => state !== "missing").map(({ channel }) => channelNames[channel]));
  const names = [...installed].map((name, at) => (at === 0 ? name : name.charAt(0).toLowerCase() + name.slice(1)));
  return names.length === 0 ? "no memories yet" : [names.join(", "), ...(findings.length > 0 ? ["needs attention"] : [])].join(" · ");
}

/** What an agent's channels are for, in the list to choose from. */
export const channelPurposes: Readonly<Record<AgentChannel, string>> = {
  mcp: "the agent asks for memories when it needs them",
  hooks: "the agent is shown memories when a session starts, with a prompt, after it reads a file and after a command fails",
  skill: "explains to the agent when to ask",
};
