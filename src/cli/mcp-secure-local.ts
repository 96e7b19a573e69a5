#!/usr/bin/env node
// The program `mcp-secure-local`: the secure-local profile under the name clients know it by.

import { runProfile } from './run.ts';

runProfile('mcp-secure-local', 'secure-local', process.argv.slice(2));
