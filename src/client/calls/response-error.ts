// The error of a response that is not a result.

import { isErrorObject } from '../../protocol/json-rpc.ts';
import type { JsonObject } from '../../protocol/model.ts';
import { type ClientError, clientErrors } from '../errors.ts';

export function responseError(method: string, { result, error }: JsonObject): ClientError {
  if (error !== undefined && result !== undefined) {
    return clientErrors.invalidMessage(method, 'it has both a result and an error');
  }
  if (isErrorObject(error)) return clientErrors.serverRejected(method, error);
  return clientErrors.invalidMessage(
    method,
    error === undefined ? 'its result is not an object' : 'its error has no code and message',
  );
}
