import type { CaseContext } from "../client/api/calls.js";
import type { Dataset, DatasetRecord } from "./dataset.js";

type Case = DatasetRecord<"cases">;

type CaseState = Case["state"];

interface FiredCall {
  /** HTTP status of the answer; null if there was none. */
  readonly status: number | null;
  readonly error?: string | undefined;
}

interface CaseTransition {
  readonly caseId: string;
  readonly from: CaseState;
  readonly to: CaseState;
}

/** Renders a webhook's payload from the case context and calls it. */
export type FireWebhook = (
  webhook: DatasetRecord<"webhooks">,
  context: CaseContext,
  transition: CaseTransition,
) => Promise<FiredCall>;

/** The cases, the webhooks, and the transitions that fire them. */
export class Cases {
  readonly byId: Map<string, Case>;
  readonly webhooks: Map<string, DatasetRecord<"webhooks">>;
  readonly transitions: DatasetRecord<"transitions">[];
  readonly #contexts: Dataset["contexts"];
  readonly #fire: FireWebhook | undefined;

  constructor({ cases, contexts, webhooks, transitions }: Dataset, fire?: FireWebhook) {
    this.byId = new Map(cases);
    this.webhooks = new Map(webhooks);
    this.transitions = [...transitions];
    this.#contexts = contexts;
    this.#fire = fire;
  }

  /** Changes a case's state and fires the attached webhooks. */
  async move(known: Case, to: CaseState) {
    const { id: caseId, state: from } = known;
    this.byId.set(caseId, { ...known, state: to });
    const attached = this.transitions.filter(
      (entry) => entry.to === to && (entry.from === undefined || entry.from === from),
    );
    const fired: (FiredCall & { readonly webhook: string })[] = [];
    for (const name of new Set(attached.map((entry) => entry.webhook))) {
      fired.push({ webhook: name, ...(await this.#call(name, { caseId, from, to })) });
    }
    return { case: caseId, from, to, fired };
  }

  async #call(name: string, transition: CaseTransition): Promise<FiredCall> {
    try {
      const context = this.#contexts.get(transition.caseId)?.context ?? {};
      if (this.#fire === undefined)
        throw new Error("started without fireWebhook, it calls no webhooks");
      return await this.#fire(this.webhooks.get(name)!, context, transition);
    } catch (error) {
      return { status: null, error: error instanceof Error ? error.message : String(error) };
    }
  }
}
