/** Why a text cannot be the address of a model service; undefined if it can. The sidecar checks it again. */
export function findAddressError(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    return "Enter an address such as https://models.example/v1.";
  }
  if (!["http:", "https:"].includes(url.protocol) || url.hostname === "" || /\s/.test(text.trim())) return "The address must start with https:// and include a host.";
  if (url.username !== "" || url.password !== "" || /[?#]/.test(text)) return "The address must not contain a user name, a password, ? or #.";
  if (url.protocol === "http:" && !isLoopback(url.hostname)) return "The address must start with https://. Only a server on this machine can be used without encryption.";
  return undefined;
}

/** Whether an address is on this machine. */
export function isLocal(address: string): boolean {
  return findAddressError(address) === undefined && isLoopback(new URL(address.trim()).hostname);
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "[::1]" || /^127(\.\d{1,3}){3}$/.test(host);
}
