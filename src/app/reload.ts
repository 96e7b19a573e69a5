// Settings read again while the server runs (SIGHUP): tokens and policy take effect at once, and what was opened with a
// token that is not valid any more ends. Everything else needs a restart, and is named. A mistake changes nothing.

import type { Logger } from '../protocol/log.ts';
import type { Principal } from '../security/auth/index.ts';
import { type Authentication, createAuthentication } from './authentication.ts';
import type { Asked } from './config/settle.ts';
import { type LiveAuthentication, noTokens } from './live-authentication.ts';
import type { PolicyGuard } from './policy.ts';
import { type ReadSettings, readSettings } from './read-settings.ts';
import type { HttpSettings } from './settings.ts';

/** What runs, and can be changed. */
export interface Running {
  readonly asked: Omit<Asked, 'defaultProfile'>;
  /** As they were at the start. */
  readonly started: ReadSettings;
  readonly authentication: LiveAuthentication | undefined;
  readonly policyGuard: PolicyGuard | undefined;
  readonly logger: Logger;
}

/** Ends what principals have open; see `HttpServer.revoke`. */
type Revoke = (match: (principal: Principal) => boolean) => void;

export async function reload(running: Running, revoke: Revoke): Promise<void> {
  const { logger, policyGuard, authentication } = running;
  let next: ReadSettings;
  let admitting: Authentication | undefined;
  try {
    next = await readSettings(running.asked);
    admitting = authentication && authenticationOf(next, authentication);
  } catch (error) {
    const why = (error as Error).message.replaceAll('\n', '; ');
    logger.error(`settings were not read again, everything stays as it was: ${why}`);
    return;
  }
  if (policyGuard !== undefined && next.policy !== undefined) policyGuard.replace(next.policy);
  if (authentication !== undefined && admitting !== undefined) {
    const isRevoked = authentication.replace(admitting);
    revoke(isRevoked);
    // Once more for a request that was admitted in this very moment.
    setImmediate(() => revoke(isRevoked));
    if (admitting === noTokens) logger.warn('no token is accepted any more: every request is denied');
  }
  const changed = needingRestart(running, next);
  if (changed.length > 0) logger.warn(`these settings have changed and need a restart: ${changed.join(', ')}`);
  logger.notice('settings were read again', { file: next.settled.file, tokens: authentication?.tokens.length ?? 0 });
}

/**
 * Who is admitted from now on. Where the settings say nothing about it any more, or the last token of the file is gone,
 * no caller is: to serve without authentication takes a restart.
 */
function authenticationOf({ settled }: ReadSettings, previous: LiveAuthentication): Authentication {
  const { auth, http } = settled.settings;
  if (auth === undefined) return noTokens;
  return createAuthentication(auth, http as HttpSettings, previous) ?? noTokens;
}

/** What client commands read is no matter of the server's. */
const irrelevant: readonly string[] = ['mcpServers'];

/** Settings whose change does not take effect: all but those that were applied. */
function needingRestart({ started, authentication, policyGuard }: Running, next: ReadSettings): string[] {
  const isApplied = (key: string): boolean => {
    if (key.startsWith('auth.')) return authentication !== undefined;
    if (key === 'policy') return policyGuard !== undefined && next.policy !== undefined;
    return irrelevant.includes(key);
  };
  const [before, after] = [started.settled.values, next.settled.values];
  const keys = [...new Set([...before.keys(), ...after.keys()])].filter((key) => !isApplied(key));
  const changed = keys.filter((key) => !isSame(before.get(key)?.value, after.get(key)?.value));
  // Roots, programs and addresses were handed out when the server was put together.
  const bounds = (['files', 'sandbox', 'network'] as const).filter(
    (part) => policyGuard !== undefined && !isSame(started.policy?.[part], next.policy?.[part]),
  );
  return [...changed, ...bounds.map((part) => `policy: ${part === 'sandbox' ? 'commands' : part}`)];
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
