export interface Block {
  readonly code: boolean;
  readonly text: string;
}

const fence = /^ {0,3}(`{3,}|~{3,})/;

/** Splits a message into prose and fenced code. An unclosed fence extends to the end. */
export function blocks(text: string): Block[] {
  const found: Block[] = [];
  let lines: string[] = [];
  let open = "";
  const end = (code: boolean): void => {
    const joined = lines.join("\n");
    lines = [];
    if (code || joined.trim() !== "") found.push({ code, text: code ? joined : joined.replace(/^\n+|\s+$/g, "") });
  };
  for (const line of text.split("\n")) {
    const mark = fence.exec(line)?.[1] ?? "";
    if (open === "" && mark !== "") {
      end(false);
      open = mark;
    } else if (open !== "" && mark.startsWith(open) && line.trim() === mark) {
      end(true);
      open = "";
    } else {
      lines.push(line);
    }
  }
  end(open !== "");
  return found;
}
