// Finds the tasks of requests. A store that has a task in memory returns it without a promise: clients poll, and a
// promise for each poll costs as much as the poll itself. (bench tasks, "tasks/get".)

import { wireErrors } from '../../../protocol/errors.ts';
import type { Peer } from '../../../protocol/exchange.ts';
import { declaresTasks } from '../../../protocol/revisions/index.ts';
import { requiredForTasks } from '../../../protocol/revisions/tasks.ts';
import type { Call } from '../../contract.ts';
import type { SharedTasks } from '../shared-tasks.ts';
import type { TaskRecord, TaskStore } from '../store/task-store.ts';
import { ownerOf } from './declared-tasks.ts';
import type { TaskFollowers } from './task-followers.ts';
import { inTaskTurn, inTaskTurns } from './task-turns.ts';

/** The part of a server's tasks that it uses. */
interface ReadTasks {
  readonly store: Pick<TaskStore, 'read'>;
  readonly service: string;
  readonly followers: Pick<TaskFollowers, 'addSession'>;
  readonly shared: Pick<SharedTasks, 'mayBeBehind' | 'settled'> | undefined;
  /** Ends a task that cannot be decrypted. */
  failSealed(record: TaskRecord): Promise<TaskRecord | undefined>;
}

type Found = TaskRecord | undefined;

/** 24 bytes in base64url. */
const idPattern = /^[A-Za-z0-9_-]{32}$/;

export class TaskReader {
  readonly #tasks: ReadTasks;

  constructor(tasks: ReadTasks) {
    this.#tasks = tasks;
  }

  /** The task of a request, if its caller owns it. All others get the same error. */
  find(call: Call): TaskRecord | Promise<TaskRecord> {
    if (call.codec.dialect.tasks === 'server-directed' && !declaresTasks(call.capabilities)) {
      throw wireErrors.missingCapability(requiredForTasks);
    }
    const id = call.params['taskId'] as string;
    const found = inTaskTurn(call, () => this.owned(id, call.peer));
    return found instanceof Promise ? found.then((record) => this.#found(record, call)) : this.#found(found, call);
  }

  /** The task, if this caller owns it. */
  owned(id: string, peer: Peer): Found | Promise<Found> {
    const found = this.read(id);
    return found instanceof Promise ? found.then((record) => this.#owned(peer, record)) : this.#owned(peer, found);
  }

  #owned(peer: Peer, record: Found): Found | Promise<Found> {
    if (record?.owner !== ownerOf(peer)) return undefined;
    const { shared } = this.#tasks;
    if (shared?.mayBeBehind(record) !== true) return record;
    return shared.settled(record).then(async () => {
      const current = await this.read(record.id);
      // It was asked for this version, too.
      if (current !== undefined) shared.mayBeBehind(current);
      return current;
    });
  }

  #found(record: Found, call: Call): TaskRecord {
    if (record === undefined) throw wireErrors.taskNotFound();
    this.#tasks.followers.addSession(record, call);
    return record;
  }

  /** Which of these tasks the caller may subscribe to. */
  async acceptedIds(call: Call, ids: readonly string[]): Promise<readonly string[]> {
    if (!declaresTasks(call.capabilities)) throw wireErrors.missingCapability(requiredForTasks);
    // Only the ids are kept: the results of all these tasks together may not fit into memory.
    const isOwned = async (id: string): Promise<boolean> => (await this.owned(id, call.peer)) !== undefined;
    const distinct = [...new Set(ids)];
    const accepted = await inTaskTurns(call, distinct, isOwned);
    return distinct.filter((_, n) => accepted[n]);
  }

  read(id: string): Found | Promise<Found> {
    if (!idPattern.test(id)) return undefined;
    let found: Found | Promise<Found>;
    try {
      found = this.#tasks.store.read(id);
    } catch (cause) {
      throw wireErrors.tasksUnavailable(cause);
    }
    if (!(found instanceof Promise)) return this.#check(found);
    return found.then(
      (record) => this.#check(record),
      (cause: unknown) => {
        throw wireErrors.tasksUnavailable(cause);
      },
    );
  }

  #check(record: Found): Found | Promise<Found> {
    if (record?.service !== this.#tasks.service) return undefined;
    // Nothing can run it, so nothing else would end it.
    const isStuck = record.sealed === true && record.phase !== 'running' && record.phase !== 'ended';
    return isStuck ? this.#tasks.failSealed(record) : record;
  }
}
