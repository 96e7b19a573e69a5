// Connects to a server and checks what a client would see. What went wrong is derived from the error of the client, from
// stderr and from what the server wrote to stdout.

import { type Client, ClientError, type ConnectOptions, connect, type Target } from '../../client/index.ts';
import { lastLines } from '../../common/last-lines.ts';
import { silentLogger } from '../../common/logger.ts';
import { errorRows } from '../../protocol/errors.ts';
import type { Report } from './findings.ts';
import { listeningUrlIn, stderrCauseIn } from './stderr-causes.ts';

export interface ServerCheckOptions {
  /** For connecting, and for each list. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Some clients wait only 10 seconds for a start; half of that is already too slow on a busy machine. */
const slowStartMs = 5_000;

/** The result of an attempt to connect. */
export interface ConnectionCheck {
  readonly reports: readonly Report[];
  /** Undefined if the connection works. */
  readonly error: unknown;
  readonly transport: string | undefined;
}

/** Connects, lists what the server offers, and closes the connection. */
export async function checkConnection(
  target: Target,
  { timeoutMs, signal }: ServerCheckOptions,
  further: ConnectOptions = {},
): Promise<ConnectionCheck> {
  const reports: Report[] = [];
  let unexpected: string | undefined;
  const logger = { ...silentLogger, warn: (message: string, fields?: object) => onWarning(message, fields, reports) };
  const begun = performance.now();
  let client: Client | undefined;
  let error: unknown;
  try {
    client = await connect(target, {
      connectTimeoutMs: timeoutMs,
      probeTimeoutMs: Math.min(5_000, timeoutMs / 3),
      timeoutMs,
      closeGraceMs: 500,
      retry: false,
      reconnect: false,
      cache: false,
      eraCache: false,
      onUnexpectedOutput: (what) => (unexpected = what),
      logger,
      ...(signal === undefined ? {} : { signal }),
      ...further,
    });
    const ms = performance.now() - begun;
    if (ms > slowStartMs) {
      const remedy = 'Install the package instead of starting it through npx or uvx, and do slow work after the start.';
      reports.push({ id: 'slow-start', detail: `It took ${(ms / 1_000).toFixed(1)} s to connect`, remedy });
    }
    reports.push(...(await checkFeatures(client, ms)));
  } catch (caught) {
    error = caught;
  } finally {
    await client?.close({ graceMs: 500 });
  }
  if (unexpected !== undefined && !unexpected.startsWith('"Content-Length:')) {
    reports.push({
      id: 'stdout-output',
      detail: `It sent something that is not a protocol message: ${unexpected}`,
      remedy: 'Write logs to stderr: stdout is for protocol messages, and some clients disconnect.',
    });
  }
  if (error !== undefined) reports.push(explainError(error, usesStdio(target), unexpected));
  return { reports, error, transport: client?.transport };
}

function onWarning(message: string, fields: object | undefined, reports: Report[]): void {
  const item = /^left out an item of (\S+)$/.exec(message)?.[1];
  if (item === undefined) return;
  const { name, why } = (fields ?? {}) as { name?: unknown; why?: unknown };
  reports.push({
    id: 'tool-invalid',
    detail: `${item}: ${String(name)} is not valid: ${String(why)}`,
    remedy: 'Correct the definition in the server. Clients leave the item out, or reject the whole list.',
  });
}

async function checkFeatures(client: Client, ms: number): Promise<Report[]> {
  const { capabilities, serverInfo, revision, transport } = client;
  const offered = ['tools', 'resources', 'prompts'].filter((name) => name in capabilities);
  if (offered.length === 0) {
    const remedy = 'Register tools, resources or prompts before the server starts.';
    return [{ id: 'no-features', detail: 'The server offers no tools, resources or prompts', remedy }];
  }
  let count = '';
  if ('tools' in capabilities) {
    try {
      const tools = await client.listTools();
      count = `, ${tools.length} tool${tools.length === 1 ? '' : 's'}`;
    } catch (error) {
      if (isExit(error)) throw error;
      const remedy = 'Correct tools/list in the server; its log says more.';
      return [{ id: 'list-failed', detail: (error as Error).message, remedy }];
    }
  }
  const name = `${serverInfo?.name ?? 'unnamed'} ${serverInfo?.version ?? ''}`.trim();
  const detail = `${name}, revision ${revision}, ${transport}${count}, connected in ${ms.toFixed(0)} ms`;
  return [{ id: 'server-ok', detail, remedy: '' }];
}

const isExit = (error: unknown): boolean =>
  error instanceof ClientError && (error.code === 'server-exited' || error.code === 'connection-lost');

/** Whether the server is a command. */
const usesStdio = (target: Target): boolean => typeof target === 'object' && 'command' in target;

function explainError(error: unknown, isCommand: boolean, unexpected = ''): Report {
  if (!(error instanceof ClientError)) {
    return { id: 'connection-failed', detail: (error as Error).message, remedy: '' };
  }
  const { code, message, stderr = '' } = error;
  switch (code) {
    case 'spawn-failed':
      return { id: 'command-not-executable', detail: message, remedy: 'Check the command in a terminal.' };
    case 'server-exited':
    case 'connection-lost':
      return explainExit(message, stderr);
    case 'connect-timeout':
    case 'timeout':
      return isCommand ? explainSilence(stderr, unexpected) : noResponse('Check the log of the server');
    case 'unsupported-revision':
      return { id: 'protocol-version', detail: message, remedy: 'Update the server, or the library it uses.' };
    case 'connection-rejected':
      // Another JSON-RPC server does not know the methods of MCP.
      return error.serverError?.code === errorRows.methodNotFound.code ? explainOther(error) : explainRejection(error);
    case 'not-mcp':
    case 'invalid-message':
    case 'invalid-result':
    case 'server-error':
      return explainOther(error);
    default:
      return { id: 'connection-failed', detail: message, remedy: '' };
  }
}

function explainOther({ code, message, tried, serverError }: ClientError): Report {
  // Nothing was sent: the connection was rejected, and the message says why and what to do.
  if (code === 'not-mcp' && tried.length === 0) return { id: 'not-mcp', detail: message, remedy: '' };
  const { message: said, code: number, status } = serverError ?? {};
  const parts = [said, number, status === undefined ? undefined : `HTTP ${status}`].filter(
    (each) => each !== undefined,
  );
  const detail = `It does not respond as an MCP server: ${parts.length === 0 ? firstLine(message) : parts.join(', ')}`;
  return { id: 'not-mcp', detail, remedy: 'Check that this is an MCP server, and look at its log.' };
}

/** The server speaks the protocol, and says why it does not serve this client. */
function explainRejection({ serverError: { message = '', code } = {}, stderr = '' }: ClientError): Report {
  const number = code === undefined ? '' : ` (${code})`;
  const detail = `The server rejects the connection${message === '' ? ' without a reason' : `: ${message}`}${number}`;
  const cause = stderrCauseIn(message) ?? stderrCauseIn(stderr);
  if (cause?.id === 'env-required') return { id: cause.id, detail, remedy: cause.remedy };
  return { id: 'server-error', detail, remedy: 'Correct what the error says, and look at the log of the server.' };
}

function explainExit(message: string, stderr: string): Report {
  const how =
    /(exited with code \d+|exited \(code 0\)|was ended by SIG\w+|closed its stdout)/.exec(message)?.[1] ?? 'ended';
  const last = lastLines(stderr, maxLines).join('\n');
  const cause = stderrCauseIn(stderr);
  const npxFolder = /(?:[/\\]|[A-Za-z]:\\)[^\s'"`]*[/\\]_npx[/\\][0-9a-f]+/.exec(stderr)?.[0];
  if (cause?.id === 'module-not-found' && npxFolder !== undefined) {
    // Clients stop a server that starts slowly, and npx with it; npx does not notice later that its folder is incomplete.
    const remedy = `npx has installed the package only in part, perhaps because it was stopped. Delete ${npxFolder}, then start it again.`;
    return { id: cause.id, detail: `The server ${how}: ${last}`, remedy };
  }
  if (cause !== undefined) return { id: cause.id, detail: `The server ${how}: ${last}`, remedy: cause.remedy };
  const crashed = !how.includes('code 0') && last !== '';
  if (crashed) {
    return {
      id: 'server-crashed',
      detail: `The server ${how}. Its last lines on stderr:\n${last}`,
      remedy: 'Start the same command in a terminal to see all of its output.',
    };
  }
  return {
    id: 'exits-at-once',
    detail: `The server ${how} before it answered${last === '' ? ', without a message' : `: ${last}`}`,
    remedy: 'Check its arguments: some servers need a subcommand or an option to serve on stdio.',
  };
}

function explainSilence(stderr: string, unexpected: string): Report {
  if (unexpected.startsWith('"Content-Length:')) {
    return {
      id: 'lsp-framing',
      detail: 'The server sends Content-Length headers, as language servers do',
      remedy: 'In MCP, each message is one line of JSON. Is this a language server?',
    };
  }
  const address = listeningUrlIn(`${unexpected}\n${stderr}`);
  if (address !== undefined) {
    return {
      id: 'http-not-stdio',
      detail: `The command starts an HTTP server at ${address} and does not respond on stdio`,
      remedy: 'Start it yourself and configure its URL, or use its option for stdio.',
    };
  }
  return noResponse('Check that the server serves on stdin and stdout', lastLines(stderr, maxLines).join('\n'));
}

const noResponse = (remedy: string, last = ''): Report => ({
  id: 'no-response',
  detail: `No response in time${last === '' ? '' : `. Its last lines on stderr:\n${last}`}`,
  remedy: `${remedy}; give it more time with --timeout.`,
});

const firstLine = (text: string): string => (text.split('\n')[0] as string).slice(0, 300);

const maxLines = 6;
