export interface Properties {
  readonly class?: string;
  readonly role?: string;
  readonly id?: string;
  readonly label?: string;
  readonly title?: string;
  readonly disabled?: boolean;
  readonly onClick?: () => void;
  readonly attributes?: Readonly<Record<string, string>>;
}

export type Child = Node | string;

/** Builds an element. Strings become text nodes, so they are never parsed as markup. */
export function h<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties = {}, ...children: readonly Child[]): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  if (properties.class !== undefined) element.className = properties.class;
  if (properties.role !== undefined) element.setAttribute("role", properties.role);
  if (properties.id !== undefined) element.id = properties.id;
  if (properties.label !== undefined) element.setAttribute("aria-label", properties.label);
  if (properties.title !== undefined) element.title = properties.title;
  for (const [name, value] of Object.entries(properties.attributes ?? {})) element.setAttribute(name, value);
  if (properties.disabled === true) element.setAttribute("disabled", "");
  const { onClick } = properties;
  if (onClick !== undefined) element.addEventListener("click", onClick);
  element.append(...children);
  return element;
}

export function button(text: string, onClick: () => void, properties: Properties = {}): HTMLButtonElement {
  return h("button", { ...properties, class: `button ${properties.class ?? ""}`.trim(), onClick, attributes: { type: "button", ...properties.attributes } }, text);
}
