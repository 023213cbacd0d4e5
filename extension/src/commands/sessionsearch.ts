import type * as vscode from "vscode";
import type { Context } from "../sidecar/context";
import * as protocol from "../protocol";
import { searchList } from "./searchlist";
import { hitDetail, repeatsTitle } from "../text/sessionwording";
import { plainText, rowText, withoutIcons } from "../text/wording";
import { agentIcon } from "../views/shared/icons";

interface HitItem extends vscode.QuickPickItem {
  readonly hit: protocol.HitView;
}

const searchLimit = 50;

/** Lerim: Search Sessions…. A live list in the sidecar's order; Enter opens the transcript at the turn. */
export async function searchSessions(
  context: Pick<Context, "request" | "extension">,
  everywhere: boolean,
  open: (id: string, turn: string) => Promise<void>,
): Promise<void> {
  const defaultTitle = everywhere ? "Search the sessions of this machine" : "Search the sessions of this window's repositories";
  await searchList<HitItem>(
    "Words that were said, and agent: repo: branch: model: file: since:7d failed:",
    async (query, cancel) => {
      if (query.trim() === "") return { items: [], title: defaultTitle };
      const { hits, problems } = await context.request(protocol.sessionsSearch, { query, everywhere, limit: searchLimit }, cancel);
      const title = problems.length > 0 ? problems.join(" ") : hits.length === 0 ? "No matches" : defaultTitle;
      return { items: hits.map((hit) => makeItem(hit, context.extension.extensionUri)), title };
    },
    ({ hit }) => open(hit.id, hit.turn),
  );
}

function makeItem(hit: protocol.HitView, extension: vscode.Uri): HitItem {
  return {
    label: "",
    iconPath: agentIcon(extension, hit.platform),
    description: rowText(hit.snippet),
    detail: withoutIcons([hitDetail(hit), ...(repeatsTitle(hit) ? [] : [plainText(hit.title)])].join(" · ")),
    alwaysShow: true,
    hit,
  };
}
