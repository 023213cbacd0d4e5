// Before each test the editor is as at its start: nothing shown, nothing to answer, the folder /repo open and trusted.
import { afterEach, beforeEach, vi } from "vitest";
import { reset } from "./vscode";

beforeEach(reset);
afterEach(() => void vi.useRealTimers());
