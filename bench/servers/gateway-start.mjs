// `mooring gateway --config FILE` as a client starts it; the file and the folder of its data are prepared by the suite.
process.argv.splice(1, 1, 'mooring', 'gateway', '--config', /** @type {string} */ (process.env['BENCH_CONFIG']));
await import('../../dist/cli.js');
