import { expect, test } from "vitest";
import { limitSize } from "../../extension/src/editor/size";
import { Uri } from "./fakes/vscode";

type Middleware = Required<Pick<ReturnType<typeof limitSize>, "didOpen" | "didChange" | "didSave" | "didClose">>;
type TextDocument = Parameters<Middleware["didOpen"]>[0];

function document(path: string, text: string): TextDocument {
  // SAFETY: the middleware reads an address and a text
  return { uri: Uri.file(path), getText: () => text } as unknown as TextDocument;
}

/** Lets a document live from open to close and says what the sidecar heard of it. */
async function heard(middleware: Middleware, lived: TextDocument): Promise<string[]> {
  const told: string[] = [];
  const tell = (what: string) => (): Promise<void> => {
    told.push(what);
    return Promise.resolve();
  };
  await middleware.didOpen(lived, tell("open"));
  await middleware.didChange({ document: lived } as unknown as Parameters<Middleware["didChange"]>[0], tell("change"));
  await middleware.didSave(lived, tell("save"));
  await middleware.didClose(lived, tell("close"));
  return told;
}

test("a document that is large in bytes stays in the editor, a small one is told of; each is judged anew when it is opened again", async () => {
  const middleware = limitSize(10, () => undefined) as Middleware;
  expect(await heard(middleware, document("/a", "éééééé"))).toEqual([]);
  expect(await heard(middleware, document("/a", "eeeeeeeeee"))).toEqual(["open", "change", "save", "close"]);
});

test("a document that has become small is told of by a sidecar that was started again", async () => {
  const middleware = limitSize(10, () => undefined) as Middleware;
  await middleware.didOpen(document("/a", "x".repeat(11)), () => Promise.resolve());
  expect(await heard(middleware, document("/a", "x"))).toEqual(["open", "change", "save", "close"]);
});
