/** Runs one action at a time; all requests during a run share one further run after it. */
export class RestartQueue {
  #running: Promise<void> | undefined;
  #queued = false;

  constructor(private readonly action: () => Promise<void>) {}

  /** Resolves when a run that began after this call has ended; rejects if the last run failed. */
  request(): Promise<void> {
    if (this.#running !== undefined) {
      this.#queued = true;
      return this.#running;
    }
    this.#running = this.#loop().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** The runs under way; undefined if there are none. */
  get running(): Promise<void> | undefined {
    return this.#running;
  }

  async #loop(): Promise<void> {
    for (;;) {
      this.#queued = false;
      try {
        await this.action();
      } catch (error) {
        if (!this.#isQueued()) throw error;
      }
      if (!this.#isQueued()) return;
    }
  }

  // read through a method: the flag changes while `action` is awaited, which the compiler cannot see
  #isQueued(): boolean {
    return this.#queued;
  }
}
