// `worker://ID`: the state of a worker as JSON; `worker://ID/output`: the end of its output. A subscription to the first
// is notified about both.

import { principalKey } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import type { WorkerSupervisor } from './supervisor.ts';
import { readOutput, viewOf } from './view.ts';

export const workerUri = (id: string): string => `worker://${id}`;

/** Maximum length of the output that one read returns. */
const maxReadChars = 64 * 1024;

export function installResources(server: Server, supervisor: WorkerSupervisor): void {
  server.resourceTemplate('worker://{id}', {
    name: 'Worker',
    description: 'State of a worker',
    mimeType: 'application/json',
    list: (principal) =>
      supervisor.list(principalKey(principal)).flatMap(({ record: { id, name, program, status } }) => [
        { uri: workerUri(id), name, description: `State of ${program} (${status})`, mimeType: 'application/json' },
        {
          uri: `${workerUri(id)}/output`,
          name: `${name} output`,
          description: `Latest output of ${program}`,
          mimeType: 'text/plain',
        },
      ]),
    read: ({ id }, ctx) => {
      const worker = supervisor.find(id, principalKey(ctx.principal));
      return worker === undefined ? undefined : JSON.stringify(viewOf(worker), undefined, 2);
    },
    complete: { id: (value, _known, ctx) => idsOf(supervisor, principalKey(ctx.principal), value) },
  });
  server.resourceTemplate('worker://{id}/output', {
    name: 'Worker output',
    description: 'Latest output of a worker',
    mimeType: 'text/plain',
    read: ({ id }, ctx) => {
      const worker = supervisor.find(id, principalKey(ctx.principal));
      return worker === undefined ? undefined : readOutput(worker, undefined, maxReadChars).output;
    },
    complete: { id: (value, _known, ctx) => idsOf(supervisor, principalKey(ctx.principal), value) },
  });
}

function idsOf(supervisor: WorkerSupervisor, owner: string, value: string): string[] {
  return supervisor.list(owner).flatMap(({ record: { id } }) => (id.startsWith(value) ? [id] : []));
}
