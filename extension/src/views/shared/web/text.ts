// Texts that the panels share.
export { type TextPiece, spellOutHidden, splitHiddenCharacters } from "../../../text/hidden";

const speakerTexts: Readonly<Record<string, string>> = { user: "You said", assistant: "The agent said", tool: "A tool printed", web: "A web page said" };

export function speakerText(who: string): string {
  return speakerTexts[who] ?? "Someone said";
}

const signalTexts: Readonly<Record<string, string>> = {
  prompt: "You wrote this to the agent",
  answer: "You answered the agent's question",
  feedback: "You said this when the agent asked for permission",
  plan: "You approved a plan that says this",
  reply: "The agent wrote this",
  "fixed-command": "A command failed, and worked after a change",
  friction: "The same error came up in several sessions",
  theme: "Several sessions worked on this",
  model: "A model found this in the session",
};

export function signalText(signal: string): string {
  return signalTexts[signal] ?? signal;
}

const flagTexts: Readonly<Record<string, string>> = {
  "hidden-characters": "This contains hidden characters. They are written out below.",
  "commands-an-agent": "Some of this text contains instructions for an agent. Read it carefully before you accept it.",
  "quote-without-claim": "The quote from you does not seem to support this. Compare them before you accept it.",
  "may-say-otherwise": "A model may have changed the meaning of what you said: a number, a negation, a condition or an instruction differs. Compare it with the quote.",
  "repeats-a-source": "A tool or a web page said this first, and nobody else confirmed it. Check it before you accept it.",
  "may-lose": "A model proposes to replace a memory that says more than this, or something else. Compare the two before you accept it.",
  differs: "The texts of these memories are not the same. Read both before you merge them.",
  "may-answer": "This may answer the question. Read both before you close it.",
  plain: "This only lists the original texts one after the other. Read it before you accept it.",
  "two-answers": "These memories answer the same question in different ways. Accept to keep the newest answer. If the newest is wrong, reject this and archive it yourself.",
  "said-by-an-agent": "A coding agent proposed this itself. Check that it is true before you accept it.",
  unverified: "This was found in a file, and nobody has checked it. Check that it is true before you accept it.",
  "no-quote": "No quote from the session supports this. It was left out for that reason, and you proposed it anyway.",
  "held-a-secret": "This contained a secret, which was removed. Check that the rest makes sense and gives nothing away.",
  "not-the-person": "Neither you nor the agent said this. It is based on a tool's output or a web page.",
  "taken-back": "This was taken back later in the session. Check whether it still applies.",
  "sends-data-out": "Some of this text sends data or secrets elsewhere. Read it carefully before you accept it.",
};

export function flagText(flag: string): string {
  return flagTexts[flag] ?? flag;
}
