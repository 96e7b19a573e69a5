// The status of the parts of a running server, by name. Each part adds a check; health_check runs them all.

import { hidePaths } from '../../common/hide-paths.ts';
import { cleanText, textLimits } from '../../common/hygiene.ts';

/** The status of one part. */
export interface Health {
  readonly status: 'ok' | 'degraded' | 'failed';
  /** What is wrong and what to do, for people; never a secret. Callers see it without absolute paths. */
  readonly detail?: string;
}

export interface HealthPart extends Health {
  readonly name: string;
}

export type HealthCheck = () => Health | Promise<Health>;

/** Stops a check that hangs from blocking health_check. */
const maxCheckMs = 2_000;

/** The checks of one server. */
export class HealthRegistry {
  readonly #checks = new Map<string, HealthCheck>();
  readonly #folders: readonly string[];

  /** `folders`: known folders of this machine, whose paths are not shown. */
  constructor(folders: readonly string[] = []) {
    this.#folders = folders;
  }

  /** Adds a part; the returned function removes it. An existing name is replaced. */
  add(name: string, check: HealthCheck): () => void {
    this.#checks.set(name, check);
    return () => {
      if (this.#checks.get(name) === check) this.#checks.delete(name);
    };
  }

  /** Checks every part. Never rejects: a check that throws or times out is a failed part. */
  check(): Promise<HealthPart[]> {
    return Promise.all([...this.#checks].map(async ([name, check]) => this.#shown(name, await outcome(check))));
  }

  #shown(name: string, { status, detail }: Health): HealthPart {
    const hide = (text: string): string => hidePaths(cleanText(text, 'strip', textLimits.maxErrorChars), this.#folders);
    return { name: hide(name), status, ...(detail === undefined ? {} : { detail: hide(detail) }) };
  }
}

async function outcome(check: HealthCheck): Promise<Health> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Health>((resolve) => {
    timer = setTimeout(() => resolve({ status: 'failed', detail: `no response within ${maxCheckMs} ms` }), maxCheckMs);
  });
  try {
    return toHealth(await Promise.race([check(), late]));
  } catch (error) {
    return { status: 'failed', detail: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}

/** Plugins have checks of their own, which may return anything. */
function toHealth(value: unknown): Health {
  const { status, detail } = Object(value) as { readonly status?: unknown; readonly detail?: unknown };
  if (status !== 'ok' && status !== 'degraded' && status !== 'failed') {
    return { status: 'failed', detail: 'the check returned no valid status' };
  }
  return { status, ...(typeof detail === 'string' ? { detail } : {}) };
}
