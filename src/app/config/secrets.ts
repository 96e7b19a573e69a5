// Removes what looks like a secret, by name or by shape, from settings that are shown.

import { createRedactor } from '../../security/redact.ts';

/** A copy without secrets. */
export function withoutSecrets(value: unknown): unknown {
  return createRedactor({ replacement: 'hidden' }).redact(value);
}
