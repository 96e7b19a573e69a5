// Why a connection to Redis could not be made, and what to do about it. The library that connects reports what happened to its socket,
// which often does not tell which part of the address is wrong.

import type { RedisAddress } from './address.ts';

/** A connection could not be made. `remedy`: what to do, as a sentence. */
export class RedisConnectError extends Error {
  readonly remedy: string;

  constructor(reason: string, remedy: string, cause?: unknown) {
    super(reason, { cause });
    this.name = 'RedisConnectError';
    this.remedy = remedy;
  }
}

/** `reason` replaces what the library says where that does not help. */
interface ConnectErrorRule {
  readonly pattern: RegExp;
  readonly reason?: string;
  readonly remedy: (address: RedisAddress) => string;
}

const otherScheme = ({ kind, tls }: RedisAddress): string => {
  const suffix = kind === 'server' ? '' : `-${kind}`;
  return tls ? `redis${suffix}:// if it does not use TLS` : `rediss${suffix}:// if it requires TLS`;
};
const checkPort = (address: RedisAddress): string => `Check the host and the port, and use ${otherScheme(address)}`;

const noTls = 'it does not use TLS';

/** The first that matches applies. The patterns are looked for in the code and the message of the error. */
const explanations: readonly ConnectErrorRule[] = [
  { pattern: /ECONNREFUSED/, remedy: () => 'Check the host and the port, and that it runs' },
  { pattern: /ENOTFOUND|EAI_AGAIN/, remedy: () => 'Check the name of the host' },
  { pattern: /\bNOAUTH\b/, remedy: () => 'It requires a password: set it' },
  { pattern: /\bWRONGPASS\b|invalid password/, remedy: () => 'Check the password, and the name of the user' },
  {
    pattern: /without any password configured/,
    remedy: () => 'It has no password: remove yours, or set one in Redis',
  },
  {
    pattern: /DB index is out of range/,
    remedy: ({ database }) => `It has no database ${database}: use a smaller number, 0 for example, after the host`,
  },
  {
    pattern: /unknown command 'SENTINEL'/i,
    remedy: () => 'It is not a Sentinel: use redis:// if it is the server itself',
  },
  { pattern: /cluster support disabled/, remedy: () => 'It is not in a cluster: use redis://' },
  {
    pattern: /wrong version number|packet length too long|EPROTO/,
    reason: noTls,
    remedy: checkPort,
  },
  {
    pattern: /CERT|SELF_SIGNED|UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER/,
    remedy: () =>
      'Set the authority of its certificate (tls.ca, --store-ca, NODE_EXTRA_CA_CERTS), and use the name in it',
  },
  { pattern: /Unknown RESP type/, reason: 'what responds there is not Redis', remedy: checkPort },
  { pattern: /ECONNRESET|Socket closed unexpectedly/, reason: 'it closed the connection', remedy: checkPort },
  { pattern: /timeout|ETIMEDOUT/i, reason: 'it did not respond in time', remedy: checkPort },
];

const generalRemedy =
  'Check the address, the password, that it runs, and that rediss:// is used if it requires TLS, and only then';

/** `errors`: what was reported while connecting, the first of which is the cause, and what it ended with. */
export function explainConnectError(address: RedisAddress, errors: readonly unknown[]): RedisConnectError {
  for (const error of errors) {
    const text = textOf(error);
    const found = explanations.find(({ pattern }) => pattern.test(text));
    if (found === undefined) continue;
    return new RedisConnectError(found.reason ?? messageOf(error), found.remedy(address), error);
  }
  return new RedisConnectError(messageOf(errors.at(-1)), generalRemedy, errors[0]);
}

/** What responds there is not Redis, though it has accepted what was sent. */
export const notRedis = (address: RedisAddress): RedisConnectError =>
  new RedisConnectError('what responds there is not Redis', checkPort(address));

/** It responds to what is not encrypted. */
export const notTls = (address: RedisAddress): RedisConnectError => new RedisConnectError(noTls, checkPort(address));

function textOf(error: unknown): string {
  const all = error instanceof AggregateError ? [error, ...error.errors] : [error];
  return all.map((each) => `${(each as { code?: string } | undefined)?.code ?? ''} ${messageOf(each)}`).join('\n');
}

/** One line without a full stop. An error of several addresses has no message of its own. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { message } = error instanceof AggregateError && error.message === '' ? (error.errors[0] as Error) : error;
  const text = message || (error as { code?: string }).code || error.name;
  return text.replace(/\s+/g, ' ').trim().replace(/\.$/, '');
}
