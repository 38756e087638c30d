import { formatCount } from "../../../core/wording/quantity.js";
import { printable } from "../../../core/wording/printable.js";
import { createHash } from "node:crypto";

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
  // Control and bidirectional characters come out as `<U+202E>`, so that they reorder nothing.
  if (typeof part === "string") {
    return printable(part).replaceAll(/[&<>"'`]/g, (character) => entities[character]!);
  }
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

/** Turns the rows of a wide table into cards on a narrow page. */
function cards(table: string): string {
  const parts = ["tbody", "tr", "th", "td"].map((part) => `${table} ${part}`).join();
  return `${table} thead{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
${parts}{display:block;border:0;padding:.12rem 0;width:auto}${table} .what{width:auto}
${table} tr{border-bottom:1px solid var(--line);padding:.7rem 0}${table} td:empty{display:none}
${table} .number{text-align:left}${table} .unit{display:inline}`;
}

/**
 * The page's style: one column, light or dark as the reader has it, and a print form. The colours
 * of verdicts differ in lightness as well, so that colour-blind readers can tell them apart
 * (vermilion, orange and blue of Okabe and Ito).
 */
const style = `
:root{color-scheme:light dark;--page:#fbfbfa;--card:#fff;--text:#1c1e21;--soft:#5b6168;--line:#dfe1e4;
--malicious:#b3370a;--suspicious:#e8a317;--listed:#2f7fc1;--none:#b9bec5;--part:#8b9199;--unchecked:#e4e6e9;--plain:#4a5a78}
@media screen and (prefers-color-scheme:dark){:root{--page:#15171a;--card:#1d2024;--text:#e9eaec;--soft:#a3a9b1;--line:#363b42;
--malicious:#ef6c3a;--suspicious:#f3bd4e;--listed:#62acea;--none:#6c737c;--part:#9aa1aa;--unchecked:#3b4047;--plain:#9fb2d6}}
*{box-sizing:border-box}
html{font-size:clamp(15px,.55vw + 8px,24px);-webkit-text-size-adjust:100%}
body{margin:0;background:var(--page);color:var(--text);font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;font-variant-numeric:tabular-nums;overflow-wrap:break-word}
bdi,code{overflow-wrap:anywhere}
main,header,footer{max-width:62rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.5rem}
footer{padding-top:1.5rem;padding-bottom:2.5rem;color:var(--soft);font-size:.85rem}
h1{font-size:clamp(1.5rem,1.1rem + 1.9vw,2.3rem);line-height:1.2;letter-spacing:-.015em;margin:.4rem 0 .75rem;text-wrap:balance;font-weight:650}
h2{font-size:1.2rem;margin:0 0 .25rem;letter-spacing:-.005em}
p{margin:.25rem 0 .75rem;max-width:44rem}
.soft{color:var(--soft)}
.source{color:var(--soft);font-size:.9rem;margin:0}
.invented{border:1px solid var(--suspicious);border-left-width:.4rem;border-radius:.4rem;padding:.5rem .9rem;margin:0 0 1rem;max-width:none}
section{margin:2.75rem 0 0}
.tiles{display:grid;grid-template-columns:repeat(6,1fr);gap:.75rem;list-style:none;margin:1.25rem 0 .75rem;padding:0}
.tiles.five{grid-template-columns:repeat(5,1fr)}
.tiles li{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.7rem .9rem .8rem;display:flex;flex-direction:column}
.tiles strong{font-size:1.75rem;line-height:1.25;font-weight:650;letter-spacing:-.01em}
.tiles span{color:var(--soft);font-size:.9rem}
.key{display:inline-block;width:.7em;height:.7em;border-radius:2px;margin-right:.45em;vertical-align:baseline}
.bar{display:block;width:100%;height:.8rem;border-radius:2px;background:transparent}
.whole .bar{height:1.1rem;border-radius:.3rem}
.malicious{fill:var(--malicious);background:var(--malicious)}.suspicious{fill:var(--suspicious);background:var(--suspicious)}
.listed{fill:var(--listed);background:var(--listed)}.none{fill:var(--none);background:var(--none)}.part{fill:var(--part);background:var(--part)}
.unchecked{fill:var(--unchecked);background:var(--unchecked);outline:1px solid var(--line)}svg .unchecked{outline:0}.plain{fill:var(--plain)}
table{border-collapse:collapse;width:100%;font-size:.94rem}
th,td{text-align:left;vertical-align:top;padding:.42rem .9rem .42rem 0;border-bottom:1px solid var(--line);font-weight:400}
thead th,thead td{color:var(--soft);font-size:.85rem;border-bottom-color:var(--soft)}
th:last-child,td:last-child{padding-right:0}
.number{text-align:right;white-space:nowrap}
.chart{width:38%;min-width:6rem;padding-top:.75rem}
.kinds th,.kinds td{white-space:nowrap}.kinds .chart{width:26%}
.item{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.9em}
.items td,.items th{padding-top:.7rem;padding-bottom:.7rem}
.items thead th{padding:.4rem .9rem .4rem 0}
.items .what{width:34%}.items small{display:block;color:var(--soft);font-size:.88em}.unit{display:none;color:var(--soft)}
td.verdict{white-space:nowrap;font-weight:600}
.own{margin:.35rem 0 0;font-size:.88em;color:var(--soft)}.own div{display:inline;margin-right:.9em}.own dt,.own dd{display:inline;margin:0}.own dt:after{content:" "}.own dd{color:var(--text)}
.facts{display:grid;grid-template-columns:max-content 1fr;gap:.35rem 1.5rem;margin:.75rem 0 0}.facts dt{color:var(--soft)}.facts dd{margin:0;overflow-wrap:anywhere}
code{font-family:ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:.88em}
@media (max-width:58rem){.tiles{grid-template-columns:repeat(3,1fr)}.kinds .chart{width:10%}.kinds thead th{white-space:normal;vertical-align:bottom}.kinds thead .key{display:block;margin:0 0 .25em auto}${cards(".offenders")}}
@media (max-width:44rem){
.facts{grid-template-columns:1fr;gap:0}.facts dd{margin-bottom:.6rem}
.tiles,.tiles.five{grid-template-columns:repeat(2,1fr)}.chart{width:30%;min-width:3rem}th,td{padding-right:.6rem}
.tiles.five li:last-child{grid-column:span 2}${cards(".changes")}
.changes td:nth-child(2),.changes td:nth-child(3){display:inline-block;margin-right:.75rem}
.kinds .few{display:none}.kinds .chart{width:60%}.kinds .chart + .number{padding-right:0}}
@media print{:root{color-scheme:light;--page:#fff;--text:#000;--soft:#444;--line:#ccc}
html{font-size:10pt}main,header,footer{max-width:none;padding-left:0;padding-right:0}header{padding-top:0}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}section{margin-top:1.6rem}tr,.tiles{break-inside:avoid}h2{break-after:avoid}thead{display:table-header-group}
@page{margin:16mm}}
`;

/** Allows the one style element and nothing else: no script, no request, no form, no base. */
const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'none'`;

const styleElement = new Html(`<style>${style}</style>`);

/** A part of a page; null content is left out. */
interface Section {
  readonly id: string;
  readonly title: string;
  readonly content: Html | null;
}

/** A self-contained HTML page: no network, no script. */
export function pageOf(
  title: string,
  header: Html,
  sections: readonly Section[],
  footer: Html,
): string {
  const shown = sections.filter(({ content }) => content !== null);
  const parts = shown.map(
    ({ id, title: heading, content }) =>
      html`<section id="${id}" aria-labelledby="${id}-title">
        <h2 id="${id}-title">${heading}</h2>
        ${content}
      </section> `,
  );
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
        <header>${header}</header>
        <main>${parts}</main>
        <footer>${footer}</footer>
      </body>
    </html> `.text;
}

/** A column's title and the class of its cells; a column of charts has no title. */
type Column = readonly [title: HtmlPart, className?: string];

/** A table whose rows begin with their heading. Numbers are counts. */
export function tableOf(
  columns: readonly Column[],
  rows: readonly (readonly HtmlPart[])[],
  name = "",
): Html {
  const classOf = (index: number): HtmlPart => {
    const className = columns[index]?.[1];
    return className !== undefined && html` class="${className}"`;
  };
  const heads = columns.map(([title], index) =>
    title === "" ? html`<td></td>` : html`<th scope="col" ${classOf(index)}>${title}</th>`,
  );
  const lines = rows.map((cells) => {
    const [first = "", ...others] = cells.map((cell) =>
      typeof cell === "number" ? formatCount(cell) : cell,
    );
    return html`<tr>
      <th scope="row" ${classOf(0)}>${first}</th>
      ${others.map((cell, index) => html`<td${classOf(index + 1)}>${cell}</td>`)}
    </tr>`;
  });
  return html`<table class="${name}">
    <thead>
      <tr>
        ${heads}
      </tr>
    </thead>
    <tbody>
      ${lines}
    </tbody>
  </table>`;
}
