// logging/setLevel: the lowest log level that a session wants. Stateless requests name it in their _meta.

import { wireErrors } from '../../protocol/errors.ts';
import { type LogLevel, logLevels } from '../../protocol/model.ts';
import type { Feature } from '../contract.ts';

export const setLevel: Feature<undefined> = {
  run(call) {
    const requested = call.params['level'] as string;
    const level = call.codec.rules.levelAliases.get(requested) ?? requested;
    if (!(logLevels as readonly string[]).includes(level)) throw wireErrors.unknownLevel(requested, logLevels);
    call.session?.setLevel(level as LogLevel);
    return undefined;
  },
  encode: (_result, { codec }) => codec.empty(),
};
