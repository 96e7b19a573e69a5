// A server over stdio with one resource. `touch` announces a change of it, `crash` ends the process.
import { createServer, serveStdio } from '../../../dist/index.js';

const server = createServer({ name: 'resources', version: '1.0.0', logger: false });
server.resource('note:///1', { name: 'one', read: () => 'text' });
server.tool('touch', {
  run: () => {
    server.resourceUpdated('note:///1');
    return 'touched';
  },
});
server.tool('crash', { run: () => process.exit(3) });
await serveStdio(server);
