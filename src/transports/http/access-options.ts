// What the options that allow access must look like. Used by the transport and, with the names of flags, by the program.

import type { HttpOptions } from './options.ts';
import { isProxyRange } from './trusted-proxies.ts';

const checks = {
  publicUrl: (value: string) => {
    if (URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)) return undefined;
    return 'is not a URL; write the address that clients use, with its scheme: "https://mcp.example.org"';
  },
  allowedHosts: (value: string) => {
    if (/^([^\s:/\\?#@*,[\]]+|\[[\da-f:.]+\])(:\d{1,5})?$/i.test(value)) return undefined;
    return 'is not a host name; write only the name, and a port to allow no other: "mcp.example" or "mcp.example:8443"';
  },
  // Any other form than the one that browsers send would never match, or match too much.
  allowedOrigins: (value: string) => {
    if (URL.canParse(value) && new URL(value).origin === value) return undefined;
    return 'is not an origin; write only scheme, host and port: "https://app.example"';
  },
  trustedProxies: (value: string) => {
    if (isProxyRange(value)) return undefined;
    return 'is not an address; write that of the proxy, a range, or loopback: "10.0.0.5", "10.0.0.0/8"';
  },
} as const;

export type AccessOption = keyof typeof checks;

/** What is wrong with a value of an option, with the value; undefined if it is valid. */
export function explainInvalid(option: AccessOption, value: string): string | undefined {
  const reason = checks[option](value);
  return reason === undefined ? undefined : `${JSON.stringify(value)} ${reason}`;
}

/** Throws for the first invalid value, with the name of its option. */
export function assertAccessOptions(options: Pick<HttpOptions, AccessOption>): void {
  for (const option of Object.keys(checks) as AccessOption[]) {
    const given: unknown = options[option];
    if (option !== 'publicUrl' && given !== undefined && !Array.isArray(given)) {
      throw new TypeError(`${option}: must be a list, such as [${JSON.stringify(given)}]`);
    }
    for (const value of [options[option] ?? []].flat()) {
      const problem = explainInvalid(option, value);
      if (problem !== undefined) throw new TypeError(`${option}: ${problem}`);
    }
  }
}
