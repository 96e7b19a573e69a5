// The arguments that describe a gateway: servers of files, or one command or URL, a view, and the settings.

import type { GatewaySources } from '../../app/gateway/gateway-settings.ts';
import { UsageError } from '../../app/usage-error.ts';
import { readArgs } from '../parse-args.ts';
import { settingsFlags, toFlagValues } from '../settings-flags.ts';

type FurtherOptions = Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>;

export interface GatewayArgs {
  /** The values of the further options, and of the settings. */
  readonly values: Readonly<Record<string, unknown>>;
  readonly sources: GatewaySources & { readonly flags: Readonly<Record<string, readonly string[]>> };
  readonly view: string | undefined;
}

/**
 * Reads the arguments; undefined if the help was asked for, and shown. `commands`: words that are meant as a command about
 * gateways. `further`: options that are no settings.
 */
export async function gatewayArgs(
  { name, help }: { readonly name: string; readonly help: string },
  args: readonly string[],
  commands: readonly string[],
  further: FurtherOptions,
): Promise<GatewayArgs | undefined> {
  const split = args.indexOf('--');
  const command = split === -1 ? undefined : args.slice(split + 1);
  const own = {
    config: { type: 'string', multiple: true },
    view: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  } as const;
  const { values, positionals } = readArgs(name, split === -1 ? args : args.slice(0, split), {
    ...settingsFlags(),
    ...further,
    ...own,
  });
  const { config = [], view } = values as { readonly config?: readonly string[]; readonly view?: string };
  if (values.help === true) {
    const { openOutput } = await import('../ui/output.ts');
    openOutput().write(help);
    return undefined;
  }
  const target = await targetOf(name, positionals, command, { config, commands });
  if (target !== undefined && view !== undefined) {
    throw new UsageError('--view is for servers of a file; a single server has no views');
  }
  const flags = Object.fromEntries(
    Object.entries(values).filter(([option]) => !Object.hasOwn(own, option) && !Object.hasOwn(further, option)),
  );
  return { values, sources: { files: config, target, flags: toFlagValues(flags) }, view };
}

/** The one server of a command line or URL. */
async function targetOf(
  name: string,
  positionals: readonly string[],
  command: readonly string[] | undefined,
  { config, commands }: { readonly config: readonly string[]; readonly commands: readonly string[] },
): Promise<string | readonly string[] | undefined> {
  const [url, ...more] = positionals;
  if (url === undefined && command === undefined) return undefined;
  if (url !== undefined && !/^(https?|wss?):\/\//i.test(url)) throw await notOurs(name, positionals, command, commands);
  if (config.length > 0) {
    throw new UsageError('Use --config for servers of a file, or name one server; not both');
  }
  if (command !== undefined) {
    if (url !== undefined) throw new UsageError('Name a URL or a command, not both');
    if (command.length === 0) throw new UsageError('A command is missing after --');
    return command;
  }
  if (more.length > 0) throw new UsageError(`Name one URL, not ${positionals.join(', ')}`);
  return url as string;
}

/** A word that is neither a command about gateways nor a URL. */
async function notOurs(
  name: string,
  words: readonly string[],
  command: readonly string[] | undefined,
  commands: readonly string[],
): Promise<UsageError> {
  const [word = ''] = words;
  if (commands.includes(word)) return new UsageError(`The command comes first: mooring ${name} ${word} …`);
  const { nearest } = await import('../../app/text/nearest.ts');
  const meant = nearest(word, commands);
  const line =
    command !== undefined
      ? ''
      : /\.(jsonc?|toml)$/i.test(word)
        ? `. Name a configuration file with --config, as in: mooring ${name} --config ${word}`
        : `. A command line goes after --, as in: mooring ${name} -- ${words.join(' ')}`;
  return new UsageError(
    `${JSON.stringify(word)} is ${commands.length === 0 ? 'not a URL' : `neither a command of "mooring ${name}" nor a URL`}` +
      (meant === undefined ? line : `; did you mean ${JSON.stringify(meant)}?`),
  );
}
