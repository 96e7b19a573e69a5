// The tools of the bench as a plugin of the program.
import { tools } from '../tools.mjs';

export const pack = () => ({
  name: 'bench',
  /** @param {import('../../../src/index.ts').Server} server */
  install(server) {
    for (const { name, description, inputSchema, run } of tools)
      server.tool(name, { description, input: inputSchema, run });
  },
});
