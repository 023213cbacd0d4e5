import { expect, test } from "vitest";
import { withGuard, taskkill } from "../../extension/src/sidecar/guard";
import { canInstallElsewhere, healthCommand, installCommands, isSupportedVersion, parseProbe, probeCommand, pythonCandidates, sidecarCommand, sidecarEnvironment, toolEnvironment, venvPython } from "../../extension/src/sidecar/environment";

test.each([
  ["win32", { file: "py", args: ["-3"] }],
  ["linux", { file: "python3", args: [] }],
] as const)("on %s the usual interpreter is tried first", (platform, first) => {
  expect(pythonCandidates(platform, {})[0]).toEqual(first);
});

test("on macOS interpreters are tried by their path, those of the person's PATH first, Homebrew's also if the editor was started from the dock", () => {
  const files = pythonCandidates("darwin", { PATH: "/Users/jo/bin:/usr/bin::bin" }).map(({ file }) => file);
  expect(files.slice(0, 4)).toEqual(["/Users/jo/bin/python3", "/usr/bin/python3", "/opt/homebrew/bin/python3", "/usr/local/bin/python3"]);
  expect(files.every((file) => file.startsWith("/"))).toBe(true);
  expect(pythonCandidates("darwin", {})[0]?.file).toBe("/opt/homebrew/bin/python3");
});

test.each([
  [{ SystemRoot: "D:\\Windows" }, "D:\\Windows\\System32\\taskkill.exe"],
  [{ SystemRoot: "" }, "C:\\Windows\\System32\\taskkill.exe"],
  [{}, "C:\\Windows\\System32\\taskkill.exe"],
])("in %j Windows' program that ends processes is named by its path", (environ, path) => {
  expect(taskkill(environ)).toBe(path);
});

test("a guard is run by the editor's own executable, and what it starts comes after what is its own", () => {
  const { file, args } = withGuard({ file: "py", args: ["-3", "-I"] }, "C:\\Code\\Code.exe", { SystemRoot: "C:\\Windows" });
  expect(file).toBe("C:\\Code\\Code.exe");
  expect([args[0], ...args.slice(2)]).toEqual(["-e", "--", "C:\\Windows\\System32\\taskkill.exe", "py", "-3", "-I"]);
});

test.each([
  ['[[3, 11, 7], "/usr/bin/python3"]\n', { version: [3, 11, 7], path: "/usr/bin/python3" }],
  ['a notice of a shim\n[[3, 14, 0], "C:\\\\Python\\\\python.exe"]\r\n', { version: [3, 14, 0], path: "C:\\Python\\python.exe" }],
  ["Python was not found; run without arguments to install from the Microsoft Store", undefined],
  ['[[3, 11], "/usr/bin/python3"]', undefined],
  ['[[3, 11, 7], ""]', undefined],
  ["null", undefined],
  ["", undefined],
])("the probe's answer %j is read", (stdout, expected) => {
  expect(parseProbe(stdout)).toEqual(expected);
});

test.each([
  [[3, 10, 9], false],
  [[3, 11, 0], true],
  [[2, 7, 18], false],
  [[4, 0, 0], false],
] as const)("Python %j is recent enough: %s", (version, recent) => {
  expect(isSupportedVersion({ path: "p", version })).toBe(recent);
});

test("the interpreter of an environment stands where each system puts it", () => {
  expect(venvPython("win32", "C:\\env\\1")).toBe("C:\\env\\1\\Scripts\\python.exe");
  expect(venvPython("darwin", "/env/1")).toBe("/env/1/bin/python");
});

test("with uv nothing of a project is looked at and only pinned packages are installed", () => {
  expect(installCommands("linux", { installer: "uv", python: "/usr/bin/python3", folder: "/env/1", locks: ["/x/requirements.lock"] })).toEqual([
    { file: "uv", args: ["venv", "--no-project", "--python", "/usr/bin/python3", "/env/1"] },
    { file: "uv", args: ["pip", "install", "--python", "/env/1/bin/python", "--no-deps", "--require-hashes", "-r", "/x/requirements.lock"] },
  ]);
});

