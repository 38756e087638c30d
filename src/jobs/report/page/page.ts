import { madeUpText } from "../../../core/finding-source.js";
import { headline, headlineDetail } from "../headline.js";
import { formatCount } from "../../../core/text/quantity.js";
import type { Report } from "../types.js";
import { html, pageOf } from "./html.js";
import { sections, tiles } from "./sections.js";

export function reportPage(report: Report): string {
  const madeUp = report.run?.madeUp ?? null;
  const shown = sections.flatMap(({ id, title, body }) => {
    const content = body(report);
    return content === null ? [] : [{ id, title, content }];
  });
  const links = shown.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`);
  const parts = shown.map(
    ({ id, title, content }) =>
      html`<section id="${id}" aria-labelledby="${id}-title">
        <h2 id="${id}-title">${title}</h2>
        ${content}
      </section> `,
  );
  const body = html`<header>
      <p class="source">Reputation report for <bdi>${sourceOf(report)}</bdi></p>
      <h1>${headline(report)}</h1>
      <p>${headlineDetail(report)}</p>
      ${madeUp !== null && html`<p class="invented"><strong>${madeUpText[madeUp][0]}.</strong> ${madeUpText[madeUp][1]}.</p>`}
      ${tiles(report)}
      ${
        links.length > 1 &&
        html`<nav aria-label="Sections">
          <ul>
            ${links}
          </ul>
        </nav>`
      }
    </header>
    <main>${parts}</main>
    <footer>
      Made by repute${report.run !== null && ` from a run of ${report.run.startedAt.slice(0, 10)}`}.
      “Nothing known” is not a clean bill of health.
    </footer>`;
  return pageOf(`Reputation report: ${report.output}`, body);
}

/** What was looked up: the name of the input, or how many there are. */
function sourceOf({ run, output }: Report): string {
  const [first = output, ...others] = run?.inputs ?? [];
  return others.length === 0 ? first : `${formatCount(others.length + 1)} inputs`;
}
