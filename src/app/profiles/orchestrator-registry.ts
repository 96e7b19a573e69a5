// The registry of workers in the data folder: workers are still known after a restart of the server.

import type { WorkerRecord, WorkerRegistry } from '../../packs/workers/index.ts';
import type { Json } from '../../protocol/model.ts';
import type { Data } from './data.ts';

/** Records of workers in the data folder, which is opened on first use. */
export function createWorkerRegistry(data: Data): WorkerRegistry {
  const records = async () => (await data.open()).records('worker');
  return {
    load: async () => (data.exists() ? [...(await (await records()).list())].map(([, value]) => toRecord(value)) : []),
    save: async (record) => (await records()).set(record.id, record as unknown as Json),
    remove: async (id) => (await records()).delete(id),
  };
}

/** Only this registry writes records of this kind; the data folder checks that they are complete. */
const toRecord = (value: Json): WorkerRecord => value as unknown as WorkerRecord;
