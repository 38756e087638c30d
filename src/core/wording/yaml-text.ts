import { isMap, isScalar, LineCounter, parseDocument } from "yaml";

interface YamlFault {
  /** Null if unknown. */
  readonly position: { readonly line: number; readonly column: number } | null;
  readonly message: string;
}

/** Parses YAML 1.2 with merge keys, and so JSON. Every key is text. An empty text is null. */
export function parseYaml(text: string) {
  const lines = new LineCounter();
  const positionAt = (offset: number) => {
    const { line, col: column } = lines.linePos(offset);
    return { line, column };
  };
  const document = parseDocument(text.replace(/^\uFEFF/, ""), {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
    stringKeys: true,
  });
  let value: unknown = null;
  let fault: YamlFault | null = null;
  const [error] = document.errors;
  if (error) {
    fault = { position: positionAt(error.pos[0]), message: error.message.replace(/\.$/, "") };
  } else {
    try {
      value = document.toJS();
    } catch (error) {
      fault = { position: null, message: (error as Error).message };
    }
  }
  /** Where the key at the end of a path is written; null when unknown. */
  const positionOf = (keys: readonly string[]): YamlFault["position"] => {
    let node: unknown = document.contents;
    let offset: number | undefined;
    for (const key of keys) {
      const pair = isMap(node)
        ? node.items.find((each) => isScalar(each.key) && String(each.key.value) === key)
        : undefined;
      offset = isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
      node = pair?.value;
    }
    return offset === undefined ? null : positionAt(offset);
  };
  return { value, fault, positionOf };
}
