// Resolves the settings from defaults, configuration file, environment and flags; later sources override earlier ones.
// file.ts reads the file and is loaded only if there is one.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseLevel } from '../../logging/logger.ts';
import { logLevels } from '../../protocol/model.ts';
import { defaultProfile, gatewayProfile, profiles } from '../profiles/index.ts';
import type {
  AuthSettings,
  OAuthSettings,
  OpenApiSettings,
  PluginSettings,
  RedisSettings,
  ServerCardSettings,
  Settings,
  TlsSettings,
} from '../settings/settings.ts';
import { UsageError } from '../usage-error.ts';
import { auditFile, dataFolder, defaultAuditFile, type Platform, thisPlatform, userConfigFile } from './folders.ts';
import { type Option, options } from './options.ts';
import { absolutePath, parseValues, type SettingValue, type SettingValues } from './values.ts';

/** The input from the command line: texts by flag, and the profile. */
export interface SettingsInput {
  readonly flags?: Readonly<Record<string, readonly string[]>>;
  readonly profile?: string;
  /** `--config FILE`. */
  readonly configFile?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  readonly platform?: Platform;
}

/** The settings, and the source of each value. */
export interface ResolvedSettings {
  readonly settings: Settings;
  readonly values: ReadonlyMap<string, SettingValue>;
  /** The file that was read; undefined if there is none. */
  readonly file: string | undefined;
  /** Hints for the user that are not errors. */
  readonly notes: readonly string[];
  readonly logLevel: string | undefined;
  readonly logJson: boolean | undefined;
}

/** Resolves the settings. Throws a `UsageError` for an invalid flag, variable or file. */
export async function resolveSettings(input: SettingsInput): Promise<ResolvedSettings> {
  const env = input.env ?? process.env;
  const cwd = input.cwd ?? process.cwd();
  const platform = input.platform ?? thisPlatform(env);
  const values: SettingValues = new Map();
  putDefaults(values, platform);

  const file = configFileOf(input, env, cwd, platform);
  if (file !== undefined) {
    const { readConfigFile } = await import('./file.ts');
    for (const [key, value] of await readConfigFile(file, { env, home: platform.home })) values.set(key, value);
  }
  for (const option of options) {
    readEnvironment(option, env, cwd, platform, values);
    readFlag(option, input, cwd, platform, values);
  }
  if (input.profile !== undefined) values.set('profile', { value: input.profile, origin: { from: 'flag' } });
  const audit = values.get('audit.file');
  if (audit === undefined) {
    const value = defaultAuditFile(values.get('data')?.value as string);
    values.set('audit.file', { value, origin: { from: 'default' } });
  } else values.set('audit.file', { ...audit, value: auditFile(audit.value as string) });
  if (options.some(({ key, format }) => format !== undefined && explicitValue(values, key) !== undefined)) {
    const { checkAddresses } = await import('./addresses.ts');
    checkAddresses(values);
  }
  const settings: Settings = { ...toSettings(values), configFile: file };
  if (!values.has('audit.enabled')) {
    const isNamed = values.get('audit.file')?.origin.from !== 'default';
    values.set('audit.enabled', { value: isNamed || isAudited(settings), origin: { from: 'default' } });
  }
  return {
    settings,
    values,
    file,
    notes: input.configFile === undefined && !env['MOORING_CONFIG'] ? notesOn(file, cwd) : [],
    logLevel: explicitValue(values, 'log.level') as string | undefined,
    logJson: explicitValue(values, 'log.json') as boolean | undefined,
  };
}

/** Whether the profile enables the audit log. */
function isAudited({ profile, enable }: Settings): boolean {
  // The gateway starts programs and passes calls on.
  if (profile === gatewayProfile) return true;
  const audited = (Object.hasOwn(profiles, profile) ? profiles[profile] : undefined)?.audited ?? [];
  return audited === 'always' || audited.some((feature) => enable[feature]);
}

/** An explicit value; the logger has its own defaults. */
function explicitValue(values: SettingValues, key: string): unknown {
  const entry = values.get(key);
  return entry?.origin.from === 'default' ? undefined : entry?.value;
}

function putDefaults(values: SettingValues, platform: Platform): void {
  const put = (key: string, value: unknown) => values.set(key, { value, origin: { from: 'default' } });
  put('profile', defaultProfile);
  put('data', dataFolder(platform));
  for (const option of options) if (option.default !== undefined) put(option.key, option.default);
}

/** The named file, or the user configuration. Never a file in the working folder: another user may have written it. */
function configFileOf(
  { configFile }: SettingsInput,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  platform: Platform,
): string | undefined {
  const named = configFile ?? env['MOORING_CONFIG'];
  if (named !== undefined) {
    const how = configFile === undefined ? 'MOORING_CONFIG' : '--config';
    // The file may contain a policy or tokens, so falling back to another file would not be safe.
    if (named.trim() === '')
      throw configFile === undefined ? emptyVariable(how) : new UsageError(`${how} must not be empty`);
    const path = absolutePath(named, cwd, platform.home);
    if (!existsSync(path)) throw new UsageError(`${how}: the file ${path} does not exist. "mooring init" creates one`);
    return path;
  }
  const own = userConfigFile(platform);
  return existsSync(own) ? own : undefined;
}

