// Profile `clipboard`: a clipboard server for revision 2024-11-05 with batches and its own error codes, as described in
// docs/profiles/clipboard.md. Stateless requests follow the official rules.

import type { Logger } from '../../common/logger.ts';
import { createServer, type Server } from '../../engine/server.ts';
import { ClipboardError, type ClipboardOptions, clipboard, clipboardSchema } from '../../packs/clipboard/index.ts';
import { WireError } from '../../protocol/errors.ts';
import type { Rules } from '../../protocol/rules.ts';
import { traceCalls } from './clipboard-trace.ts';
import { packOptions } from './pack-options.ts';
import type { PersistentState, Profile } from './profile.ts';

/** This profile has its own version number. */
const documentVersion = '1.0.0';
const clipboardErrorCode = -32001;

const rules = (logger: Logger): Rules => ({
  handshakeVersions: ['2024-11-05'],
  batch: true,
  errors: {
    style: 'details',
    titles: { [clipboardErrorCode]: 'Clipboard error' },
    unknownTool: 'methodNotFound',
    invalidArguments: 'error',
    handler(error, tool) {
      logger.debug(`${tool} failed`, { error });
      return toWireError(error);
    },
  },
  execution: { concurrency: 1, timeoutMs: 5_000 },
});

/** Maps errors to wire errors: invalid values, clipboard failures, errors thrown by tools, and our own bugs. */
function toWireError(error: unknown): WireError {
  if (error instanceof ClipboardError) {
    const details = `Failed to access system clipboard: ${error.reason}`;
    const data = error.remedy === undefined ? {} : { remedy: error.remedy };
    return new WireError('application', details, { code: clipboardErrorCode, data, cause: error });
  }
  if (!(error instanceof Error)) return new WireError('internal', 'Internal error', { cause: error });
  if (error.name === 'CallTimeout') {
    const details = `Failed to access system clipboard: ${error.message}`;
    return new WireError('application', details, { code: clipboardErrorCode, cause: error });
  }
  if (error instanceof RangeError) return new WireError('invalidParams', error.message, { cause: error });
  const bug = error instanceof TypeError || error instanceof ReferenceError || error instanceof SyntaxError;
  return bug
    ? new WireError('internal', 'Internal error', { cause: error })
    : new WireError('application', error.message, { cause: error });
}

/** The server of this profile. Tests pass their own clipboard. */
export function createClipboardServer(
  logger: Logger,
  options: ClipboardOptions = {},
  persistentState?: PersistentState,
): Server {
  const server = createServer({
    name: 'mcp-clipboardify',
    version: documentVersion,
    rules: rules(logger),
    capabilities: { tools: {} },
    logging: false,
    logger,
    ...persistentState,
  });
  if (logger.enabled('debug')) server.observe(traceCalls(logger));
  void server.use(clipboard(options));
  return server;
}

export const clipboardProfile: Profile = {
  name: 'clipboard',
  async assemble({ logger, settings, persistentState }) {
    const options = await packOptions<ClipboardOptions>(settings, 'clipboard', clipboardSchema);
    return { server: createClipboardServer(logger, options, persistentState) };
  },
};
