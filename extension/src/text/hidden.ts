// Makes text of transcripts and memories safe to show: invisible and direction-changing characters are spelled out.

export interface TextPiece {
  readonly text: string;
  /** Whether this stands for a hidden character. */
  readonly hidden: boolean;
}

/** A joiner between two emoji combines them and hides nothing. */
const joinsEmoji = /^[\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}]\u200d\p{Extended_Pictographic}$/u;

// as HIDDEN_CHARACTERS in server/lerim/redaction/hidden.py, but for the selector that makes an emoji colourful
const hiddenCharacter = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u034f\u061c\u070f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff]|[\u{1bca0}-\u{1bca3}\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;

export function splitHiddenCharacters(text: string): TextPiece[] {
  const result: TextPiece[] = [];
  let end = 0;
  for (const match of text.matchAll(hiddenCharacter)) {
    if (match[0] === "\u200d" && joinsEmoji.test(withNeighbours(text, match.index))) continue;
    if (match.index > end) result.push({ text: text.slice(end, match.index), hidden: false });
    const code = match[0].codePointAt(0) ?? 0;
    result.push({ text: `U+${code.toString(16).toUpperCase().padStart(4, "0")}`, hidden: true });
    end = match.index + match[0].length;
  }
  if (end < text.length) result.push({ text: text.slice(end), hidden: false });
  return result;
}

/** The character at `index` with the whole characters before and after it. */
function withNeighbours(text: string, index: number): string {
  return `${Array.from(text.slice(Math.max(index - 2, 0), index)).at(-1) ?? ""}${text.charAt(index)}${Array.from(text.slice(index + 1, index + 3))[0] ?? ""}`;
}

export function spellOutHidden(text: string): string {
  return splitHiddenCharacters(text)
    .map((piece) => (piece.hidden ? `⟨${piece.text}⟩` : piece.text))
    .join("");
}
