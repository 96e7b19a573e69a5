// What the handler of a task returns when another system does the work.

import type { Json, ToolResult } from '../../../protocol/model.ts';
import { HandlerReturn } from '../../input-requests/input-required.ts';

/** Work that another system does; created by `ctx.external`. Middleware sees it as a result without content. */
export class ExternalWork extends HandlerReturn implements ToolResult {
  /** Empty: the result comes later. */
  readonly content: ToolResult['content'] = [];
  /** What the other system calls the work. */
  readonly ticket: Json;

  constructor(ticket: Json) {
    super();
    this.ticket = ticket;
  }
}
