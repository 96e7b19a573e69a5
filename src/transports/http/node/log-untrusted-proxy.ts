// Behind a proxy that is not trusted, all clients share its address. The log says so once, because nothing fails.

import type { IncomingMessage } from 'node:http';
import type { Logger } from '../../../common/logger.ts';
import type { OptionNames } from '../options.ts';
import { isFromProxy } from './request.ts';

/** Logs the first request that a proxy may have sent, unless that proxy is trusted. */
export function logUntrustedProxy(
  logger: Logger,
  { trustedProxies = 'the option trustedProxies' }: OptionNames = {},
): (request: IncomingMessage) => void {
  let isLogged = false;
  return ({ headers, socket }) => {
    if (isLogged || headers['x-forwarded-for'] === undefined || isFromProxy(socket)) return;
    isLogged = true;
    const message = `X-Forwarded-For is ignored, because any client can send it. If this address is that of your proxy, add it with ${trustedProxies}`;
    logger.warn(message, { address: socket.remoteAddress });
  };
}
