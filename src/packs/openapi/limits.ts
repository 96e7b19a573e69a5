// What an API, or a document about one, may take of the server.

import { resolveLimits } from '../../common/known-options.ts';

export interface OpenApiLimits {
  /** Tools of one document; the further operations are left out. Stops a long list from filling the context of a model. */
  readonly maxOperations: number;
  /** Bytes of a response; a larger one is an error. Stops one from filling the memory, and the context of a model. */
  readonly maxResponseBytes: number;
  /** Time for a request and its response. Stops calls from waiting forever. */
  readonly timeoutMs: number;
}

const defaults: OpenApiLimits = { maxOperations: 200, maxResponseBytes: 1024 * 1024, timeoutMs: 30_000 };

export const resolveOpenApiLimits = (given: Partial<OpenApiLimits> = {}): OpenApiLimits =>
  resolveLimits(defaults, given);
