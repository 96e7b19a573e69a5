// node bench/run.mjs [suite…]: measures servers side by side and holds the figures against our claims. README.md says more.
import { arch, availableParallelism, cpus, loadavg, platform } from 'node:os';
import { parseArgs } from 'node:util';
import { contestants, field, peerVersions as versions } from './contestants.mjs';
import { checkClaims, sentence } from './lib/claims.mjs';
import { claimsOnPage, drawCalls, updatePage } from './lib/docs.mjs';
import { pinSelf } from './lib/process.mjs';
import { clearProgress, progress } from './lib/progress.mjs';
import { efforts, runSuite } from './lib/suite.mjs';
import { markdown } from './lib/table.mjs';
import { bus } from './suites/bus.mjs';
import { client } from './suites/client.mjs';
import { connections } from './suites/connections.mjs';
import { consoleSuite } from './suites/console.mjs';
import { gateway } from './suites/gateway.mjs';
import { gatewayStart } from './suites/gateway-start.mjs';
import { guard } from './suites/guard.mjs';
import { http } from './suites/http.mjs';
import { notes } from './suites/notes.mjs';
import { profiles } from './suites/profiles.mjs';
import { scale } from './suites/scale.mjs';
import { schema } from './suites/schema.mjs';
import { sessions } from './suites/sessions.mjs';
import { start } from './suites/start.mjs';
import { stdio } from './suites/stdio.mjs';
import { streams } from './suites/streams.mjs';
import { tasks } from './suites/tasks.mjs';
import { wrap } from './suites/wrap.mjs';

const suites = [
  stdio,
  start,
  http,
  guard,
  schema,
  sessions,
  streams,
  client,
  connections,
  notes,
  profiles,
  tasks,
  gateway,
  gatewayStart,
  consoleSuite,
  wrap,
  scale,
  bus,
];
const usage = `node bench/run.mjs [suite…] [options]

  suites     ${suites.map(({ id }) => id).join(', ')}; without a name: all that our build can take part in
  --rounds   how often each server is measured (default: by suite, ${suites.map(({ id, rounds }) => `${id} ${rounds}`).join(', ')})
  --quick    a quarter of the time: shows that all answers are right, not how fast they are
  --only     servers to run: ${[...new Set(Object.values(contestants).flatMap((all) => all.map(({ id }) => id)))].join(', ')}
  --json     the figures for machines instead of tables
  --docs     also writes the tables and the picture into docs/
  --strict   exit 1 when a claim does not hold`;

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string' },
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    docs: { type: 'boolean', default: false },
    strict: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (options.help) {
  console.log(usage);
  process.exit(0);
}

const unknown = positionals.filter((name) => !suites.some(({ id }) => id === name));
const rounds = options.rounds === undefined ? undefined : Number(options.rounds);
if (unknown.length > 0 || (rounds !== undefined && !(Number.isInteger(rounds) && rounds > 0))) {
  console.error(
    unknown.length > 0 ? `No suite is called ${unknown.join(', ')}.\n` : '--rounds needs a whole number above 0.\n',
  );
  console.error(usage);
  process.exit(2);
}

/** @param {typeof suites[number]} suite */
const oursTakesPart = ({ transport }) =>
  field(transport).present.some(({ needsExport, needsFile }) => needsExport !== undefined || needsFile !== undefined);
const chosen = suites.filter((suite) =>
  positionals.length > 0 ? positionals.includes(suite.id) : oursTakesPart(suite),
);
if (chosen.length === 0) {
  console.error('Our build takes part in no suite yet: run `npm run build`, or name a suite to measure the others.');
  process.exit(2);
}

const machine = {
  node: process.version,
  platform: `${platform()} ${arch()}`,
  cpu: cpus()[0]?.model ?? 'unknown',
  cores: availableParallelism(),
};
// Sampled before the bench itself keeps both cores busy.
const busy = loadavg()[0] / availableParallelism();
const warning = `Load ${(busy * 100).toFixed(0)} % before the start: others were at work, and figures may be off by a quarter.`;
// Of each table: those of one page may be of several runs.
const conditions = [
  `Node ${machine.node.slice(1)}, ${machine.platform}, ${machine.cores} cores.`,
  ...(busy > 0.3 ? [warning] : []),
].join('\n');
const peers = `Versions: ${Object.entries(versions)
  .map(([name, version]) => `${name} ${version}`)
  .join(', ')}.`;
if (!options.json) console.log(`${conditions}\n${peers}\n`);

pinSelf();
const results = [];
try {
  for (const suite of chosen) {
    const { rows, absent } = await runSuite(suite, {
      rounds: rounds ?? (options.quick ? 1 : suite.rounds),
      effort: options.quick ? efforts.quick : efforts.full,
      only: options.only?.split(','),
      report: progress,
    });
    clearProgress();
    const table = markdown(rows, suite.columns, suite.who);
    const outcomes = checkClaims(suite.id, rows);
    results.push({ suite, rows, absent, table, outcomes });
    // After each suite: what was measured is kept when a later one fails or is stopped.
    if (options.docs) updateDocs();
    if (options.json) continue;
    console.log(`## ${suite.title}\n\n${suite.note}\n\n${table}\n`);
    for (const { name, why } of absent) console.log(`Left out: ${name} (${why})`);
    if (absent.length > 0) console.log();
  }
} catch (error) {
  clearProgress();
  console.error(`The bench failed. ${error instanceof Error ? error.message : error}`);
  process.exit(1);
}

const outcomes = results.flatMap((result) => result.outcomes);
const claimLines = outcomes.map(sentence).join('\n');
if (options.json) {
  const plain = results.map(({ suite, rows, absent }) => ({ suite: suite.id, rows, absent }));
  console.log(JSON.stringify({ machine, versions, results: plain, claims: outcomes }, null, 2));
} else console.log(`## Claims\n\n${claimLines}`);

if (options.strict && outcomes.some(({ holds }) => holds !== true)) process.exitCode = 1;

/** Renews the tables, claims and the picture of the suites that were measured so far. */
function updateDocs() {
  const tables = Object.fromEntries(
    results.map(({ suite, table }) => [suite.id, `${suite.note}\n\n${table}\n\n${conditions}`]),
  );
  const others = claimsOnPage().filter(({ suite }) => !results.some((result) => result.suite.id === suite));
  const order = suites.map(({ id }) => id);
  const claims = [
    ...others,
    ...results
      .flatMap((result) => result.outcomes)
      .map((outcome) => ({ suite: outcome.suite, line: sentence(outcome) })),
  ]
    .sort((one, other) => order.indexOf(one.suite) - order.indexOf(other.suite))
    .map(({ line }) => line);
  updatePage({ versions: peers, ...tables, claims: `\`\`\`text\n${claims.join('\n')}\n\`\`\`` });
  const calls = results.find(({ suite }) => suite.id === 'stdio');
  if (calls) drawCalls(calls.rows);
}
