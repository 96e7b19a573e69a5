// Asks the user before it acts, on every revision: with a request to the client, or with a retry of the call.
// Try it in a terminal: mooring call "node examples/booking.mjs" book --arg table=4
import { createServer, serveHttp, serveStdio } from 'mooring';

const server = createServer({ name: 'booking', version: '1.0.0' });

server.tool('book', {
  description: 'Books a table after confirmation',
  input: { type: 'object', properties: { table: { type: 'integer', minimum: 1 } }, required: ['table'] },
  run: async ({ table }, ctx) => {
    const form = { type: 'object', properties: { guests: { type: 'integer', minimum: 1, default: 2 } } };
    const { action, content } = await ctx.elicit(`Table ${table}: for how many?`, form, { key: 'guests' });
    if (action !== 'accept') return 'Nothing was booked.';
    // A step runs once, even if the call is retried.
    const number = await ctx.step('book', () => Math.floor(Math.random() * 9000) + 1000);
    return `Table ${table} for ${content.guests}, number ${number}.`;
  },
});

// "node examples/booking.mjs 8000" serves over HTTP instead.
const port = process.argv[2];
if (port === undefined) await serveStdio(server);
else console.error(`listening on ${(await serveHttp(server, { port: Number(port), ownProcess: true })).url}`);
