import { setTimeout as pause } from "node:timers/promises";

/** How long, in milliseconds, anything is waited for. It only ends a hang: a machine four times slower stays far below it. */
export const HANG = 180_000;

/** How long, in milliseconds, a whole journey may take; for hangs, too. */
export const JOURNEY = 2_400_000;

/** Waits until `check` returns something truthy and returns it. Fails after `limit` milliseconds, saying what was waited for. */
export async function until(what, check, limit = HANG) {
  const started = Date.now();
  let last = "";
  for (;;) {
    try {
      const value = await check();
      if (value) return value;
    } catch (error) {
      last = `; last: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`;
    }
    const waited = Date.now() - started;
    if (waited > limit) throw new Error(`Waited ${limit / 1000} s in vain: ${what}${last}`);
    await pause(Math.min(50 + waited / 5, 500)); // a look costs the editor time, too: the longer the wait, the fewer of them
  }
}
