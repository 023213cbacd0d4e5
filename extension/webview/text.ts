// Text of transcripts and memories made safe to look at: what would be invisible or turn the reading order is written out.

export interface Piece {
  readonly text: string;
  /** Whether this stands for a hidden character. */
  readonly hidden: boolean;
}

/** A joiner between two emoji makes one of them and hides nothing. */
const joinsEmoji = /^[\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}]\u200d\p{Extended_Pictographic}$/u;

// zero-width, bidirectional controls, variation selectors, tag characters and control characters other than tab and newline
const hiddenCharacter = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0]|[\u{e0000}-\u{e01ef}]/gu;

export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(hiddenCharacter)) {
    if (match[0] === "\u200d" && joinsEmoji.test(around(text, match.index))) continue;
    if (match.index > end) found.push({ text: text.slice(end, match.index), hidden: false });
    const code = match[0].codePointAt(0) ?? 0;
    found.push({ text: `U+${code.toString(16).toUpperCase().padStart(4, "0")}`, hidden: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) found.push({ text: text.slice(end), hidden: false });
  return found;
}

/** The character at `index` with the whole characters before and after it. */
function around(text: string, index: number): string {
  return `${Array.from(text.slice(Math.max(index - 2, 0), index)).at(-1) ?? ""}${text.charAt(index)}${Array.from(text.slice(index + 1, index + 3))[0] ?? ""}`;
}

export function plain(text: string): string {
  return pieces(text)
    .map((piece) => (piece.hidden ? `⟨${piece.text}⟩` : piece.text))
    .join("");
}

const speakers: Readonly<Record<string, string>> = { user: "You said", assistant: "The agent said", tool: "A tool printed", web: "A web page said" };

export function speakerText(who: string): string {
  return speakers[who] ?? "Someone said";
}

const signals: Readonly<Record<string, string>> = {
  correction: "You corrected the agent or insisted on this",
  answer: "You answered the agent's question",
  plan: "You approved a plan",
  "fixed-command": "A failing command passed after edits",
  choice: "A choice was stated with its reason",
  lesson: "The agent wrote this lesson down in the project",
  friction: "The same error came up in several sessions",
  diagnosis: "The agent found a cause, and what followed bore it out",
  rule: "The agent wrote down what you had said",
  remark: "You remarked on this, and the agent agreed and did so",
  question: "This was asked and not answered",
};

export function signalText(signal: string): string {
  return signals[signal] ?? signal;
}

const flags: Readonly<Record<string, string>> = {
  "hidden-characters": "Contains hidden characters; they are written out below.",
  "commands-an-agent": "Some of this text gives orders to an agent. Read it carefully before you accept.",
  "unproven-speaker": "Only the text of a tool's result says that this was said by you. Accept it if it was.",
  "quote-without-claim": "The words it was given of yours do not speak of this. Compare them before you accept.",
  "may-say-otherwise": "A model may have turned round what you said: a number, a “not”, an “if” or an order differs. Compare it with the quote.",
  "repeats-a-source": "A tool or a web page said this first; nobody else bore it out. Check it before you accept.",
  "own-words": "The model that worded this used words of its own. Compare it with the texts below before you accept.",
  "may-lose": "A model would end a memory that says more than this, or another thing. Look at both before you accept.",
  plain: "No model worded this: it is the list of all the texts.",
  "two-answers": "These memories answer one question in different ways. Accept it if the last one stands; else archive that one yourself.",
  "no-quote": "No words of the session show this: it was left out for that, and you had it proposed.",
  "held-a-secret": "This held a secret, which was cut out. Check that the rest makes sense and gives nothing away.",
  "not-the-person": "Neither you nor the agent said this: it rests on a tool's output or a web page.",
  "taken-back": "This was taken back later in the session. Check that it holds.",
  "sends-data-out": "Some of this text sends data or secrets elsewhere. Read it carefully before you accept.",
};

export function flagText(flag: string): string {
  return flags[flag] ?? flag;
}
