// `mooring inspect --wrap` around the bare script: this process is the relay.
import { fileURLToPath } from 'node:url';

const file = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
process.argv.splice(1, process.argv.length, file('../../dist/cli.js'), 'inspect', '--wrap', '--no-open', '--');
process.argv.push(process.execPath, file('bare-stdio.mjs'));
await import('../../dist/cli.js');
