/** A command failed because the sidecar is not running. The person has already been informed. */
export class NotRunning extends Error {
  override readonly name = "NotRunning";

  constructor(message = "Lerim's background process is not running. Run Lerim: Restart.") {
    super(message);
  }
}

export const turnedOff = "Lerim is turned off by the setting lerim.enabled.";

/** The codes of JSON-RPC errors for a request whose connection was closed, and for one to a connection that is. */
const connectionCodes: readonly unknown[] = [-32097, -32096];

/** Whether the sidecar answered that a folder is in no git repository, or that none of the window's is. */
export function isProjectError(error: unknown): boolean {
  const data: unknown = error instanceof Error && "data" in error ? error.data : undefined;
  return typeof data === "object" && data !== null && "kind" in data && data.kind === "project";
}

/** The message of whatever was thrown. */
export function errorText(error: unknown): string {
  if (error instanceof Error && "code" in error && connectionCodes.includes(error.code)) return "Lerim's background process ended before it answered. Try again.";
  return error instanceof Error ? error.message : String(error);
}
