// Resources: text, binary, a template with completion, and one with subscriptions.

import type { Server } from '../../engine/server.ts';
import { inAllProcesses } from './in-all-processes.ts';
import { png } from './media.ts';

const watchedUri = 'test://watched-resource';

export function installResources(server: Server): void {
  let version = 1;
  const change = inAllProcesses(server, 'change resource', () => {
    version++;
  });
  server.resource('test://static-text', {
    name: 'Static text',
    title: 'A static text',
    description: 'A text that never changes',
    mimeType: 'text/plain',
    read: () => 'This is the content of the static text resource.',
  });
  server.resource('test://static-binary', {
    name: 'Static binary',
    description: 'An image that never changes',
    mimeType: 'image/png',
    read: () => [{ uri: 'test://static-binary', mimeType: 'image/png', blob: png }],
  });
  server.resource(watchedUri, {
    name: 'Watched resource',
    description: 'Changes when test_trigger_resource_update is called',
    mimeType: 'text/plain',
    read: () => `Version ${version}`,
  });
  server.resourceTemplate('test://template/{id}/data', {
    name: 'Template',
    description: 'Data by id',
    mimeType: 'application/json',
    read: ({ id }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
    complete: { id: (value) => ['123', '124', '200'].filter((each) => each.startsWith(value)) },
  });
  server.tool('test_trigger_resource_update', {
    description: `Changes ${watchedUri} and notifies its subscribers`,
    run: async () => {
      await change();
      server.resourceUpdated(watchedUri);
      return `${watchedUri} is at version ${version}`;
    },
  });
}
