// Settings as they may be shown: what looks like a secret, by name or by shape, is taken out.

import { createRedactor } from '../../security/redact.ts';

/** A copy without secrets. */
export function withoutSecrets(value: unknown): unknown {
  return createRedactor({ replacement: 'hidden' }).redact(value);
}
