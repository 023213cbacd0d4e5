// What the host side checks in messages of its webviews, which draw hostile text.

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function isText(value: unknown, maxLength = 1_000_000): value is string {
  return typeof value === "string" && value.length <= maxLength;
}
