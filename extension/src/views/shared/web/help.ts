import { button, h } from "./dom";

/** The list of keys; Escape or Close ends it and the focus goes back to where it was. */
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
