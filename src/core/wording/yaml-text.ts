import { isMap, isScalar, LineCounter, parseDocument } from "yaml";

interface TextPosition {
  readonly line: number;
  readonly column: number;
}

interface YamlText {
  /** Null for an empty text, and where there is a fault. */
  readonly value: unknown;
  readonly fault: YamlFault | null;
  /** Where the key at the end of `path` is written; null when unknown. */
  positionOf(path: readonly string[]): TextPosition | null;
}

interface YamlFault {
  readonly position: TextPosition | null;
  readonly message: string;
}

/** Parses YAML 1.2 with merge keys, and so JSON. Every key is text. */
export function parseYaml(text: string): YamlText {
  const lines = new LineCounter();
  const position = (offset: number): TextPosition => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const document = parseDocument(text.replace(/^\uFEFF/, ""), {
    lineCounter: lines,
    prettyErrors: false,
    merge: true,
    stringKeys: true,
  });
  const faulty = (fault: YamlFault): YamlText => ({ value: null, fault, positionOf: () => null });
  const [error] = document.errors;
  if (error) {
    return faulty({
      position: position(error.pos[0]),
      message: error.message.replace(/\.$/, ""),
    });
  }
  let value: unknown;
  try {
    value = document.toJS();
  } catch (error) {
    return faulty({ position: null, message: (error as Error).message });
  }
  return {
    value,
    fault: null,
    positionOf(keys) {
      let node: unknown = document.contents;
      let offset: number | undefined;
      for (const key of keys) {
        const pair = isMap(node)
          ? node.items.find((each) => isScalar(each.key) && String(each.key.value) === key)
          : undefined;
        offset = isScalar(pair?.key) ? pair.key.range?.[0] : undefined;
        node = pair?.value;
      }
      return offset === undefined ? null : position(offset);
    },
  };
}
