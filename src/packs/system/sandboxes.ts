// One sandbox per set of visible folders: the operator's own set, proven when the server starts, and the narrower ones
// that clients' roots ask for, made when first needed and few at a time.

import type { Logger } from '../../protocol/log.ts';
import { createSandbox, type Sandbox, SandboxError, type SandboxPolicy } from '../../security/sandbox/index.ts';

/** Sandboxes kept beside the operator's own. */
const maxKept = 8;

interface Kept {
  readonly sandbox: Promise<Sandbox>;
  users: number;
}

export class Sandboxes {
  readonly #policy: SandboxPolicy;
  readonly #logger: Logger;
  readonly #kept = new Map<string, Kept>();
  readonly #refused = new Set<string>();

  constructor(policy: SandboxPolicy, logger: Logger) {
    this.#policy = policy;
    this.#logger = logger;
  }

  /** Runs `work` in the sandbox that shows exactly these folders, as far as its user can enter them. */
  async use<T>(
    folders: readonly string[],
    work: (sandbox: Sandbox, visible: readonly string[]) => Promise<T>,
  ): Promise<T> {
    const visible = folders.filter((folder) => !this.#refused.has(folder));
    const key = visible.join('\0');
    let kept = this.#kept.get(key);
    if (kept === undefined) {
      kept = {
        sandbox: createSandbox({ ...this.#policy, readOnly: [...(this.#policy.readOnly ?? []), ...visible] }),
        users: 0,
      };
      this.#kept.set(key, kept);
    }
    const mine = kept;
    mine.users++;
    try {
      let sandbox: Sandbox;
      try {
        sandbox = await mine.sandbox;
      } catch (error) {
        this.#kept.delete(key);
        const refused = visible.find((folder) => this.#isRefused(error, folder));
        if (refused === undefined) throw error;
        // Closed to the sandbox's user or part of the system: programs do without it, the rest stays.
        this.#refused.add(refused);
        this.#logger.warn(`commands will not see ${refused}: ${(error as Error).message}`, {
          remedy: (error as SandboxError).remedy,
        });
        return await this.use(folders, work);
      }
      return await work(sandbox, visible);
    } finally {
      mine.users--;
      await this.#tidy(key);
    }
  }

  #isRefused(error: unknown, folder: string): boolean {
    if (!(error instanceof SandboxError) || error.code !== 'directory-refused') return false;
    return error.message.includes(JSON.stringify(folder));
  }

  async #tidy(justUsed: string): Promise<void> {
    for (const [key, { sandbox, users }] of this.#kept) {
      if (this.#kept.size <= maxKept) return;
      if (users > 0 || key === justUsed) continue;
      this.#kept.delete(key);
      await (await sandbox).close();
    }
  }

  async close(): Promise<void> {
    for (const { sandbox } of this.#kept.values()) {
      const made = await sandbox.catch(() => undefined); // One that could not be made has nothing to close.
      await made?.close();
    }
    this.#kept.clear();
  }
}
