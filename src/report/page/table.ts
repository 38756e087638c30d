import { html, type Html } from "./html.js";

/** A table of rows under column titles. */
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

/** The title of a column of text. */
export function title(text: string): Html {
  return html`<th scope="col">${text}</th>`;
}

/** The title of a column of numbers. */
export function numberTitle(text: string): Html {
  return html`<th scope="col" class="number">${text}</th>`;
}

/** Above a column of charts, which the numbers beside it explain. */
export const noTitle: Html = html`<td></td>`;
