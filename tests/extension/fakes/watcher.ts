// A process whose open files are used up watches the folders it is told, and prints what keeps it from that.
import { openSync } from "node:fs";
import { FolderWatch } from "../../../extension/src/sidecar/watch";

try {
  for (;;) openSync("/dev/null", "r");
} catch {
  // not one more
}
const failed = (error: Error): boolean => process.stdout.write(`${error.message}\n`);
void new FolderWatch(process.argv.slice(2), () => undefined, failed).ready;
