import { createHash } from "node:crypto";
import { html, Html } from "./html.js";
import { style } from "./style.js";

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
