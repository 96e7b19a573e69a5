// A profile over HTTP: the settings become options of the transport, and the address is told to whoever waits for it.

import { type HttpOptions, type HttpServer, serveHttp } from '../transports/http.ts';
import type { StreamLogger } from '../transports/logger.ts';
import { Mistake } from './mistake.ts';
import type { Ready } from './profiles/index.ts';
import type { HttpSettings, Settings } from './settings.ts';
import { version } from './version.ts';

/** Serves until the process is told to stop. Resolves when it listens. */
export async function serveOverHttp(
  profile: string,
  { server, http: wanted }: Ready,
  settings: Settings,
  logger: StreamLogger,
  showSetup: boolean,
): Promise<HttpServer> {
  const http = settings.http as HttpSettings;
  const options: HttpOptions = { ...wanted, ...chosen(http), logger, ownProcess: true };
  refuseStrangers(options);
  const served = await serveHttp(server, options).catch((cause: unknown) => {
    throw explain(cause, http);
  });
  announce(`listening on ${served.url}`, { profile, transport: 'http', version }, logger);
  if (showSetup || process.stderr.isTTY === true) {
    await logger.flush();
    const { setupText } = await import('./setup-text.ts');
    process.stderr.write(setupText(served.url, settings.auth !== undefined));
  }
  return served;
}

function chosen(http: HttpSettings): HttpOptions {
  return {
    host: http.host,
    port: http.port,
    path: http.path,
    ...(http.allowedHosts.length === 0 ? {} : { allowedHosts: http.allowedHosts }),
    ...(http.allowedOrigins.length === 0 ? {} : { allowedOrigins: http.allowedOrigins }),
    ...(http.publicUrl === undefined ? {} : { publicUrl: http.publicUrl }),
    ...(http.metricsPath === undefined ? {} : { metricsPath: http.metricsPath }),
    ...(http.unsafeNoAuth ? { allowUnauthenticated: true } : {}),
  };
}

/** The transport refuses too, in the words of a program; here are those of the command line. */
function refuseStrangers({ host = '127.0.0.1', authenticate, allowUnauthenticated }: HttpOptions): void {
  const local = host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
  if (local || authenticate !== undefined || allowUnauthenticated === true) return;
  throw new Mistake(
    `Refusing to listen on ${host} without authentication: everybody who reaches it could use this server.\n` +
      'Say who may: MOORING_TOKEN=…, --token-file FILE or --auth-issuer URL. Listen on 127.0.0.1 (the default) to ' +
      'serve this machine only.\nBehind a proxy that authenticates: --unsafe-no-auth.',
  );
}

/** Whatever the log level: programs wait for this line. */
function announce(text: string, fields: Readonly<Record<string, unknown>>, logger: StreamLogger): void {
  if (logger.enabled('info')) logger.info(text, fields);
  else process.stderr.write(`${text}\n`);
}

function explain(cause: unknown, { host, port }: HttpSettings): unknown {
  switch ((cause as NodeJS.ErrnoException | undefined)?.code) {
    case 'EADDRINUSE':
      return new Error(`Port ${port} on ${host} is in use; choose another with --port N (0 picks a free one)`, {
        cause,
      });
    case 'EACCES':
      return new Error(`Port ${port} may not be used by this user; ports from 1024 on need no privileges`, { cause });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new Error(`${host} is no address of this machine; 127.0.0.1 serves this machine only`, { cause });
    default:
      return cause;
  }
}
