// What the two servers behind profiles `empirical` and `orchestrator` have in common: errors are results, in the words
// their document observed; and everything that is offered says what it is.

import type { Server } from '../../engine/server.ts';
import type { Rules, ToolFailure } from '../../protocol/rules.ts';

/** Deviations of both profiles from the official text. */
export const empiricalRules: Rules = {
  handshakeVersions: ['2024-11-05'],
  errors: { unknownTool: 'result', invalidArguments: 'result', toolText },
  tools: { missingArguments: 'error', jsonIndent: 2 },
};

function toolText(message: string, failure: ToolFailure): string {
  return failure === 'arguments' ? `Validation error: ${message}` : JSON.stringify({ error: message });
}

/** Throws unless every tool and prompt has a description: models choose by it, and the document demands it. */
export function requireDescriptions(server: Server): void {
  const { tools, prompts } = server.catalog;
  for (const [kind, entries] of Object.entries({ tool: tools, prompt: prompts })) {
    for (const [name, { definition }] of entries) {
      if (definition.description === undefined || definition.description.trim() === '') {
        throw new TypeError(`The ${kind} ${JSON.stringify(name)} needs a description`);
      }
    }
  }
}
