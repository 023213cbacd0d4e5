// The extension's settings with every default; package.json is checked against `defaults` by a test.

export type CodeLensMode = "file" | "symbols" | "off";

export interface Settings {
  readonly enabled: boolean;
  readonly hover: boolean;
  readonly codeLens: CodeLensMode;
  readonly statusBar: boolean;
  /** Seconds; 0 turns idle sync off. */
  readonly idleSeconds: number;
  /** "": as the files of settings say. */
  readonly review: "" | "ask" | "auto";
  /** Path of an interpreter to use as it is; "" for our own environment. */
  readonly python: string;
  /** "" of these six, and null: as the files of settings say. */
  readonly "model.provider": string;
  readonly "model.name": string;
  readonly "model.baseUrl": string;
  readonly "extract.gate": "" | "all" | "signal";
  /** What the person wants the model to heed, in their own words. */
  readonly "extract.guidance": string;
  /** US dollars; 0 is no bound. */
  readonly "budget.perDayUsd": number | null;
  readonly "trace.server": "off" | "messages" | "verbose";
}

export const defaults: Settings = {
  enabled: true,
  hover: true,
  codeLens: "file",
  statusBar: true,
  idleSeconds: 30,
  review: "",
  python: "",
  "model.provider": "",
  "model.name": "",
  "model.baseUrl": "",
  "extract.gate": "",
  "extract.guidance": "",
  "budget.perDayUsd": null,
  "trace.server": "off",
};

/** Larger documents are not sent to the sidecar. */
export const maxFileKb = 512;

/** What `vscode.workspace.getConfiguration("lerim")` gives us. */
export interface Configuration {
  get(key: string): unknown;
  inspect?(key: string): { readonly defaultValue?: unknown; readonly globalValue?: unknown } | undefined;
}

export interface ReadSettings {
  readonly settings: Settings;
  /** Settings of the wrong type, which took their defaults. */
  readonly rejected: string[];
  /** Settings with which the workspace allows more than the person does; the person's hold. */
  readonly widened?: string[];
  /** What cannot be used of the model, by its name; the sidecar is told, so that it asks no model. */
  readonly unusable?: Readonly<Record<string, unknown>>;
}

const ofModel = "model.";

/** Settings as the person set them. A workspace comes with a clone: it may only narrow them. */
export function readSettings(configuration: Configuration): ReadSettings {
  const rejected: string[] = [];
  const widened: string[] = [];
  const unusable: Record<string, unknown> = {};
  /** The person's own value where the workspace's is wider. */
  const narrowed = <T>(key: keyof Settings, value: T, fits: (value: unknown) => value is T, width: (value: T) => number): T => {
    const inspected = configuration.inspect?.(key);
    const own = inspected?.globalValue ?? inspected?.defaultValue;
    if (!fits(own) || width(value) <= width(own)) return value;
    widened.push(`lerim.${key}`);
    return own;
  };
  const take = <T>(key: keyof Settings, fits: (value: unknown) => value is T, fallback: T): T => {
    const value = configuration.get(key);
    if (value === undefined || value === null) return fallback;
    if (fits(value)) return value;
    rejected.push(`lerim.${key}`);
    if (key.startsWith(ofModel)) unusable[key] = value;
    return fallback;
  };
  const settings: Settings = {
    enabled: narrowed("enabled", take("enabled", isBoolean, defaults.enabled), isBoolean, Number),
    hover: take("hover", isBoolean, defaults.hover),
    codeLens: take("codeLens", isOneOf("file", "symbols", "off"), defaults.codeLens),
    statusBar: take("statusBar", isBoolean, defaults.statusBar),
    idleSeconds: narrowed("idleSeconds", take("idleSeconds", isAmount, defaults.idleSeconds), isAmount, (seconds) => (seconds === 0 ? -Infinity : -seconds)),
    review: take("review", isOneOf("", "ask", "auto"), ""),
    python: take("python", isString, defaults.python).trim(),
    "model.provider": take("model.provider", isString, "").trim(),
    "model.name": take("model.name", isString, "").trim(),
    "model.baseUrl": take("model.baseUrl", isString, "").trim(),
    "extract.gate": take("extract.gate", isOneOf("", "all", "signal"), ""),
    "extract.guidance": take("extract.guidance", isString, "").trim(),
    "budget.perDayUsd": take<number | null>("budget.perDayUsd", isAmount, null),
    "trace.server": take("trace.server", isOneOf("off", "messages", "verbose"), defaults["trace.server"]),
  };
  for (const name of misspelt(configuration.get("model"))) {
    rejected.push(`lerim.${ofModel}${name}`);
    unusable[`${ofModel}${name}`] = null;
  }
  return { settings, rejected, ...(widened.length > 0 && { widened }), ...(Object.keys(unusable).length > 0 && { unusable }) };
}

/** Names below `lerim.model` that are no settings: one may have been meant for the address. */
function misspelt(model: unknown): string[] {
  if (typeof model !== "object" || model === null) return [];
  return Object.keys(model).filter((name) => !(`${ofModel}${name}` in defaults));
}

const ofJobs = ["review", "model.provider", "model.name", "model.baseUrl", "extract.gate", "extract.guidance", "budget.perDayUsd"] as const;

/** What the person set about models and the review; the sidecar hands it to its jobs. */
export function forJobs(settings: Settings): Partial<Pick<Settings, (typeof ofJobs)[number]>> {
  return Object.fromEntries(ofJobs.map((key) => [key, settings[key]] as const).filter(([, value]) => value !== "" && value !== null));
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
