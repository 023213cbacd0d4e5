import tseslint from "typescript-eslint";

export default tseslint.config(
  { ignores: ["extension/dist/**"] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { project: ["./tsconfig.json", "./extension/src/views/tsconfig.json"], tsconfigRootDir: import.meta.dirname } },
    rules: {
      "no-console": "error",
      eqeqeq: "error",
      "max-lines": ["error", { max: 400 }],
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true, allowBoolean: true }],
      "@typescript-eslint/no-confusing-void-expression": ["error", { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true }],
      "@typescript-eslint/switch-exhaustiveness-check": "error",
      "@typescript-eslint/no-unused-vars": ["error", { argsIgnorePattern: "^_" }],
    },
  },
  { files: ["extension/src/protocol/generated.ts"], rules: { "max-lines": "off" } },
  { files: ["extension/src/views/*/web/**", "extension/src/views/*/messages.ts"], rules: { "no-restricted-properties": ["error", { property: "innerHTML" }, { property: "outerHTML" }, { property: "insertAdjacentHTML" }] } },
);
