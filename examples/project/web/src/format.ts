/** Shows an amount the way people write it. */
export function formatAmount(amount: string, currency: string): string {
  return new Intl.NumberFormat(undefined, { style: "currency", currency }).format(amount as unknown as number);
}
