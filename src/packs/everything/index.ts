// The test server for authors of clients: every feature of the protocol, under the names that the official conformance
// suite uses. It is served by `mooring serve everything` on every revision and transport.

import type { Pack } from '../../engine/ports.ts';
import type { Server } from '../../engine/server.ts';
import { installChanges } from './changes.ts';
import { installContent } from './content.ts';
import { installInputRequests } from './input-requests.ts';
import { installInputRequired } from './input-required.ts';
import { installPrompts } from './prompts.ts';
import { installResources } from './resources.ts';
import { installSchemas } from './schemas.ts';
import { installSkills } from './skills.ts';
import { installTasks } from './tasks.ts';

export function everything(): Pack<Server> {
  return {
    name: 'everything',
    async install(server) {
      // First, because clients that try "the first tool" without arguments need one that succeeds.
      installContent(server);
      installInputRequests(server);
      installInputRequired(server);
      installSchemas(server);
      installTasks(server);
      installResources(server);
      installPrompts(server);
      installChanges(server);
      await installSkills(server);
    },
  };
}
