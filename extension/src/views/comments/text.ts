// The text of a candidate as it is edited in a comment: its title in the first line, its body below.

interface CandidateText {
  readonly title: string;
  readonly body: string;
}

export function editableText({ title, body }: CandidateText): string {
  return body.trim() === "" ? title : `${title}\n\n${body}`;
}

/** What was written: the first line that is not empty is the title, everything below it the body. */
export function parseEditableText(text: string): { title: string; body: string } {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const first = lines.findIndex((line) => line.trim() !== "");
  if (first < 0) return { title: "", body: "" };
  return { title: lines[first]?.trim() ?? "", body: lines.slice(first + 1).join("\n").trim() };
}
