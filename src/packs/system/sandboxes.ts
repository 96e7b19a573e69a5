// One sandbox per set of visible folders: the operator's own set, checked when the server starts, and the narrower sets
// of clients' roots, created when first needed and limited in number.

import { realpathSync } from 'node:fs';
import type { Logger } from '../../common/logger.ts';
import { isInside } from '../../security/files/is-inside.ts';
import { createSandbox, type Sandbox, SandboxError, type SandboxPolicy } from '../../security/sandbox/index.ts';

/** Sandboxes in the pool, besides the operator's own. */
const maxPooled = 8;

interface PooledSandbox {
  readonly sandbox: Promise<Sandbox>;
  users: number;
}

export class Sandboxes {
  readonly #policy: SandboxPolicy;
  readonly #logger: Logger;
  /** The real paths of the operator's folders; nothing else is ever visible. */
  readonly #realFolders: readonly string[];
  readonly #pool = new Map<string, PooledSandbox>();
  readonly #denied = new Set<string>();

  constructor(policy: SandboxPolicy, folders: readonly string[], logger: Logger) {
    this.#policy = policy;
    this.#logger = logger;
    this.#realFolders = folders.map((folder) => realpathSync(folder));
  }

  /** Runs `work` in the sandbox that shows exactly these folders, except those that its user cannot enter. */
  async use<T>(
    folders: readonly string[],
    work: (sandbox: Sandbox, visible: readonly string[]) => Promise<T>,
  ): Promise<T> {
    const visible = folders.filter((folder) => !this.#denied.has(folder));
    const key = visible.join('\0');
    let entry = this.#pool.get(key);
    if (entry === undefined) {
      entry = { sandbox: this.#make(visible), users: 0 };
      this.#pool.set(key, entry);
    }
    entry.users++;
    try {
      return await work(await entry.sandbox, visible);
    } catch (error) {
      if (!(error instanceof SandboxError) || error.code !== 'directory-not-allowed') throw error;
      // The user lost access to it, or it was replaced: the next call creates a new sandbox and checks again.
      this.#pool.delete(key);
      if (!(await this.#rememberDenied(visible))) throw error;
      return await this.use(folders, work);
    } finally {
      entry.users--;
      await this.#evict(key);
    }
  }

  async #make(visible: readonly string[]): Promise<Sandbox> {
    const inside = visible.filter((folder) => this.#isOurs(folder));
    return createSandbox({ ...this.#policy, readOnly: [...(this.#policy.readOnly ?? []), ...inside] });
  }

  /** A folder that was replaced by a link since the check must not open the link's target. */
  #isOurs(folder: string): boolean {
    try {
      const real = realpathSync(folder);
      return this.#realFolders.some((folder) => isInside(real, folder));
    } catch {
      return false; // Deleted: there is nothing to show.
    }
  }

  /** Finds folders that no sandbox here can show, logs each once, and leaves them out; true if there were any. */
  async #rememberDenied(folders: readonly string[]): Promise<boolean> {
    const { level: _level, ...policy } = this.#policy;
    let found = false;
    for (const folder of folders) {
      try {
        // Without isolation this only checks whether its user may enter.
        await (await createSandbox({ ...policy, level: 'none', readOnly: [folder] })).close();
      } catch (error) {
        if (!(error instanceof SandboxError) || error.code !== 'directory-not-allowed') throw error;
        found = true;
        this.#denied.add(folder);
        this.#logger.warn(`commands cannot access ${folder}: ${error.message}`, { remedy: error.remedy });
      }
    }
    return found;
  }

  async #evict(justUsed: string): Promise<void> {
    for (const [key, { sandbox, users }] of this.#pool) {
      if (this.#pool.size <= maxPooled) return;
      if (users > 0 || key === justUsed) continue;
      this.#pool.delete(key);
      await closed(sandbox);
    }
  }

  async close(): Promise<void> {
    const all = [...this.#pool.values()];
    this.#pool.clear();
    await Promise.all(all.map(({ sandbox }) => closed(sandbox)));
  }
}

/** A sandbox that could not be created needs no close. */
async function closed(sandbox: Promise<Sandbox>): Promise<void> {
  const made = await sandbox.catch(() => undefined);
  await made?.close();
}
