// Where Redis is: one server, servers watched by Sentinel, or a cluster. The address is one URL, so that it can be one
// setting; the password need not be in it.

export interface RedisHost {
  readonly host: string;
  readonly port: number;
}

/** A parsed address. `hosts`: the server, the Sentinels, or some nodes of the cluster. */
export interface RedisAddress {
  readonly kind: 'server' | 'sentinel' | 'cluster';
  readonly hosts: readonly [RedisHost, ...RedisHost[]];
  readonly tls: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly database?: number;
  /** What Sentinel calls the server. */
  readonly master?: string;
}

const kinds: Readonly<Record<string, RedisAddress['kind']>> = {
  '': 'server',
  '-sentinel': 'sentinel',
  '-cluster': 'cluster',
};

const defaultPorts = { server: 6379, sentinel: 26379, cluster: 6379 } as const;

const forms =
  'redis://host:6379/0, rediss:// for TLS, redis-sentinel://host:26379,host:26379/0#name or redis-cluster://host:6379,host:6379';

/** Parses an address. Throws a TypeError that names the allowed forms, and never the password. */
export function parseRedisAddress(url: string): RedisAddress {
  const invalid = (why: string): TypeError => new TypeError(`The Redis address ${why}. Use ${forms}`);
  const match = /^(rediss?)(-sentinel|-cluster)?:\/\/(?:([^@]*)@)?([^/?#]+)(?:\/([^?#]*))?(?:#(.+))?$/.exec(url);
  if (match === null) throw invalid('is not valid');
  const [, scheme, suffix = '', user, list = '', path = '', master] = match;
  const kind = kinds[suffix] as RedisAddress['kind'];
  const hosts = list.split(',').map((each) => parseHost(each, defaultPorts[kind]));
  const [first, ...others] = hosts;
  if (first === undefined || hosts.includes(undefined)) throw invalid('names a host or port that is not valid');
  if (kind === 'server' && others.length > 0) throw invalid('has several hosts, but is that of one server');
  if ((kind === 'sentinel') !== (master !== undefined)) {
    throw invalid(kind === 'sentinel' ? 'lacks the name that Sentinel knows, after #' : 'has a part after #');
  }
  if (path !== '' && !/^\d{1,5}$/.test(path)) throw invalid('has a database that is not a number');
  if (kind === 'cluster' && Number(path) > 0) throw invalid('has a database, but clusters have only one');
  return {
    kind,
    hosts: [first, ...(others as RedisHost[])],
    tls: scheme === 'rediss',
    ...(path === '' ? {} : { database: Number(path) }),
    ...(master === undefined ? {} : { master: decodeURIComponent(master) }),
    ...credentials(user, invalid),
  };
}

function credentials(
  user: string | undefined,
  invalid: (why: string) => TypeError,
): Pick<RedisAddress, 'username' | 'password'> {
  if (user === undefined || user === '') return {};
  const at = user.indexOf(':');
  try {
    const username = decodeURIComponent(at === -1 ? user : user.slice(0, at));
    const password = at === -1 ? undefined : decodeURIComponent(user.slice(at + 1));
    return { ...(username === '' ? {} : { username }), ...(password === undefined ? {} : { password }) };
  } catch {
    throw invalid('has a user or password whose percent signs are not encoded');
  }
}

function parseHost(text: string, defaultPort: number): RedisHost | undefined {
  const match = /^(?:\[([0-9a-fA-F:.%]+)\]|([^[\]:@\s]+))(?::(\d{1,5}))?$/.exec(text);
  if (match === null) return undefined;
  const port = match[3] === undefined ? defaultPort : Number(match[3]);
  return port > 0 && port < 65_536 ? { host: (match[1] ?? match[2]) as string, port } : undefined;
}

/** The address for messages, without user and password. */
export function showAddress({ kind, hosts, tls, master }: RedisAddress): string {
  const scheme = `redis${tls ? 's' : ''}${kind === 'server' ? '' : `-${kind}`}`;
  const list = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
  return `${scheme}://${list}${master === undefined ? '' : `#${master}`}`;
}
