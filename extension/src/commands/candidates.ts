// Accepting, rejecting and editing a candidate outside the review panel: on its row in the Memories view, or in a comment on a line.
import * as vscode from "vscode";
import { askWhereQuotesGo } from "../editor/quotes";
import { tickStep } from "../editor/walkthroughsteps";
import * as protocol from "../protocol";
import type { Context } from "../sidecar/context";
import { referenceProblemsText } from "../text/wording";
import { showActionResult } from "./acts";

export interface CandidateTarget {
  readonly root: string;
  readonly id: string;
  readonly scope: protocol.Scope;
  /** Accepting it needs a decision about other memories, which the panel shows. */
  readonly needsChoice?: boolean;
}

/** Accepts or rejects a candidate; the message offers to undo it. The first accept in a repository asks where quotes are kept. */
export async function decideCandidate(context: Pick<Context, "request">, target: CandidateTarget | undefined, action: "accept" | "reject"): Promise<void> {
  if (target === undefined) {
    await vscode.commands.executeCommand("lerim.openReview");
    return;
  }
  const { root, id, scope } = target;
  if (action === "accept" && target.needsChoice === true) {
    vscode.window.setStatusBarMessage("Lerim: First compare this candidate with the memories that it resembles or would change", 10_000);
    await openInReview(root, id);
    return;
  }
  if (action === "accept" && !(await confirmReferences(context, { root, id, scope }))) return;
  const params: protocol.ActParams = { root, id, scope, action };
  const result = await context.request(protocol.reviewAct, params);
  const quotes = result.askQuotes ? await askWhereQuotesGo() : undefined;
  if (result.askQuotes && quotes === undefined) return;
  const final = quotes === undefined ? result : await context.request(protocol.reviewAct, { ...params, quotes });
  if (final.ok) tickStep("review");
  showReviewResult(context, root, final);
}

/** Changes the text of a candidate, which goes on waiting. Throws if the sidecar refuses it. */
export async function editCandidate(context: Pick<Context, "request">, { root, id, scope }: CandidateTarget, edit: protocol.Edit): Promise<void> {
  showReviewResult(context, root, await context.request(protocol.reviewAct, { root, id, scope, action: "edit", edit }));
}

/** Says which references of a candidate do not name one place in the checkout, and asks what to do; true: accept it as it is. */
async function confirmReferences(context: Pick<Context, "request">, target: protocol.ItemParams): Promise<boolean> {
  const { problems } = await context.request(protocol.reviewReferences, target);
  if (problems.length === 0) return true;
  const acceptButton = "Accept Anyway";
  const reviewButton = "Open in Review";
  const choice = await vscode.window.showWarningMessage(referenceProblemsText(problems), { modal: true }, acceptButton, reviewButton);
  if (choice === reviewButton) await openInReview(target.root, target.id);
  return choice === acceptButton;
}

async function openInReview(root: string, id: string): Promise<void> {
  await vscode.commands.executeCommand("lerim.openReview", { root, id });
}

function showReviewResult(context: Pick<Context, "request">, root: string, result: protocol.ReviewResult): void {
  showActionResult(context, { ...result, root });
}
