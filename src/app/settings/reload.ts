// Reloads the settings while the server runs (SIGHUP): tokens, policy and certificate take effect immediately, and
// everything that was opened with a revoked token ends. Other changes need a restart and are logged. On an error
// nothing changes.

import type { Logger } from '../../common/logger.ts';
import type { HttpServer } from '../../transports/http.ts';
import { type Authentication, createAuthentication } from '../auth/authentication.ts';
import { type LiveAuthentication, noTokens } from '../auth/live-authentication.ts';
import type { SettingsInput } from '../config/resolve.ts';
import type { PolicyGuard } from './policy.ts';
import { type ReadSettings, readSettings } from './read-settings.ts';
import type { HttpSettings } from './settings.ts';

/** The parts of a running server that can change. */
export interface Running {
  readonly asked: SettingsInput;
  /** The settings at the start. */
  readonly started: ReadSettings;
  readonly authentication: LiveAuthentication | undefined;
  readonly policyGuard: Pick<PolicyGuard, 'replace'> | undefined;
  readonly logger: Logger;
}

export async function reload(running: Running, served: Pick<HttpServer, 'revoke' | 'setTls'>): Promise<void> {
  const { logger, policyGuard, authentication } = running;
  let next: ReadSettings;
  let admitting: Authentication | undefined;
  try {
    next = await readSettings(running.asked);
    admitting = authentication && authenticationOf(next, logger, authentication);
    // Last, because it takes effect immediately.
    await replaceCertificate(running, next, served);
  } catch (error) {
    const why = (error as Error).message.replaceAll('\n', '; ');
    logger.error(`the settings were not reloaded, and nothing has changed: ${why}`);
    return;
  }
  if (policyGuard !== undefined && next.policy !== undefined) policyGuard.replace(next.policy);
  if (authentication !== undefined && admitting !== undefined) {
    const isRevoked = authentication.replace(admitting);
    served.revoke(isRevoked);
    // Again for a request that was authenticated at the same moment.
    setImmediate(() => served.revoke(isRevoked));
    if (admitting === noTokens)
      logger.warn('no token is accepted: the settings have none left, so every request is denied');
  }
  const changed = needingRestart(running, next);
  if (changed.length > 0) logger.warn(`these settings have changed and need a restart: ${changed.join(', ')}`);
  logger.notice('settings reloaded', { file: next.resolved.file, tokens: authentication?.tokens.length ?? 0 });
}

/**
 * The new authentication. If the settings have none any more, or the token file is empty, all requests are denied:
 * serving without authentication needs a restart.
 */
function authenticationOf({ resolved }: ReadSettings, logger: Logger, previous: LiveAuthentication): Authentication {
  const { auth, http } = resolved.settings;
  if (auth === undefined) return noTokens;
  return createAuthentication(auth, http as HttpSettings, logger, previous) ?? noTokens;
}

/** Reads the certificate again, even if its files have the same names. Turning TLS on or off needs a restart. */
async function replaceCertificate(
  { started }: Running,
  { resolved }: ReadSettings,
  served: Pick<HttpServer, 'setTls'>,
): Promise<void> {
  const tls = resolved.settings.http?.tls;
  if (tls === undefined || started.resolved.settings.http?.tls === undefined) return;
  const { readTlsFiles } = await import('./tls-files.ts');
  served.setTls(readTlsFiles(tls));
}

/** Settings of the client commands, which the server does not use, and those that a gateway reads again itself. */
const irrelevant: readonly string[] = ['mcpServers', 'gateway'];

/** Changed settings that were not applied. */
function needingRestart({ started, authentication, policyGuard }: Running, next: ReadSettings): string[] {
  const isApplied = (key: string): boolean => {
    if (key.startsWith('auth.')) return authentication !== undefined;
    if (key.startsWith('http.tls.')) return hasTls(started) && hasTls(next);
    if (key === 'policy') return policyGuard !== undefined && next.policy !== undefined;
    return irrelevant.includes(key);
  };
  const [before, after] = [started.resolved.values, next.resolved.values];
  const keys = [...new Set([...before.keys(), ...after.keys()])].filter((key) => !isApplied(key));
  const changed = keys.filter((key) => !isSame(before.get(key)?.value, after.get(key)?.value));
  // Roots, programs and network rules are fixed when the server is assembled.
  const bounds = (['files', 'sandbox', 'network'] as const).filter(
    (part) => policyGuard !== undefined && !isSame(started.policy?.[part], next.policy?.[part]),
  );
  return [...changed, ...bounds.map((part) => `policy: ${part === 'sandbox' ? 'commands' : part}`)];
}

const hasTls = ({ resolved }: ReadSettings): boolean => resolved.settings.http?.tls !== undefined;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
