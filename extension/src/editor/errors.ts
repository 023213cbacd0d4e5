/** A command failed because the sidecar is not running. The person has already been informed. */
export class NotRunning extends Error {
  override readonly name = "NotRunning";

  constructor() {
    super("Lerim's background process is not running. Run Lerim: Restart.");
  }
}

/** The message of whatever was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
