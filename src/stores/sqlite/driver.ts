// The one place that loads SQLite: `node:sqlite` where Node has it (22.13 and later), otherwise a package with the same
// API. Loaded on first use, since a server without data should not pay for it. Only the functions that we use are declared here.

/** A prepared statement. Values are text, numbers or null; everything else is stored as JSON. */
export interface Statement {
  run(...values: SqlValue[]): { readonly changes: number | bigint };
  get(...values: SqlValue[]): SqlRow | undefined;
  all(...values: SqlValue[]): SqlRow[];
}

export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, unknown>>;

/** An open connection. */
export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  close(): void;
}

interface SqliteDriver {
  readonly DatabaseSync: new (path: string) => SqliteConnection;
}

let loading: Promise<SqliteDriver> | undefined;

/** Opens a database file, creating it if it does not exist. */
export async function connectSqlite(file: string): Promise<SqliteConnection> {
  loading ??= loadDriver();
  const { DatabaseSync } = await loading;
  return new DatabaseSync(file);
}

async function loadDriver(): Promise<SqliteDriver> {
  const builtIn = quietly(() => process.getBuiltinModule?.('node:sqlite') as SqliteDriver | undefined);
  if (builtIn?.DatabaseSync !== undefined) return builtIn;
  try {
    return (await import('@photostructure/sqlite')) as unknown as SqliteDriver;
  } catch (cause) {
    loading = undefined;
    throw new Error(
      `Node ${process.version} has no built-in SQLite and the package @photostructure/sqlite is not installed. ` +
        'Use Node 22.13 or later, or install the package',
      { cause },
    );
  }
}

/** Hides Node's warning on stderr that the module is experimental; the functions above have not changed since it appeared. */
function quietly<T>(load: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return load();
  } catch {
    return undefined as T; // Node 20 and 22.12 throw or return nothing; the package is used instead.
  } finally {
    process.emitWarning = emitWarning;
  }
}
