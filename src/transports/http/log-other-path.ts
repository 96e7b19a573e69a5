// A handler that an application has mounted at another path than that of its endpoint serves nothing. Clients are not told which
// path it has, so the log says so.

import type { Logger } from '../../common/logger.ts';
import type { HttpRequest } from './exchange.ts';
import type { EndpointOptions } from './options.ts';

/** Logs the first request that looks like one of an MCP client: anybody may send requests to other paths. */
export function logOtherPath({
  logger,
  options,
}: {
  readonly logger: Logger;
  readonly options: EndpointOptions;
}): (request: HttpRequest) => void {
  let isLogged = false;
  return ({ method, path }) => {
    if (isLogged || method !== 'POST') return;
    isLogged = true;
    const message =
      'a request was not served: the endpoint has another path. If clients use this one, set the option path to it';
    logger.warn(message, { path, endpoint: options.path ?? '/mcp' });
  };
}
