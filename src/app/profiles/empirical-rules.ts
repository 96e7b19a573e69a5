// Shared by the profiles `empirical` and `orchestrator`: errors are returned as results with the texts these servers
// are known for, and every tool and prompt must have a description.

import type { Server } from '../../engine/server.ts';
import type { Rules, ToolFailure } from '../../protocol/rules.ts';

/** Deviations of both profiles from the specification. */
export const empiricalRules: Rules = {
  handshakeVersions: ['2024-11-05'],
  errors: { unknownTool: 'result', invalidArguments: 'result', toolText },
  tools: { missingArguments: 'error', jsonIndent: 2 },
};

function toolText(message: string, failure: ToolFailure): string {
  return failure === 'arguments' ? `Validation error: ${message}` : JSON.stringify({ error: message });
}

/** Throws unless every tool and prompt has a description: models choose by it. */
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
