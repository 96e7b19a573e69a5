#!/usr/bin/env node
// The program `mcp-clipboardify`: the clipboard profile under the name its document gives it.

import { runProfile } from './run.ts';

runProfile('mcp-clipboardify', 'clipboard', process.argv.slice(2));
