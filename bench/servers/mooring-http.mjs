import { serveHttp } from '../../dist/index.js';
import { listening, onChange } from './control.mjs';
import { server } from './mooring.mjs';

let added = 0;
onChange(() => server.tool(`added_${added++}`, { description: 'Added while streams were open', run: () => 'ok' }));
const { port } = await serveHttp(server, { host: '127.0.0.1', port: 0, path: '/mcp' });
listening(port);
