// The official memory server, which keeps a graph of named entities in one file.
import { join } from 'node:path';

process.env['MEMORY_FILE_PATH'] = join(/** @type {string} */ (process.env['BENCH_DATA']), 'memory.jsonl');
await import('@modelcontextprotocol/server-memory/dist/index.js');
