import type { CaseContext, RepShareCase } from "../api/schema/operations.js";
import type { CaseState, Dataset, PlaybookTransition, DatasetWebhook } from "./dataset/dataset.js";

export interface FiredCall {
  /** HTTP status of the answer; null if there was none. */
  readonly status: number | null;
  readonly error?: string | undefined;
}

/** The state change that fires a webhook. */
export interface CaseTransition {
  readonly caseId: string;
  readonly from: CaseState;
  readonly to: CaseState;
}

/** Renders a webhook's payload from the case context and calls it. */
export type FireWebhook = (
  webhook: DatasetWebhook,
  context: CaseContext,
  transition: CaseTransition,
) => Promise<FiredCall>;

interface FiredWebhook extends FiredCall {
  readonly webhook: string;
}

/** Body of the answer to `POST /_local/cases/{id}/transition`. */
export interface TransitionReport {
  readonly case: string;
  readonly from: CaseState;
  readonly to: CaseState;
  readonly fired: readonly FiredWebhook[];
}

/** The cases with their states, the webhook settings, and the playbook that connects them. */
export class CaseDesk {
  readonly #cases: ReadonlyMap<string, RepShareCase>;
  readonly #contexts: ReadonlyMap<string, CaseContext>;
  readonly #fire: FireWebhook | null;
  readonly #states = new Map<string, CaseState>();
  readonly #webhooks: Map<string, DatasetWebhook>;
  readonly #transitions: PlaybookTransition[];

  constructor(dataset: Dataset, fire: FireWebhook | null) {
    this.#cases = dataset.cases;
    this.#contexts = dataset.contexts;
    this.#webhooks = new Map(dataset.webhooks);
    this.#transitions = [...dataset.transitions];
    this.#fire = fire;
  }

  /** The case in its current state, or null. */
  find(caseId: string): RepShareCase | null {
    const known = this.#cases.get(caseId);
    if (!known) return null;
    const state = this.#states.get(caseId);
    return state === undefined ? known : { ...known, state };
  }

  webhooks(): readonly DatasetWebhook[] {
    return [...this.#webhooks.values()];
  }

  /** Stores a webhook, replacing any with the same name. */
  save(webhook: DatasetWebhook): void {
    this.#webhooks.set(webhook.name, webhook);
  }

  transitions(): readonly PlaybookTransition[] {
    return this.#transitions;
  }

  /** Attaches a webhook to a transition. Returns false if there is no such webhook. */
  attach(transition: PlaybookTransition): boolean {
    if (!this.#webhooks.has(transition.webhook)) return false;
    this.#transitions.push(transition);
    return true;
  }

  /** Changes a case's state and fires the attached webhooks. Null if there is no such case. */
  async move(caseId: string, to: CaseState): Promise<TransitionReport | null> {
    const known = this.find(caseId);
    if (!known) return null;
    const from = known.state as CaseState;
    this.#states.set(caseId, to);
    const attached = this.#transitions.filter(
      (entry) => entry.to === to && (entry.from === undefined || entry.from === from),
    );
    const fired: FiredWebhook[] = [];
    for (const name of new Set(attached.map((entry) => entry.webhook))) {
      fired.push({ webhook: name, ...(await this.#call(name, { caseId, from, to })) });
    }
    return { case: caseId, from, to, fired };
  }

  async #call(name: string, transition: CaseTransition): Promise<FiredCall> {
    const webhook = this.#webhooks.get(name);
    const context = this.#contexts.get(transition.caseId) ?? {};
    if (!webhook || !this.#fire) {
      return {
        status: null,
        error: "this service was started without fireWebhook, so it calls no webhooks",
      };
    }
    try {
      return await this.#fire(webhook, context, transition);
    } catch (error) {
      return { status: null, error: error instanceof Error ? error.message : String(error) };
    }
  }
}
