// A plugin for Mooring: one tool, a file in its data folder, and a health check. docs/guide/plugin.md explains it.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const pack = ({ config, dataDir, logger }) => {
  const file = join(dataDir, 'count');
  const count = async () => Number(await readFile(file, 'utf8').catch(() => '0'));
  return {
    name: 'greeter',
    install(server) {
      server.tool('greet', {
        description: 'Greets a person',
        input: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
        run: async ({ name }) => {
          const times = (await count()) + 1;
          await writeFile(file, String(times));
          return `${config.greeting ?? 'Hello'}, ${name}! That was number ${times}.`;
        },
      });
    },
    health: async () => ({ status: 'ok', detail: `${await count()} greetings so far` }),
    close: () => logger.info('no more greetings'),
  };
};
