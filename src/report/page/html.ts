import { printable } from "../../core/text/printable.js";

/** HTML that is safe to insert into a page. */
export class Html {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type HtmlPart = Html | string | number | null | false | readonly HtmlPart[];

/** Makes HTML: every value that is not HTML itself is escaped, trusted or not. */
export function html(strings: TemplateStringsArray, ...parts: readonly HtmlPart[]): Html {
  return new Html(
    strings.reduce((text, string, index) => text + inserted(parts[index - 1]!) + string),
  );
}

function inserted(part: HtmlPart): string {
  if (part instanceof Html) return part.text;
  if (part === null || part === false) return "";
  if (typeof part === "string") return escape(part);
  if (typeof part === "number") return String(part);
  return part.map(inserted).join("");
}

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  "`": "&#96;",
};

/** Control and bidirectional characters come out as `<U+202E>`, so that they reorder nothing. */
function escape(text: string): string {
  return printable(text).replaceAll(/[&<>"'`]/g, (character) => entities[character]!);
}
