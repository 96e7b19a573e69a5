import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { filesThatChangeModules } from './test/support/module-changes.ts';
import { Sequencer } from './test/support/sequencer.ts';

/** Helper scripts of tests that are bundled or spawned, and the suite's own output, are not tests. */
const ignored = ['**/node_modules/**', '**/dist/**', '.tmp/**'];

/** Files that use the library in this process, start nothing and leave nothing global changed. */
const library = [
  'test/{seeds,security-table,type-names}.test.ts',
  'test/attacks/{ended-sessions,many-sessions,session-ids,used-states}.test.ts',
  'test/client/auth/**/*.test.ts',
  'test/client/{era-cache,exact-texts,filesystem-example,matrix,own-fetch,sign-in,skills,socket-pool,tasks,usual-path}.test.ts',
  'test/client/faulty/{floods,http,websocket}.test.ts',
  'test/console/{access,calls,feed,recording,sessions,static-files,subscriptions}.test.ts',
  'test/e2e/{framework-auth,http-connection,http-server-card,https,node-handler,stream-socket,tasks,websocket}.test.ts',
  'test/e2e/http-{access,crosstalk,fetch,mounts,operations,resumption,sessions,slow-store,sse,standalone}.test.ts',
  'test/engine/{apps,caller-catalogs,cancelled-input,failures,input-required,long-lists,mount,observer-events,redirected-calls}.test.ts',
  'test/engine/{plain-javascript,registration,relayed-entries,rules,schema-libraries,server,skills,task-recovery,tasks,text-copy}.test.ts',
  'test/fuzz/oracle.test.ts',
  'test/gateway/{attached,attribution,cache-hints,call-names,cancelled-input,docs,extensions,failures,held-calls-replicas,held-calls}.test.ts',
  'test/gateway/{apps,headers,hostile-skills,http-streams,lists,pins,private-lists,skills,stored-lists,subscriptions,task-recovery,tasks,unlisted}.test.ts',
  'test/gateway/{clean-texts,client-files,entry-files,hostile,losses,matrix,outside-calls,read-files,reload,removed-views,results,search,states,straight,time-limits,url-elicitation}.test.ts',
  'test/logging/**/*.test.ts',
  'test/packs/{empirical,orchestrator,research,search,secure-local,skills}.test.ts',
  'test/packs/{clipboard,reference}/profile.test.ts',
  'test/packs/data/{folder,note-stores}.test.ts',
  'test/packs/local/{meta,profile}.test.ts',
  'test/packs/reference/http.test.ts',
  'test/packs/system/{asking,messages}.test.ts',
  'test/properties/**/*.test.ts',
  'test/security/{audit,auth,bombs,bounds,changes,isolation,limits,long-texts,memory-budgets,own-server,policy}.test.ts',
  'test/security/{issuer-problems,process-tree,reference,scoped-changes,shares,special-files,token-end}.test.ts',
  'test/scale/{changes,confirmed-changes,passed-connections,shared-tasks}.test.ts',
  'test/stores/**/*.test.ts',
  'test/security/network/ssrf.test.ts',
  'test/tasks/{encryption,facade,facade-wires,health,many,observed,state-machine}.test.ts',
  'test/transcripts/**/*.test.ts',
];

/** Files that run the built program, or the library as a client, and leave nothing global changed. */
const program = [
  'test/{docs,docs-site,layering}.test.ts',
  'test/attacks/{audit-disk,empty-settings,hostile-server,identity,keys,notes-store,own-files,reload,start}.test.ts',
  'test/cli/**/*.test.ts',
  'test/client/{conformance,connect-and-close,orphans,quiet-end,resumption,third-party*,unexpected-output}.test.ts',
  'test/conformance/**/*.test.ts',
  'test/console/**/*.test.ts',
  'test/doctor/**/*.test.ts',
  'test/e2e/{http-continuation,stdio-load,stdio}.test.ts',
  'test/fuzz/**/*.test.ts',
  'test/gateway/cli/**/*.test.ts',
  'test/gateway/{conformance,foreign-clients,foreign-servers,inspector,orphans,served}.test.ts',
  'test/packs/clipboard/{displays,stdio}.test.ts',
  'test/packs/data/kill.test.ts',
  'test/packs/processes.test.ts',
  'test/packs/system/files.test.ts',
  'test/peers/**/*.test.ts',
  'test/scale/{blocking,clients,conformance,crosstalk,deployment,load,redis-failures,redis-processes,redis-program,redis-sessions}.test.ts',
  'test/scale/{redis-settings,schedules,sessions,streams,transcripts,workers}.test.ts',
  'test/security/{audit-kill,blocking,conformance,entry-points,memory,one-bad-request,pipe}.test.ts',
  'test/soak/**/*.test.ts',
  'test/support/**/*.test.ts',
  'test/tasks/kill.test.ts',
  'test/telemetry/gateway.test.ts',
];

/** Files that load modules again, or replace them: files that share their modules would use what they leave. */
const changesModules = filesThatChangeModules();

/** On a shared machine a test of several processes is run once more if it fails; the closing summary names it. */
const retry = process.env['CI'] === 'true' ? 1 : 0;

// Programs that tests start store their compiled code there, not in the cache of the person who runs them.
process.env['XDG_CACHE_HOME'] = join(import.meta.dirname, 'node_modules/.cache');

// Node reads these certificates whenever it starts, which takes longer than the rest of its start. Only installations need them.
const { NODE_EXTRA_CA_CERTS: certificates = '' } = process.env;
if (certificates !== '') process.env['MOORING_TEST_CA_CERTS'] = certificates;
delete process.env['NODE_EXTRA_CA_CERTS'];

export default defineConfig({
  test: {
    projects: [
      // These share one module cache per worker: loading the sources again for each file took two thirds of the time of unit tests.
      {
        extends: true,
        test: {
          name: 'library',
          include: ['src/**/*.test.ts', ...library],
          exclude: [...ignored, ...changesModules],
          isolate: false,
          retry,
        },
      },
      {
        extends: true,
        test: {
          name: 'program',
          include: program,
          exclude: [...ignored, ...library, ...changesModules],
          isolate: false,
          retry,
        },
      },
      // These measure their process, change its variables, or need modules that no other file has used: each file has a process of its own.
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/**/*.test.ts'],
          exclude: [...ignored, ...library, ...program, ...changesModules],
          retry,
        },
      },
      // The same, wherever they are: what a project excludes, it does not run, even if it is included by name.
      { extends: true, test: { name: 'modules', include: changesModules, exclude: ignored, retry } },
    ],
    // Only what hangs reaches it: a busy machine may stop a process for some seconds, several times in a test.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The default of one second is too short on a busy machine.
    expect: { poll: { timeout: 20_000 } },
    // For two processors: more than half of the time a file waits.
    maxWorkers: 5,
    sequence: { sequencer: Sequencer },
    // Compiled modules are stored in node_modules: the three projects, and the next run, do not compile them again.
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest-modules' },
    globalSetup: './test/support/prepare.ts',
    reporters: ['default', './test/support/summary-reporter.ts'],
    exclude: ignored,
    // What runs in processes of their own (the program, servers of tests) runs the build and is not counted.
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      exclude: ['src/**/*.test.ts', 'src/**/testing/**', 'src/**/fixtures/**'],
      reporter: ['text-summary', 'html'],
    },
  },
});
