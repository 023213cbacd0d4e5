// What is about things left out of the review; the rest of the wire is in protocol.ts.

/** Something that was not proposed, and why. */
export interface LeftOutView {
  id: string;
  reason: string;
  /** The reason in words. */
  why: string;
  detail: string;
  title: string;
  primitive: string;
  kind: string | null;
  /** "" where no words of the session show it. */
  quote: string;
  who: string;
  session: string;
  turn: string;
  platform: string;
  time: string;
  /** What a ranking gave it; null where nothing ranked it. */
  score: number | null;
  /** Whether a memory can be made of it. */
  canPropose: boolean;
  scope: "project" | "global";
}

export interface LeftOutParams {
  root: string;
  most: number;
  /** Only of this session, by its id or a beginning of it. */
  session?: string;
}

export interface LeftOutList {
  items: LeftOutView[];
  total: number;
}

export interface ProposeParams {
  root: string;
  id: string;
  scope: "project" | "global";
}
