import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("../..", import.meta.url)),
  resolve: {
    alias: {
      "vscode-languageclient/node": fileURLToPath(new URL("fakes/languageclient.ts", import.meta.url)),
      vscode: fileURLToPath(new URL("fakes/vscode.ts", import.meta.url)),
    },
  },
  test: {
    include: ["tests/extension/*.test.ts"],
    setupFiles: "tests/extension/fakes/setup.ts",
    isolate: false, // modules are loaded once; what a test leaves in the stand-in is taken back before the next
    restoreMocks: true,
    expect: { poll: { interval: 5, timeout: 120_000 } },
    testTimeout: 600_000,
    hookTimeout: 600_000,
    maxWorkers: 2,
  },
});
