// A tool whose calls log a warning, which only some clients get.

import type { Server } from '../../../src/index.ts';

export function installLogTool(server: Server): void {
  server.tool('log', {
    run: (_args, ctx) => {
      ctx.log('warning', 'loud');
      return 'logged';
    },
  });
}
