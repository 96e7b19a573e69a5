// An MCP server over stdio (2025-06-18), written out by hand, with results and notifications as large and as many as a call wants.
import { createInterface } from 'node:readline';

const write = (text) => new Promise((resolve) => process.stdout.write(text, resolve));
const encode = (message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`;
const text = (value) => ({ content: [{ type: 'text', text: String(value) }] });
const tool = (name) => ({ name, inputSchema: { type: 'object' } });

const calls = {
  quick: () => text(process.pid),
  big: ({ bytes }) => text('x'.repeat(bytes)),
  async late({ bytes, delayMs }, progressToken) {
    await write(encode({ method: 'notifications/progress', params: { progressToken, progress: 1 } }));
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    return text('x'.repeat(bytes));
  },
  // Waits for its reader, as any program with back-pressure does.
  async chatty({ count, bytes }, progressToken) {
    const message = 'x'.repeat(bytes);
    for (let progress = 1; progress <= count; progress++) {
      await write(encode({ method: 'notifications/progress', params: { progressToken, progress, message } }));
    }
    return text(count);
  },
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === 'initialize') {
    const serverInfo = { name: 'talkative', version: '1.0.0' };
    await write(encode({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo } }));
  } else if (method === 'ping') await write(encode({ id, result: {} }));
  else if (method === 'tools/list') await write(encode({ id, result: { tools: Object.keys(calls).map(tool) } }));
  else if (method === 'tools/call') {
    const result = await calls[params.name](params.arguments, params._meta?.progressToken);
    await write(encode({ id, result }));
  } else await write(encode({ id, error: { code: -32601, message: 'Method not found' } }));
});
