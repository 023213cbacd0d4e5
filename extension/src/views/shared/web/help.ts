import { button, h } from "./dom";

/** A dialog that lists the keys. Escape or Close closes it and restores the focus. */
export function helpDialog(rows: readonly (readonly [string, string])[]): { readonly element: HTMLDialogElement; open(): void } {
  const element = h(
    "dialog",
    { class: "help", label: "Keyboard help" },
    h("h2", {}, "Keyboard"),
    h("dl", {}, ...rows.flatMap(([keys, meaning]) => [h("dt", {}, keys), h("dd", {}, meaning)])),
    button("Close", () => element.close()),
  );
  element.addEventListener("keydown", (event) => {
    if (event.key === "?") element.close();
    event.stopPropagation();
  });
  return {
    element,
    open: () => {
      if (!element.open) element.showModal();
    },
  };
}
