// What node:http knows of a request before its body.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Principal } from '../../../protocol/principal.ts';
import type { AdmittedRequest } from '../exchange.ts';

const from = Symbol('address');

/** Notes where a socket comes from: it goes a long way to find out each time, and forgets it when it closes. */
export function noteAddress(socket: Socket & { [from]?: string | undefined }): string | undefined {
  const address = socket.remoteAddress;
  return (socket[from] = address === undefined ? undefined : sameText(address));
}

/** Where a request comes from. */
export function addressOf({ socket }: { readonly socket: Socket & { readonly [from]?: string | undefined } }) {
  return socket[from] ?? socket.remoteAddress;
}

/** The engine keeps one copy of every name: guards compare addresses at each call, and finding them the same is quick. */
const sameText = (text: string): string => Object.keys({ [text]: true })[0] as string;

export class NodeRequest implements AdmittedRequest {
  protected readonly incoming: IncomingMessage;
  #headers: IncomingHttpHeaders;
  readonly path: string;
  readonly query: string;
  principal: Principal | undefined = undefined;

  constructor(request: IncomingMessage) {
    this.incoming = request;
    this.#headers = request.headers;
    const url = request.url as string;
    const mark = url.indexOf('?');
    this.path = mark === -1 ? url : url.slice(0, mark);
    this.query = mark === -1 ? '' : url.slice(mark + 1);
  }

  get method(): string {
    return this.incoming.method as string;
  }

  get address(): string | undefined {
    return addressOf(this.incoming);
  }

  get(name: string): string | undefined {
    return this.#headers[name] as string | undefined;
  }

  /** From here on there are none. */
  protected forgetHeaders(): void {
    this.#headers = {};
  }
}
