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

/** "MCP server, hooks"; if an agent gets no memories, that, or that it is not on this machine. */
export function connectionDescription({ isHere, channels, findings }: Pick<ConnectionView, "isHere" | "channels" | "findings">): string {
  const installed = new Set(channels.filter(({ state }) => state !== "missing").map(({ channel, state }) => channelNames[channel] + (state === "extension" ? " of this extension" : "")));
  const names = [...installed].map((name, at) => (at === 0 || name.startsWith("MCP") ? name : name.charAt(0).toLowerCase() + name.slice(1)));
  if (names.length === 0) return isHere ? "gets no memories" : "not found on this machine";
  return [names.join(", "), ...(findings.length > 0 ? ["needs attention"] : [])].join(" · ");
}

/** What an agent's channels are for, in the list to choose from. */
export const channelPurposes: Readonly<Record<AgentChannel, string>> = {
  mcp: "the agent asks for memories when it needs them",
  hooks: "memories come with prompts, after files are read and after commands fail",
  skill: "explains to the agent when to ask",
};
