// Accepting and rejecting a candidate outside the review panel: on its row in the Memories view.
import * as vscode from "vscode";
import { askWhereQuotesGo } from "../editor/quotes";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { showActionResult } from "./acts";

export interface CandidateTarget {
  readonly root: string;
  readonly id: string;
  readonly scope: protocol.Scope;
}

/** Accepts or rejects a candidate; the message offers to undo it. The first accept in a repository asks where quotes are kept. */
export async function decideCandidate(context: Pick<Context, "request">, target: CandidateTarget | undefined, action: "accept" | "reject"): Promise<void> {
  if (target === undefined) {
    await vscode.commands.executeCommand("lerim.openReview");
    return;
  }
  const params: protocol.ActParams = { ...target, action };
  const result = await context.request(protocol.reviewAct, params);
  const quotes = result.askQuotes ? await askWhereQuotesGo() : undefined;
  if (result.askQuotes && quotes === undefined) return;
  const final = quotes === undefined ? result : await context.request(protocol.reviewAct, { ...params, quotes });
  const message = final.note === "" ? final.message : `${final.message}. ${final.note}`;
  await showActionResult(context, { ...final, message, root: target.root });
}
