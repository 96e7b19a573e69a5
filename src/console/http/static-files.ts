// The files of the page, as the build put them into `dist/console/`: only names that exist there are served.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { ConsoleExchange } from '../contract.ts';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

const encodings = [
  { name: 'br', extension: '.br' },
  { name: 'gzip', extension: '.gz' },
] as const;

interface StaticFile {
  readonly path: string;
  readonly type: string;
  /** Compressed copies that exist, by encoding. */
  readonly compressed: ReadonlyMap<string, string>;
}

/** The headers of everything the console sends: its own scripts only, no frames, nothing to other origins. */
export function securityHeaders(sandboxOrigin?: string): string[] {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    `frame-src ${sandboxOrigin ?? "'none'"}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ];
  return [
    ...['Content-Security-Policy', policy.join('; ')],
    ...['X-Content-Type-Options', 'nosniff'],
    ...['Referrer-Policy', 'no-referrer'],
    ...['Cross-Origin-Opener-Policy', 'same-origin'],
    ...['Cross-Origin-Resource-Policy', 'same-origin'],
  ];
}

export class StaticFiles {
  readonly #folder: string | undefined;
  #files: ReadonlyMap<string, StaticFile> | undefined;
  readonly #contents = new Map<string, { readonly bytes: Buffer; readonly etag: string }>();

  constructor(folder: string | undefined) {
    this.#folder = folder ?? findFolder();
  }

  /** The contents of the first file whose name matches. */
  contents(pattern: RegExp): Buffer | undefined {
    this.#files ??= this.#find();
    const name = [...this.#files.keys()].find((each) => pattern.test(each));
    return name === undefined ? undefined : this.#read((this.#files.get(name) as StaticFile).path).bytes;
  }

  /** `name`: the path below the console, without a slash at the start. `sandboxOrigin`: where apps are shown. */
  serve(exchange: ConsoleExchange, name: string, sandboxOrigin?: string): void {
    this.#files ??= this.#find();
    const file = this.#files.get(name === '' ? 'index.html' : name);
    if (file === undefined) return this.#missing(exchange, name);
    const accepted = exchange.get('accept-encoding') ?? '';
    const encoding = encodings.find(
      ({ name: each }) => file.compressed.has(each) && new RegExp(`\\b${each}\\b(?!;q=0(\\.0*)?(,|$))`).test(accepted),
    );
    const { bytes, etag } = this.#read(
      encoding === undefined ? file.path : (file.compressed.get(encoding.name) as string),
    );
    const headers = [...securityHeaders(sandboxOrigin), 'Cache-Control', 'no-cache'];
    headers.push('ETag', etag, 'Vary', 'Accept-Encoding');
    if (exchange.get('if-none-match') === etag) return exchange.respond(304, headers);
    headers.push('Content-Type', file.type);
    if (encoding !== undefined) headers.push('Content-Encoding', encoding.name);
    exchange.respond(200, headers, exchange.method === 'HEAD' ? undefined : bytes);
  }

  #missing(exchange: ConsoleExchange, name: string): void {
    const isBuilt = (this.#files?.size ?? 0) > 0;
    const text = isBuilt
      ? `There is no file ${JSON.stringify(name.slice(0, 200))} here.\n`
      : 'The files of the console are missing from this installation. Install the package again, or run "npm run build".\n';
    const headers = [...securityHeaders(), 'Content-Type', 'text/plain; charset=utf-8', 'Cache-Control', 'no-store'];
    exchange.respond(isBuilt ? 404 : 503, headers, text);
  }

  #find(): ReadonlyMap<string, StaticFile> {
    const folder = this.#folder;
    const files = new Map<string, StaticFile>();
    if (folder === undefined) return files;
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => name.replaceAll('\\', '/'));
    const known = new Set(names);
    for (const name of names) {
      const type = types[extname(name)];
      if (type === undefined || !statSync(join(folder, name)).isFile()) continue;
      const compressed = encodings
        .filter(({ extension }) => known.has(`${name}${extension}`))
        .map(({ name: encoding, extension }) => [encoding, join(folder, `${name}${extension}`)] as const);
      files.set(name, { path: join(folder, name), type, compressed: new Map(compressed) });
    }
    return files;
  }

  #read(path: string): { readonly bytes: Buffer; readonly etag: string } {
    let content = this.#contents.get(path);
    if (content === undefined) {
      const bytes = readFileSync(path);
      content = { bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` };
      this.#contents.set(path, content);
    }
    return content;
  }
}

/** This file is in `dist/chunks/` of an installation, or in `src/console/http/` of the repository. */
function findFolder(): string | undefined {
  const here = import.meta.dirname;
  const candidates = [join(here, 'console'), join(here, '../console'), join(here, '../../../dist/console')];
  return candidates.find((folder) => existsSync(join(folder, 'index.html')));
}
