// The types of the JSON that Loadline prints, against its schemas and against whole documents.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { describe, expect, it } from "vitest";

type Schema = {
  $ref?: string;
  $defs?: Record<string, Schema>;
  anyOf?: Schema[];
  oneOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema | boolean>;
  required?: string[];
  additionalProperties?: Schema | boolean;
};

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const types = path("docs/guide/schema/loadline.ts");
const options: ts.CompilerOptions = { strict: true, noEmit: true, types: [] };

const documents = {
  Run: "result",
  Series: "series",
  Comparison: "comparison",
  Search: "search",
  Watched: "watch",
  Doctor: "doctor",
};

const wholes: [keyof typeof documents, string][] = [
  ["Run", "a_small_result_in_full"],
  ["Run", "run_failing"],
  ["Run", "run_watched"],
  ["Comparison", "comparison_files"],
  ["Search", "search_found"],
  ["Watched", "watch_look"],
];

describe("the types of the printed documents", { timeout: 60_000 }, () => {
  const program = ts.createProgram([types], options);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(types)!;
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(source)!);

  it.each(Object.entries(documents))("%s has the keys of its schema", (name, file) => {
    const root: Schema = JSON.parse(
      readFileSync(path(`docs/guide/schema/${file}.schema.json`), "utf8"),
    );
    const symbol = exported.find((symbol) => symbol.name === name)!;
    const found = keys(checker.getDeclaredTypeOfSymbol(symbol), checker);
    const expected = keysOfSchema(root, root);
    expect(expected.length).toBeGreaterThan(20);
    expect(found).toEqual(expected);
  });

  it.each(wholes)("%s takes %s", (name, file) => {
    expect(problems(name, snapshot(file))).toEqual([]);
  });

  it("do not take a misspelt key, nor do without one", () => {
    const whole = JSON.parse(snapshot("run_failing"));
    whole.summary.sentt = 1;
    expect(problems("Run", JSON.stringify(whole)).join()).toContain("sentt");
    delete whole.summary.sentt;
    delete whole.summary.sent;
    expect(problems("Run", JSON.stringify(whole)).join()).toContain("sent");
  });
});

/** Every key below a type, with the way to it; one that may be absent ends in a question mark. */
function keys(root: ts.Type, checker: ts.TypeChecker): string[] {
  const found = new Set<string>();
  const walk = (type: ts.Type, way: string): void => {
    for (const part of type.isUnion() ? type.types : [type]) {
      if (checker.isArrayType(part) || checker.isTupleType(part)) {
        const items = checker.getTypeArguments(part as ts.TypeReference);
        items.forEach((item) => walk(item, `${way}[]`));
      } else if (part.flags & (ts.TypeFlags.Object | ts.TypeFlags.Intersection)) {
        const values = part.getStringIndexType() ?? part.getNumberIndexType();
        if (values) walk(values, `${way}{}`);
        for (const property of part.getProperties()) {
          const optional = property.flags & ts.SymbolFlags.Optional ? "?" : "";
          found.add(`${way}.${property.name}${optional}`);
          walk(checker.getTypeOfSymbol(property), `${way}.${property.name}`);
        }
      }
    }
  };
  walk(root, "");
  return [...found].sort();
}

/** The same of a schema. */
function keysOfSchema(root: Schema, whole: Schema): string[] {
  const found = new Set<string>();
  const walk = (schema: Schema | boolean, way: string): void => {
    if (typeof schema === "boolean") return;
    if (schema.$ref) walk(whole.$defs![schema.$ref.replace("#/$defs/", "")]!, way);
    for (const variant of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) walk(variant, way);
    if (schema.items) walk(schema.items, `${way}[]`);
    if (schema.additionalProperties) walk(schema.additionalProperties, `${way}{}`);
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      const optional = schema.required?.includes(name) ? "" : "?";
      found.add(`${way}.${name}${optional}`);
      walk(property, `${way}.${name}`);
    }
  };
  walk(root, "");
  return [...found].sort();
}

/** A whole document, as the tests of the report keep it. */
function snapshot(name: string): string {
  const file = `crates/report/src/json/snapshots/loadline_report__json__tests__${name}.snap`;
  return readFileSync(path(file), "utf8").split("\n---\n").slice(1).join("\n---\n");
}

const parsed = new Map<string, ts.SourceFile | undefined>();

/** What the compiler says of a document where a type is asked for. */
function problems(type: string, document: string): string[] {
  const file = path("docs/guide/schema/document.ts");
  const from = `import type { ${type} } from "./loadline";`;
  const text = `${from}\nexport const it: ${type} = ${document};`;
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, language) => {
    if (name === file) return ts.createSourceFile(name, text, language);
    // The language's own declarations take longer than all else.
    if (!parsed.has(name)) parsed.set(name, getSourceFile(name, language));
    return parsed.get(name);
  };
  const program = ts.createProgram([file], options, host);
  return ts
    .getPreEmitDiagnostics(program)
    .map((one) => ts.flattenDiagnosticMessageText(one.messageText, "\n"));
}
