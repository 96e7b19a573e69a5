// A clipboard inside this process, for tests and for machines without a desktop. Its text is lost when the process ends.

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
