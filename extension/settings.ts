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
  /** "" of these five, and null: as the files of settings say. */
  readonly "model.provider": string;
  readonly "model.name": string;
  readonly "model.baseUrl": string;
  readonly "extract.gate": "" | "all" | "signal";
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
  "budget.perDayUsd": null,
  "trace.server": "off",
};

/** Larger documents are not sent to the sidecar. */
export const maxFileKb = 512;

/** What `vscode.workspace.getConfiguration("lerim")` gives us. */
export interface Configuration {
  get(key: string): unknown;
}

/** Settings as the person set them; a value of the wrong type takes its default and is named in `rejected`. */
export function readSettings(configuration: Configuration): { settings: Settings; rejected: string[] } {
  const rejected: string[] = [];
  const take = <T>(key: keyof Settings, fits: (value: unknown) => value is T, fallback: T): T => {
    const value = configuration.get(key);
    if (value === undefined || value === null) return fallback;
    if (fits(value)) return value;
    rejected.push(`lerim.${key}`);
    return fallback;
  };
  const settings: Settings = {
    enabled: take("enabled", isBoolean, defaults.enabled),
    hover: take("hover", isBoolean, defaults.hover),
    codeLens: take("codeLens", isOneOf("file", "symbols", "off"), defaults.codeLens),
    statusBar: take("statusBar", isBoolean, defaults.statusBar),
    idleSeconds: take("idleSeconds", isAmount, defaults.idleSeconds),
    review: take("review", isOneOf("", "ask", "auto"), ""),
    python: take("python", isString, defaults.python).trim(),
    "model.provider": take("model.provider", isString, "").trim(),
    "model.name": take("model.name", isString, "").trim(),
    "model.baseUrl": take("model.baseUrl", isString, "").trim(),
    "extract.gate": take("extract.gate", isOneOf("", "all", "signal"), ""),
    "budget.perDayUsd": take<number | null>("budget.perDayUsd", isAmount, null),
    "trace.server": take("trace.server", isOneOf("off", "messages", "verbose"), defaults["trace.server"]),
  };
  return { settings, rejected };
}

const ofJobs = ["review", "model.provider", "model.name", "model.baseUrl", "extract.gate", "budget.perDayUsd"] as const;

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
