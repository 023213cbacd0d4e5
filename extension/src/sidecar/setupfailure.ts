// Finds the cause of a failed first start in the output of the tools.

export type Cause =
  | "no-python"
  | "old-python"
  | "bad-interpreter"
  | "no-venv"
  | "tls"
  | "hash"
  | "disk"
  | "permission"
  | "offline"
  | "index"
  | "cancelled"
  | "unknown";

// The first match wins: pip always ends with "no matching distribution" if it cannot use the index.
const patterns: readonly (readonly [Cause, RegExp])[] = [
  ["no-venv", /No module named '?"?(venv|ensurepip|pip)\b|ensurepip is not available|python3[.\d]*-venv/i],
  ["disk", /No space left on device|ENOSPC|not enough space on the disk|Disk quota exceeded|os error 28\b/i],
  ["hash", /DO NOT MATCH THE HASHES|Hash mismatch/i],
  ["tls", /CERTIFICATE_VERIFY_FAILED|SSLError|SSLCertVerification|certificate verify failed|invalid peer certificate|UnknownIssuer/i],
  ["offline", /name resolution|Name or service not known|getaddrinfo|nodename nor servname|establish a new connection|Network is unreachable|dns error|Connection (refused|reset|timed out)|ConnectTimeout|ProxyError|error sending request|actively refused|ConnectionError|connection broken|timed out|IncompleteRead/i],
  ["permission", /Permission denied|EACCES|EPERM|Access is denied|Read-only file system|EROFS/i],
  ["index", /No matching distribution|Could not find a version|not found in the package registry|\b(401|403|404) |Unauthorized|Forbidden|No solution found/i],
];

export function findCause(output: string): Cause {
  return patterns.find(([, pattern]) => pattern.test(output))?.[0] ?? "unknown";
}

const messages: Readonly<Record<Cause, string>> = {
  "no-python": "No Python was found. Install Python 3.11 or newer, or set lerim.python to its path.",
  "old-python": "Only a Python older than 3.11 was found. Install Python 3.11 or newer, or set lerim.python to its path.",
  "bad-interpreter": "The interpreter set in lerim.python cannot run Lerim. It must be Python 3.11 or newer with the packages in requirements.lock. Clear the setting to let Lerim create its own environment.",
  "no-venv": "Python cannot create virtual environments here. Install its venv package (on Debian and Ubuntu: apt install python3-venv), or install uv.",
  tls: "The package index could not be used because its certificate is not trusted. Behind a company proxy, set SSL_CERT_FILE (uv) or PIP_CERT (pip) to the proxy's certificate and restart the editor.",
  hash: "A downloaded package is not the one Lerim was released with, so it was not installed. Check the package index that pip or uv is configured to use.",
  disk: "There is no space left on the disk. About 100 MB is needed.",
  permission: "A folder could not be written to. The log names it. Make it writable and select Retry, or set lerim.python to the path of Python 3.11 or newer.",
  offline: "The package index could not be reached. The first start downloads about 11 MB.",
  index: "The package index does not have a package that Lerim needs. Check the index that pip or uv is configured to use.",
  cancelled: "The set-up was cancelled.",
  unknown: "The Python environment could not be set up. The log has the output of pip or uv. Select Retry to start over, or set lerim.python to the path of Python 3.11 or newer.",
};

/** A failed first start: `message` is shown to the person, `detail` (the end of the output) is logged. */
export class BootstrapError extends Error {
  override readonly name = "BootstrapError";

  constructor(
    readonly reason: Cause,
    readonly detail: string,
  ) {
    super(messages[reason]);
  }
}
