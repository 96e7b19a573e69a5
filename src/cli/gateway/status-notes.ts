// What "gateway status" says about a server below the table: what is not a state, but worth a change.

import type { RunningGateway } from '../../app/gateway/running.ts';
import { lineForTerminal } from '../../app/untrusted-text.ts';

export type Status = Awaited<ReturnType<RunningGateway['status']>>[number];

export function statusNotes({
  slug,
  ambiguousInput,
  noise,
}: Pick<Status, 'slug' | 'ambiguousInput' | 'noise'>): string[] {
  return [
    ...(ambiguousInput === true
      ? [
          `${slug}: input requests could belong to several callers and were rejected; ` +
            'set "mooring": { "isolation": "session" } in its entry',
        ]
      : []),
    ...(noise === undefined ? [] : [`${slug}: prints text that is not a message: ${lineForTerminal(noise, 300)}`]),
  ];
}
