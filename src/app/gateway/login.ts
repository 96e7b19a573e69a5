// What "mooring gateway login" and "logout" do: they store and delete the inputs and secrets of a configuration, and sign in
// to servers and out again.

import type { UpstreamConfig } from '../../gateway/config/gateway-config.ts';
import { plainReach } from '../auth/plain-http.ts';
import { UsageError } from '../usage-error.ts';
import { terminalOf } from './entries/ask-input.ts';
import { Inputs } from './entries/inputs.ts';
import { openStoredValues } from './entries/stored-values.ts';
import { type GatewaySettings, readGateway, settingsOfGateway } from './gateway-settings.ts';

export interface LoginOptions {
  /** `--config FILE`, in this order. */
  readonly files: readonly string[];
  /** Ask for what is stored, too. */
  readonly again: boolean;
}

/** Asks for inputs and secrets, and stores what is entered. Returns their ids. Throws a `UsageError` if one is missing. */
export async function enterValues({
  files,
  again,
}: LoginOptions): Promise<Pick<GatewaySettings, 'config'> & { readonly entered: readonly string[] }> {
  const stored = openStoredValues();
  const ask = terminalOf(process);
  const entered: string[] = [];
  const inputs = new Inputs({
    env: process.env,
    ...(again ? {} : { stored }),
    ask:
      ask &&
      (async (input) => {
        const value = await ask(input);
        if (value !== undefined && value !== '') entered.push(input.id);
        return value;
      }),
    entered: (key, value) => stored.set(key, value),
  });
  const known = await settingsOfGateway({ files });
  const { config } = await readGateway({}, known.files, known.settings, inputs);
  return { config, entered };
}

/** Deletes what is stored of the inputs and secrets of a configuration. Returns how many there were. */
export async function deleteValues(files: readonly string[]): Promise<number> {
  const keys = new Set<string>();
  const inputs = new Inputs({
    env: {},
    stored: {
      async get(key) {
        keys.add(key);
        return '';
      },
    },
  });
  const known = await settingsOfGateway({ files });
  await readGateway({}, known.files, known.settings, inputs).catch((error: unknown) => {
    // Without its values, an entry may not be valid.
    if (!(error instanceof UsageError)) throw error;
  });
  const stored = openStoredValues();
  let deleted = 0;
  for (const key of keys) {
    if ((await stored.get(key)) === undefined) continue;
    await stored.set(key, undefined);
    deleted++;
  }
  return deleted;
}

/** The servers of a configuration, without asking for anything. */
export async function knownServers(files: readonly string[]): Promise<readonly UpstreamConfig[]> {
  return (await settingsOfGateway({ files })).config.servers;
}

/** Connects to a server once, so that the user signs in with the browser if the server requires it. */
export async function signIn(config: UpstreamConfig): Promise<void> {
  const { slug, auth, revision } = config;
  const url = urlOf(config);
  if (auth.kind !== 'oauth') throw new UsageError(`${slug} needs no sign-in: its "auth" is ${auth.kind}`);
  const reach = plainReach(url);
  if (reach !== undefined && reach !== 'loopback') {
    throw new UsageError(
      `You cannot sign in to ${slug}: the connection to ${new URL(url).host} is not encrypted, and tokens are not sent there. Use https`,
    );
  }
  const [{ connect }, { upstreamAuthorizers }] = await Promise.all([
    import('../../client/index.ts'),
    import('./authorizers.ts'),
  ]);
  const authorizer = await upstreamAuthorizers({ isInteractive: true, hasUsers: false })(config);
  const client = await connect(
    { ...config.entry, url },
    { serverName: slug, revision, ...(authorizer && { authorizer }) },
  );
  await client.close();
}

/** The URL of a server that a user can sign in to. */
export function urlOf({ slug, entry }: UpstreamConfig): string {
  if (entry.url !== undefined) return entry.url;
  throw new UsageError(`${slug} is a command, and only servers with a URL have a sign-in`);
}
