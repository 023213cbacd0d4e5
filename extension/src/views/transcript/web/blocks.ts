export interface Block {
  readonly code: boolean;
  readonly text: string;
}

const fencePattern = /^ {0,3}(`{3,}|~{3,})/;

/** Splits a message into prose and fenced code. An unclosed fence extends to the end. */
export function splitBlocks(text: string): Block[] {
  const result: Block[] = [];
  let lines: string[] = [];
  let openFence = "";
  const endBlock = (code: boolean): void => {
    const text = lines.join("\n");
    lines = [];
    if (code || text.trim() !== "") result.push({ code, text: code ? text : text.replace(/^\n+|\s+$/g, "") });
  };
  for (const line of text.split("\n")) {
    const fenceMark = fencePattern.exec(line)?.[1] ?? "";
    if (openFence === "" && fenceMark !== "") {
      endBlock(false);
      openFence = fenceMark;
    } else if (openFence !== "" && fenceMark.startsWith(openFence) && line.trim() === fenceMark) {
      endBlock(true);
      openFence = "";
    } else {
      lines.push(line);
    }
  }
  endBlock(openFence !== "");
  return result;
}
