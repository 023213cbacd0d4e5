// The extension's settings with their defaults. A test compares `defaults` with package.json.

export type CodeLensMode = "file" | "symbols" | "off";

export interface Settings {
  readonly enabled: boolean;
  readonly hover: boolean;
  readonly codeLens: CodeLensMode;
  /** Whether candidates are shown as comments on the code they speak of. */
  readonly reviewComments: boolean;
  readonly statusBar: boolean;
  /** Whether a search also finds memories that say the same in other words, once what it needs is installed. */
  readonly searchByMeaning: boolean;
  /** Seconds; 0 turns idle sync off. */
  readonly idleSeconds: number;
  /** "": as in Lerim's settings files. */
  readonly review: "" | "ask" | "auto";
  /** Path of the interpreter to use; "" for Lerim's own environment. */
  readonly python: string;
  /** For these six, "" and null mean: as in Lerim's settings files. */
  readonly "model.provider": string;
  readonly "model.name": string;
  readonly "model.baseUrl": string;
  readonly "extract.gate": "" | "all" | "signal";
  /** The person's instructions for the model, in their own words. */
  readonly "extract.guidance": string;
  /** US dollars; 0 means no limit. */
  readonly "budget.perDayUsd": number | null;
  /** Whether the MCP server is offered to agents in the editor. */
  readonly "agents.mcpServer": boolean;
  /** null: as in Lerim's settings files. */
  readonly "agents.denyOnce": boolean | null;
  readonly "trace.server": "off" | "messages" | "verbose";
}

export const defaults: Settings = {
  enabled: true,
  hover: true,
  codeLens: "symbols",
  reviewComments: true,
  statusBar: true,
  searchByMeaning: false,
  idleSeconds: 30,
  review: "",
  python: "",
  "model.provider": "",
  "model.name": "",
  "model.baseUrl": "",
  "extract.gate": "",
  "extract.guidance": "",
  "budget.perDayUsd": null,
  "agents.mcpServer": false,
  "agents.denyOnce": null,
  "trace.server": "off",
};

/** Larger documents are not sent to the sidecar. */
export const maxFileKb = 512;

/** The part of `vscode.workspace.getConfiguration("lerim")` that is used. */
export interface Configuration {
  get(key: string): unknown;
  inspect?(key: string): { readonly defaultValue?: unknown; readonly globalValue?: unknown } | undefined;
}

export interface ReadSettings {
  readonly settings: Settings;
  /** Settings of the wrong type, whose defaults are used. */
  readonly rejected: string[];
  /** Settings in which the workspace allows more than the user settings, which are used instead. */
  readonly widened: string[];
  /** Invalid model settings by name; they are sent to the sidecar, so that it asks no model. */
  readonly unusable: Readonly<Record<string, unknown>>;
}

const modelPrefix = "model.";

/** Reads the settings. Workspace settings come with a clone, so they may only restrict the user settings. */
export function readSettings(configuration: Configuration): ReadSettings {
  const rejected: string[] = [];
  const widened: string[] = [];
  const unusable: Record<string, unknown> = {};
  /** The user's value if the workspace's is more permissive. */
  const restrictToUser = <T>(key: keyof Settings, value: T, isValid: (value: unknown) => value is T, permissiveness: (value: T) => number): T => {
    const inspected = configuration.inspect?.(key);
    const userValue = inspected?.globalValue ?? inspected?.defaultValue;
    if (!isValid(userValue) || permissiveness(value) <= permissiveness(userValue)) return value;
    widened.push(`lerim.${key}`);
    return userValue;
  };
  const readValue = <T>(key: keyof Settings, isValid: (value: unknown) => value is T, fallback: T): T => {
    const value = configuration.get(key);
    if (value === undefined || value === null) return fallback;
    if (isValid(value)) return value;
    rejected.push(`lerim.${key}`);
    if (key.startsWith(modelPrefix)) unusable[key] = value;
    return fallback;
  };
  const settings: Settings = {
    enabled: restrictToUser("enabled", readValue("enabled", isBoolean, defaults.enabled), isBoolean, Number),
    hover: readValue("hover", isBoolean, defaults.hover),
    codeLens: readValue("codeLens", isOneOf("file", "symbols", "off"), defaults.codeLens),
    reviewComments: readValue("reviewComments", isBoolean, defaults.reviewComments),
    statusBar: readValue("statusBar", isBoolean, defaults.statusBar),
    searchByMeaning: readValue("searchByMeaning", isBoolean, defaults.searchByMeaning),
    idleSeconds: restrictToUser("idleSeconds", readValue("idleSeconds", isAmount, defaults.idleSeconds), isAmount, (seconds) => (seconds === 0 ? -Infinity : -seconds)),
    review: readValue("review", isOneOf("", "ask", "auto"), ""),
    python: readValue("python", isString, defaults.python).trim(),
    "model.provider": readValue("model.provider", isString, "").trim(),
    "model.name": readValue("model.name", isString, "").trim(),
    "model.baseUrl": readValue("model.baseUrl", isString, "").trim(),
    "extract.gate": readValue("extract.gate", isOneOf("", "all", "signal"), ""),
    "extract.guidance": readValue("extract.guidance", isString, "").trim(),
    "budget.perDayUsd": readValue<number | null>("budget.perDayUsd", isAmount, null),
    "agents.mcpServer": readValue("agents.mcpServer", isBoolean, defaults["agents.mcpServer"]),
    "agents.denyOnce": readValue<boolean | null>("agents.denyOnce", isBoolean, null),
    "trace.server": readValue("trace.server", isOneOf("off", "messages", "verbose"), defaults["trace.server"]),
  };
  for (const name of findUnknownModelSettings(configuration.get("model"))) {
    rejected.push(`lerim.${modelPrefix}${name}`);
    unusable[`${modelPrefix}${name}`] = null;
  }
  return { settings, rejected, widened, unusable };
}

/** Unknown names below `lerim.model`: one may be a misspelled address. */
function findUnknownModelSettings(model: unknown): string[] {
  if (typeof model !== "object" || model === null) return [];
  return Object.keys(model).filter((name) => !(`${modelPrefix}${name}` in defaults));
}

const jobSettingKeys = ["review", "model.provider", "model.name", "model.baseUrl", "extract.gate", "extract.guidance", "budget.perDayUsd", "agents.denyOnce"] as const;

/** The settings for models, the review and hooks, which the sidecar passes to its jobs. */
export function jobSettings(settings: Settings): Partial<Pick<Settings, (typeof jobSettingKeys)[number]>> {
  return Object.fromEntries(jobSettingKeys.map((key) => [key, settings[key]] as const).filter(([, value]) => value !== "" && value !== null));
}

function isBoolean(value: unknown): value is boolean {
  return typeof value === "boolean";
}

function isString(value: unknown): value is string {
  return typeof value === "string";
}

function isAmount(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}

function isOneOf<T extends string>(...values: readonly T[]): (value: unknown) => value is T {
  return (value): value is T => values.some((known) => known === value);
}
