// The status and the headers of a response, also where middleware of an application has replaced `writeHead`.

import type { ServerResponse } from 'node:http';
import type { HeaderList } from '../exchange.ts';

export function writeHead(response: ServerResponse, status: number, headers: HeaderList): void {
  if (!Object.hasOwn(response, 'writeHead')) {
    response.writeHead(status, headers as string[]);
    return;
  }
  // Middleware that changes headers when they are sent mostly uses the package on-headers, which has read lists of names
  // and values wrongly before its version 1.1. The Pages Router of Next.js has such a version built in.
  for (let at = 0; at < headers.length; at += 2) response.removeHeader(headers[at] as string);
  for (let at = 0; at < headers.length; at += 2) {
    response.appendHeader(headers[at] as string, headers[at + 1] as string);
  }
  response.writeHead(status);
}
