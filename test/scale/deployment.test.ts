// The files for deployments in examples/deploy and the Dockerfile, held against the program: names of settings, ports, probes,
// times and limits.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { options } from '../../src/app/config/options.ts';
import { defaultHttpLimits } from '../../src/transports/http/limits.ts';
import { useClosers } from '../support/closers.ts';
import { cli } from '../support/program.ts';
import { startProgram } from '../support/workers.ts';

const root = resolve(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const closers = useClosers(afterEach);

// biome-ignore lint/suspicious/noExplicitAny: documents of other programs
type Document = any;

const variables = new Set(options.flatMap(({ env }) => (env === undefined ? [] : [env])));
const port = options.find(({ key }) => key === 'http.port')?.default as number;
/** How long the program lets open calls finish. */
const graceSeconds = 10;

/** Every variable of ours that a file sets is one that the program reads. */
function expectVariables(names: readonly string[]): void {
  const ours = names.filter((name) => /^(MOORING|MCP)_/.test(name));
  expect(ours.length).toBeGreaterThan(0);
  expect(ours.filter((name) => !variables.has(name))).toEqual([]);
}

const secrets: Record<string, string> = {
  MOORING_KEY: randomBytes(32).toString('base64'),
  MOORING_TOKEN: `operator:${randomBytes(32).toString('hex')}`,
};

/** Starts the program with the variables of a deployment, except for what one machine does not have. */
async function startWith(
  variablesOfFile: Record<string, string>,
): Promise<{ port: number; env: Record<string, string> }> {
  const { MOORING_REDIS_URL: _redis, MOORING_DATA: _data, ...rest } = variablesOfFile;
  const env = { ...rest, ...secrets, MOORING_PORT: '0', MOORING_HTTP: 'true', MOORING_HOST: '127.0.0.1' };
  const program = startProgram(['everything'], env);
  closers.push(async () => {
    program.child.kill('SIGKILL');
    await program.exited;
  });
  return { port: Number(new URL(await program.url()).port), env };
}

function status(options: { port: number; path: string; headers: Record<string, string> }): Promise<number | undefined> {
  return new Promise((done, failed) => {
    request({ host: '127.0.0.1', ...options }, (response) => {
      response.resume();
      done(response.statusCode);
    })
      .once('error', failed)
      .end();
  });
}

test('every file of examples/deploy is tested here', () => {
  expect(readdirSync(join(root, 'examples/deploy')).sort()).toEqual([
    'Caddyfile',
    'compose.yaml',
    'kubernetes.yaml',
    'mooring.service',
    'nginx.conf',
  ]);
});

describe('the Dockerfile', () => {
  const text = read('Dockerfile').replaceAll('\\\n', ' ');
  const stage = text.slice(text.lastIndexOf('\nFROM '));
  const instruction = (name: string): string => new RegExp(`^${name} (.*)$`, 'm').exec(stage)?.[1] ?? '';
  const env: Record<string, string> = Object.fromEntries(
    [...instruction('ENV').matchAll(/(\w+)=(\S+)/g)].map(([, name, value]) => [name, value]),
  );

  test('runs the program itself, as a user without rights, on a Node.js that it supports', () => {
    expect(instruction('USER')).toBe('node');
    expect(stage.indexOf('\nUSER ')).toBeLessThan(stage.indexOf('\nENTRYPOINT '));
    expect(JSON.parse(instruction('ENTRYPOINT'))).toEqual(['node', expect.stringMatching(/\/dist\/cli\.js$/)]);
    expect(JSON.parse(instruction('CMD'))).toEqual(['serve']);
    const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
    const major = Number(/^\nFROM node:(\d+)-/.exec(stage)?.[1]);
    expect(major).toBeGreaterThanOrEqual(Number(/\d+/.exec(engines.node)?.[0]));
  });

  test('has settings of the program, and the port that it exposes', () => {
    expectVariables(Object.keys(env));
    expect(env).toMatchObject({ MOORING_HTTP: 'true', MOORING_PORT: String(port), MOORING_DATA: '/data' });
    expect(instruction('EXPOSE')).toBe(String(port));
    expect(instruction('VOLUME')).toBe('/data');
  });

  test.each([
    ['without a public URL', {}],
    ['with a public URL', { MOORING_PUBLIC_URL: 'https://mcp.example.com' }],
  ])('its health check finds a server healthy that is ready, %s', async (_, more) => {
    const served = await startWith({ ...env, ...more });
    const [node, ...args] = JSON.parse(/CMD (\[.*\])$/.exec(instruction('HEALTHCHECK'))?.[1] ?? '[]') as string[];
    expect(node).toBe('node');
    const check = (at: number) =>
      spawnSync(process.execPath, args, { env: { ...process.env, ...more, MOORING_PORT: String(at) } }).status;
    expect(check(served.port)).toBe(0);
    expect(check(9)).toBe(1);
  });

  test('copies no secrets, no installed packages and no history into the image', () => {
    const ignored = read('.dockerignore').split('\n');
    for (const each of ['.git', '.env', 'node_modules']) expect(ignored).toContain(each);
  });
});

describe('compose.yaml', () => {
  const { services } = parse(read('examples/deploy/compose.yaml'), { merge: true }) as Document;
  const replicas = [services['mooring-1'], services['mooring-2']];

  test('has two replicas with the same settings and one store, and nothing to write to but data and temporary files', () => {
    for (const replica of replicas) {
      expectVariables(Object.keys(replica.environment));
      expect(replica.environment).toEqual(replicas[0].environment);
      for (const name of ['MOORING_KEY', 'MOORING_TOKEN']) expect(replica.environment[name]).toBe(`\${${name}:?}`);
      expect(replica.environment.MOORING_REDIS_URL).toMatch(/^redis:\/\/:\$\{VALKEY_PASSWORD:\?\}@valkey:6379$/);
      expect(replica).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
      expect(replica.volumes).toEqual(['data:/data']);
      expect(replica.tmpfs).toEqual(['/tmp']);
      expect(replica.ports).toBeUndefined();
    }
  });

  test('gives a replica the time that it needs to end', () => {
    const [{ stop_grace_period: grace, environment }] = replicas;
    expect(Number.parseInt(grace, 10)).toBeGreaterThan(
      Number(environment.MOORING_DRAIN_DELAY_MS) / 1_000 + graceSeconds + 1,
    );
  });

  test('has a store that evicts nothing and survives a restart', () => {
    const command = services.valkey.command.join(' ');
    expect(command).toContain('--maxmemory-policy noeviction');
    expect(command).toContain('--appendonly yes');
    expect(command).toContain('--requirepass');
    expect(services.valkey.ports).toBeUndefined();
  });

  test('a replica with these settings starts, is ready, and requires the token', async () => {
    const { port: at } = await startWith(replicas[0].environment);
    const headers = { Host: 'localhost' };
    expect(await status({ port: at, path: '/readyz', headers })).toBe(200);
    expect(await status({ port: at, path: '/mcp', headers })).toBe(401);
  });
});

describe('proxies', () => {
  const caddy = read('examples/deploy/Caddyfile');
  const nginx = read('examples/deploy/nginx.conf');
  const setting = (name: string): string => new RegExp(`^\\s*${name}\\s+([^;\\n]*)`, 'm').exec(nginx)?.[1] ?? '';

  test('the Caddyfile sends requests to the replicas of compose.yaml that are ready', () => {
    const { services } = parse(read('examples/deploy/compose.yaml'), { merge: true }) as Document;
    const upstreams = /reverse_proxy (.*) \{/.exec(caddy)?.[1]?.split(' ') ?? [];
    expect(upstreams).toEqual(
      Object.keys(services)
        .filter((name) => name.startsWith('mooring'))
        .map((name) => `${name}:${port}`),
    );
    expect(caddy).toMatch(/^\s*health_uri \/readyz$/m);
    const host = new URL(services['mooring-1'].environment.MOORING_PUBLIC_URL).host;
    expect(caddy).toMatch(new RegExp(`^\\s*Host ${host}$`, 'm'));
    expect(caddy).toMatch(/^\s*flush_interval -1$/m);
    const intervalMs = Number(/health_interval (\d+)s/.exec(caddy)?.[1]) * 1_000;
    expect(intervalMs * 2).toBeLessThanOrEqual(Number(services['mooring-1'].environment.MOORING_DRAIN_DELAY_MS));
  });

  test('close an idle connection before the program does: a request on a closed connection fails', () => {
    const ownSeconds = defaultHttpLimits.keepAliveTimeoutMs / 1_000;
    expect(Number(/keepalive (\d+)s/.exec(caddy)?.[1])).toBeLessThan(ownSeconds);
    expect(Number.parseInt(setting('keepalive_timeout'), 10)).toBeLessThan(ownSeconds);
  });

  test('nginx passes everything on: streams at once, bodies and session ids in full length', () => {
    expect(setting('proxy_buffering')).toBe('off');
    expect(setting('proxy_http_version')).toBe('1.1');
    expect(setting('proxy_set_header Host')).toBe('$host');
    expect(setting('proxy_set_header X-Forwarded-For')).toBe('$proxy_add_x_forwarded_for');
    expect(setting('proxy_set_header Upgrade')).toBe('$http_upgrade');
    expect(setting('proxy_read_timeout')).toBe('1h');
    expect(Number.parseInt(setting('client_max_body_size'), 10) * 1024 * 1024).toBe(defaultHttpLimits.maxBodyBytes);
    const [, kilobytes] = /^\d+ (\d+)k$/.exec(setting('large_client_header_buffers')) ?? [];
    expect(Number(kilobytes) * 1024).toBeGreaterThanOrEqual(4 * defaultHttpLimits.maxSessionIdLength);
  });

  test('neither sends a request again that may have run', () => {
    expect(setting('proxy_next_upstream')).toBe('error');
    expect(nginx).not.toContain('non_idempotent;');
    expect(caddy).not.toContain('lb_retry_match');
  });
});

describe('kubernetes.yaml', () => {
  const documents = parseAllDocuments(read('examples/deploy/kubernetes.yaml')).map((each) => each.toJS()) as Document[];
  const kind = (name: string): Document => documents.find((each) => each.kind === name);
  const { spec } = kind('Deployment');
  const pod = spec.template.spec;
  const [container] = pod.containers;
  const env: { name: string; value?: string; valueFrom?: Document }[] = container.env;

  test('has settings of the program; secrets come from a Secret', () => {
    expectVariables(env.map(({ name }) => name));
    for (const name of ['MOORING_KEY', 'MOORING_TOKEN', 'MOORING_REDIS_URL']) {
      const entry = env.find((each) => each.name === name);
      expect(entry?.value).toBeUndefined();
      expect(entry?.valueFrom.secretKeyRef.name).toBe('mooring');
    }
    expect(container.ports).toEqual([{ name: 'http', containerPort: port }]);
  });

  test('runs without rights on a read-only root, with the volumes that the program writes to', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.volumeMounts.map((each: Document) => each.mountPath).sort()).toEqual(['/data', '/tmp']);
    expect(pod.automountServiceAccountToken).toBe(false);
  });

  test('its probes are answered with 200', async () => {
    const values = Object.fromEntries(env.flatMap(({ name, value }) => (value === undefined ? [] : [[name, value]])));
    const { port: at } = await startWith(values);
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      const { path, httpHeaders, port: named } = container[probe].httpGet;
      expect(named).toBe('http');
      const headers = Object.fromEntries(httpHeaders.map((each: Document) => [each.name, each.value]));
      expect(await status({ port: at, path, headers }), probe).toBe(200);
    }
    expect(container.livenessProbe.httpGet.path).toBe('/livez');
    expect(container.readinessProbe.httpGet.path).toBe('/readyz');
  });

  test('updates one replica at a time, each with the time that it needs to end', () => {
    expect(spec.replicas).toBeGreaterThanOrEqual(2);
    expect(spec.strategy.rollingUpdate).toEqual({ maxUnavailable: 0, maxSurge: 1 });
    const [, seconds] = container.lifecycle.preStop.exec.command as [string, string];
    expect(Number(seconds)).toBeGreaterThan(
      container.readinessProbe.periodSeconds * container.readinessProbe.failureThreshold,
    );
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + graceSeconds + 1);
    expect(kind('PodDisruptionBudget').spec.minAvailable).toBe(1);
    expect(kind('HorizontalPodAutoscaler').spec.minReplicas).toBeGreaterThanOrEqual(2);
  });

  test('any replica gets any request, and the ingress does not hold events back', () => {
    expect(kind('StatefulSet')).toBeUndefined();
    const service = kind('Service').spec;
    expect(service.sessionAffinity ?? 'None').toBe('None');
    expect(service.selector).toEqual(spec.template.metadata.labels);
    expect(service.ports[0].targetPort).toBe('http');
    const annotations = kind('Ingress').metadata.annotations;
    expect(annotations['nginx.ingress.kubernetes.io/proxy-buffering']).toBe('off');
    expect(Number(annotations['nginx.ingress.kubernetes.io/proxy-read-timeout'])).toBeGreaterThanOrEqual(3600);
    const { host } = kind('Ingress').spec.rules[0];
    expect(env.find(({ name }) => name === 'MOORING_PUBLIC_URL')?.value).toBe(`https://${host}`);
  });
});

