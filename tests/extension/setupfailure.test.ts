import { expect, test } from "vitest";
import { BootstrapError, type Cause, findCause } from "../../extension/src/sidecar/setupfailure";

const outputs: readonly (readonly [Cause, string])[] = [
  ["no-venv", "The virtual environment was not created successfully because ensurepip is not\navailable.  On Debian/Ubuntu systems, you need to install the python3-venv\npackage"],
  ["no-venv", "/usr/bin/python3: No module named venv"],
  ["offline", "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError(': Failed to establish a new connection: [Errno -3] Temporary failure in name resolution')'\nERROR: Could not find a version that satisfies the requirement pygls==2.1.1\nERROR: No matching distribution found for pygls==2.1.1"],
  ["offline", "error: Failed to fetch: `https://index/simple/pygls/`\n  Caused by: error sending request for url\n  Caused by: dns error: failed to lookup address information"],
  ["offline", "Cannot connect to proxy: ProxyError('Cannot connect to proxy.', [WinError 10061] No connection could be made because the target machine actively refused it"],
  ["offline", "pip._vendor.urllib3.exceptions.ReadTimeoutError: HTTPSConnectionPool(host='index', port=443): Read timed out."],
  ["offline", "pip._vendor.urllib3.exceptions.ProtocolError: ('Connection broken: IncompleteRead(1024 bytes read, 4096 more expected)', IncompleteRead())"],
  ["offline", "error: Failed to download `pydantic-core==2.1`\n  Caused by: Failed to fetch\n  Caused by: operation timed out"],
  ["tls", "Could not fetch URL: There was a problem confirming the ssl certificate: SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED]')) - skipping\nERROR: No matching distribution found for pygls"],
  ["tls", "error: invalid peer certificate: UnknownIssuer"],
  ["hash", "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM THE REQUIREMENTS FILE."],
  ["hash", "error: Hash mismatch for `pygls==2.1.1`"],
  ["disk", "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"],
  ["disk", "error: failed to copy file: There is not enough space on the disk. (os error 112)"],
  ["permission", "PermissionError: [Errno 13] Permission denied: '/storage/env'"],
  ["permission", "Error: EACCES: permission denied, mkdir '/storage/env'"],
  ["index", "ERROR: Could not find a version that satisfies the requirement pygls==2.1.1\nERROR: No matching distribution found for pygls==2.1.1"],
  ["index", "error: HTTP status client error (403 Forbidden) for url"],
  ["unknown", ""],
];

test.each(outputs)("%s is read from %j", (cause, output) => {
  expect(findCause(output)).toBe(cause);
});

test("every cause has a sentence of its own that ends, and says what can be done", () => {
  const causes: Cause[] = ["no-python", "old-python", "bad-interpreter", "no-venv", "tls", "hash", "disk", "permission", "offline", "index", "cancelled", "unknown"];
  const sentences = causes.map((cause) => new BootstrapError(cause, "").message);
  expect(new Set(sentences).size).toBe(causes.length);
  expect(sentences.filter((sentence) => !sentence.endsWith("."))).toEqual([]);
  for (const cause of ["permission", "unknown"] as const) expect(new BootstrapError(cause, "").message).toMatch(/log .*Retry/);
});
