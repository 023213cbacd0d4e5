// The editor's comment threads, as far as the extension uses them.

interface Position {
  readonly path: string;
  toString(): string;
}

export interface FakeComment {
  body: string | { readonly value: string; isTrusted?: unknown; supportHtml?: boolean };
  readonly mode: number;
}

export interface FakeThread {
  readonly uri: Position;
  range: { readonly start: { readonly line: number } };
  comments: readonly FakeComment[];
  label?: string;
  canReply?: boolean;
  collapsibleState?: number;
  dispose(): void;
}

/** The threads that exist, in the order in which they were made. */
export const commentThreads: FakeThread[] = [];

export const CommentMode = { Editing: 0, Preview: 1 };
export const CommentThreadCollapsibleState = { Collapsed: 0 };

export const comments = {
  createCommentController: () => ({
    createCommentThread: (uri: Position, range: FakeThread["range"], own: readonly FakeComment[]): FakeThread => {
      const thread: FakeThread = { uri, range, comments: own, dispose: () => void commentThreads.splice(commentThreads.indexOf(thread), 1) };
      commentThreads.push(thread);
      return thread;
    },
    dispose: () => void commentThreads.splice(0),
  }),
};
