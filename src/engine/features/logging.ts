// logging/setLevel: how much a session wants to hear. Requests that stand alone say it themselves.

import { wireErrors } from '../../protocol/errors.ts';
import { type LogLevel, logLevels } from '../../protocol/model.ts';
import type { Feature } from '../contract.ts';

export const setLevel: Feature<undefined> = {
  run(call) {
    const asked = call.params['level'] as string;
    const level = call.codec.rules.levelAliases.get(asked) ?? asked;
    if (!(logLevels as readonly string[]).includes(level)) throw wireErrors.unknownLevel(asked, logLevels);
    call.session?.setLevel(level as LogLevel);
    return undefined;
  },
  encode: (_result, { codec }) => codec.empty(),
};