describe('mooring.service', () => {
  const unit = read('examples/deploy/mooring.service');
  const values = (name: string): string[] =>
    [...unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map((match) => match[1] as string);

  test('has settings and flags of the program, and no secrets', () => {
    const env = Object.fromEntries(values('Environment').map((each) => each.split('=', 2) as [string, string]));
    expectVariables(Object.keys(env));
    for (const name of ['MOORING_KEY', 'MOORING_TOKEN']) expect(env[name]).toBeUndefined();
    const [, ...args] = (values('ExecStart')[0] as string).split(' ').slice(1);
    expect(args.slice(0, 2)).toEqual(['serve', 'local']);
    const { status: code, stderr } = spawnSync(process.execPath, [cli, 'config', ...args.slice(2)], {
      env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...env, ...secrets },
      encoding: 'utf8',
    });
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  test('lets the first process end its workers, and gives it the time for that', () => {
    expect(values('KillMode')).toEqual(['mixed']);
    expect(Number(values('TimeoutStopSec')[0])).toBeGreaterThan(15 + graceSeconds);
    expect(values('ExecReload')).toEqual(['/bin/kill -HUP $MAINPID']);
  });

  test('runs as a user of its own that can write to its data folder only', () => {
    expect(values('DynamicUser')).toEqual(['yes']);
    expect(values('ProtectSystem')).toEqual(['strict']);
    expect(values('StateDirectory')).toEqual(['mooring']);
    expect(unit).toContain('MOORING_DATA=/var/lib/mooring');
  });
});
