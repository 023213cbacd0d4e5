// Messages between the host side (views/benefit/host.ts) and the webview (views/benefit/web/benefit.ts) of Lerim: Show Benefit of Memories. The host checks what it receives.
import type { BenefitView } from "../../protocol";
import { isObject } from "../shared/checks";

export type FromBenefit =
  | { readonly type: "ready" }
  | { readonly type: "refresh" }
  /** The person wants to give agents memories. */
  | { readonly type: "connect" }
  /** The person clicked the row with this index. */
  | { readonly type: "open"; readonly row: number };

/** What the panel shows. `view` is missing while the figures are computed, and if that failed; then `message` says why. */
export interface BenefitState {
  readonly state: "computing" | "done" | "failed";
  readonly view?: BenefitView;
  readonly message: string;
}

export interface ToBenefit {
  readonly type: "state";
  readonly state: BenefitState;
}

/** Parses a message from the webview; undefined if it is invalid. */
export function parseFromBenefit(value: unknown): FromBenefit | undefined {
  if (!isObject(value)) return undefined;
  const { type, row } = value;
  switch (type) {
    case "ready":
    case "refresh":
    case "connect":
      return { type };
    case "open":
      return typeof row === "number" && Number.isInteger(row) && row >= 0 ? { type, row } : undefined;
    default:
      return undefined;
  }
}
