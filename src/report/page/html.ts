import { printable } from "../../core/text/printable.js";
import { createHash } from "node:crypto";
import { style } from "./style.js";

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

/** Allows the one style element and nothing else: no script, no request, no form, no base. */
const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'`;

const styleElement = new Html(`<style>${style}</style>`);

/** A self-contained HTML page: no network, no script. */
export function pageOf(title: string, body: Html): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${new Html(policy)}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="referrer" content="no-referrer" />
        <meta name="color-scheme" content="light dark" />
        <title>${title}</title>
        ${styleElement}
      </head>
      <body>
        ${body}
      </body>
    </html> `.text;
}

export function tableOf(heads: readonly Html[], rows: readonly Html[], name = ""): Html {
  return html`<table class="${name}">
    <thead>
      <tr>
        ${heads}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
  </table>`;
}

export function title(text: string): Html {
  return html`<th scope="col">${text}</th>`;
}

export function numberTitle(text: string): Html {
  return html`<th scope="col" class="number">${text}</th>`;
}

/** Above a column of charts, which the numbers beside it explain. */
export const noTitle: Html = html`<td></td>`;
