#!/usr/bin/env node
// The program `mcp-clipboardify`: the clipboard profile under the name clients know it by.

import { runProfile } from './run.ts';

runProfile('mcp-clipboardify', 'clipboard', process.argv.slice(2));
