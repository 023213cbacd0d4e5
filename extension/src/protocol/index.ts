// The protocol between editor and sidecar (docs/PROTOCOL.md): the types generated from Python, and the settings, which only the editor writes.
import type { CodeLensMode } from "../editor/settings";

export * from "./generated";
export type { Notification, Request } from "./message";

export interface ServerSettings {
  enabled: boolean;
  hover: boolean;
  codeLens: CodeLensMode;
  idleSeconds: number;
  maxFileKb: number;
  review?: string;
  "model.provider"?: string;
  "model.name"?: string;
  "model.baseUrl"?: string;
  "extract.gate"?: string;
  "extract.guidance"?: string;
  "budget.perDayUsd"?: number | null;
  "agents.denyOnce"?: boolean | null;
}

/** `initializationOptions`, and `settings` of `workspace/didChangeConfiguration`. */
export interface InitOptions {
  trusted: boolean;
  settings: ServerSettings;
}