function notesOn(file: string | undefined, cwd: string): string[] {
  const near = join(cwd, 'mooring.json');
  if (file === near || !existsSync(near)) return [];
  return ['mooring.json in this folder is not used. To use it, add --config mooring.json'];
}

function readEnvironment(
  option: Option,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  { home }: Platform,
  values: SettingValues,
): void {
  const text = option.env === undefined ? undefined : env[option.env];
  if (text === undefined || option.env === undefined) return;
  if (text.trim() === '') {
    if (option.security === true) throw emptyVariable(option.env);
    return;
  }
  // An invalid log setting does not stop the server; the logger warns about it.
  if (option.section === 'log' && option.kind === 'switch' && !/^(true|1|yes|on|false|0|no|off)$/i.test(text)) return;
  const texts = option.kind === 'texts' ? text.split(',').map((each) => each.trim()) : [text];
  const value = parseValues(option, texts, option.env, (path) => absolutePath(path, cwd, home));
  values.set(option.key, { value, origin: { from: 'env', where: option.env } });
}

function emptyVariable(name: string): UsageError {
  return new UsageError(`${name} is set but empty. Give it a value, or unset it.`);
}

function readFlag(
  option: Option,
  { flags }: SettingsInput,
  cwd: string,
  { home }: Platform,
  values: SettingValues,
): void {
  const texts = option.flag === undefined ? undefined : flags?.[option.flag];
  if (texts === undefined || texts.length === 0) return;
  const where = `--${option.flag}`;
  const value = parseValues(option, texts, where, (path) => absolutePath(path, cwd, home));
  if (option.key === 'log.level' && parseLevel(value as string) === undefined) {
    throw new UsageError(`${where} must be one of ${[...logLevels, 'off'].join(', ')}, not ${JSON.stringify(value)}`);
  }
  values.set(option.key, { value, origin: { from: 'flag', where } });
}

function toSettings(values: SettingValues): Settings {
  const get = <T>(key: string): T => values.get(key)?.value as T;
  const commands = get<readonly string[] | undefined>('commands');
  const enable = get<readonly string[]>('enable');
  return {
    profile: get('profile'),
    dataDir: get('data'),
    roots: get('roots'),
    skills: get('skills'),
    openapi: openApiOf(values),
    write: get('write'),
    telemetry: get('telemetry.enabled') === true ? { contents: get('telemetry.contents') } : undefined,
    allowedCommands: commands,
    // --allow-command implies --enable commands.
    enable: { commands: enable.includes('commands') || commands !== undefined, workers: enable.includes('workers') },
    audit:
      get('audit.enabled') === false
        ? undefined
        : {
            file: get('audit.file'),
            fsync: get('audit.fsync'),
            failureMode: get('audit.failureMode'),
            maxTotalBytes: get('audit.maxTotalBytes'),
          },
    policy: get('policy'),
    packs: get('packs'),
    plugins: get<readonly PluginSettings[]>('plugins').filter(({ enabled }) => enabled !== false),
    http: {
      enabled: get('http.enabled'),
      host: get('http.host'),
      port: get('http.port'),
      path: pathOf(values, 'http.path', '/mcp') as string,
      allowedHosts: get('http.allowedHosts'),
      allowedOrigins: get('http.allowedOrigins'),
      publicUrl: get('http.publicUrl'),
      trustedProxies: get('http.trustedProxies'),
      workers: get('http.workers'),
      drainDelayMs: get('http.drainDelayMs'),
      metricsPath: pathOf(values, 'http.metricsPath', '/metrics'),
      serverCard: serverCardOf(values),
      tls: tlsOf(values),
      unsafeNoAuth: get('http.unsafeNoAuth'),
      key: get('http.key'),
      previousKeys: get<readonly string[] | undefined>('http.previousKeys') ?? [],
    },
    redis: redisOf(values),
    auth: authOf(values),
    console:
      get('console.enabled') === true
        ? {
            port: get('console.port'),
            operate: get('console.operate'),
            raw: get('console.raw'),
            keep: get('console.keep'),
            sandboxOrigin: get('console.sandboxOrigin'),
          }
        : undefined,
  };
}

function openApiOf(values: SettingValues): OpenApiSettings | undefined {
  const [document, url, token] = ['document', 'url', 'token'].map(
    (field) => values.get(`openapi.${field}`)?.value as string | undefined,
  );
  if (document !== undefined) return { document, url, token };
  // A variable may be set for other servers.
  for (const key of ['openapi.url', 'openapi.token']) {
    if ((values.get(key)?.origin.from ?? 'env') === 'env') continue;
    throw new UsageError(`${nameOf(values, key)} has no effect without --openapi FILE|URL`);
  }
  return undefined;
}

