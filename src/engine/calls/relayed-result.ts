// A tool result that another server has encoded. Where nothing has to change it is sent on as the text that came.

import type { Content, Meta, ToolResult } from '../../protocol/model.ts';
import type { Codec } from '../../protocol/revisions/index.ts';
import { HandlerReturn } from '../input-requests/input-required.ts';

/** The text of a result, and the revision in which it is encoded. */
export interface EncodedResult {
  /** JSON of the whole result. */
  readonly text: string;
  readonly revision: string;
  /** Its `_meta`, reserved keys included. */
  readonly meta: Meta | undefined;
}

/**
 * Returned by a handler that passes the result of another server on. It is not converted. Middleware sees a tool result; a
 * copy that it changes is encoded again.
 */
export class RelayedResult extends HandlerReturn implements ToolResult {
  readonly content: readonly Content[];
  declare readonly structuredContent?: unknown;
  declare readonly isError?: boolean;
  declare readonly _meta?: Meta;
  readonly #encoded: EncodedResult | undefined;

  /** `encoded`: the same result as text, if it may be sent as it is. */
  constructor(result: ToolResult, encoded?: EncodedResult) {
    super();
    this.content = result.content;
    if (result.structuredContent !== undefined) this.structuredContent = result.structuredContent;
    if (result.isError !== undefined) this.isError = result.isError;
    if (result._meta !== undefined) this._meta = result._meta;
    this.#encoded = encoded;
  }

  /** The text for a revision; undefined if the result must be encoded. */
  textFor(codec: Codec): string | undefined {
    const encoded = this.#encoded;
    return encoded?.revision === codec.date ? codec.passOn(encoded.text, encoded.meta) : undefined;
  }
}
