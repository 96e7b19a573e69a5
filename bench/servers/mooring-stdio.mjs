import { serveStdio } from '../../dist/index.js';
import { server } from './mooring.mjs';

await serveStdio(server);
