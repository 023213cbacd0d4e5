import { button, h } from "./dom";
import { helpRows } from "./keys";

/** The list of keys; Escape or Close ends it and the focus goes back to where it was. */
export function helpDialog(): { readonly element: HTMLDialogElement; open(): void } {
  const element = h(
    "dialog",
    { class: "help", label: "Keyboard help" },
    h("h2", {}, "Keyboard"),
    h("dl", {}, ...helpRows.flatMap(([keys, meaning]) => [h("dt", {}, keys), h("dd", {}, meaning)])),
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
