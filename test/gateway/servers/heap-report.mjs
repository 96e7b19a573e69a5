// Loaded into a gateway with NODE_OPTIONS: writes the size of its heap, after a collection, and its open handles to a file
// each second.
import { renameSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const file = process.env.HEAP_REPORT;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
setInterval(() => {
  collect();
  const report = { heapBytes: process.memoryUsage().heapUsed, handles: process.getActiveResourcesInfo().length };
  writeFileSync(`${file}.new`, JSON.stringify(report));
  renameSync(`${file}.new`, file);
}, 1_000).unref();
