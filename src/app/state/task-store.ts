// The tasks of ready-made servers in the data folder, which is opened when it is needed: for the first task, or for tasks of
// an earlier process. A server without tasks does not load SQLite.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../../common/logger.ts';
import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { TaskRecord, TaskStore } from '../../engine/tasks/store/task-store.ts';
import type { ApplyOptions } from '../../security/policy/index.ts';
import type { DataFolder } from '../../stores/sqlite/index.ts';
import type { HttpOptions } from '../../transports/http.ts';
import type { ResolvedSettings } from '../config/resolve.ts';
import { makeDataFolder } from '../make-folder.ts';
import { gatewayProfile, type PersistentState, profiles } from '../profiles/index.ts';
import type { Health } from '../serving/health.ts';

/** A pack, so that the data folder is closed with the server. */
export interface PersistentStatePack extends Pack<Server> {
  /** For createServer. */
  readonly persistentState: PersistentState;
  /** For serveHttp. */
  readonly http?: HttpOptions;
  /** Counts rate limits of all replicas together. */
  readonly buckets?: ApplyOptions['buckets'];
  close(): Promise<void>;
}

/** Whether tasks are stored in the data folder: if the profile uses it anyway, or --data is set. Otherwise they are in memory. */
export function keepsTasks({ settings, values }: ResolvedSettings): boolean {
  if (settings.http?.key !== undefined || profiles[settings.profile]?.keepsData === true) return true;
  // A gateway stores pins and lists in it.
  if (settings.profile === gatewayProfile) return true;
  return (values.get('data')?.origin.from ?? 'default') !== 'default';
}

/** Whether a tool of a server runs as a task. */
export function hasTasks({ catalog }: Server): boolean {
  return [...catalog.tools.values()].some(({ task }) => task !== undefined);
}

/** A field of the log line at the start, if tasks end with the server. */
export function taskFields(server: Server, resolved: ResolvedSettings): { readonly tasks?: string } {
  return hasTasks(server) && !keepsTasks(resolved) ? { tasks: 'only in memory' } : {};
}

/** The health of tasks: whether they are renewed and recovered. */
export async function taskHealth({ tasks }: Server): Promise<Health> {
  if (await tasks.isHealthy()) return { status: 'ok' };
  return { status: 'failed', detail: 'the store of tasks does not work; see the log' };
}

/** Tasks in the data folder, for a server without a key. */
export function persistentTasks(folder: string, logger: Logger): PersistentStatePack {
  const store = new FolderTaskStore(folder, logger);
  return {
    name: 'persistent-tasks',
    persistentState: { tasks: { store } },
    install() {},
    close: () => store.close(),
  };
}

/** A store in the data folder that is opened on first use. */
class FolderTaskStore implements TaskStore {
  readonly durable = true;
  readonly #folder: string;
  readonly #logger: Logger;
  readonly #listeners = new Set<(id: string) => void>();
  #opening: Promise<DataFolder> | undefined;
  /** Undefined until the folder is open. */
  #tasks: TaskStore | undefined;
  #unwatch: (() => void) | undefined;

  constructor(folder: string, logger: Logger) {
    this.#folder = folder;
    this.#logger = logger;
  }

  create: TaskStore['create'] = async (record) => (await this.#open()).create(record);
  // Not a promise once the folder is open, because clients poll often.
  read: TaskStore['read'] = (id) => (this.#tasks === undefined ? this.#readLater(id) : this.#tasks.read(id));
  change: TaskStore['change'] = async (...given) => (await this.#existing())?.change(...given) ?? 'gone';
  claim: TaskStore['claim'] = async (...given) => (await this.#existing())?.claim(...given) ?? [];
  renew: TaskStore['renew'] = async (...given) => (await this.#existing())?.renew(...given) ?? [];
  list: TaskStore['list'] = async (query) => (await this.#existing())?.list(query) ?? { tasks: [] };
  count: TaskStore['count'] = async (owner) => (await this.#existing())?.count(owner) ?? { active: 0, kept: 0 };
  sweep: TaskStore['sweep'] = async (max) => (await this.#existing())?.sweep(max) ?? { deleted: 0, expired: [] };

  watch(listener: (id: string) => void): () => void {
    const notify = (id: string): void => listener(id);
    this.#listeners.add(notify);
    return () => {
      this.#listeners.delete(notify);
    };
  }

  async close(): Promise<void> {
    this.#unwatch?.();
    await (await this.#opening?.catch(() => undefined))?.close();
  }

  async #readLater(id: string): Promise<TaskRecord | undefined> {
    return (await this.#existing())?.read(id);
  }

  /** The store, if there is a database: without one there are no tasks to find. */
  async #existing(): Promise<TaskStore | undefined> {
    return this.#opening === undefined && !existsSync(join(this.#folder, 'mooring.db')) ? undefined : this.#open();
  }

  async #open(): Promise<TaskStore> {
    this.#opening ??= this.#load();
    const { tasks } = await this.#opening;
    return tasks;
  }

  async #load(): Promise<DataFolder> {
    try {
      const { openDataFolder } = await import('../../stores/sqlite/index.ts');
      makeDataFolder(this.#folder);
      // The last good copy is made by the store of notes in the same folder.
      const data = await openDataFolder(this.#folder, { logger: this.#logger, backupAfterMs: 0 });
      this.#tasks = data.tasks;
      this.#unwatch = data.tasks.watch((id) => {
        for (const listener of this.#listeners) listener(id);
      });
      return data;
    } catch (error) {
      this.#opening = undefined; // The next call tries again.
      throw error;
    }
  }
}
