// A clipboard of this process alone, for tests and for machines without a desktop. It is forgotten when the process ends.

import type { ClipboardBackend } from './backend.ts';

export function memoryBackend(initial = ''): ClipboardBackend {
  let held = initial;
  return {
    name: 'memory',
    read: async () => held,
    async write(text) {
      held = text;
    },
  };
}