/** Whether they are complete was checked before. */
function serverCardOf(values: SettingValues): ServerCardSettings | undefined {
  const get = <T>(key: string): T => values.get(`http.serverCard.${key}`)?.value as T;
  if (get('name') === undefined) return undefined;
  const [url, source] = [get<string | undefined>('repository.url'), get<string>('repository.source')];
  return {
    name: get('name'),
    description: get('description'),
    title: get('title'),
    websiteUrl: get('websiteUrl'),
    repository: url === undefined ? undefined : { url, source },
  };
}

/** Both files or none: one of them is of no use without the other. */
function tlsOf(values: SettingValues): TlsSettings | undefined {
  const cert = values.get('http.tls.cert')?.value as string | undefined;
  const key = values.get('http.tls.key')?.value as string | undefined;
  if (cert === undefined && key === undefined) return undefined;
  if (key === undefined) throw new UsageError('A certificate needs its private key. Add --tls-key FILE');
  if (cert === undefined) throw new UsageError('A private key needs its certificate. Add --tls-cert FILE');
  return { cert, key };
}

/** A password must not be on the command line, where every user of the machine can read it. */
function redisOf(values: SettingValues): RedisSettings | undefined {
  const get = <T>(key: string): T => values.get(key)?.value as T;
  const url = get<string | undefined>('store');
  if (url === undefined) {
    // Those with a default always have a value.
    const unused = options.find(
      (each) => /^redis\./.test(each.key) && each.default === undefined && values.has(each.key),
    );
    if (unused === undefined) return undefined;
    throw new UsageError(`${nameOf(values, unused.key)} has no effect without --store URL`);
  }
  if (values.get('store')?.origin.from === 'flag' && /^[^/]*\/\/[^/@]*:[^/@]+@/.test(url)) {
    throw new UsageError(
      '--store contains a password, which other users of this machine can read. Set the address in MOORING_REDIS_URL, or ' +
        'the password in MOORING_REDIS_PASSWORD or in the file of --store-password-file',
    );
  }
  for (const key of ['redis.password', 'redis.sentinelPassword']) {
    if (!values.has(key) || !values.has(`${key}File`)) continue;
    const names = `${nameOf(values, key)} and ${nameOf(values, `${key}File`)}`;
    throw new UsageError(`${names} are both set. Leave one of them out`);
  }
  if (values.has('redis.certFile') !== values.has('redis.keyFile')) {
    const [given, missing] = values.has('redis.certFile')
      ? ['redis.certFile', 'redis.keyFile (MOORING_REDIS_KEY_FILE)']
      : ['redis.keyFile', 'redis.certFile (MOORING_REDIS_CERT_FILE)'];
    throw new UsageError(`${nameOf(values, given as string)} is set. Set ${missing} as well`);
  }
  return {
    url,
    password: get('redis.password'),
    passwordFile: get('redis.passwordFile'),
    caFile: get('redis.caFile'),
    certFile: get('redis.certFile'),
    keyFile: get('redis.keyFile'),
    sentinelPassword: get('redis.sentinelPassword'),
    sentinelPasswordFile: get('redis.sentinelPasswordFile'),
    prefix: get('redis.prefix'),
    waitReplicas: get('redis.waitReplicas'),
    maxStaleMs: get('redis.maxStaleMs'),
  };
}

/** A setting as it was given: its flag, its variable, or its key in the configuration file. */
function nameOf(values: SettingValues, key: string): string {
  return values.get(key)?.origin.where ?? key;
}

function authOf(values: SettingValues): AuthSettings | undefined {
  const get = <T>(key: string): T => values.get(key)?.value as T;
  const tokens = get<readonly string[] | undefined>('auth.tokens') ?? [];
  const tokenFile = get<string | undefined>('auth.tokenFile');
  const issuer = get<string | undefined>('auth.oauth.issuer');
  if (issuer === undefined) requireIssuer(values);
  if (tokens.length === 0 && tokenFile === undefined && issuer === undefined) return undefined;
  const oauth: OAuthSettings | undefined =
    issuer === undefined
      ? undefined
      : {
          issuer,
          audience: get('auth.oauth.audience'),
          jwksUrl: get('auth.oauth.jwksUrl'),
          clientId: get('auth.oauth.clientId'),
          clientSecret: get('auth.oauth.clientSecret'),
          scopes: get('auth.oauth.scopes'),
        };
  return { tokens, tokenFile, oauth };
}

/** OAuth settings without an issuer would have no effect. */
function requireIssuer(values: SettingValues): void {
  for (const [key, { origin }] of values) {
    if (!key.startsWith('auth.oauth.')) continue;
    throw new UsageError(
      `${origin.where ?? key} needs an issuer. Set --auth-issuer URL, or auth.oauth.issuer in the file`,
    );
  }
}

function pathOf(values: SettingValues, key: string, example: string): string | undefined {
  const entry = values.get(key);
  const path = entry?.value as string | undefined;
  if (path === undefined || /^\/[^?#\s]*$/.test(path)) return path;
  const where = entry?.origin.where ?? key;
  throw new UsageError(
    `${where} must start with a slash and have no query, as in ${example}, not ${JSON.stringify(path)}`,
  );
}
