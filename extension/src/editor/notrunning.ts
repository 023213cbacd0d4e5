/** A command cannot be carried out because the sidecar does not run; the person has been told, or knows. */
export class NotRunning extends Error {
  override readonly name = "NotRunning";

  constructor() {
    super("Lerim's sidecar is not running. Run Lerim: Restart.");
  }
}
