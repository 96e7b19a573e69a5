// The console of `mooring serve`: below a path of the HTTP server, or on a loopback port beside stdio.

import { type Console, type ConsoleGateway, type ConsoleOptions, createConsole } from '../../console/index.ts';
import type { Server } from '../../engine/server.ts';
import type { StreamLogger } from '../../logging/logger.ts';
import type { Principal } from '../../protocol/callers/principal.ts';
import type { AuditLog } from '../../security/audit/index.ts';
import { isLoopback } from '../../transports/http/access.ts';
import type { HttpRequest } from '../../transports/http.ts';
import type { Authentication } from '../auth/authentication.ts';
import { listSettings } from '../config/list-settings.ts';
import type { ResolvedSettings } from '../config/resolve.ts';
import { clientSnippets } from '../serving/setup-text.ts';
import type { ConsoleSettings } from '../settings/settings.ts';
import { UsageError } from '../usage-error.ts';
import { searchAudit } from './console-audit.ts';
import { tryAnnounceRunning } from './running-consoles.ts';

/** Where a console is mounted. */
export interface MountPlace {
  readonly resolved: ResolvedSettings;
  readonly authentication: Authentication | undefined;
  readonly audit: AuditLog | undefined;
  readonly host: string;
  /** The path of the MCP endpoint. */
  readonly path: string;
  /** The address for clients; undefined until the server listens. */
  address(): string | undefined;
  readonly gateway?: ConsoleGateway | undefined;
}

/** The console of a server on HTTP. Throws a usage error where it would be open to others. */
export function mountedConsole(server: Server, place: MountPlace): Console {
  const { resolved, authentication, audit, host, path, address, gateway } = place;
  const { raw, sandboxOrigin } = resolved.settings.console as ConsoleSettings;
  const isLocal = isLoopback(host);
  if (!isLocal && raw)
    throw new UsageError(`--console-raw shows secrets, so it works only on 127.0.0.1, not on ${host}`);
  if (!isLocal && authentication === undefined) {
    throw new UsageError(
      `The console on ${host} needs authentication: everyone who can reach this address could use it.\n` +
        'Set --token-file FILE or --auth-issuer URL and give tokens the scope "console", or listen on 127.0.0.1.',
    );
  }
  if (path === '/console' || path.startsWith('/console/')) {
    throw new UsageError(`--path ${path} is where the console is. Choose another path, or leave --console out`);
  }
  if (sandboxOrigin !== undefined) checkSandboxOrigin(sandboxOrigin, resolved.settings.http?.publicUrl);
  return createConsole(server, {
    ...common(resolved, audit, gateway),
    ...(sandboxOrigin === undefined ? {} : { sandboxOrigin }),
    snippets: () => snippetsFor(address(), authentication !== undefined),
    // Others can reach the port: a link that was seen somewhere must not be enough.
    ...(isLocal ? {} : { token: false as const }),
    ...(authentication === undefined ? {} : { authenticate: principalOf(authentication) }),
    ...(audit === undefined || authentication === undefined ? {} : { record: recordInto(audit, 'all') }),
  });
}

function checkSandboxOrigin(origin: string, publicUrl: string | undefined): void {
  const text = JSON.stringify(origin);
  if (!URL.canParse(origin) || !/^https?:$/.test(new URL(origin).protocol) || new URL(origin).origin !== origin) {
    throw new UsageError(
      `--console-sandbox-origin ${text} is not an origin: write only scheme, host and port, such as https://apps.example.com`,
    );
  }
  if (publicUrl !== undefined && new URL(publicUrl).origin === origin) {
    throw new UsageError(
      `--console-sandbox-origin ${text} is the address of the console itself. Apps need another host name that leads to this server`,
    );
  }
}

/** How clients connect, once the server listens. */
function snippetsFor(url: string | undefined, authenticated: boolean): { title: string; text: string }[] {
  if (url === undefined) return [];
  return clientSnippets(url, authenticated).map(({ client, file, text }) => ({
    title: file === undefined ? client : `${client} (${file})`,
    text,
  }));
}

/** Prints where the console is. Printed at any log level, because the user needs the link. */
export async function announceConsole(
  console: Console,
  title: string,
  url: string,
  logger: StreamLogger,
): Promise<void> {
  await logger.flush();
  const link = console.link(new URL(url).origin);
  process.stderr.write(`console on ${link}\n`);
  // Without a token there is no link to store.
  if (console.token !== undefined) tryAnnounceRunning(title, link);
}

/** Opens the console on a loopback port. If that fails, the server works without it. */
export async function consoleBesideStdio(
  server: Server,
  resolved: ResolvedSettings,
  audit: AuditLog | undefined,
  logger: StreamLogger,
  gateway?: ConsoleGateway,
): Promise<void> {
  const { port } = resolved.settings.console as ConsoleSettings;
  const console = createConsole(server, common(resolved, audit, gateway));
  try {
    const { link } = await console.listen({ port });
    process.stderr.write(`console on ${link}\n`);
    tryAnnounceRunning(server.name, link);
    await server.use({ name: 'console', install: () => {}, close: () => console.close() });
  } catch (error) {
    await console.close();
    logger.error('the console cannot be opened; the server works without it', { error });
  }
}

function common(
  resolved: ResolvedSettings,
  audit: AuditLog | undefined,
  gateway: ConsoleGateway | undefined,
): ConsoleOptions {
  const { operate, raw, keep } = resolved.settings.console as ConsoleSettings;
  const location = resolved.settings.audit;
  return {
    operate,
    raw,
    keep,
    settings: () => listSettings(resolved),
    ...(gateway === undefined ? {} : { gateway }),
    ...(audit === undefined || location === undefined
      ? {}
      : { audit: searchAudit(audit, location.file), record: recordInto(audit, 'changes') }),
  };
}

/** Viewing is recorded only where users are authenticated; calls and changes always are. */
function recordInto(audit: AuditLog, what: 'all' | 'changes'): NonNullable<ConsoleOptions['record']> {
  return ({ user, action, details }) => {
    if (what === 'changes' && (action === 'view' || action === 'export')) return;
    audit.record({ event: 'console', outcome: 'ok', details: { user, action, ...details } });
  };
}

function principalOf({ authenticate }: Authentication) {
  return async (request: HttpRequest): Promise<Principal | undefined> => {
    const result = await authenticate(request);
    return result === undefined || 'status' in result ? undefined : result;
  };
}
