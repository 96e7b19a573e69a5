// `mooring gateway --config FILE`, or `mooring connect`, as a client starts it; the file and the folder of its data are prepared
// by the suite.
const { BENCH_COMMAND: command = 'gateway', BENCH_CONFIG: config = '' } = process.env;
process.argv.splice(1, 1, 'mooring', command, '--config', config);
await import('../../dist/cli.js');
