#!/usr/bin/env node
// The program `mooring`.

import { run } from './run.ts';

run(process.argv.slice(2));
