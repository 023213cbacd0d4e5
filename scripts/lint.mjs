// Checks the types and the style of the TypeScript (`npm run lint`). Both read the same programs: making and checking them anew, as `tsc`
// and `eslint` do one after another, is a third of the time.
import { ESLint } from "eslint";
import ts from "typescript";

const host = { ...ts.sys, getCanonicalFileName: (path) => path, getNewLine: () => "\n", onUnRecoverableConfigFileDiagnostic: stop };
const programs = ["tsconfig.json", "extension/src/views/tsconfig.json"].map((path) => {
  const { options, fileNames, errors } = ts.getParsedCommandLineOfConfigFile(path, {}, host);
  return ts.createProgram({ rootNames: fileNames, options, host: ts.createCompilerHost(options, true), configFileParsingDiagnostics: errors });
});
const faults = programs.flatMap((program) => ts.getPreEmitDiagnostics(program));
process.stdout.write(ts.formatDiagnostics(faults, host));

const eslint = new ESLint({ overrideConfig: { languageOptions: { parserOptions: { programs } } } });
const results = await eslint.lintFiles(["extension", "tests/extension"]);
process.stdout.write(await (await eslint.loadFormatter("stylish")).format(results));
const problems = results.reduce((sum, { errorCount, warningCount }) => sum + errorCount + warningCount, faults.length);
process.exitCode = problems === 0 ? 0 : 1;

function stop(diagnostic) {
  throw new Error(ts.formatDiagnostic(diagnostic, host));
}
