// The changes of agents' files that were the last thing done in this window, for Lerim: Undo Last Action. The actions on memories, which the sidecar undoes, do not include them.

type Undo = () => Promise<void>;

/** What takes back each change, the latest last. */
let undos: readonly Undo[] = [];

/** Keeps a change that `undo` takes back. Returns what the button of its message does. */
export function keepFileChange(undo: Undo): Undo {
  const undoOnce = (): Promise<void> => {
    undos = undos.filter((one) => one !== undoOnce); // also if it fails: the next undo then takes the action before it
    return undo();
  };
  undos = [...undos, undoOnce];
  return undoOnce;
}

/** Takes back the last change; undefined if there is none, or an action on a memory came after it. */
export function findFileChange(): Undo | undefined {
  return undos.at(-1);
}

/** An action on a memory or candidate was performed: it is the last one now. */
export function forgetFileChanges(): void {
  undos = [];
}
