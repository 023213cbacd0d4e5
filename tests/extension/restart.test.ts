import { expect, test } from "vitest";
import { RestartQueue } from "../../extension/src/sidecar/restart";

/** An action that ends when the test says so. */
function controlled(): { starts: () => number; finish: (error?: Error) => Promise<void>; action: () => Promise<void> } {
  const open: { resolve: () => void; reject: (error: Error) => void }[] = [];
  let starts = 0;
  return {
    starts: () => starts,
    action: () => {
      starts++;
      return new Promise<void>((resolve, reject) => open.push({ resolve, reject }));
    },
    finish: async (error) => {
      const first = open.shift();
      if (error === undefined) first?.resolve();
      else first?.reject(error);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test("requests during a run are answered by one further run, also where the first fails", async () => {
  const { action, finish, starts } = controlled();
  const queue = new RestartQueue(action);
  const all = Promise.all([queue.request(), queue.request(), queue.request()]);
  expect(starts()).toBe(1);
  await finish(new Error("first"));
  expect(starts()).toBe(2);
  await finish();
  await all;
  expect(starts()).toBe(2);
  expect(queue.running).toBeUndefined();
});

test("the last run's failure reaches who asked, and the queue works on", async () => {
  const { action, finish, starts } = controlled();
  const queue = new RestartQueue(action);
  const asked = expect(queue.request()).rejects.toThrow("broken");
  await finish(new Error("broken"));
  await asked;
  const again = queue.request();
  expect(starts()).toBe(2);
  await finish();
  await again;
});
