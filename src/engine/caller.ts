// Who a request comes from.

import type { Principal } from '../protocol/exchange.ts';

/** The context of a handler is one. */
export interface Caller {
  readonly principal: Principal | undefined;
  /** Undefined for stateless requests. */
  readonly session: { readonly key: string } | undefined;
}
