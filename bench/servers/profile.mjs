// `mooring serve PROFILE` as a client starts it; where data and configuration are is said by the suite.
process.argv.splice(1, 1, 'mooring', 'serve', /** @type {string} */ (process.env['BENCH_PROFILE']));
await import('../../dist/cli.js');