test("the base interpreter's pip installs into an environment without one, and compiles nothing", () => {
  expect(installCommands("linux", { installer: "pip", python: "/usr/bin/python3", folder: "/env/1", locks: ["/x/requirements.lock"] })).toEqual([
    { file: "/usr/bin/python3", args: ["-I", "-m", "venv", "--without-pip", "/env/1"] },
    { file: "/usr/bin/python3", args: ["-I", "-m", "pip", "--python", "/env/1/bin/python", "install", "--disable-pip-version-check", "--no-input", "--progress-bar", "off", "--no-compile", "--no-deps", "--require-hashes", "-r", "/x/requirements.lock"] },
  ]);
});

test.each([
  ["pip 22.2.2 from /usr/lib/python3/dist-packages/pip (python 3.11)\n", false],
  ["pip 22.3 from C:\\Python\\Lib\\site-packages\\pip (python 3.11)\r\n", true],
  ["pip 23.0.1 from /usr/lib/python3/dist-packages/pip (python 3.11)", true],
  ["pip 9.0.3", false],
  ["", false],
])("whether %j can install into another environment: %s", (version, can) => {
  expect(canInstallElsewhere(version)).toBe(can);
});

test("without uv and such a pip, the environment's own pip installs, on Windows with paths as they are", () => {
  const [venv, pip] = installCommands("win32", { installer: "own-pip", python: "C:\\Program Files\\Python\\python.exe", folder: "C:\\Users\\Jo Doe\\env", locks: ["C:\\x\\requirements.lock"] });
  expect(venv).toEqual({ file: "C:\\Program Files\\Python\\python.exe", args: ["-I", "-m", "venv", "C:\\Users\\Jo Doe\\env"] });
  expect(pip?.file).toBe("C:\\Users\\Jo Doe\\env\\Scripts\\python.exe");
  expect(pip?.args.slice(-4)).toEqual(["--no-deps", "--require-hashes", "-r", "C:\\x\\requirements.lock"]);
});

test("interpreters are asked and the sidecar started without regard to the folder they start in", () => {
  expect(probeCommand({ file: "py", args: ["-3"] }).args.slice(0, 3), "the launcher's own argument comes first").toEqual(["-3", "-I", "-c"]);
  expect(healthCommand("p").args[0]).toBe("-I");
  expect(sidecarCommand("p").args).toEqual(["-s", "-P", "-X", "utf8", "-m", "lerim", "lsp"]);
});

test("what would redirect Python, pip or uv is dropped; indexes, certificates and proxies stay", () => {
  const evil = Object.fromEntries(["PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_TARGET", "UV_PROJECT_ENVIRONMENT", "NODE_OPTIONS"].map((name) => [name, "/evil"]));
  const environ = { ...evil, PATH: "/bin", PIP_INDEX_URL: "mirror", UV_DEFAULT_INDEX: "mirror", SSL_CERT_FILE: "/ca.pem", UNSET: undefined };
  expect(toolEnvironment("linux", environ)).toEqual({ PATH: "/bin", PIP_INDEX_URL: "mirror", UV_DEFAULT_INDEX: "mirror", SSL_CERT_FILE: "/ca.pem", PYTHONUTF8: "1" });
});

test("on Windows names of variables are compared without case", () => {
  expect(toolEnvironment("win32", { PythonPath: "C:\\evil", Path: "C:\\bin" })).toEqual({ Path: "C:\\bin", PYTHONUTF8: "1" });
  expect(toolEnvironment("linux", { pythonpath: "kept" })).toHaveProperty("pythonpath", "kept");
});

test("the editor's proxy is passed on unless the person set one", () => {
  expect(toolEnvironment("linux", {}, "http://proxy:1")).toMatchObject({ HTTPS_PROXY: "http://proxy:1", HTTP_PROXY: "http://proxy:1" });
  const own = toolEnvironment("linux", { https_proxy: "http://own:2" }, "http://proxy:1");
  expect([own["HTTPS_PROXY"], own["https_proxy"]]).toEqual([undefined, "http://own:2"]);
});

test("the sidecar's module path is our source alone", () => {
  expect(sidecarEnvironment("linux", { PYTHONPATH: "/evil", HOME: "/home/jo" }, "/ext")).toEqual({ HOME: "/home/jo", PYTHONPATH: "/ext/server", PYTHONUTF8: "1" });
  expect(sidecarEnvironment("win32", {}, "C:\\ext")["PYTHONPATH"]).toBe("C:\\ext\\server");
});
