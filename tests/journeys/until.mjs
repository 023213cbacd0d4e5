import { setTimeout as pause } from "node:timers/promises";

/** Waits until `check` gives something true, and gives that; past `seconds` it fails saying what was waited for. */
export async function until(what, check, seconds = 20) {
  const deadline = Date.now() + seconds * 1000;
  let last = "";
  for (;;) {
    try {
      const value = await check();
      if (value) return value;
    } catch (error) {
      last = `; last: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`;
    }
    if (Date.now() > deadline) throw new Error(`Waited ${seconds} s in vain: ${what}${last}`);
    await pause(100);
  }
}
