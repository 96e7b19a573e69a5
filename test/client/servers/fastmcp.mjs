// FastMCP with what the scenarios need: node fastmcp.mjs stdio | http
import { FastMCP } from 'fastmcp';
import { z } from 'zod';

let counter = 0;
let cancellations = 0;

const server = new FastMCP({ name: 'fastmcp', version: '1.0.0' });
server.addTool({ name: 'echo', parameters: z.object({ text: z.string() }), execute: async ({ text }) => text });
server.addTool({
  name: 'steps',
  execute: async (_args, { reportProgress }) => {
    for (const progress of [1, 2, 3]) await reportProgress({ progress, total: 3 });
    return 'done';
  },
});
server.addTool({
  name: 'ask',
  execute: async (_args, { elicit }) => {
    const requestedSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const { content } = await elicit({ message: 'Who are you?', requestedSchema });
    return `Hello, ${content?.name}!`;
  },
});
server.addTool({
  name: 'think',
  execute: async () => {
    const messages = [{ role: 'user', content: { type: 'text', text: 'Capital of France?' } }];
    const { content } = await (await firstSession()).requestSampling({ messages, maxTokens: 10 });
    return content.text;
  },
});
server.addTool({
  name: 'wait',
  execute: (_args, { signal }) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => {
        cancellations++;
        resolve('cancelled');
      });
    }),
});
server.addTool({ name: 'cancellations', execute: async () => String(cancellations) });
server.addTool({
  name: 'bump',
  execute: async () => {
    counter++;
    await server.sendResourceUpdated('demo://counter');
    return String(counter);
  },
});
server.addResource({ uri: 'demo://greeting', name: 'Greeting', load: async () => ({ text: 'hello' }) });
server.addResource({ uri: 'demo://counter', name: 'Counter', load: async () => ({ text: String(counter) }) });
server.addPrompt({
  name: 'greet',
  arguments: [{ name: 'name', required: true }],
  load: async ({ name }) => `Greet ${name}`,
});

if (process.argv[2] === 'http') {
  const port = Number(process.argv[3]);
  await server.start({ transportType: 'httpStream', httpStream: { port, host: '127.0.0.1' } });
  console.error(`listening on http://127.0.0.1:${port}/mcp`);
} else await server.start({ transportType: 'stdio' });

/** It counts a session only some time after it has begun to serve it. */
async function firstSession() {
  for (let tries = 0; server.sessions.length === 0 && tries < 500; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return server.sessions[0];
}
